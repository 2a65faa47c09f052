//! Runs plans over simulated tools, without an engine.

use std::collections::BTreeMap;

use reknit_expressions::{Binding, bind};
use reknit_plan::{Catalogue, PlanAuthor, PlanFix, PlanProblem, check, correct_plan, read_plan};
use reknit_protocol::{StepId, Value};

pub(crate) fn json(text: &str) -> Value {
    Value::parse(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Quotes, jokes, text messages, a bank, and a tool that announces nothing.
pub(crate) fn catalogue() -> Catalogue {
    let tools = r#"{
      "stocks": [{"name": "get_quote", "input_summary": {"required": [{"name": "symbol", "type": "string"}]},
        "output_summary": {"required": [{"name": "price", "type": "number"}, {"name": "name", "type": "string"},
          {"name": "tags", "type": "[]string"}, {"name": "items", "type": "[]object"}, {"name": "exchange", "type": "object"},
          {"name": "Exchange Rate", "type": "number"}]}}],
      "jokes": [{"name": "get_joke", "output_summary": {"required": [{"name": "joke", "type": "string"}]}}],
      "phone": [{"name": "send_sms", "input_summary": {"required": [{"name": "message", "type": "string"}],
        "optional": [{"name": "to", "type": "string"}, {"name": "field", "type": "string"}, {"name": "sql", "type": "string"}, {"name": "file", "type": "string"}]}}],
      "bank": [{"name": "convert", "input_summary": {"required": [{"name": "amount", "type": "number"}],
        "optional": [{"name": "to", "type": "string"}, {"name": "options", "type": "object"}, {"name": "codes", "type": "[]string"}]},
        "output_summary": {"required": [{"name": "amount", "type": "number"}]}}],
      "notes": [{"name": "get_note"}]
    }"#;
    Catalogue::from_value(&json(tools)).expect("a catalogue")
}

/// The result of each capability.
fn result_of(capability: &str) -> Value {
    json(match capability {
        "get_quote" => {
            r#"{"success": true, "data": {"price": 468.285, "name": "Tesla", "tags": ["car", "ev"], "items": [{"id": 7}, {"id": 8}],
                "exchange": {"name": "NASDAQ"}, "Exchange Rate": 1380.5}}"#
        }
        "get_joke" => r#"{"joke": "A horse walks into a bar."}"#,
        "get_note" => r#"{"title": "Lunch", "price": 12}"#,
        _ => r#"{"amount": 646468.44}"#,
    })
}

/// What became of a plan: the parameters of its last call, or the problems.
#[derive(Debug)]
pub(crate) struct PlanRun {
    pub(crate) fixes: Vec<PlanFix>,
    pub(crate) last_call: Result<String, Vec<PlanProblem>>,
}

/// A plan with a quote `a`, a joke `var3`, a note `report`, and a last step with these parameters.
pub(crate) fn plan_with(capability: &str, parameters: &str) -> String {
    format!(
        r#"{{"steps": [
          {{"step_id": "a", "agent_name": "stocks", "metadata": {{"capability": "get_quote", "parameters": {{"symbol": "TSLA"}}}}}},
          {{"step_id": "var3", "agent_name": "jokes", "metadata": {{"capability": "get_joke"}}}},
          {{"step_id": "report", "agent_name": "notes", "metadata": {{"capability": "get_note"}}}},
          {{"step_id": "last", "agent_name": "{agent}", "metadata": {{"capability": "{capability}", "parameters": {parameters}}}}}
        ]}}"#,
        agent = if capability == "convert" { "bank" } else { "phone" }
    )
}

/// Reads, corrects, checks and binds a plan.
pub(crate) fn run(text: &str, author: PlanAuthor) -> PlanRun {
    let (mut plan, _) = read_plan(text, "").unwrap_or_else(|error| panic!("{error}: {text}"));
    let fixes = correct_plan(&mut plan, &catalogue(), author);
    let checked = match check(&plan, &catalogue(), author) {
        Ok(checked) => checked,
        Err(problems) => return PlanRun { fixes, last_call: Err(problems) },
    };
    let mut results: BTreeMap<StepId, Value> = BTreeMap::new();
    let mut last_call = String::new();
    for step in &checked.steps {
        let binding = bind(&step.parameters, &results, &step.dependencies, step.schema.as_deref());
        last_call = match binding {
            Binding::Bound(bound) => bound.parameters.to_string(),
            other => format!("{other:?}"),
        };
        results.insert(step.id.clone(), result_of(step.capability.as_str()));
    }
    PlanRun { fixes, last_call: Ok(last_call) }
}

/// The parameters of the last call of a model's plan, or the problems as text.
pub(crate) fn last_call(capability: &str, parameters: &str) -> String {
    let run = run(&plan_with(capability, parameters), PlanAuthor::Model);
    match run.last_call {
        Ok(call) => call,
        Err(problems) => problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"),
    }
}

pub(crate) fn text(text: &str) -> String {
    Value::from(text).to_string()
}
