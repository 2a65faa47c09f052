//! `reknit config`: what can be set, what is set, and where.

use std::io::{self, Write};
use std::process::ExitCode;

use reknit_runtime::config::{self, Origin};

use crate::cli::{AnswerBy, WorkArguments};
use crate::failure::Failure;
use crate::work::{configured, with_answer};

/// Prints every setting as it counts.
pub(crate) fn show(arguments: &WorkArguments, answer: Option<AnswerBy>, json: bool) -> Result<ExitCode, Failure> {
    let mut config = with_answer(configured(arguments)?, answer)?;
    if let Some(path) = &arguments.files.journal {
        config = config.with("journal.path", path.display().to_string(), Origin::Flag("--journal".to_owned()))?;
    }
    print(&if json { format!("{:#}\n", config.to_value()) } else { config.to_toml() })
}

/// Prints the reference page.
pub(crate) fn reference() -> Result<ExitCode, Failure> {
    print(&config::reference())
}

fn print(text: &str) -> Result<ExitCode, Failure> {
    write!(io::stdout(), "{text}").map_err(Failure::Write)?;
    Ok(ExitCode::SUCCESS)
}
