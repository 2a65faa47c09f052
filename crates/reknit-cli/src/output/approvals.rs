//! The calls of a run that wait for approval, as text and as JSON.

use reknit_engine::{AskPerson, Decision, Machine};
use reknit_journal::{InboxMessage, Journal};
use reknit_protocol::{Object, RunId, Value};
use reknit_runtime::signals;

use crate::output::{Failure, one_line};

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
    let decided = signals::decisions(messages);
    let asks = machine.questions().into_iter();
    asks.map(|ask| ApprovalRequest { decided: decided.get(&ask.id).cloned(), ask }).collect()
}

impl ApprovalRequest {
    /// What failed and why, then the change, then the call as it would be sent: one line each, the lines after the first
    /// indented.
    pub(crate) fn description(&self, indent: &str) -> String {
        let lines = self.ask.lines();
        let lines = lines.iter().map(|line| format!("{:<7} {}", format!("{}:", line.label), line.text));
        let lines: Vec<String> = lines.collect();
        // On one line each, so that a tool cannot add lines of its own.
        let lines: Vec<String> = lines.iter().map(|line| one_line(line, usize::MAX)).collect();
        lines.join(&format!("\n{indent}"))
    }

    /// All that a program needs to decide.
    pub(crate) fn to_value(&self) -> Value {
        let question = &self.ask.question;
        let mut object = Object::from([("step", self.ask.step.as_str().into())]);
        object.extend(question.facts());
        if let Some(call) = question.call_facts() {
            object.extend(call);
            let origins = self.ask.origins().into_iter().map(|(name, origin)| (name, origin.into()));
            object.insert("values", Value::Object(origins.collect()));
        }
        object.insert("expires_ms", self.ask.expires_ms);
        if let Some(decision) = &self.decided {
            object.insert("decided", decision.as_str());
        }
        Value::Object(object)
    }
}

/// What a decision adds to its name: the parameters of an edit, the reason of a denial.
pub(crate) fn decision_detail(decision: &Decision) -> Option<String> {
    let text = match decision {
        Decision::Edit { parameters } => format!("with:   {parameters}"),
        Decision::Deny { reason: Some(reason) } => format!("because: {reason}"),
        _ => return None,
    };
    Some(one_line(&text, usize::MAX))
}
