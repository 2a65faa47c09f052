//! `reknit config`: shows the effective settings, and the reference page of all settings.

use std::process::ExitCode;

use reknit_runtime::config::{self, SettingOrigin, ShowSettings};

use crate::cli::{AnswerBy, SetupArguments};
use crate::environment::warn_of_unknown_variables;
use crate::failure::Failure;
use crate::print::{print_data, print_message};
use crate::setup::{config_with_arguments, default_journal_path, with_answer_author};

/// Prints the effective settings.
pub(crate) fn show(
    arguments: &SetupArguments,
    answer: Option<AnswerBy>,
    which: ShowSettings,
    json: bool,
) -> Result<ExitCode, Failure> {
    let mut config = with_answer_author(config_with_arguments(arguments)?, answer)?;
    config.check_effect_tools()?;
    // Without a data folder there is no default journal to show. Only commands that need one fail.
    let journal = match (&arguments.files.journal, &config.journal) {
        (Some(path), _) => Some((path.clone(), SettingOrigin::Flag("--journal".to_owned()))),
        (None, Some(_)) => None,
        (None, None) => default_journal_path().ok().map(|path| (path, SettingOrigin::Default)),
    };
    if let Some((path, origin)) = journal {
        config = config.with("journal.path", path.display().to_string(), origin)?;
    }
    let text = if json { format!("{:#}\n", config.to_value(which)) } else { config.to_toml(which) };
    print_data(&text)?;
    if text.is_empty() {
        print_message("all settings have their default values\n");
    }
    warn_of_unknown_variables();
    Ok(ExitCode::SUCCESS)
}

/// Prints the reference page.
pub(crate) fn reference() -> Result<ExitCode, Failure> {
    print_data(&config::reference())?;
    Ok(ExitCode::SUCCESS)
}
