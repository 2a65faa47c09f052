//! Reads environment variables.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;

/// The variable that names the configuration file.
pub(crate) const CONFIG_VARIABLE: &str = "REKNIT_CONFIG";

/// The value of a variable as text. Bytes that are not UTF-8 become replacement characters, which no setting accepts, so
/// that such a value is an error and does not count as unset.
pub(crate) fn variable(name: &str) -> Option<String> {
    os_variable(name).map(|value| value.to_string_lossy().into_owned())
}

/// The value of a variable. An empty variable counts as unset.
pub(crate) fn os_variable(name: &str) -> Option<OsString> {
    env::var_os(name).filter(|value| !value.is_empty())
}

/// All variables whose names and values are text, for a program that gets all of them.
#[cfg(all(feature = "mcp", feature = "serve"))]
pub(crate) fn variables() -> impl Iterator<Item = (String, String)> {
    env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
}

/// A folder of the user: what the variable names, or else this folder in the home. `None` if the environment names none.
pub(crate) fn user_folder(variable: &str, in_home: &str) -> Option<PathBuf> {
    // A relative path would name another folder in another folder.
    let folder = |name| os_variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    folder(variable).or_else(|| folder("HOME").map(|home| home.join(in_home)))
}

/// The folder for what the command keeps between runs.
pub(crate) fn state_folder() -> Option<PathBuf> {
    user_folder("XDG_STATE_HOME", ".local/state")
}
