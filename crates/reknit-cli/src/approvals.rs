//! The calls of a run that wait for approval, as text and as JSON.

use std::sync::Arc;

use reknit_engine::{AskPerson, Decision, Effect, Machine, PreviewedCall, Question};
use reknit_journal::{InboxMessage, Journal};
use reknit_protocol::{CallTool, Object, RunId, Value};
use reknit_runtime::signals;

use crate::failure::Failure;
use crate::provenance_text::origin_text;
use crate::terminal_text::one_line;

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
        Effect::AskPerson(ask) => Some(Arc::unwrap_or_clone(ask)),
        _ => None,
    });
    let decided = signals::decisions(messages);
    asks.map(|ask| ApprovalRequest { decided: decided.get(&ask.id).cloned(), ask }).collect()
}

impl ApprovalRequest {
    /// What failed and why, then the change, then the call as it would be sent: one line each, the lines after the first
    /// indented.
    pub(crate) fn description(&self, indent: &str) -> String {
        let lines = match &self.ask.question {
            Question::RunPlan { calls, tool_calls, money } => {
                let money = money.map_or_else(String::new, |money| format!(" and a cost of {money}"));
                let limits = format!("limit:  {tool_calls} tool calls{money}");
                let call = |call: &PreviewedCall| format!("call:   {}: {}", call.step, preview_text(call));
                calls.iter().map(call).chain([limits]).collect()
            }
            Question::SendCall { call, reason } => {
                vec![format!("call:   {}", call_text(call)), format!("reason: {reason}")]
            }
            Question::SendAgain { call, error, check } => {
                let again = format!(
                    "again:  {}; the first call may have taken effect (idempotency key: {})",
                    call_text(call),
                    call.idempotency_key.as_deref().unwrap_or("none")
                );
                let check = check.iter().map(|found| format!("check:  {found}"));
                [format!("failed: {error}")].into_iter().chain(check).chain([again]).collect()
            }
            Question::SendCorrected { call, error, change, reason, .. } => vec![
                format!("failed: {error}"),
                format!("change: {change}"),
                format!("reason: {reason}"),
                format!("call:   {}", call_text(call)),
            ],
        };
        let lines: Vec<String> = lines.into_iter().chain(self.origins()).collect();
        // On one line each, so that a tool cannot add lines of its own.
        let lines: Vec<String> = lines.iter().map(|line| one_line(line, usize::MAX)).collect();
        lines.join(&format!("\n{indent}"))
    }

    /// Where each parameter comes from, on one line; `None` if that is not known.
    fn origins(&self) -> Option<String> {
        let origins = self.ask.provenance.iter().map(|(name, origin)| format!("{name} {}", origin_text(origin)));
        let origins: Vec<String> = origins.collect();
        (!origins.is_empty()).then(|| format!("values: {}", origins.join("; ")))
    }

    /// All that a program needs to decide.
    pub(crate) fn to_value(&self) -> Value {
        let (kind, error) = match &self.ask.question {
            Question::RunPlan { .. } => ("run_plan", None),
            Question::SendCall { .. } => ("send_call", None),
            Question::SendAgain { error, .. } => ("send_again", Some(error)),
            Question::SendCorrected { error, .. } => ("send_corrected", Some(error)),
        };
        let mut object = Object::from([("step", self.ask.step.as_str().into()), ("kind", kind.into())]);
        object.extend(error.map(|error| ("error".to_owned(), error.as_str().into())));
        if let Some(call) = self.ask.question.call() {
            object.extend([
                ("agent".to_owned(), call.agent.as_str().into()),
                ("capability".to_owned(), call.capability.as_str().into()),
                ("class".to_owned(), call.side_effect.as_str().into()),
                ("parameters".to_owned(), Value::Object(call.parameters.clone())),
            ]);
            let origins = self.ask.provenance.iter().map(|(name, origin)| (name.clone(), origin_text(origin).into()));
            object.insert("values", Value::Object(origins.collect()));
        }
        object.insert("expires_ms", self.ask.expires_ms);
        match &self.ask.question {
            Question::RunPlan { calls, tool_calls, money } => {
                object.insert("calls", calls.iter().map(preview_value).collect::<Value>());
                object.insert("tool_calls", *tool_calls);
                object.extend(money.map(|money| ("money".to_owned(), money.to_string().into())));
            }
            Question::SendCall { reason, .. } => {
                object.insert("reason", reason.as_str());
            }
            Question::SendCorrected { change, reason, .. } => {
                object.insert("change", change.as_str());
                object.insert("reason", reason.as_str());
            }
            Question::SendAgain { check: Some(found), .. } => {
                object.insert("check", found.as_str());
            }
            Question::SendAgain { check: None, .. } => {}
        }
        if let Some(decision) = &self.decided {
            object.insert("decided", decision.as_str());
        }
        Value::Object(object)
    }
}

fn call_text(call: &CallTool) -> String {
    let class = call.side_effect.as_str();
    format!("`{}` of `{}` ({class}) with {}", call.capability, call.agent, call.parameters)
}

fn preview_text(call: &PreviewedCall) -> String {
    let class = call.side_effect.as_str();
    let items = call.foreach.as_ref().map_or_else(String::new, |list| format!(", for each item of `{list}`"));
    format!("`{}` of `{}` ({class}) with {}{items}", call.capability, call.agent, call.parameters)
}

fn preview_value(call: &PreviewedCall) -> Value {
    Value::Object(Object::from([
        ("step", call.step.as_str().into()),
        ("agent", call.agent.as_str().into()),
        ("capability", call.capability.as_str().into()),
        ("class", call.side_effect.as_str().into()),
        ("parameters", Value::Object(call.parameters.clone())),
        ("foreach", call.foreach.as_deref().map_or(Value::Null, Value::from)),
    ]))
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
