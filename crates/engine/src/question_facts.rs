//! A question to a person in words and as JSON: the same at the terminal, for an MCP client, for the webhook and in the HTTP API.

use reknit_expressions::{Backing, InputSource, Provenance, ResolvedBy};
use reknit_plan::ITEM;
use reknit_protocol::{CallTool, Object, Path, StepId, Value};

use crate::effect::{AskPerson, ItemCall, PreviewedCall, Question};

/// One line about a question: its label and its text. The text may contain line breaks of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuestionLine {
    /// The label: `call`, `item`, `failed`, `change`, `reason`, `check`, `again`, `limit` or `values`.
    pub label: &'static str,
    pub text: String,
}

fn line(label: &'static str, text: impl Into<String>) -> QuestionLine {
    QuestionLine { label, text: text.into() }
}

impl AskPerson {
    /// The lines of the question, then one with where each parameter of the call comes from.
    pub fn lines(&self) -> Vec<QuestionLine> {
        let origins: Vec<String> = self.origins().iter().map(|(name, origin)| format!("{name} {origin}")).collect();
        let values = (!origins.is_empty()).then(|| line("values", origins.join("; ")));
        self.question.lines().into_iter().chain(values).collect()
    }

    /// Where each parameter of the call comes from.
    pub fn origins(&self) -> Vec<(String, String)> {
        let origin = |origin: &Provenance| match origin {
            Provenance::Literal if self.is_of_agent() => "written by the agent".to_owned(),
            origin => describe_origin(origin),
        };
        self.provenance.iter().map(|(name, from)| (name.clone(), origin(from))).collect()
    }
}

impl Question {
    /// The kind in JSON: `send_call`, `send_items`, `run_plan`, `send_again` or `send_corrected`.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::SendCall { .. } => "send_call",
            Self::RunPlan { .. } => "run_plan",
            Self::SendItems { .. } => "send_items",
            Self::SendAgain { .. } => "send_again",
            Self::SendCorrected { .. } => "send_corrected",
        }
    }

    /// What failed and why, then the change, then the call as it would be sent.
    pub fn lines(&self) -> Vec<QuestionLine> {
        match self {
            Self::RunPlan { calls, tool_calls, money } => {
                let money = money.map_or_else(String::new, |money| format!(" and a cost of {money}"));
                let limit = line("limit", format!("{tool_calls} tool calls{money}"));
                let call = |call: &PreviewedCall| line("call", format!("{}: {}", call.step, preview_text(call)));
                calls.iter().map(call).chain([limit]).collect()
            }
            Self::SendItems { tool: agent, capability, side_effect, calls, reason } => {
                let class = side_effect.as_str();
                let count = calls.len();
                let head = line(
                    "call",
                    format!("`{capability}` of `{agent}` ({class}), {count} calls; the answer counts for all of them"),
                );
                let item = |call: &ItemCall| line("item", format!("{}: {}", call.step, call.parameters));
                [head].into_iter().chain(calls.iter().map(item)).chain([line("reason", reason)]).collect()
            }
            Self::SendCall { call, reason, change } => {
                let change = (!change.is_empty()).then(|| line("change", change));
                [line("call", call_text(call))].into_iter().chain(change).chain([line("reason", reason)]).collect()
            }
            Self::SendAgain { call, error, check } => {
                let key = call.idempotency_key.as_deref().unwrap_or("none");
                let again =
                    format!("{}; the first call may have taken effect (idempotency key: {key})", call_text(call));
                let check = check.iter().map(|found| line("check", found));
                [line("failed", error)].into_iter().chain(check).chain([line("again", again)]).collect()
            }
            Self::SendCorrected { call, error, change, reason, .. } => {
                let change = (!change.is_empty()).then(|| line("change", change));
                let rest = [line("reason", reason), line("call", call_text(call))];
                [line("failed", error)].into_iter().chain(change).chain(rest).collect()
            }
        }
    }

    /// The facts of [`Question::lines`] for a program, without the call.
    pub fn facts(&self) -> Object {
        let mut facts = Object::from([("kind", self.kind().into()), ("rule", self.rule().into())]);
        let texts: Vec<(&str, &str)> = match self {
            Self::SendCall { reason, change, .. } => {
                let change = (!change.is_empty()).then_some(("change", change.as_str()));
                [("reason", reason.as_str())].into_iter().chain(change).collect()
            }
            Self::SendItems { tool: agent, capability, side_effect, calls, reason } => {
                facts.insert("agent", agent.as_str());
                facts.insert("capability", capability.as_str());
                facts.insert("class", side_effect.as_str());
                facts.insert("calls", calls.iter().map(item_facts).collect::<Value>());
                vec![("reason", reason)]
            }
            Self::SendAgain { error, check, .. } => {
                let check = check.as_deref().map(|found| ("check", found));
                [("error", error.as_str())].into_iter().chain(check).collect()
            }
            Self::SendCorrected { error, change, reason, .. } => {
                vec![("error", error), ("change", change), ("reason", reason)]
            }
            Self::RunPlan { calls, tool_calls, money } => {
                facts.insert("calls", calls.iter().map(preview_facts).collect::<Value>());
                facts.insert("tool_calls", *tool_calls);
                facts.extend(money.map(|money| ("money".to_owned(), money.to_string().into())));
                Vec::new()
            }
        };
        facts.extend(texts.into_iter().map(|(name, text)| (name.to_owned(), text.into())));
        facts
    }

    /// The call for a program; `None` for a whole plan and for the items of a loop.
    pub fn call_facts(&self) -> Option<Object> {
        self.call().map(|call| {
            Object::from([
                ("agent", call.tool.as_str().into()),
                ("capability", call.capability.as_str().into()),
                ("class", call.side_effect.as_str().into()),
                ("parameters", Value::Object(call.parameters.clone())),
            ])
        })
    }
}

