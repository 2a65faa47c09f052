//! Confinement of commands.

use std::net::TcpListener;
use std::path::{Path, PathBuf};

use reknit_protocol::TransportKind;
use reknit_tools::{Sandbox, SandboxMode};
use tempfile::TempDir;

use crate::command::{made, script};
use crate::outside_folder::{outside_folder, say_skipped};

/// Three folders outside of those that every program may write, unless there is no place for them.
fn folders() -> Option<[TempDir; 3]> {
    let folders = [outside_folder()?, outside_folder()?, outside_folder()?];
    Some(folders)
}

/// Whether a script succeeds in a sandbox.
async fn succeeds(text: &str, folder: &Path, sandbox: &Sandbox) -> bool {
    let mut options = script(text);
    (options.folder, options.sandbox) = (Some(folder.to_owned()), sandbox.clone());
    let reply = made(options, "{}").await.expect("it starts");
    (200..300).contains(&reply.status)
}

/// A sandbox that the kernel enforces, unless it cannot.
fn sandbox() -> Option<Sandbox> {
    let sandbox = Sandbox::new(SandboxMode::Required);
    if sandbox.describe().starts_with("sandboxed: ") {
        return Some(sandbox);
    }
    say_skipped("the kernel cannot enforce a sandbox");
    None
}

fn linux_is_at_least(major: u32, minor: u32) -> bool {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let mut numbers = release.split(['.', '-']).map_while(|part| part.parse::<u32>().ok());
    (numbers.next(), numbers.next()) >= (Some(major), Some(minor))
}

/// A sandbox, and three folders that it does not allow.
fn sandbox_and_folders() -> Option<(Sandbox, [TempDir; 3])> {
    let sandbox = sandbox()?;
    let folders = folders();
    if folders.is_none() {
        say_skipped("this user can write only where a sandbox allows it");
    }
    Some((sandbox, folders?))
}

#[tokio::test]
async fn a_confined_command_writes_only_where_it_may() {
    let Some((mut sandbox, [own, other, allowed])) = sandbox_and_folders() else { return };
    let write = |folder: &Path| format!("echo x > '{}/file'", folder.display());
    assert!(succeeds(&write(other.path()), own.path(), &Sandbox::off()).await);
    sandbox.write = vec![allowed.path().to_owned()];
    assert!(succeeds(&write(own.path()), own.path(), &sandbox).await);
    assert!(succeeds(&write(allowed.path()), own.path(), &sandbox).await);
    assert!(succeeds("echo x > /dev/null", own.path(), &sandbox).await);
    assert!(!succeeds(&write(other.path()), own.path(), &sandbox).await);
    assert!(!succeeds(&format!("sh -c \"rm '{}/file'\"", other.path().display()), own.path(), &sandbox).await);
    std::fs::write(other.path().join("ours"), "x").expect("our own process is not confined");
}

#[tokio::test]
async fn a_confined_command_reads_only_what_it_may() {
    let Some((mut sandbox, [own, other, allowed])) = sandbox_and_folders() else { return };
    for folder in [&own, &other, &allowed] {
        std::fs::write(folder.path().join("file"), "x").expect("it is written");
    }
    let read = |folder: &TempDir| format!("cat '{}/file'", folder.path().display());
    assert!(succeeds(&read(&other), own.path(), &sandbox).await, "without a list everything can be read");
    sandbox.read = vec![allowed.path().to_owned()];
    assert!(succeeds(&read(&own), own.path(), &sandbox).await);
    assert!(succeeds(&read(&allowed), own.path(), &sandbox).await);
    assert!(!succeeds(&read(&other), own.path(), &sandbox).await);
}

