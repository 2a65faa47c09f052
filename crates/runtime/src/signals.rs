//! What other processes can tell the driver of a run.

use std::collections::BTreeMap;

use reknit_engine::{Decision, What};
use reknit_journal::{Letter, Signal};
use reknit_protocol::EffectId;
use serde::{Deserialize, Serialize};

const CANCEL: &str = "cancel";
const STOP: &str = "stop";
const DECIDE: &str = "decide";

#[derive(Serialize, Deserialize)]
struct Decided {
    effect: EffectId,
    hash: String,
    decision: Decision,
}

/// A wish that a run end.
pub fn cancel() -> Signal {
    Signal::new(CANCEL, "{}")
}

/// A wish that a session come to its report.
pub fn stop() -> Signal {
    Signal::new(STOP, "{}")
}

/// A decision about one question, named by its effect and its hash.
pub fn decide(effect: EffectId, hash: String, decision: Decision) -> Signal {
    let body = serde_json::to_string(&Decided { effect, hash, decision });
    // Three texts and a word can always be written.
    Signal::new(DECIDE, body.unwrap_or_default())
}

/// The last word about each question that a letter in an inbox decides.
pub fn decided(letters: &[Letter]) -> BTreeMap<EffectId, Decision> {
    let decided = letters.iter().filter_map(|letter| match meaning(&letter.signal) {
        What::PersonDecided { effect, decision, .. } => Some((effect, decision)),
        _ => None,
    });
    decided.collect()
}

/// What an inbox means to a run.
pub(crate) fn meanings(letters: &[Letter]) -> Vec<What> {
    last_words(&letters.iter().map(|letter| meaning(&letter.signal)).collect::<Vec<_>>())
}

/// Who decides twice means the second; the first is kept as a note.
fn last_words(said: &[What]) -> Vec<What> {
    let is_replaced = |index: usize, effect: &EffectId| {
        let mut later = said.iter().skip(index + 1);
        later.any(|what| matches!(what, What::PersonDecided { effect: same, .. } if same == effect))
    };
    let means = |(index, what): (usize, &What)| match what {
        What::PersonDecided { effect, decision, .. } if is_replaced(index, effect) => {
            let word = decision.as_str();
            What::NotUnderstood { words: format!("`{effect}` was {word}, and decided anew before the run went on") }
        }
        what => what.clone(),
    };
    said.iter().enumerate().map(means).collect()
}

/// What a signal means to a run. One that is not ours must not stop it, and must not be lost.
pub(crate) fn meaning(signal: &Signal) -> What {
    match signal.kind.as_str() {
        CANCEL => What::Cancelled,
        STOP => What::Stopped,
        DECIDE => match serde_json::from_str(&signal.body) {
            Ok(Decided { effect, hash, decision }) => What::PersonDecided { effect, hash, decision },
            Err(error) => What::NotUnderstood { words: format!("a decision that cannot be read: {error}") },
        },
        other => What::NotUnderstood { words: format!("a signal of the unknown kind `{other}`") },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decided(effect: &str, decision: Decision) -> What {
        What::PersonDecided { effect: effect.parse().unwrap(), hash: "h".to_owned(), decision }
    }

    #[test]
    fn of_two_decisions_about_one_question_the_second_counts_and_the_first_is_noted() {
        let said = [
            decided("pay/approval/1", Decision::Approve),
            decided("buy/approval/1", Decision::Approve),
            What::Cancelled,
            decided("pay/approval/1", Decision::Deny),
        ];
        let words = "`pay/approval/1` was approved, and decided anew before the run went on".to_owned();
        let [_, buy, cancelled, deny] = said.clone();
        assert_eq!(last_words(&said), [What::NotUnderstood { words }, buy, cancelled, deny]);
    }
}
