//! A folder that a sandbox does not allow by itself.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// A new folder that confined programs may not write; `None` if this user can write only where they may.
///
/// The target folder is a good place, unless the clone lies among temporary files or in a cache: a sandbox allows those.
pub(crate) fn outside_folder() -> Option<TempDir> {
    let variable = |name| std::env::var_os(name).map(PathBuf::from);
    let home = variable("HOME");
    let allowed: Vec<PathBuf> = [Some("/tmp".into()), Some("/var/tmp".into()), Some("/dev".into()), variable("TMPDIR")]
        .into_iter()
        .chain([home.as_ref().map(|home| home.join(".cache"))])
        .flatten()
        .filter_map(|folder| folder.canonicalize().ok())
        .collect();
    let is_outside =
        |place: &Path| place.canonicalize().is_ok_and(|place| allowed.iter().all(|folder| !place.starts_with(folder)));
    [Some(env!("CARGO_TARGET_TMPDIR").into()), home, variable("XDG_RUNTIME_DIR"), Some("/var/lib".into())]
        .into_iter()
        .flatten()
        .filter(|place: &PathBuf| is_outside(place))
        .find_map(|place| tempfile::tempdir_in(place).ok())
}

/// Says that a test is skipped, also if the test runner hides the output of tests that pass.
pub(crate) fn say_skipped(reason: &str) {
    let test = std::thread::current().name().unwrap_or_default().to_owned();
    // Without standard error, nobody can be told.
    let _ = writeln!(std::io::stderr(), "{test} is skipped: {reason}");
}
