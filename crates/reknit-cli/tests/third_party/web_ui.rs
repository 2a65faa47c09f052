//! The pages of `reknit serve` in a real Chromium, with axe for readers who do not see them.

use std::process::Command;

use crate::server::{installed, sources};

#[test]
#[ignore = "needs Chromium"]
fn the_pages_are_live_small_and_readable_for_all_in_chromium() {
    if !installed().join("chromium").exists() {
        println!("skipped: there is no Chromium; install it: apt-get install chromium chromium-driver");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let output = Command::new(installed().join("python/bin/python"))
        .arg(sources().join("web_ui.py"))
        .arg(env!("CARGO_BIN_EXE_reknit"))
        .arg(installed().join("node_modules/axe-core/axe.min.js"))
        .arg(folder.path())
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("REKNIT_FIND_MODEL", "false")
        .env("XDG_DATA_HOME", folder.path().join("data"))
        .env("XDG_STATE_HOME", folder.path().join("state"))
        .output()
        .expect("Python can be started");
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    println!("{stdout}");
    assert!(output.status.success(), "{stdout}\n{stderr}");
}
