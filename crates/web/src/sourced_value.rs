//! Values, and where they come from.

use maud::{Markup, html};
use reknit_expressions::{Backing, EvaluationInput, InputSource, Provenance, ResolvedBy};
use reknit_plan::ITEM;
use reknit_protocol::{Path, StepId, Value};

use crate::marks::rung_chip;
use crate::outside_text::{cut, exact_text, one_line};
use crate::words::{result_id, result_path, step_path};

/// More lines of a value than this are not shown.
const MAX_LINES: usize = 400;
const FOLDED_LINES: usize = 24;
/// A string in a value is cut after so many characters.
const MAX_STRING: usize = 2_000;

pub(crate) fn short(value: &Value, max_chars: usize) -> String {
    match value {
        Value::String(text) => one_line(text, max_chars),
        other => one_line(&other.to_string(), max_chars),
    }
}

pub(crate) fn inline(value: &Value) -> Markup {
    html! { code.value { (cut(&exact_text(&value.to_string()), 300)) } }
}

/// Where a value comes from: a sentence, and for a calculation its inputs. Steps are links.
pub(crate) fn origin(run: &str, provenance: &Provenance) -> Markup {
    match provenance {
        Provenance::Literal => html! { "from the plan" },
        Provenance::Reference { step, path } => html! { "from " (source(run, step, path)) },
        Provenance::Wired { step, path } => html! { "left out in the plan; found in " (source(run, step, path)) },
        Provenance::Expression { text, inputs: used, .. } => {
            html! { "= " code { (one_line(text, 300)) } (inputs(run, used)) }
        }
        Provenance::Text { inputs: used, .. } => html! { "text with values" (inputs(run, used)) },
        Provenance::Nested { parts } => html! {
            "built from parts"
            ul.inputs {
                @for part in parts {
                    li { code { (one_line(&part.path.to_string(), 80)) } " " (origin(run, &part.provenance)) }
                }
            }
        },
        Provenance::Resolved { by, origin: of } => {
            let by = match by {
                ResolvedBy::Model => "found by a model",
                ResolvedBy::Learned => "as in an earlier run; no person has accepted this rule",
                ResolvedBy::Accepted => "by an accepted rule",
            };
            html! { (origin(run, of)) ", " (by) }
        }
        Provenance::Inferred => html! { strong { "inferred by a model" } },
        Provenance::Person => html! { "written by a person" },
        Provenance::Corrected { rung, backing } => match backing {
            Backing::Known => html! { "corrected by " (rung_chip(rung)) },
            Backing::Explained { text } => html! {
                "corrected by " (rung_chip(rung)) "; " code { (one_line(text, 200)) } " gives the same value"
            },
            Backing::Rule { rule, text } => html! {
                code { (one_line(text, 200)) } ", by the learned rule " code { (one_line(rule, 80)) }
            },
            Backing::Inferred => html! { strong { "inferred by a model" } " (" (rung_chip(rung)) ")" },
        },
    }
}

fn inputs(run: &str, inputs: &[EvaluationInput]) -> Markup {
    html! {
        ul.inputs {
            @for input in inputs {
                li {
                    (inline(&input.value)) " "
                    @match &input.source {
                        InputSource::Literal => "a constant of the calculation",
                        InputSource::Reference { step, path } => { "from " (source(run, step, path)) }
                    }
                }
            }
        }
    }
}

/// A link to a place in the result of a step. The script lights up the edge of the graph that it belongs to.
fn source(run: &str, step: &StepId, path: &Path) -> Markup {
    let place = path.to_string();
    match step.as_str() {
        ITEM => html! { "the item of the loop" @if !path.is_root() { " at " code { (one_line(&place, 120)) } } },
        "inputs" => html! { "the input " code { (one_line(&place, 120)) } },
        step => html! {
            a href=(result_path(run, step, &place)) data-source=(step) {
                (one_line(step, 60)) @if !path.is_root() { " " code { (one_line(&place, 120)) } }
            }
        },
    }
}

/// The steps that a value comes from, each with the value that was taken.
pub(crate) fn taken_values<'p>(value: Option<&'p Value>, provenance: &'p Provenance) -> Vec<(&'p StepId, &'p Value)> {
    match provenance {
        Provenance::Reference { step, .. } | Provenance::Wired { step, .. } => {
            value.map(|value| (step, value)).into_iter().collect()
        }
        Provenance::Expression { inputs, .. } | Provenance::Text { inputs, .. } => inputs
            .iter()
            .filter_map(|input| match &input.source {
                InputSource::Reference { step, .. } => Some((step, &input.value)),
                InputSource::Literal => None,
            })
            .collect(),
        Provenance::Resolved { origin, .. } => taken_values(value, origin),
        Provenance::Literal
        | Provenance::Nested { .. }
        | Provenance::Inferred
        | Provenance::Person
        | Provenance::Corrected { .. } => Vec::new(),
    }
}

/// A whole value, one place on each line. A link can point to any place in it.
pub(crate) fn tree(value: &Value) -> Markup {
    let mut lines = Vec::new();
    add_lines(value, None, &Path::root(), 0, "", &mut lines);
    let (all, cut) = (lines.len(), lines.len() > MAX_LINES);
    lines.truncate(MAX_LINES);
    let block = html! {
        div.block {
            pre.tree tabindex="0" { @for line in &lines { (line) } }
            button.copy type="button" hidden { "Copy" }
        }
        @if cut { p.muted { (MAX_LINES) " of " (all) " lines are shown." } }
    };
    if all <= FOLDED_LINES {
        return block;
    }
    html! { details.folded { summary { span.first { (short(value, 90)) } " " span.muted { (all) " lines" } } (block) } }
}

fn add_lines(value: &Value, key: Option<&str>, path: &Path, depth: usize, comma: &str, lines: &mut Vec<Markup>) {
    // One line more than is shown says that there are more.
    if lines.len() > MAX_LINES.saturating_mul(4) {
        return;
    }
    let indent = "  ".repeat(depth.min(40));
    let id = result_id(&path.to_string());
    let key = key.map(|key| format!("{}: ", Value::from(key)));
    let line = |id: Option<&str>, key: Option<&str>, text: &str| {
        html! {
            span.line id=[id] {
                (indent) @if let Some(key) = key { span.key { (exact_text(key)) } } (exact_text(text))
            } "\n"
        }
    };
    let last = |index: usize, len: usize| if index + 1 < len { "," } else { "" };
    match value {
        Value::Object(object) if !object.is_empty() => {
            lines.push(line(Some(&id), key.as_deref(), "{"));
            for (index, (name, item)) in object.iter().enumerate() {
                add_lines(item, Some(name), &path.key(name), depth + 1, last(index, object.len()), lines);
            }
            lines.push(line(None, None, &format!("}}{comma}")));
        }
        Value::Array(items) if !items.is_empty() => {
            lines.push(line(Some(&id), key.as_deref(), "["));
            for (index, item) in items.iter().enumerate() {
                add_lines(item, None, &path.index(index), depth + 1, last(index, items.len()), lines);
            }
            lines.push(line(None, None, &format!("]{comma}")));
        }
        scalar => {
            let text = cut(&scalar.to_string(), MAX_STRING);
            lines.push(line(Some(&id), key.as_deref(), &format!("{text}{comma}")));
        }
    }
}

pub(crate) fn step_link(run: &str, step: &str) -> Markup {
    html! { a href=(step_path(run, step)) data-source=(step) { (one_line(step, 60)) } }
}
