//! What runs ask people, as people and programs read it.

use reknit_engine::{AskPerson, Decision, Effect, Machine, Question};
use reknit_journal::{Journal, Letter};
use reknit_protocol::{Object, RunId, Value};
use reknit_runtime::signals;

use crate::failure::Failure;
use crate::show::harmless;

/// A question, and what was decided about it since somebody last drove the run.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) ask: AskPerson,
    pub(crate) decided: Option<Decision>,
}

/// What was sent to a run and waits for somebody to drive it.
pub(crate) async fn inbox(journal: &Journal, run: &RunId) -> Result<Vec<Letter>, Failure> {
    journal.inbox(run).await.map_err(|error| Failure::Journal(Box::new(error)))
}

/// All that a run, or whatever runs inside it, asks.
pub(crate) fn asked(machine: &Machine, letters: &[Letter]) -> Vec<Asked> {
    let asks = machine.pending().into_iter().filter_map(|effect| match effect {
        Effect::AskPerson(ask) => Some(ask),
        _ => None,
    });
    let decided = signals::decided(letters);
    asks.map(|ask| Asked { decided: decided.get(&ask.id).copied(), ask }).collect()
}

impl Asked {
    /// What is asked, with the call as it would be sent.
    pub(crate) fn words(&self) -> String {
        harmless(&match &self.ask.question {
            Question::SendAgain { call } => format!(
                "send `{}` of `{}` again with {}, though it may have happened (key {})",
                call.capability,
                call.agent,
                call.parameters,
                call.idempotency_key.as_deref().unwrap_or("none")
            ),
            Question::SendCorrected { call, reason } => {
                format!("send `{}` of `{}` with {}: {reason}", call.capability, call.agent, call.parameters)
            }
        })
    }

    /// All that a program needs to decide it.
    pub(crate) fn to_value(&self) -> Value {
        let (kind, call, reason) = match &self.ask.question {
            Question::SendAgain { call } => ("send_again", call, None),
            Question::SendCorrected { call, reason } => ("send_corrected", call, Some(reason)),
        };
        let mut object = Object::from([
            ("step", self.ask.step.as_str().into()),
            ("kind", kind.into()),
            ("agent", call.agent.as_str().into()),
            ("capability", call.capability.as_str().into()),
            ("parameters", Value::Object(call.parameters.clone())),
            ("expires_ms", self.ask.expires_ms.into()),
        ]);
        if let Some(reason) = reason {
            object.insert("reason", reason.as_str());
        }
        if let Some(decision) = self.decided {
            object.insert("decided", decision.as_str());
        }
        Value::Object(object)
    }
}
