//! What other processes can tell the driver of a run.

use reknit_engine::{Decision, EffectId, What};
use reknit_journal::Signal;
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
