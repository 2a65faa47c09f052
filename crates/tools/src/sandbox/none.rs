//! A build that cannot confine programs.

#[cfg(feature = "commands")]
use std::io;
#[cfg(feature = "commands")]
use std::path::Path;

#[cfg(feature = "commands")]
use super::{Sandbox, SandboxMode};

const REASON: &str = "this program was built without the feature `sandbox`";

/// As on a system that cannot confine programs: one that must be confined does not start.
#[cfg(feature = "commands")]
pub(super) fn restrict_thread(sandbox: &Sandbox, _folder: &Path) -> io::Result<()> {
    match sandbox.mode {
        SandboxMode::Required => Err(io::Error::other(format!("the sandbox is required, but {REASON}"))),
        SandboxMode::Auto | SandboxMode::Off => Ok(()),
    }
}

pub(super) fn check_kernel() -> Result<(), String> {
    Err(REASON.to_owned())
}

pub(super) fn can_deny_tcp() -> bool {
    false
}
