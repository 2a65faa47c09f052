//! What cargo knows about the workspace.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde::de::DeserializeOwned;

/// The folder that holds the root `Cargo.toml`.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("crates/reknit-cli is two folders deep").to_owned()
}

/// `cargo metadata` with every feature and platform, as much of it as `T` asks for.
pub(crate) fn cargo_metadata<T: DeserializeOwned>() -> T {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version=1", "--locked", "--all-features"])
        .current_dir(root())
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "cargo metadata failed:\n{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("cargo metadata prints JSON as documented")
}
