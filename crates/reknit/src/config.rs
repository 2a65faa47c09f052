//! `reknit config`: what can be set, what is set, and where.

use std::collections::BTreeSet;
use std::env;
use std::io::{self, Write};
use std::process::ExitCode;

use reknit_protocol::spelling::nearest;
use reknit_runtime::config::{self, Origin, SETTINGS, Setting, Shown};

use crate::cli::{AnswerBy, WorkArguments};
use crate::failure::Failure;
use crate::work::{CONFIG_VARIABLE, configured, usual_journal, with_answer};

/// Prints settings as they count.
pub(crate) fn show(
    arguments: &WorkArguments,
    answer: Option<AnswerBy>,
    which: Shown,
    json: bool,
) -> Result<ExitCode, Failure> {
    let mut config = with_answer(configured(arguments)?, answer)?;
    // Without a place for the usual one there is none to be shown; whoever needs it is told.
    let journal = match (&arguments.files.journal, &config.journal) {
        (Some(path), _) => Some((path.clone(), Origin::Flag("--journal".to_owned()))),
        (None, Some(_)) => None,
        (None, None) => usual_journal().ok().map(|path| (path, Origin::Default)),
    };
    if let Some((path, origin)) = journal {
        config = config.with("journal.path", path.display().to_string(), origin)?;
    }
    let text = if json { format!("{:#}\n", config.to_value(which)) } else { config.to_toml(which) };
    let code = print(&text)?;
    if text.is_empty() {
        // Who cannot be told sees that nothing is printed.
        let _ = writeln!(io::stderr(), "nothing is set: every setting has its default");
    }
    warn_of_strangers();
    Ok(code)
}

/// Says which variables look like ours and are none: whoever set them waits for what they do.
pub(crate) fn warn_of_strangers() {
    let ours: BTreeSet<String> =
        SETTINGS.iter().flat_map(Setting::variables).chain([CONFIG_VARIABLE.to_owned()]).collect();
    let names = env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    for name in names.filter(|name| name.starts_with("REKNIT_") && !ours.contains(name)) {
        let hint = match (named_after(&name), nearest(&name, ours.iter().map(String::as_str))) {
            (Some(setting), _) => {
                let [own, _] = setting.variables();
                format!("that of `{}` is `{own}`", setting.name)
            }
            (None, Some(meant)) => format!("did you mean `{meant}`?"),
            (None, None) => "`reknit config reference` lists all there are".to_owned(),
        };
        let _ = writeln!(io::stderr(), "warning: no setting has the variable `{name}`; {hint}");
    }
}

/// The setting whose name in the file a variable is made of.
fn named_after(variable: &str) -> Option<&'static Setting> {
    let name = variable.strip_prefix("REKNIT_")?;
    SETTINGS.iter().find(|setting| setting.name.replace(['.', '-'], "_").eq_ignore_ascii_case(name))
}

/// Prints the reference page.
pub(crate) fn reference() -> Result<ExitCode, Failure> {
    print(&config::reference())
}

fn print(text: &str) -> Result<ExitCode, Failure> {
    write!(io::stdout(), "{text}").map_err(Failure::Write)?;
    Ok(ExitCode::SUCCESS)
}
