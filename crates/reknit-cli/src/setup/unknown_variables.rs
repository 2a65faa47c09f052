//! Finds environment variables that have no effect.

use std::collections::BTreeSet;
use std::env;

use reknit_protocol::spelling::nearest;
use reknit_runtime::config::{CALLBACK_SECRET_VARIABLE, SETTINGS, Setting, VARIABLE_PREFIXES as PREFIXES};

use crate::environment::CONFIG_VARIABLE;
use crate::output::print_warning;

/// The prefix of our own variables; programs of the same protocol share the other one.
const OWN_PREFIX: &str = "REKNIT_";

/// Warns of variables with our prefixes that no setting has, since they have no effect.
pub(crate) fn warn_of_unknown_variables() {
    let known: BTreeSet<String> = SETTINGS
        .iter()
        .flat_map(Setting::variables)
        .chain([CONFIG_VARIABLE.to_owned(), CALLBACK_SECRET_VARIABLE.to_owned()])
        .collect();
    let names = env::vars_os().filter_map(|(name, _)| name.into_string().ok()).filter(|name| !known.contains(name));
    for name in names {
        let Some((prefix, rest)) = PREFIXES.iter().find_map(|prefix| Some((*prefix, name.strip_prefix(prefix)?)))
        else {
            continue;
        };
        // Without the prefix: a long name may differ in more letters.
        let candidates = known.iter().filter_map(|known| known.strip_prefix(prefix));
        let hint = match (setting_with_this_name(rest), nearest(rest, candidates)) {
            (Some(setting), _) => {
                let [own, _] = setting.variables();
                format!("the variable of `{}` is `{own}`", setting.name)
            }
            (None, Some(nearest)) => format!("did you mean `{prefix}{nearest}`?"),
            (None, None) if is_foreign(prefix, &name, &known) => continue,
            (None, None) => "`reknit config reference` lists all of them".to_owned(),
        };
        print_warning(&format!("no setting has the variable `{name}`; {hint}"));
    }
}

/// Whether a variable may belong to another program: not with our own prefix, nor if one of our variables begins with the
/// same words, up to the last one.
fn is_foreign(prefix: &str, name: &str, known: &BTreeSet<String>) -> bool {
    let Some((group, _)) = name.rsplit_once('_') else { return true };
    let is_group = group.trim_start_matches(prefix).contains('_');
    prefix != OWN_PREFIX && !(is_group && known.iter().any(|known| known.starts_with(&format!("{group}_"))))
}

/// The setting whose name in the file would give this variable (without its prefix), although its own variable is another
/// one.
fn setting_with_this_name(variable: &str) -> Option<&'static Setting> {
    let gives_variable = |known: &str| known.replace(['.', '-'], "_").eq_ignore_ascii_case(variable);
    SETTINGS.iter().find(|setting| setting.names().any(gives_variable))
}
