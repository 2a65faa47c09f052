//! The tools, and a form to call one, made from its schema.

use maud::{Markup, html};
use reknit_protocol::{Object, Value, human_duration, percent_encoded};

use crate::frame::{PageFrame, Tab, framed, table};
use crate::marks::{ListedHealth, Mark, UNREACHABLE, badge, health};
use crate::outside_text::{one_line, plain_text};
use crate::run_usage::{QuestionCost, ToolUse};
use crate::sourced_value::tree;
use crate::words::{count, money};

#[derive(Debug, Clone, Default)]
pub struct ListedTool {
    pub name: String,
    pub description: String,
    pub instances: Vec<ListedInstance>,
    pub health: Option<ListedHealth>,
    pub capabilities: Vec<ToolCapability>,
}

/// A place where a tool is.
#[derive(Debug, Clone, Default)]
pub struct ListedInstance {
    /// Its address; `None` if the reader may not see it.
    pub address: Option<String>,
    /// Why it did not list its capabilities when it was last asked.
    pub problem: Option<String>,
}

#[derive(Debug, Clone, Default)]
pub struct ToolCapability {
    pub name: String,
    pub description: String,
    /// What a call changes: `read`, `idempotent`, `keyed`, `unsafe` or `undeclared`.
    pub effect: String,
    pub schema: Option<Value>,
    pub withheld: Option<String>,
    /// How many calls were made and how many of them failed, in the newest runs.
    pub calls: (u64, u64),
    /// How long the calls took, and what models were asked to mend them.
    pub used: ToolUse,
}

/// The page with all tools. `problems` says why configured tools cannot be used, `runs` how many of the newest runs are counted.
pub fn tools_page(frame: &PageFrame<'_>, tools: &[ListedTool], problems: &[String], runs: usize) -> Markup {
    let content = html! {
        h1 { "Tools" }
        @if !problems.is_empty() {
            section.card aria-labelledby="problems" {
                h2 #problems { "What cannot be used" }
                ul.problems { @for problem in problems { li { (plain_text(problem)) } } }
            }
        }
        @if tools.is_empty() {
            section.empty {
                h2 { "No tools yet" }
                p { code { "reknit tools add URL" } " connects a service, an OpenAPI document or an MCP server." }
            }
        }
        @if !tools.is_empty() {
            p.muted {
                "Calls, time and cost are counted over the newest " (count(runs, "run")) "; " a href="/stats" { "Statistics" }
                " says what failed. Cost is what models were asked to mend the calls."
            }
        }
        @for tool in tools {
            section.card {
                (head(frame, tool))
                (table("plain", &COLUMNS, &html! { @for capability in &tool.capabilities { (row(&tool.name, capability)) } }))
            }
        }
    };
    framed(frame, "Tools", Tab::Tools, None, &content)
}

fn head(frame: &PageFrame<'_>, tool: &ListedTool) -> Markup {
    let is_unreachable = !tool.instances.is_empty() && tool.instances.iter().all(|one| one.problem.is_some());
    html! {
        div.tool-head {
            h2 { (one_line(&tool.name, 80)) }
            div.health {
                @if is_unreachable { (badge(UNREACHABLE)) }
                @else if let Some(own) = &tool.health { (health(frame, own)) }
            }
        }
        @if !tool.description.is_empty() { p.muted { (plain_text(&tool.description)) } }
        @if !tool.instances.is_empty() {
            ul.instances {
                @for (index, instance) in tool.instances.iter().enumerate() { li { (place(index, instance)) } }
            }
        }
    }
}

fn place(index: usize, instance: &ListedInstance) -> Markup {
    let mark = match instance.problem {
        None => Mark { class: "done", shape: "●", word: "answers" },
        Some(_) => UNREACHABLE,
    };
    html! {
        (badge(mark)) " "
        @match &instance.address {
            Some(address) => { code { (one_line(address, 120)) } },
            None => { "instance " (index + 1) },
        }
        @if let Some(problem) = &instance.problem { div.problem { (one_line(problem, 300)) } }
    }
}

const COLUMNS: [&str; 7] = ["Capability", "Changes", "What it does", "#Calls", "#Failed", "#Time in calls", "#Cost"];

fn row(tool: &str, capability: &ToolCapability) -> Markup {
    html! {
        tr data-item {
            td { a href=(path(tool, &capability.name)) { (one_line(&capability.name, 80)) } }
            td { span.class { (one_line(&capability.effect, 20)) } }
            td.about {
                (one_line(&capability.description, 200))
                @if let Some(reason) = &capability.withheld { p.problem { "Withheld: " (plain_text(reason)) } }
            }
            td.number { (capability.calls.0) }
            td.number { @if capability.calls.1 > 0 { span.problem { (capability.calls.1) } } @else { "0" } }
            td.number { @if capability.calls.0 > 0 { (human_duration(capability.used.call_ms)) } @else { "–" } }
            td.number { (cost(&capability.used)) }
        }
    }
}

/// What mending cost: money, or tokens if no price is known.
fn cost(used: &ToolUse) -> String {
    match used.asked {
        QuestionCost { nanos: 0, tokens: 0, .. } => "–".to_owned(),
        QuestionCost { nanos: 0, tokens, .. } => format!("{tokens} tokens"),
        QuestionCost { nanos, .. } => money(nanos),
    }
}

fn path(tool: &str, capability: &str) -> String {
    format!("/tools/{}/{}", percent_encoded(tool), percent_encoded(capability))
}

