//! The calls of a run that wait for approval, as text and as JSON, and where values come from.

use reknit_engine::{AskPerson, Decision, Machine};
use reknit_expressions::{Backing, InputSource, Provenance, ResolvedBy};
use reknit_journal::{InboxMessage, Journal};
use reknit_plan::ITEM;
use reknit_protocol::{Object, Path, RunId, StepId, Value};
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
        let lines = self.ask.question.lines();
        let lines = lines.iter().map(|line| format!("{:<7} {}", format!("{}:", line.label), line.text));
        let lines: Vec<String> = lines.chain(self.origins()).collect();
        // On one line each, so that a tool cannot add lines of its own.
        let lines: Vec<String> = lines.iter().map(|line| one_line(line, usize::MAX)).collect();
        lines.join(&format!("\n{indent}"))
    }

    /// Where each parameter comes from, on one line; `None` if that is not known.
    fn origins(&self) -> Option<String> {
        let origins = self.ask.provenance.iter().map(|(name, origin)| format!("{name} {}", self.origin(origin)));
        let origins: Vec<String> = origins.collect();
        (!origins.is_empty()).then(|| format!("values: {}", origins.join("; ")))
    }

    fn origin(&self, origin: &Provenance) -> String {
        match origin {
            Provenance::Literal if self.ask.is_of_agent() => "written by the agent".to_owned(),
            origin => origin_text(origin),
        }
    }

    /// All that a program needs to decide.
    pub(crate) fn to_value(&self) -> Value {
        let question = &self.ask.question;
        let mut object = Object::from([("step", self.ask.step.as_str().into())]);
        object.extend(question.facts());
        if let Some(call) = question.call_facts() {
            object.extend(call);
            let origins = self.ask.provenance.iter().map(|(name, origin)| (name.clone(), self.origin(origin).into()));
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

const VALUE_COLUMNS: usize = 160;

pub(crate) fn origin_text(origin: &Provenance) -> String {
    match origin {
        Provenance::Literal => "from the plan".to_owned(),
        Provenance::Reference { step, path } => format!("from {}", source_text(step, path)),
        Provenance::Wired { step, path } => format!("wired from {}", source_text(step, path)),
        Provenance::Expression { text, inputs, .. } => {
            let inputs: Vec<String> = inputs
                .iter()
                .map(|input| match &input.source {
                    InputSource::Literal => input.value.to_string(),
                    InputSource::Reference { step, path } => {
                        format!("{} from {}", input.value, source_text(step, path))
                    }
                })
                .collect();
            one_line(&format!("computed: {text}, with {}", inputs.join(" and ")), VALUE_COLUMNS)
        }
        Provenance::Text { .. } => "text that contains results".to_owned(),
        Provenance::Nested { .. } => "built from results".to_owned(),
        Provenance::Resolved { by: ResolvedBy::Model, origin } => format!("{}, found by a model", origin_text(origin)),
        Provenance::Resolved { by: ResolvedBy::Learned, origin } => {
            format!("{}, as in an earlier run; no person has accepted this rule", origin_text(origin))
        }
        Provenance::Resolved { by: ResolvedBy::Accepted, origin } => {
            format!("{}, accepted mapping", origin_text(origin))
        }
        Provenance::Inferred => "inferred by a model".to_owned(),
        Provenance::Person => "written by a person".to_owned(),
        Provenance::Corrected { rung, backing } => match backing {
            Backing::Known => format!("corrected by {rung}"),
            Backing::Explained { text } => {
                one_line(&format!("corrected by {rung}; {text} gives the same value"), VALUE_COLUMNS)
            }
            Backing::Rule { rule, text } => one_line(&format!("{text}, by the learned rule {rule}"), VALUE_COLUMNS),
            Backing::Inferred => format!("inferred by a model ({rung})"),
        },
    }
}

/// A value inside the result of a step, or inside the item of a loop.
fn source_text(step: &StepId, path: &Path) -> String {
    match step.as_str() {
        ITEM if path.is_root() => "the item of the loop".to_owned(),
        ITEM => format!("the item of the loop at {path}"),
        step => format!("{step} at {path}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_from_the_item_of_a_loop_is_said_to_be_that() {
        let from = |path: Path| origin_text(&Provenance::Reference { step: ITEM.into(), path });
        assert_eq!(from(Path::root()), "from the item of the loop");
        assert_eq!(from(Path::root().key("id")), "from the item of the loop at $.id");
        let other = Provenance::Reference { step: "order".into(), path: Path::root().key("id") };
        assert_eq!(origin_text(&other), "from order at $.id");
    }
}