/// Where a value comes from, in words.
pub(crate) fn describe_origin(origin: &Provenance) -> String {
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
            format!("computed: {text}, with {}", inputs.join(" and "))
        }
        Provenance::Text { .. } => "text that contains results".to_owned(),
        Provenance::Nested { .. } => "built from results".to_owned(),
        Provenance::Resolved { by: ResolvedBy::Model, origin } => {
            format!("{}, found by a model", describe_origin(origin))
        }
        Provenance::Resolved { by: ResolvedBy::Learned, origin } => {
            format!("{}, as in an earlier run; no person has accepted this rule", describe_origin(origin))
        }
        Provenance::Resolved { by: ResolvedBy::Accepted, origin } => {
            format!("{}, accepted mapping", describe_origin(origin))
        }
        Provenance::Inferred => "inferred by a model".to_owned(),
        Provenance::Person => "written by a person".to_owned(),
        Provenance::Corrected { rung, backing } => match backing {
            Backing::Known => format!("corrected by {rung}"),
            Backing::Explained { text } => {
                format!("corrected by {rung}; {text} gives the same value")
            }
            Backing::Rule { rule, text } => format!("{text}, by the learned rule {rule}"),
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

fn call_text(call: &CallTool) -> String {
    let class = call.side_effect.as_str();
    format!("`{}` of `{}` ({class}) with {}", call.capability, call.tool, call.parameters)
}

fn preview_text(call: &PreviewedCall) -> String {
    let class = call.side_effect.as_str();
    let items = call.foreach.as_ref().map_or_else(String::new, |list| format!(", for each item of `{list}`"));
    format!("`{}` of `{}` ({class}) with {}{items}", call.capability, call.tool, call.parameters)
}

fn item_facts(call: &ItemCall) -> Value {
    let parameters = Value::Object(call.parameters.clone());
    Value::from([("step", call.step.as_str().into()), ("parameters", parameters)])
}

fn preview_facts(call: &PreviewedCall) -> Value {
    Value::from([
        ("step", call.step.as_str().into()),
        ("agent", call.tool.as_str().into()),
        ("capability", call.capability.as_str().into()),
        ("class", call.side_effect.as_str().into()),
        ("parameters", Value::Object(call.parameters.clone())),
        ("foreach", call.foreach.as_deref().map_or(Value::Null, Value::from)),
    ])
}

#[cfg(test)]
mod tests {
    use reknit_protocol::SideEffect;

    use super::*;
    use crate::effect::AskedBy;

    fn call() -> Box<CallTool> {
        let call = r#"{"id": "pay/call/1", "step": "pay", "agent": "bank", "capability": "pay", "parameters": {"amount": 5},
            "side_effect": "unsafe", "idempotency_key": null, "timeout_ms": 1}"#;
        serde_json::from_str(call).unwrap()
    }

    fn items() -> Question {
        let item = |amount: u64| ItemCall {
            step: format!("pay[{}]", amount - 5).as_str().into(),
            parameters: Object::from([("amount", amount.into())]),
        };
        Question::SendItems {
            tool: "bank".into(),
            capability: "pay".into(),
            side_effect: SideEffect::Unsafe,
            calls: [5, 6].map(item).to_vec(),
            reason: "rule 1".to_owned(),
        }
    }

    #[test]
    fn a_value_from_the_item_of_a_loop_is_said_to_be_that() {
        let from = |path: Path| describe_origin(&Provenance::Reference { step: ITEM.into(), path });
        assert_eq!(from(Path::root()), "from the item of the loop");
        assert_eq!(from(Path::root().key("id")), "from the item of the loop at $.id");
        let other = Provenance::Reference { step: "order".into(), path: Path::root().key("id") };
        assert_eq!(describe_origin(&other), "from order at $.id");
    }

    #[test]
    fn every_question_is_told_in_words_and_as_json() {
        let preview = PreviewedCall {
            step: "pay".into(),
            tool: "bank".into(),
            capability: "pay".into(),
            side_effect: SideEffect::Unsafe,
            parameters: Object::new(),
            foreach: Some("items".to_owned()),
        };
        let questions = [
            Question::SendCall { call: call(), reason: "rule 1".to_owned(), change: String::new() },
            Question::SendCall { call: call(), reason: "rule 1".to_owned(), change: "dropped a comment".to_owned() },
            Question::RunPlan { calls: vec![preview], tool_calls: 3, money: None },
            items(),
            Question::SendAgain { call: call(), error: "timeout".to_owned(), check: Some("not found".to_owned()) },
            Question::SendCorrected {
                call: call(),
                error: "400".to_owned(),
                change: "amount: 0 -> 5".to_owned(),
                reason: "unsafe".to_owned(),
                asked_by: AskedBy::Correction,
                row: Some(crate::gate::GateRow::AgainstTheRequest),
            },
        ];
        let mut told = Vec::new();
        for question in &questions {
            told.push(Value::Object(question.facts()).to_string());
            told.extend(question.lines().iter().map(|line| format!("  {}: {}", line.label, line.text)));
        }
        insta::assert_snapshot!(told.join("\n"), @r#"
        {"kind":"send_call","rule":"approve","reason":"rule 1"}
          call: `pay` of `bank` (unsafe) with {"amount":5}
          reason: rule 1
        {"kind":"send_call","rule":"approve","reason":"rule 1","change":"dropped a comment"}
          call: `pay` of `bank` (unsafe) with {"amount":5}
          change: dropped a comment
          reason: rule 1
        {"kind":"run_plan","rule":"plan","calls":[{"step":"pay","agent":"bank","capability":"pay","class":"unsafe","parameters":{},"foreach":"items"}],"tool_calls":3}
          call: pay: `pay` of `bank` (unsafe) with {}, for each item of `items`
          limit: 3 tool calls
        {"kind":"send_items","rule":"approve","agent":"bank","capability":"pay","class":"unsafe","calls":[{"step":"pay[0]","parameters":{"amount":5}},{"step":"pay[1]","parameters":{"amount":6}}],"reason":"rule 1"}
          call: `pay` of `bank` (unsafe), 2 calls; the answer counts for all of them
          item: pay[0]: {"amount":5}
          item: pay[1]: {"amount":6}
          reason: rule 1
        {"kind":"send_again","rule":"unknown-outcome","error":"timeout","check":"not found"}
          failed: timeout
          check: not found
          again: `pay` of `bank` (unsafe) with {"amount":5}; the first call may have taken effect (idempotency key: none)
        {"kind":"send_corrected","rule":"gate-8","error":"400","change":"amount: 0 -> 5","reason":"unsafe"}
          failed: 400
          change: amount: 0 -> 5
          reason: unsafe
          call: `pay` of `bank` (unsafe) with {"amount":5}
        "#);
        let call = Value::Object(questions[0].call_facts().unwrap()).to_string();
        assert_eq!(call, r#"{"agent":"bank","capability":"pay","class":"unsafe","parameters":{"amount":5}}"#);
    }
}
