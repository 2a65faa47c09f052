//! Writes a plan as people write it, in YAML.

use std::fmt::Write as _;

use reknit_protocol::{Plan, PlanInput, PlanOutput, Step, StepId, Value};

use crate::yaml::is_plain_scalar;

/// The text of a plan file for a plan. Reading it gives the same steps, inputs and outputs; the id and the fields that a plan file
/// does not have are left out.
///
/// ```
/// use reknit_plan::{read_plan_file, write_plan_file};
///
/// let (plan, _) = read_plan_file(r#"steps: [{id: quote, tool: stocks/get_quote, with: {symbol: TSLA}}]"#)?;
/// let text = write_plan_file(&plan);
/// assert_eq!(text, "steps:\n  - id: quote\n    tool: stocks/get_quote\n    with:\n      symbol: TSLA\n");
/// assert_eq!(read_plan_file(&text)?.0, plan);
/// # Ok::<(), reknit_plan::PlanError>(())
/// ```
pub fn write_plan_file(plan: &Plan) -> String {
    let mut text = String::new();
    if !plan.original_request.is_empty() {
        line(&mut text, 0, "request", &scalar(&plan.original_request));
    }
    if !plan.inputs.is_empty() {
        text.push_str("inputs:\n");
    }
    for (name, input) in &plan.inputs {
        line(&mut text, 2, name, &input_text(input));
    }
    text.push_str(if plan.steps.is_empty() { "steps: []\n" } else { "steps:\n" });
    for step in &plan.steps {
        write_step(&mut text, step);
    }
    if !plan.outputs.is_empty() {
        text.push_str("outputs:\n");
    }
    for (name, output) in &plan.outputs {
        line(&mut text, 2, name, &output_text(output));
    }
    text
}

fn write_step(text: &mut String, step: &Step) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "  - id: {}", scalar(step.step_id.as_str()));
    let parameters = step.parameters();
    if step.is_computed() {
        let result = parameters.and_then(|parameters| parameters.get("result"));
        line(text, 4, "compute", &value_text(result.unwrap_or(&Value::Null)));
    } else if let Some(name) = step.sub_plan() {
        line(text, 4, "plan", &scalar(name));
    } else if let Some(file) = step.agent_file() {
        line(text, 4, "agent", &scalar(file));
    } else {
        let capability = step.capability().unwrap_or_default();
        let tool = match step.tool.as_str() {
            "" => capability.to_owned(),
            tool => format!("{tool}/{capability}"),
        };
        line(text, 4, "tool", &scalar(&tool));
    }
    if !step.instruction.is_empty() {
        line(text, 4, "do", &scalar(&step.instruction));
    }
    if let Some(parameters) = parameters.filter(|parameters| !parameters.is_empty() && !step.is_computed()) {
        text.push_str("    with:\n");
        for (name, value) in parameters {
            line(text, 6, name, &value_text(value));
        }
    }
    match step.depends_on.as_slice() {
        [] => {}
        [one] => line(text, 4, "after", &scalar(one.as_str())),
        several => {
            let ids: Vec<String> = several.iter().map(StepId::as_str).map(scalar).collect();
            line(text, 4, "after", &format!("[{}]", ids.join(", ")));
        }
    }
    if let Some(ms) = step.limit_ms() {
        line(text, 4, "timeout", &format!("{ms} ms"));
    }
    for key in super::reader::CONTROL_KEYS {
        if let Some(value) = step.metadata.get(key) {
            line(text, 4, key, &value_text(value));
        }
    }
}

fn line(text: &mut String, indent: usize, key: &str, value: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{:indent$}{}: {value}", "", scalar(key));
}

/// Only a default is written as it is; an object needs the long form, in which it cannot be mistaken for the keys of an input.
fn input_text(input: &PlanInput) -> String {
    let PlanInput { type_word, default, allowed, description, .. } = input;
    let is_short = type_word.is_none() && allowed.is_empty() && description.is_none();
    match default.as_ref().filter(|default| is_short && default.as_object().is_none()) {
        Some(default) => value_text(default),
        None => long_form([
            ("type", type_word.as_deref().map(Value::from)),
            ("default", default.clone()),
            ("enum", (!allowed.is_empty()).then(|| allowed.clone().into())),
            ("description", description.as_deref().map(Value::from)),
        ]),
    }
}

fn output_text(output: &PlanOutput) -> String {
    let PlanOutput { value, type_word, description, .. } = output;
    if type_word.is_none() && description.is_none() {
        return scalar(value);
    }
    let texts = [("value", Some(value)), ("type", type_word.as_ref()), ("description", description.as_ref())];
    long_form(texts.map(|(key, text)| (key, text.map(|text| text.as_str().into()))))
}

/// An object of the members that have a value.
fn long_form<const N: usize>(members: [(&str, Option<Value>); N]) -> String {
    let members = members.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?)));
    Value::Object(members.collect()).to_string()
}

/// Text as a scalar, anything else as JSON, which YAML contains.
fn value_text(value: &Value) -> String {
    match value {
        Value::String(text) => scalar(text),
        other => other.to_string(),
    }
}

/// Text without quotes where YAML reads it as the same text, and in the quotes of JSON otherwise.
fn scalar(text: &str) -> String {
    if is_plain_scalar(text, "'") { text.to_owned() } else { Value::from(text).to_string() }
}
