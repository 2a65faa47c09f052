//! The journal cannot be written.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Output, Stdio};

use reknit_protocol::{Effect, Value};
use reknit_testing::Reply;

use crate::world::{STEPS, World, stderr};

const REKNIT: &str = env!("CARGO_BIN_EXE_reknit");

/// Answers that fill a small disk. Each is another one: what is the same is kept once.
async fn wordy() -> World {
    World::answering(|name| Reply::data(Value::from(name.repeat(25_000)))).await
}

fn shell(world: &World, script: &str, wrapper: &[&str]) -> Output {
    let words = [wrapper, &["sh", "-c", script]].concat();
    Command::new(words[0])
        .args(&words[1..])
        .current_dir(world.path("."))
        .env("REKNIT", REKNIT)
        .stdin(Stdio::null())
        .output()
        .expect("the shell can be run")
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Every call was made once, or twice if nobody could write its answer down, and then under one key.
fn assert_calls(world: &World) {
    for (name, class) in STEPS {
        let calls = world.tool.calls_of(name);
        assert!((1..=2).contains(&calls.len()), "`{name}`: {} calls", calls.len());
        assert!(calls.iter().all(|call| call.idempotency_key == calls[0].idempotency_key), "`{name}`");
        assert_eq!(calls[0].idempotency_key.is_none(), class == Effect::Read, "`{name}`");
    }
    assert!(world.tool.count() <= STEPS.len() + 1, "{} calls", world.tool.count());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_a_full_disk_the_run_stops_and_goes_on_once_there_is_room() {
    let world = wordy().await;
    fs::create_dir(world.path("small")).expect("a folder");
    // A disk of its own in a namespace of its own, which ends with the shell. Without the right to make one: 77.
    let script = r#"
        mount -t tmpfs -o size=600k tmpfs small || exit 77
        "$REKNIT" run plan.json --answer template --journal small/journal.db >/dev/null; echo "run $?"
        "$REKNIT" runs list --journal small/journal.db; echo "list $?"
        mount -o remount,size=16m small
        while true; do
            "$REKNIT" runs resume last --journal small/journal.db >/dev/null 2>&1; code=$?
            [ $code = 6 ] || break
            "$REKNIT" runs approve last --journal small/journal.db >/dev/null 2>&1
        done
        echo "resume $code"
    "#;
    let output = shell(&world, script, &["unshare", "--mount"]);
    if output.status.code() == Some(77) || stderr(&output).contains("unshare failed") {
        eprintln!("not tried: no small disk can be made ({})", stderr(&output).trim());
        return;
    }
    assert!(stdout(&output).starts_with("run 1\n"), "{}\n{}", stdout(&output), stderr(&output));
    assert!(
        stderr(&output).contains("the disk is full: nothing more can be written to the journal"),
        "{}",
        stderr(&output)
    );
    assert!(stderr(&output).contains("\nhint: make room on the disk of `"), "{}", stderr(&output));
    assert!(stdout(&output).contains("\nlist 0\n"), "{}\n{}", stdout(&output), stderr(&output));
    assert!(stdout(&output).ends_with("\nresume 0\n"), "{}\n{}", stdout(&output), stderr(&output));
    assert_calls(&world);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_limit_on_the_size_of_files_stops_the_run_and_it_goes_on_without_it() {
    let world = wordy().await;
    // In blocks of 512 bytes. A shell that ignores the signal hands that down, so that writing fails instead.
    let script = r#"trap '' XFSZ; ulimit -f 500; exec "$REKNIT" run plan.json --answer template --journal journal.db"#;
    let stopped = shell(&world, script, &[]);
    assert_eq!(stopped.status.code(), Some(1), "{}", stderr(&stopped));
    assert!(stderr(&stopped).contains("journal.db` cannot be used"), "{}", stderr(&stopped));
    assert!(stderr(&stopped).contains("\nhint: "), "{}", stderr(&stopped));
    let kept = world.events().await;
    assert!(!kept.is_empty());
    let (_, end) = world.resume_to_the_end("steady");
    assert_eq!(end.status.code(), Some(0), "{}", stderr(&end));
    assert!(world.events().await.starts_with(&kept));
    assert_calls(&world);
}

/// Words in front of a command that take the administrator's rights away; nothing where they are not there.
fn powerless() -> Option<Vec<&'static str>> {
    if !rustix::process::geteuid().is_root() {
        return Some(Vec::new());
    }
    let words = vec!["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
    let tried = Command::new(words[0]).args(&words[1..]).args([REKNIT, "--version"]).output();
    if tried.is_ok_and(|output| output.status.success()) {
        return Some(words);
    }
    eprintln!("not tried: the administrator may write anywhere, and nobody else can run the command");
    None
}

fn allow(world: &World, name: &str, mode: u32) {
    fs::set_permissions(world.path(name), Permissions::from_mode(mode)).expect("they can be set");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn in_a_folder_that_cannot_be_written_nothing_begins() {
    let Some(wrapper) = powerless() else { return };
    let world = wordy().await;
    fs::create_dir(world.path("locked")).expect("a folder");
    allow(&world, ".", 0o755);
    allow(&world, "locked", 0o555);
    for (journal, words) in [
        ("locked/journal.db", "cannot open the journal `"),
        ("locked/deeper/journal.db", "cannot create the directory `"),
    ] {
        let script = format!(r#"exec "$REKNIT" run plan.json --answer template --journal {journal}"#);
        let refused = shell(&world, &script, &wrapper);
        assert_eq!(refused.status.code(), Some(1), "{journal}: {}", stderr(&refused));
        assert!(stderr(&refused).starts_with("error: cannot open the journal\n"), "{}", stderr(&refused));
        assert!(stderr(&refused).contains(words), "{journal}: {}", stderr(&refused));
        assert!(stderr(&refused).contains("Permission denied"), "{journal}: {}", stderr(&refused));
        assert!(stderr(&refused).contains("\nhint: "), "{journal}: {}", stderr(&refused));
    }
    assert_eq!(world.tool.count(), 0, "nothing was called that could not be written down");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_journal_that_cannot_be_written_is_not_changed() {
    let Some(wrapper) = powerless() else { return };
    let world = World::new().await;
    world.gate.open();
    assert!(world.start("steady").wait_with_output().expect("it ends").status.success());
    let before = world.events().await;
    allow(&world, "journal.db", 0o444);
    allow(&world, ".", 0o555);
    let refused = shell(&world, r#"exec "$REKNIT" run plan.json --answer template --journal journal.db"#, &wrapper);
    allow(&world, ".", 0o755);
    assert_eq!(refused.status.code(), Some(1), "{}", stderr(&refused));
    assert!(stderr(&refused).contains("cannot open the journal `"), "{}", stderr(&refused));
    assert!(stderr(&refused).contains("\nhint: check that you may read and write `"), "{}", stderr(&refused));
    assert_eq!(world.tool.count(), STEPS.len());
    assert_eq!(world.events().await, before);
}