/// The page of a capability: what it takes, and a form to call it.
pub fn tool_page(frame: &PageFrame<'_>, tool: &str, capability: &ToolCapability, run_id: &str) -> Markup {
    let none = Object::new();
    let properties =
        capability.schema.as_ref().and_then(|schema| schema.get("properties")?.as_object()).unwrap_or(&none);
    let required = capability.schema.as_ref().and_then(|schema| schema.get("required")?.as_array());
    let is_required = |name: &str| required.is_some_and(|names| names.iter().any(|own| own.as_str() == Some(name)));
    let content = html! {
        section.wide-form {
            p { a href="/tools" { "All tools" } }
            h1 { (one_line(tool, 80)) "/" (one_line(&capability.name, 80)) " " span.class { (one_line(&capability.effect, 20)) } }
            @if !capability.description.is_empty() { p { (plain_text(&capability.description)) } }
            @if let Some(reason) = &capability.withheld { p.problem { "Withheld: " (plain_text(reason)) } }
            @if frame.may_run && capability.withheld.is_none() {
                h2 { "Call it" }
                p.muted { "The call is a run with one step: it is fitted, mended, approved and journalled like all others." }
                form.stack method="post" action=(path(tool, &capability.name)) {
                    input type="hidden" name="run_id" value=(run_id);
                    @for (name, schema) in properties { (field(name, schema, is_required(name))) }
                    @if properties.is_empty() {
                        label { "Parameters, as JSON" textarea name="json" rows="4" spellcheck="false" { "{}" } }
                    }
                    button.main type="submit" {
                        "Call " (one_line(&capability.name, 60))
                        @if capability.effect != "read" { " (" (one_line(&capability.effect, 20)) ": it may change something)" }
                    }
                }
            }
            @if let Some(schema) = &capability.schema { h2 { "Schema" } (tree(schema)) }
        }
    };
    framed(frame, &capability.name, Tab::Tools, None, &content)
}

/// The field of a parameter, by its schema. What has no field of its own is written as JSON.
fn field(name: &str, schema: &Value, is_required: bool) -> Markup {
    let word = |key: &str| schema.get(key).and_then(Value::as_str).unwrap_or_default();
    let choices: Vec<&str> = schema
        .get("enum")
        .and_then(Value::as_array)
        .map(|items| items.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    let name_of_field = format!("p.{name}");
    html! {
        label {
            (one_line(name, 60)) @if is_required { " *" }
            @if !word("description").is_empty() { span.muted.about { " " (one_line(word("description"), 200)) } }
            @if !choices.is_empty() {
                select name=(name_of_field) required[is_required] {
                    @if !is_required { option value="" { "" } }
                    @for choice in choices { option { (plain_text(choice)) } }
                }
            } @else if word("type") == "boolean" {
                select name=(name_of_field) required[is_required] { option value="" { "" } option { "true" } option { "false" } }
            } @else if matches!(word("type"), "object" | "array") {
                textarea name=(name_of_field) rows="4" spellcheck="false" required[is_required] placeholder=(if word("type") == "array" { "[]" } else { "{}" }) {}
            } @else {
                input type="text" name=(name_of_field) required[is_required] inputmode=[matches!(word("type"), "number" | "integer").then_some("decimal")];
            }
        }
    }
}

/// The parameters that a form of [`tool_page`] sent: numbers, truth values, objects and lists as JSON, all else as text.
pub fn form_parameters<'f>(
    fields: impl Iterator<Item = (&'f str, &'f str)>,
    schema: Option<&Value>,
) -> Result<Object, String> {
    let mut parameters = Object::new();
    for (field, text) in fields {
        if field == "json" {
            match Value::parse(text) {
                Ok(Value::Object(object)) => parameters.extend(object),
                Ok(_) => return Err("the parameters are not a JSON object".to_owned()),
                Err(error) => return Err(format!("the parameters are not JSON: {error}")),
            }
        }
        let Some(name) = field.strip_prefix("p.") else { continue };
        if text.is_empty() {
            continue;
        }
        let kind =
            schema.and_then(|schema| schema.get("properties")?.get(name)?.get("type")?.as_str()).unwrap_or_default();
        let value = match kind {
            "boolean" | "number" | "integer" => Value::parse(text).unwrap_or_else(|_| Value::from(text)),
            "object" | "array" => Value::parse(text).map_err(|error| format!("`{name}` is not JSON: {error}"))?,
            _ => Value::from(text),
        };
        parameters.insert(name, value);
    }
    Ok(parameters)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_become_values_of_the_types_that_the_schema_names() {
        let schema = r#"{"properties": {"n": {"type": "integer"}, "b": {"type": "boolean"}, "l": {"type": "array"}, "s": {"type": "string"}}}"#;
        let schema = Value::parse(schema).unwrap();
        let fields = [("p.n", "5"), ("p.b", "true"), ("p.l", "[1]"), ("p.s", "5"), ("p.x", ""), ("run_id", "r")];
        let parameters = form_parameters(fields.into_iter(), Some(&schema)).unwrap();
        assert_eq!(parameters.to_string(), r#"{"n":5,"b":true,"l":[1],"s":"5"}"#);
        assert!(form_parameters([("p.l", "[1")].into_iter(), Some(&schema)).unwrap_err().contains("`l` is not JSON"));
        assert_eq!(form_parameters([("json", r#"{"a": 1}"#)].into_iter(), None).unwrap().to_string(), r#"{"a":1}"#);
    }
}
