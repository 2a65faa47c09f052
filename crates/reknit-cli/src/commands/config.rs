//! `reknit config`: shows the effective settings, and the reference page of all settings.

use std::process::ExitCode;

use clap::Subcommand;
use reknit_runtime::config::{self, SettingOrigin, ShowSettings};

use crate::output::{Failure, print_data, print_message};
use crate::setup::{
    AnswerBy, SetupArguments, config_with_arguments, default_journal_path, warn_of_unknown_variables,
    with_answer_author,
};

const SHOW_EXAMPLES: &str = "\
Examples:
  reknit config show
  REKNIT_PLAN_RETRY_MAX=5 reknit config show --changed
  reknit config show --json

The output is a configuration file with the same effect, with the origin of each value. It never contains API keys.";

const REFERENCE_EXAMPLES: &str = "\
Examples:
  reknit config reference | less
  reknit config reference | grep --before-context=3 '^call-time'";

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Print the effective settings, and where each value comes from
    #[command(after_help = SHOW_EXAMPLES)]
    Show {
        /// Print only settings that are set
        #[arg(long)]
        changed: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
        /// How the answer is written
        #[arg(long, value_name = "AUTHOR")]
        answer: Option<AnswerBy>,
        #[command(flatten)]
        setup: SetupArguments,
    },
    /// Print the reference page: every setting with its default, its variable and its effect
    #[command(after_help = REFERENCE_EXAMPLES)]
    Reference,
}

pub(crate) fn run(command: &ConfigCommand) -> Result<ExitCode, Failure> {
    let ConfigCommand::Show { changed, json, answer, setup: arguments } = command else {
        return print_data(&config::reference()).map(|()| ExitCode::SUCCESS);
    };
    let which = if *changed { ShowSettings::Changed } else { ShowSettings::All };
    let mut config = with_answer_author(config_with_arguments(arguments)?, *answer)?;
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
    let text = if *json { format!("{:#}\n", config.to_value(which)) } else { config.to_toml(which) };
    print_data(&text)?;
    if text.is_empty() {
        print_message("all settings have their default values\n");
    }
    warn_of_unknown_variables();
    Ok(ExitCode::SUCCESS)
}