#[tokio::test]
async fn no_link_and_no_process_of_others_leads_a_confined_command_outside() {
    let Some((mut sandbox, [own, other, _])) = sandbox_and_folders() else { return };
    sandbox.read = vec![own.path().to_owned()];
    std::fs::write(other.path().join("file"), "x").expect("it is written");
    let (file, process) = (other.path().join("file"), std::process::id());
    let file = file.display();
    for script in [
        format!("ln -s '{file}' link && cat link"),
        format!("ln '{file}' hard && cat hard"),
        format!("mv '{file}' here"),
        format!("echo x > link2 && ln -sf '{file}' link2 && echo y > link2"),
        format!("cat /proc/{process}/root'{file}'"),
        format!("cat /proc/{process}/environ"),
        format!("cat /proc/self/root'{file}'"),
    ] {
        assert!(!succeeds(&script, own.path(), &sandbox).await, "{script}");
    }
    assert_eq!(std::fs::read_to_string(other.path().join("file")).expect("it is there"), "x");
    assert!(succeeds("sleep 5 & kill $!", own.path(), &sandbox).await, "its own processes");
    if linux_is_at_least(6, 12) {
        assert!(!succeeds(&format!("kill -0 {process}"), own.path(), &sandbox).await);
    }
}

#[tokio::test]
async fn no_device_leads_a_confined_command_outside() {
    let Some((mut sandbox, [own, _, _])) = sandbox_and_folders() else { return };
    for script in [
        "echo x > /dev/null",
        "head -c 1 /dev/urandom",
        "echo x > /dev/shm/reknit-test && rm /dev/shm/reknit-test",
        "echo x | tee /dev/stderr",
    ] {
        assert!(succeeds(script, own.path(), &sandbox).await, "{script}");
    }
    for script in [
        // A disk under another name, and a line in the log of the kernel: as root, both would be possible.
        "mknod disk b 7 0",
        "mknod zero c 1 5",
        "echo reknit > /dev/kmsg",
        "exec 3<> /dev/ptmx",
    ] {
        assert!(!succeeds(script, own.path(), &sandbox).await, "{script}");
    }
    if linux_is_at_least(6, 10) {
        // What it can do to a terminal, it can type into one.
        assert!(!succeeds("stty -F /dev/ptmx", own.path(), &sandbox).await);
    }
    sandbox.write = vec![PathBuf::from("/dev")];
    assert!(succeeds("stty -F /dev/ptmx", own.path(), &sandbox).await, "where it is allowed");
    (sandbox.read, sandbox.write) = (vec![own.path().to_owned()], Vec::new());
    assert!(!succeeds("exec 3< /dev/ptmx", own.path(), &sandbox).await);
}

#[tokio::test]
async fn a_confined_command_of_root_cannot_change_the_kernel() {
    let Some(mut sandbox) = sandbox() else { return };
    let own = tempfile::tempdir().expect("a folder");
    let gives_up = |bits: &[u32]| {
        let bits = bits.iter().fold(0_u64, |bits, bit| bits | 1 << bit);
        format!("[ $(( 0x$(sed -n 's/^CapEff:\t//p' /proc/self/status) & {bits} )) = 0 ]")
    };
    // SYS_MODULE, SYS_RAWIO, SYS_PTRACE, SYS_ADMIN, SYS_BOOT, MKNOD, PERFMON, BPF.
    assert!(succeeds(&gives_up(&[16, 17, 19, 21, 22, 27, 38, 39]), own.path(), &sandbox).await);
    sandbox.network = false;
    if sandbox.describe().ends_with("it does not use TCP") {
        // NET_ADMIN, NET_RAW.
        assert!(succeeds(&gives_up(&[12, 13]), own.path(), &sandbox).await, "TCP by hand");
    }
}

#[tokio::test]
async fn a_confined_command_without_network_opens_no_connection() {
    let Some(mut sandbox) = sandbox() else { return };
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let connect = format!("bash -c 'exec 3<>/dev/tcp/127.0.0.1/{port}'");
    let own = tempfile::tempdir().expect("a folder");
    if !succeeds(&connect, own.path(), &sandbox).await {
        return say_skipped("there is no bash that opens connections");
    }
    sandbox.network = false;
    if sandbox.describe().ends_with("it does not use TCP") {
        assert!(!succeeds(&connect, own.path(), &sandbox).await);
    }
}

#[tokio::test]
async fn a_sandbox_that_cannot_be_set_up_prevents_the_start() {
    let Some(mut sandbox) = sandbox() else { return };
    sandbox.write = vec![PathBuf::from("/no/such/folder")];
    let mut options = script("echo x");
    options.sandbox = sandbox;
    let failure = made(options, "{}").await.expect_err("it does not start");
    assert_eq!(failure.kind, TransportKind::NotCallable);
    assert!(failure.message.contains("the sandbox cannot allow `/no/such/folder`"), "{failure}");
}
