//! Questions to models and their answers, word for word, for `reknit runs show --llm`.

use std::fmt::Write as _;

use reknit_engine::{Interaction, interactions};
use reknit_protocol::{Object, RunId, Value};

use super::saved::Saved;
use crate::failure::Failure;
use crate::finish::seconds;
use crate::show::visible;

/// All of them, as text or as JSON. Fails if the run keeps them to itself.
pub(super) fn text(run: &RunId, saved: &Saved, json: bool) -> Result<String, Failure> {
    let found = interactions(&saved.events()?).map_err(|error| Failure::Journal(Box::new(error)))?;
    let Some(found) = found else {
        return Err(Failure::Usage {
            what: format!("run `{run}` keeps what it asked models to itself"),
            hint: Some("let the next one show it: `export REKNIT_LLM_DEBUG_ENABLED=true`".to_owned()),
        });
    };
    if json {
        let document = Object::from([
            ("request_id", run.as_str().into()),
            ("created_at", saved.records.first().map_or(Value::Null, |record| record.at_ms.into())),
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
    // Writing to a string cannot fail.
    let _ = writeln!(
        page,
        "=== {}{step}, question {} to {}{temperature}, at most {} tokens; {}{usage}",
        interaction.purpose,
        interaction.attempt,
        interaction.target,
        interaction.request.max_tokens,
        seconds(interaction.duration_ms),
    );
    let answer = interaction.error().map_or_else(|| ("answer", interaction.response()), |error| ("error", error));
    for (title, words) in [("system", interaction.system_prompt()), ("prompt", interaction.prompt()), answer] {
        if !words.is_empty() {
            let seen = |c: char| if c == '\n' || c == '\t' { c } else { visible(c) };
            let words: String = words.trim_end().chars().map(seen).collect();
            let _ = writeln!(page, "--- {title}\n{words}");
        }
    }
    page
}
