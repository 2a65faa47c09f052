//! The calls of a run that wait for approval, as text and as JSON.

use reknit_engine::{AskPerson, Decision, Effect, Machine, Question};
use reknit_journal::{InboxMessage, Journal};
use reknit_protocol::{Object, RunId, Value};
use reknit_runtime::signals;

use crate::failure::Failure;
use crate::terminal_text::escape_controls;

/// A call that waits for approval, and the decision about it that the run has not read yet.
#[derive(Debug, Clone)]
pub(crate) struct ApprovalRequest {
    pub(crate) ask: AskPerson,
    pub(crate) decided: Option<Decision>,
}

/// The messages to a run that it has not read yet.
pub(crate) async fn inbox(journal: &Journal, run: &RunId) -> Result<Vec<InboxMessage>, Failure> {
    journal.inbox(run).await.map_err(Failure::journal)
}

/// The calls that wait for approval, in the run and in the machines nested in it.
pub(crate) fn pending_approvals(machine: &Machine, messages: &[InboxMessage]) -> Vec<ApprovalRequest> {
    let asks = machine.pending().into_iter().filter_map(|effect| match effect {
        Effect::AskPerson(ask) => Some(ask),
        _ => None,
    });
    let decided = signals::decisions(messages);
    asks.map(|ask| ApprovalRequest { decided: decided.get(&ask.id).copied(), ask }).collect()
}

impl ApprovalRequest {
    /// The call as it would be sent, and why it needs approval.
    pub(crate) fn description(&self) -> String {
        escape_controls(&match &self.ask.question {
            Question::SendAgain { call } => format!(
                "send `{}` of `{}` again with {}; the first call may have taken effect (idempotency key: {})",
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

    /// All that a program needs to decide.
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
