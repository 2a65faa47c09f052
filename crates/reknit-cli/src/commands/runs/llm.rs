//! `reknit runs show --llm`: the full prompts and answers of models.

use std::fmt::Write as _;
use std::os::unix::fs::MetadataExt as _;

use reknit_engine::Event;
use reknit_journal::Journal;
use reknit_protocol::{Object, RunId, Value};
use reknit_telemetry::{Interaction, interactions, owner_interactions};

use crate::output::{Failure, seconds, visible_char};

/// Who reads a journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reader {
    /// Its owner, who sees everything.
    Owner,
    /// Another user of this machine, who sees what the policy of a run shows.
    Other,
}

/// Who this process reads a journal for. A journal in memory belongs to its process.
pub(crate) fn reader_of(journal: &Journal) -> Reader {
    let Some(file) = journal.path() else { return Reader::Owner };
    let owner = std::fs::metadata(file).map(|file| file.uid());
    match owner {
        Ok(owner) if owner == rustix::process::geteuid().as_raw() => Reader::Owner,
        _ => Reader::Other,
    }
}

/// All prompts and answers, as text or as JSON. Fails if the policy of the run hides them from this reader.
pub(super) fn text(run: &RunId, events: &[Event], reader: Reader, json: bool) -> Result<String, Failure> {
    let found = match reader {
        Reader::Owner => Some(owner_interactions(events).map_err(Failure::journal)?),
        Reader::Other => interactions(events).map_err(Failure::journal)?,
    };
    let Some(found) = found else {
        return Err(Failure::usage(
            format!(
                "the journal belongs to another user, and LLM debugging is not enabled for run `{run}`, so its prompts and answers are not shown"
            ),
            "ask the owner of the journal to set `REKNIT_LLM_DEBUG_ENABLED=true` for the next run",
        ));
    };
    if json {
        let document = Object::from([
            ("request_id", run.as_str().into()),
            ("created_at", events.first().map_or(Value::Null, |event| Value::from(event.at_ms))),
            ("interactions", found.iter().map(Interaction::to_value).collect()),
        ]);
        return Ok(Value::Object(document).to_string() + "\n");
    }
    Ok(found.iter().map(page).collect::<Vec<_>>().join("\n"))
}

fn page(interaction: &Interaction) -> String {
    let mut page = String::new();
    let step = interaction.step.as_ref().map_or_else(String::new, |step| format!(" of {step}"));
    let usage = interaction.outcome.as_ref().map_or_else(
        |_| String::new(),
        |answer| format!(", {} tokens in, {} out", answer.usage.input_tokens, answer.usage.output_tokens),
    );
    let temperature =
        interaction.request.temperature.map_or_else(String::new, |temperature| format!(", temperature {temperature}"));
    let _ = writeln!(
        page,
        "=== {}{step}, attempt {} with {}{temperature}, at most {} tokens; {}{usage}",
        interaction.purpose,
        interaction.attempt,
        interaction.target,
        interaction.request.max_tokens,
        seconds(interaction.duration_ms),
    );
    let answer = interaction.error().map_or_else(|| ("answer", interaction.response()), |error| ("error", error));
    for (title, text) in [("system", interaction.system_prompt()), ("prompt", interaction.prompt()), answer] {
        if !text.is_empty() {
            let shown = |c: char| if c == '\n' || c == '\t' { c } else { visible_char(c) };
            let text: String = text.trim_end().chars().map(shown).collect();
            let _ = writeln!(page, "--- {title}\n{text}");
        }
    }
    page
}
