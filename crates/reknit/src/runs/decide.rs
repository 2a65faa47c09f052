//! `reknit runs approve` and `reknit runs deny`.

use std::io::{self, Write};
use std::process::ExitCode;

use reknit_engine::{Decision, Effect, Question};

use super::saved::{find, read_back};
use crate::cli::JournalArguments;
use crate::failure::Failure;
use crate::work;

pub(super) async fn run(
    files: &JournalArguments,
    name: &str,
    step: Option<&str>,
    decision: Decision,
) -> Result<ExitCode, Failure> {
    let journal = work::open(&work::config(files.config.as_deref())?, files)?;
    let run = find(&journal, name).await?;
    let saved = read_back(&journal, &run).await?;
    let mut decided = 0;
    for effect in saved.run.pending() {
        let Effect::AskPerson(ask) = effect else { continue };
        if step.is_some_and(|wanted| wanted != ask.step.as_str()) {
            continue;
        }
        let word = match decision {
            Decision::Approve => "approved",
            Decision::Deny => "denied",
        };
        // What exactly is decided is said before it is sent: the hash allows nothing else.
        writeln!(io::stdout(), "{word}: {}", question(&ask.question)).map_err(Failure::Write)?;
        let signal = reknit_runtime::signals::decide(ask.id, ask.hash, decision);
        let now_ms = jiff::Timestamp::now().as_millisecond();
        journal.send(&run, signal, now_ms).await?;
        decided += 1;
    }
    if decided == 0 {
        return Err(Failure::Usage {
            what: format!("run `{run}` does not wait for a person"),
            hint: Some(format!("see how it stands with `reknit runs show {run}`")),
        });
    }
    let _ = writeln!(io::stderr(), "\nhint: go on with `reknit runs resume {run}`");
    Ok(ExitCode::SUCCESS)
}

/// What is asked, with the call as it would be sent.
pub(super) fn question(question: &Question) -> String {
    match question {
        Question::SendAgain { call } => format!(
            "send `{}` of `{}` again with {}, though it may have happened (key {})",
            call.capability,
            call.agent,
            call.parameters,
            call.key.as_deref().unwrap_or("none")
        ),
        Question::SendCorrected { call, reason } => {
            format!("send `{}` of `{}` with {}: {reason}", call.capability, call.agent, call.parameters)
        }
    }
}
