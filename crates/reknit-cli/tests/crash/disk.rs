//! Runs whose journal cannot be written.

use std::fs::{self, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Output, Stdio};

use reknit_fakes::Reply;
use reknit_protocol::{SideEffect, Value};

use crate::world::{STEPS, World, stderr, stdout};

const REKNIT: &str = env!("CARGO_BIN_EXE_reknit");

/// A tool whose answers fill a small disk. The answers differ, because the journal stores equal values once.
async fn with_large_answers() -> World {
    World::answering(|name| Reply::data(Value::from(name.repeat(25_000)))).await
}

fn shell(world: &World, script: &str, wrapper: &[&str]) -> Output {
    try_shell(world, script, wrapper).expect("the shell can be run")
}

fn try_shell(world: &World, script: &str, wrapper: &[&str]) -> io::Result<Output> {
    let words = [wrapper, &["sh", "-c", script]].concat();
    Command::new(words[0])
        .args(&words[1..])
        .current_dir(world.path("."))
        .env("REKNIT", REKNIT)
        // Its messages are read here, and in some languages they differ.
        .env("LC_ALL", "C")
        .env("XDG_STATE_HOME", world.path("state"))
        .stdin(Stdio::null())
        .output()
}

/// Says that a test is skipped. Not with `eprintln!`: the test runner hides its output if the test passes.
fn say_skipped(reason: &str) {
    let test = std::thread::current().name().unwrap_or_default().to_owned();
    // Without standard error, nobody can be told.
    let _ = writeln!(io::stderr(), "{test} is skipped: {reason}");
}

/// Checks that every call was sent once, or twice with one key if its answer could not be written.
fn assert_calls(world: &World) {
    for (name, class) in STEPS {
        let calls = world.tool.calls_of(name);
        assert!((1..=2).contains(&calls.len()), "`{name}`: {} calls", calls.len());
        assert!(calls.iter().all(|call| call.idempotency_key == calls[0].idempotency_key), "`{name}`");
        assert_eq!(calls[0].idempotency_key.is_none(), class == SideEffect::Read, "`{name}`");
    }
    assert!(world.tool.call_count() <= STEPS.len() + 1, "{} calls", world.tool.call_count());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_stopped_by_a_full_disk_resumes_when_there_is_space() {
    let world = with_large_answers().await;
    fs::create_dir(world.path("small")).expect("a folder");
    // A small disk in its own mount namespace, which ends with the shell. Exits with 77 if the system does not allow it.
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
    let output = match try_shell(&world, script, &["unshare", "--mount"]) {
        Ok(output) => output,
        Err(error) => return say_skipped(&format!("cannot mount a small disk (unshare: {error})")),
    };
    if output.status.code() == Some(77) || stderr(&output).contains("unshare failed") {
        return say_skipped(&format!("cannot mount a small disk ({})", stderr(&output).trim()));
    }
    assert!(stdout(&output).starts_with("run 1\n"), "{}\n{}", stdout(&output), stderr(&output));
    assert!(stderr(&output).contains("the disk is full: cannot write to the journal"), "{}", stderr(&output));
    assert!(stderr(&output).contains("\nhint: free space on the disk of `"), "{}", stderr(&output));
    assert!(stdout(&output).contains("\nlist 0\n"), "{}\n{}", stdout(&output), stderr(&output));
    assert!(stdout(&output).ends_with("\nresume 0\n"), "{}\n{}", stdout(&output), stderr(&output));
    assert_calls(&world);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_stopped_by_a_file_size_limit_resumes_without_it() {
    let world = with_large_answers().await;
    // The limit is in blocks of 512 bytes. The command inherits the ignored signal, so that its write fails instead.
    let script = r#"trap '' XFSZ; ulimit -f 500; exec "$REKNIT" run plan.json --answer template --journal journal.db"#;
    let stopped = shell(&world, script, &[]);
    assert_eq!(stopped.status.code(), Some(1), "{}", stderr(&stopped));
    assert!(stderr(&stopped).contains("cannot read or write the journal `"), "{}", stderr(&stopped));
    assert!(stderr(&stopped).contains("\nhint: "), "{}", stderr(&stopped));
    let kept = world.events().await;
    assert!(!kept.is_empty());
    let (_, end) = world.resume_to_the_end();
    assert_eq!(end.status.code(), Some(0), "{}", stderr(&end));
    assert!(world.events().await.starts_with(&kept));
    assert_calls(&world);
}

/// The command prefix that drops root privileges, empty without them; `None` if they cannot be dropped.
///
/// Root without capabilities is bound to permissions like any owner of files. It can still reach the program in a folder of
/// root, which another user could not.
fn without_privileges(world: &World) -> Option<Vec<&'static str>> {
    if !rustix::process::geteuid().is_root() {
        return Some(Vec::new());
    }
    let words = vec!["setpriv", "--bounding-set=-all", "--inh-caps=-all"];
    let tried = try_shell(world, r#"test -r plan.json && exec "$REKNIT" --version"#, &words);
    if tried.is_ok_and(|output| output.status.success()) {
        return Some(words);
    }
    say_skipped("root may write anywhere, and the command does not run without its privileges");
    None
}

fn allow(world: &World, name: &str, mode: u32) {
    fs::set_permissions(world.path(name), Permissions::from_mode(mode)).expect("they can be set");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_does_not_start_in_a_read_only_folder() {
    let world = with_large_answers().await;
    let Some(wrapper) = without_privileges(&world) else { return };
    fs::create_dir(world.path("locked")).expect("a folder");
    allow(&world, "locked", 0o555);
    for (journal, cause) in [
        ("locked/journal.db", "cannot open the journal `"),
        ("locked/deeper/journal.db", "cannot create the directory `"),
    ] {
        let script = format!(r#"exec "$REKNIT" run plan.json --answer template --journal {journal}"#);
        let refused = shell(&world, &script, &wrapper);
        assert_eq!(refused.status.code(), Some(2), "{journal}: {}", stderr(&refused));
        assert!(stderr(&refused).starts_with("error: cannot open the journal\n"), "{}", stderr(&refused));
        assert!(stderr(&refused).contains(cause), "{journal}: {}", stderr(&refused));
        assert!(stderr(&refused).contains("Permission denied"), "{journal}: {}", stderr(&refused));
        assert!(stderr(&refused).contains("\nhint: "), "{journal}: {}", stderr(&refused));
    }
    assert_eq!(world.tool.call_count(), 0, "no call was sent without a journal");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_journal_that_cannot_be_written_is_not_changed() {
    let world = World::new().await;
    let Some(wrapper) = without_privileges(&world) else { return };
    world.barrier.release_all();
    assert!(world.start().wait_with_output().expect("it ends").status.success());
    let before = world.events().await;
    allow(&world, "journal.db", 0o444);
    allow(&world, ".", 0o555);
    let refused = shell(&world, r#"exec "$REKNIT" run plan.json --answer template --journal journal.db"#, &wrapper);
    allow(&world, ".", 0o700);
    assert_eq!(refused.status.code(), Some(2), "{}", stderr(&refused));
    assert!(stderr(&refused).contains("cannot open the journal `"), "{}", stderr(&refused));
    assert!(stderr(&refused).contains("\nhint: check that you may read and write `"), "{}", stderr(&refused));
    assert_eq!(world.tool.call_count(), STEPS.len());
    assert_eq!(world.events().await, before);
}
