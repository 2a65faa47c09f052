//! Processes that leave their process group do not outlive the command that started them.
#![cfg(test)]
#![cfg(target_os = "linux")]

mod support;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use reknit_protocol::{Object, SideEffect, ToolReply, TransportFailure, Value};
use reknit_tools::{CommandOptions, CommandTool, DefinedCapability, ToolSource, adopt_orphans, discover};
use support::new_call;

/// A process in a session of its own, which writes its id to `id` and stays.
const STAYS: &str = "setsid sh -c 'echo $$ > id.new; mv id.new id; exec sleep 1000' < /dev/null &";
const UNTIL_IT_STAYS: &str = "while [ ! -e id ]; do sleep 0.01; done";

/// A process without a mark ends with any command, so these tests run one after the other.
static ONE_AT_A_TIME: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

async fn run(folder: &Path, script: &str, time_limit: Duration) -> Result<ToolReply, TransportFailure> {
    adopt_orphans().expect("Linux can");
    let capability = DefinedCapability {
        tool: "shell".into(),
        name: "run".into(),
        description: String::new(),
        effect: SideEffect::Read,
        schema: Value::Object(Object::new()),
    };
    let command = ["sh", "-c", &script.replace('{', "{{").replace('}', "}}")].map(str::to_owned).to_vec();
    let options = CommandOptions {
        folder: Some(folder.to_owned()),
        environment: vec![("PATH".to_owned(), std::env::var("PATH").expect("a path").into())],
        time_limit: Some(time_limit),
        ..CommandOptions::new(capability, command)
    };
    let tool = CommandTool::new(options).expect("the definition is valid");
    let found = discover(&[Arc::new(tool) as Arc<dyn ToolSource>]).await;
    found.tools.call(&new_call("shell", "run", SideEffect::Read)).await
}

/// The process that stays, once it has written its id.
async fn process(folder: &Path) -> std::path::PathBuf {
    for _ in 0..6_000 {
        if let Ok(id) = std::fs::read_to_string(folder.join("id")) {
            return Path::new("/proc").join(id.trim());
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("no process has started");
}

const LONG: Duration = Duration::from_mins(2);

#[tokio::test]
async fn a_process_in_a_session_of_its_own_ends_with_its_command() {
    let _alone = ONE_AT_A_TIME.lock().await;
    for start in [STAYS.to_owned(), format!("env -i PATH=$PATH {STAYS}"), format!("( ({STAYS}) & );")] {
        let folder = tempfile::tempdir().expect("a folder");
        let script = format!("{start} {UNTIL_IT_STAYS}");
        run(folder.path(), &script, LONG).await.unwrap_or_else(|error| panic!("{start}: {error}"));
        let process = process(folder.path()).await;
        assert!(!process.exists(), "{start}: {}", process.display());
    }
}

#[tokio::test]
async fn a_process_in_a_session_of_its_own_ends_when_its_command_takes_too_long() {
    let _alone = ONE_AT_A_TIME.lock().await;
    let folder = tempfile::tempdir().expect("a folder");
    let script = format!("{STAYS} {UNTIL_IT_STAYS}; exec sleep 1000");
    run(folder.path(), &script, Duration::from_secs(1)).await.expect_err("it takes too long");
    let process = process(folder.path()).await;
    for _ in 0..1_000 {
        if !process.exists() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{} is still there", process.display());
}

#[tokio::test]
async fn the_end_of_a_command_leaves_the_processes_of_others_alone() {
    let _alone = ONE_AT_A_TIME.lock().await;
    let folder = tempfile::tempdir().expect("a folder");
    let script = format!("({STAYS}); {UNTIL_IT_STAYS}; while [ ! -e go ]; do sleep 0.01; done");
    let (path, other) = (folder.path().to_owned(), tempfile::tempdir().expect("a folder"));
    let goes_on = tokio::spawn(async move { run(&path, &script, LONG).await });
    let process = process(folder.path()).await;
    run(other.path(), "true", LONG).await.expect("a reply");
    assert!(process.exists());
    std::fs::write(folder.path().join("go"), "").expect("it is written");
    goes_on.await.expect("no panic").expect("a reply");
    assert!(!process.exists());
}
