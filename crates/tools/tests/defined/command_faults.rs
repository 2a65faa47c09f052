//! Commands that do not start, do not end, write too much, or leave processes behind.

use std::path::Path;
use std::time::Duration;

use reknit_protocol::{Delivery, Object, ReplyBody, TransportKind};
use reknit_tools::CommandOptions;

use crate::call;
use crate::command::{made, options, script, tools};

/// Waits until a process has written its id to a file.
async fn id_in(file: &Path) -> i32 {
    for _ in 0..12_000 {
        if let Some(id) = std::fs::read_to_string(file).ok().and_then(|text| text.trim().parse().ok()) {
            return id;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("no process has started");
}

/// Waits until a process is gone, or is only waiting for its parent to read its status.
async fn has_ended(id: i32) -> bool {
    for _ in 0..12_000 {
        let status = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        let state = status.rsplit_once(") ").map_or("", |(_, rest)| rest);
        if state.is_empty() || state.starts_with('Z') {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    false
}

#[tokio::test]
async fn a_program_that_does_not_exist_is_not_called() {
    let failure = made(options("{}", &["/no/such/program"]), "{}").await.expect_err("there is none");
    assert_eq!((failure.kind, failure.delivery), (TransportKind::NotCallable, Delivery::NotSent));
    assert!(failure.message.contains("`/no/such/program` does not start: No such file"), "{failure}");
    let nowhere = CommandOptions { folder: Some("/no/such/folder".into()), ..options("{}", &["true"]) };
    let failure = made(nowhere, "{}").await.expect_err("the folder does not exist");
    assert_eq!(failure.delivery, Delivery::NotSent);
}

#[tokio::test]
async fn endless_output_ends_the_process_at_the_limit() {
    let folder = tempfile::tempdir().expect("a folder");
    let options = CommandOptions {
        max_output: 100_000,
        folder: Some(folder.path().to_owned()),
        ..script("echo $$ > id; exec yes")
    };
    let failure = made(options, "{}").await.expect_err("it is too much");
    assert_eq!((failure.kind, failure.delivery), (TransportKind::TooLarge, Delivery::Possible));
    assert!(failure.message.contains("more than 100000 bytes"), "{failure}");
    assert!(has_ended(id_in(&folder.path().join("id")).await).await);
}

#[tokio::test]
async fn endless_errors_take_no_memory_and_end_with_the_time() {
    let options = CommandOptions { time_limit: Some(Duration::from_millis(300)), ..script("exec yes >&2") };
    let failure = made(options, "{}").await.expect_err("it does not end");
    assert_eq!((failure.kind, failure.delivery), (TransportKind::TimedOut, Delivery::Possible));
}

/// A process that ignores SIGTERM, with a child that does the same. Both write their ids.
const STUBBORN: &str = "
trap '' TERM
sh -c 'echo $$ > child.new; mv child.new child; sleep 1000' &
echo $$ > parent.new; mv parent.new parent
wait
";

#[tokio::test]
async fn a_process_that_ignores_sigterm_is_killed_with_its_children() {
    let folder = tempfile::tempdir().expect("a folder");
    let options = CommandOptions {
        time_limit: Some(Duration::from_secs(5)),
        folder: Some(folder.path().to_owned()),
        ..script(STUBBORN)
    };
    let failure = made(options, "{}").await.expect_err("it does not end");
    assert_eq!((failure.kind, failure.delivery), (TransportKind::TimedOut, Delivery::Possible));
    for name in ["parent", "child"] {
        assert!(has_ended(id_in(&folder.path().join(name)).await).await, "{name}");
    }
}

#[tokio::test]
async fn dropping_a_call_ends_its_processes() {
    let folder = tempfile::tempdir().expect("a folder");
    let tools = tools(CommandOptions { folder: Some(folder.path().to_owned()), ..script(STUBBORN) }).await;
    let task = tokio::spawn(async move { tools.call(&call(Object::new())).await });
    let ids = [id_in(&folder.path().join("parent")).await, id_in(&folder.path().join("child")).await];
    task.abort();
    for id in ids {
        assert!(has_ended(id).await);
    }
}

#[test]
fn the_end_of_the_runtime_ends_the_processes() {
    let folder = tempfile::tempdir().expect("a folder");
    let options = CommandOptions { folder: Some(folder.path().to_owned()), ..script(STUBBORN) };
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let ids = runtime.block_on(async {
        let tools = tools(options).await;
        tokio::spawn(async move { tools.call(&call(Object::new())).await });
        [id_in(&folder.path().join("parent")).await, id_in(&folder.path().join("child")).await]
    });
    drop(runtime);
    let other = tokio::runtime::Runtime::new().expect("a runtime");
    for id in ids {
        assert!(other.block_on(has_ended(id)));
    }
}

#[tokio::test]
async fn a_process_that_is_left_behind_is_killed_and_does_not_delay_the_reply() {
    let folder = tempfile::tempdir().expect("a folder");
    // The child keeps standard output open.
    let program = "sleep 1000 & echo $! > id; echo done";
    let options = CommandOptions { folder: Some(folder.path().to_owned()), ..script(program) };
    let reply = made(options, "{}").await.expect("a reply");
    assert_eq!(reply.body, ReplyBody::Text("done\n".to_owned()));
    assert!(has_ended(id_in(&folder.path().join("id")).await).await);
}

#[tokio::test]
async fn invalid_utf8_is_replaced_and_that_is_recorded() {
    let reply = made(script(r#"printf '{"town": "K\366ln"}'"#), "{}").await;
    let body = reply.expect("a reply").body;
    assert_eq!(body.fixes(), [ReplyBody::INVALID_UTF8]);
    assert_eq!(body.to_value().get("town").and_then(|town| town.as_str()), Some("K\u{fffd}ln"));
    let failed = made(script(r"printf 'K\366ln\033[2J' >&2; exit 3"), "{}").await;
    let message = failed.expect("a reply").body.to_value().to_string();
    assert!(message.contains("K\u{fffd}ln\\\\u{1b}[2J"), "{message}");
}

#[tokio::test]
async fn a_process_that_does_not_read_its_input_still_answers() {
    let mut options = options(r#"{"a": {}}"#, &["echo", "done"]);
    options.stdin = reknit_tools::CommandInput::Text("{a}".to_owned());
    let large = Object::from([("a", "x".repeat(1_000_000).into())]).to_string();
    assert_eq!(made(options, &large).await.expect("a reply").body, ReplyBody::Text("done\n".to_owned()));
}
