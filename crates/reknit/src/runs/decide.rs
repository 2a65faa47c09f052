//! `reknit runs approve` and `reknit runs deny`.

use std::io::{self, Write};
use std::process::ExitCode;

use reknit_engine::Decision;

use super::saved::{find, read_back};
use crate::cli::JournalArguments;
use crate::failure::Failure;
use crate::questions::{Asked, asked, inbox};
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
    let asked = asked(&saved.run, &inbox(&journal, &run).await?);
    let (wanted, others): (Vec<Asked>, Vec<Asked>) =
        asked.into_iter().partition(|asked| step.is_none_or(|wanted| wanted == asked.ask.step.as_str()));
    if wanted.is_empty() {
        let steps: Vec<&str> = others.iter().map(|asked| asked.ask.step.as_str()).collect();
        return Err(match step {
            Some(step) if !steps.is_empty() => Failure::Usage {
                what: format!("run `{run}` asks nothing about a step `{step}`"),
                hint: Some(format!("it asks about: {}", steps.join(", "))),
            },
            _ => Failure::Usage {
                what: format!("run `{run}` does not wait for a person"),
                hint: Some(format!("see how it stands with `reknit runs show {run}`")),
            },
        });
    }
    for question in wanted {
        // What exactly is decided is said before it is sent: the hash allows nothing else.
        writeln!(io::stdout(), "{}: {}", heading(question.decided, decision), question.words())
            .map_err(Failure::Write)?;
        if question.decided != Some(decision) {
            let signal = reknit_runtime::signals::decide(question.ask.id, question.ask.hash, decision);
            let now_ms = jiff::Timestamp::now().as_millisecond();
            journal.send(&run, signal, now_ms).await?;
        }
    }
    let _ = writeln!(io::stderr(), "\nhint: go on with `reknit runs resume {run}`");
    Ok(ExitCode::SUCCESS)
}

/// What a decision does to the one before it.
fn heading(before: Option<Decision>, now: Decision) -> String {
    match before {
        None => now.as_str().to_owned(),
        Some(before) if before == now => format!("{} already", now.as_str()),
        Some(before) => format!("{}, and no longer {}", now.as_str(), before.as_str()),
    }
}
