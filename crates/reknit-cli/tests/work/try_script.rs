//! `./try`, as README.md and installation.md name it: with a program that is there, and with one that it builds.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use crate::world::{World, assert_contains};

/// A builder that takes its time, says what it does, and copies a program that is built already.
const SLOW_CARGO: &str = r#"#!/bin/sh
case "$1" in
  --version) echo "cargo 1.999.0" ;;
  tree) printf 'one v1\ntwo v1\nthree v1\n' ;;
  build)
    echo "   Compiling one v1.0.0 (/src/one)" >&2
    sleep 7
    echo "   Compiling two v1.0.0" >&2
    [ -z "$BREAK" ] || { echo "error: it does not compile" >&2; exit 101; }
    mkdir -p "$CARGO_TARGET_DIR/debug" && cp "$PROGRAM" "$CARGO_TARGET_DIR/debug/reknit" ;;
esac
"#;

fn script() -> Command {
    Command::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../try"))
}

#[test]
fn try_shows_the_demo_with_the_program_that_is_built_and_says_which() {
    let world = World::new();
    let program = env!("CARGO_BIN_EXE_reknit");
    let shown = world.show(&world.around(script(), &[]).env("REKNIT", program).output().expect("it can be run"));
    assert!(shown.starts_with("exit status 0 --- stdout\n100 Tesla shares bring 46,828.5 US dollars"), "{shown}");
    assert_contains(&shown, "--- stderr\nusing the program ");
    assert_contains(&shown, "To type `reknit`: export PATH=");
    assert!(!shown.contains("This program is small"), "it has every command: {shown}");
}

/// The folder of a world as the home of a person who has only this cargo.
fn with_slow_cargo(world: &World) -> Command {
    let cargo = world.path().join("bin/cargo");
    fs::create_dir(world.path().join("bin")).expect("a folder");
    fs::write(&cargo, SLOW_CARGO).expect("it is written");
    fs::set_permissions(&cargo, fs::Permissions::from_mode(0o755)).expect("it can be executed");
    let mut command = world.around(script(), &["--build"]);
    let path = format!("{}/bin:/usr/local/bin:/usr/bin:/bin", world.path().display());
    command.env("PATH", path).env("CARGO_TARGET_DIR", world.path().join("target"));
    command.env("PROGRAM", env!("CARGO_BIN_EXE_reknit"));
    command
}

#[test]
fn try_says_how_long_a_build_takes_and_what_it_does_meanwhile() {
    let world = World::new();
    let shown = world.show(&with_slow_cargo(&world).output().expect("it can be run"));
    assert!(shown.starts_with("exit status 0 --- stdout\n100 Tesla shares"), "{shown}");
    assert_contains(&shown, "building the program: about ");
    assert_contains(&shown, "1 of 3 packages begun, last: one v1.0.0");
    assert_contains(&shown, "  built in ");
}

#[test]
fn try_shows_why_a_build_failed() {
    let world = World::new();
    let shown = world.show(&with_slow_cargo(&world).env("BREAK", "1").output().expect("it can be run"));
    assert!(shown.starts_with("exit status 1 --- stderr\nbuilding the program"), "{shown}");
    assert_contains(&shown, "error: it does not compile\ntry: the build failed; what cargo said is above\n");
}
