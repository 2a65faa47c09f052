//! What happened to a step, a line each.

use reknit_engine::{Decision, Deed, Moment};
use reknit_mend::MendEffect;

use super::show::SHOWN;
use crate::finish::seconds;
use crate::show::one_line;

pub(super) fn lines(moments: &[Moment]) -> Vec<String> {
    let mut calls = 0;
    let mut line = |moment: &Moment| {
        let (word, text) = words(&moment.deed, &mut calls);
        let took = match moment.deed {
            Deed::Called { .. } | Deed::Asked { .. } | Deed::Waited => format!("  ({})", time(moment.took_ms)),
            _ => String::new(),
        };
        format!("  {word:<9}  {}{took}", one_line(&text, SHOWN))
    };
    moments.iter().map(&mut line).collect()
}

fn words(deed: &Deed, calls: &mut u32) -> (String, String) {
    let (word, text) = match deed {
        Deed::Called { parameters, error, mended, .. } => {
            *calls += 1;
            let outcome = error.as_deref().unwrap_or("accepted");
            let mended = match mended.as_slice() {
                [] => String::new(),
                fixes => format!(" (the JSON of the answer was mended: {})", fixes.join("; ")),
            };
            return (format!("attempt {calls}"), format!("{outcome}{mended} <- {parameters}"));
        }
        Deed::Asked { rung, target, usage: Some(usage), .. } => {
            let (sent, received) = (usage.input_tokens, usage.output_tokens);
            ("asked", format!("{target} for {rung}: {sent} tokens sent, {received} received"))
        }
        Deed::Asked { rung, target, error, usage: None } => {
            ("asked", format!("{target} for {rung}: {}", error.as_deref().unwrap_or("no answer")))
        }
        Deed::Waited => ("waited", "before the next try".to_owned()),
        Deed::TurnedAway => ("turned away", "what it needs rests".to_owned()),
        Deed::Decided { decision: Decision::Approve } => ("approved", "by a person".to_owned()),
        Deed::Decided { decision: Decision::Deny } => ("denied", "by a person".to_owned()),
        Deed::Interrupted => ("interrupted", "nobody knows how far the call got".to_owned()),
        Deed::Mended(mend) => {
            let word = if mend.effect == MendEffect::Applied { "mended" } else { "no help" };
            (word, format!("by {}: {}", mend.rung.as_str(), mend.words))
        }
    };
    (word.to_owned(), text)
}

/// `12 ms`, `4.2 s`.
fn time(ms: u64) -> String {
    if ms < 1_000 { format!("{ms} ms") } else { seconds(ms) }
}
