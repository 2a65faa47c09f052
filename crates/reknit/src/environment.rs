//! Reads environment variables.

use std::collections::BTreeSet;
use std::env;
use std::ffi::OsString;

use reknit_protocol::spelling::nearest;
use reknit_runtime::config::{SETTINGS, Setting};

use crate::print::print_message;

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

/// Warns of `REKNIT_` variables that no setting has, since they have no effect.
pub(crate) fn warn_of_unknown_variables() {
    let known: BTreeSet<String> =
        SETTINGS.iter().flat_map(Setting::variables).chain([CONFIG_VARIABLE.to_owned()]).collect();
    let names = env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    for name in names.filter(|name| name.starts_with("REKNIT_") && !known.contains(name)) {
        let hint = match (setting_with_this_name(&name), nearest(&name, known.iter().map(String::as_str))) {
            (Some(setting), _) => {
                let [own, _] = setting.variables();
                format!("the variable of `{}` is `{own}`", setting.name)
            }
            (None, Some(nearest)) => format!("did you mean `{nearest}`?"),
            (None, None) => "`reknit config reference` lists all of them".to_owned(),
        };
        print_message(&format!("warning: no setting has the variable `{name}`; {hint}\n"));
    }
}

/// The setting whose name in the file would give this variable, although its own variable is another one.
fn setting_with_this_name(variable: &str) -> Option<&'static Setting> {
    let name = variable.strip_prefix("REKNIT_")?;
    let gives_variable = |known: &str| known.replace(['.', '-'], "_").eq_ignore_ascii_case(name);
    SETTINGS.iter().find(|setting| setting.names().any(gives_variable))
}
