//! The answer of a run. Each number is a link to its source; a number without one is marked.

use maud::{Markup, html};
use reknit_engine::{Answer, AnswerAuthor, NumberSource, RunOverview, SourcedNumber, number_sources};
use reknit_protocol::StepId;

use super::RunFacts;
use crate::outside_text::{one_line, plain_text};
use crate::sourced_value::tree;
use crate::words::{result_path, step_path};

/// More bytes of an answer than this are not shown: a page stays small.
const MAX_BYTES: usize = 16_000;

pub(super) fn section(facts: &RunFacts<'_>, run: &RunOverview, answer: &Answer) -> Markup {
    let author = match &answer.written_by {
        AnswerAuthor::Model => "A model wrote it from the results.".to_owned(),
        AnswerAuthor::Template => "Code listed the results.".to_owned(),
        AnswerAuthor::Raw => "The results as JSON.".to_owned(),
        AnswerAuthor::TemplateInstead(reason) => format!("Code listed the results, because {}.", one_line(reason, 300)),
    };
    let numbers = number_sources(run);
    let shown = answer.text.get(..answer.text.floor_char_boundary(MAX_BYTES)).unwrap_or(&answer.text);
    let unknown = numbers.iter().filter(|number| number.source == NumberSource::Unknown).count();
    html! {
        section #answer.card aria-labelledby="answer-title" {
            h2 #answer-title { "Answer" }
            div.answer { (linked(facts.run, shown, &numbers)) }
            @if shown.len() < answer.text.len() {
                p.muted { "The answer is longer; " code { "reknit runs show " (one_line(facts.run, 80)) } " has all of it." }
            }
            @if let Some(reason) = &answer.reason { p { (plain_text(reason)) } }
            @for doubt in &answer.doubts { p.problem { "Verify this: " (plain_text(doubt)) "." } }
            @if unknown > 0 && answer.doubts.is_empty() {
                p.muted { mark.unsourced { "Marked numbers" } " are in no result and not in the request." }
            }
            @if !answer.outputs.is_empty() {
                h3 { "Outputs" }
                dl.values { @for (name, value) in &answer.outputs { dt { (plain_text(name)) } dd { (tree(value)) } } }
            }
            @if !answer.missing_outputs.is_empty() {
                h3 { "Missing outputs" }
                ul { @for output in &answer.missing_outputs { li { (plain_text(&output.name)) ": " (plain_text(&output.reason)) } } }
            }
            p.muted { (author) }
        }
    }
}

fn linked(run: &str, text: &str, numbers: &[SourcedNumber]) -> Markup {
    let mut pieces = Vec::new();
    let mut at = 0;
    for number in numbers {
        let (Some(before), Some(own)) = (text.get(at..number.start), text.get(number.start..number.end)) else {
            continue;
        };
        pieces.push(html! { (plain_text(before)) (linked_number(run, own, &number.source)) });
        at = number.end;
    }
    html! { @for piece in pieces { (piece) } (plain_text(text.get(at..).unwrap_or_default())) }
}

fn linked_number(run: &str, text: &str, source: &NumberSource) -> Markup {
    let name = |step: &StepId| one_line(step.as_str(), 60);
    let (step, href, title) = match source {
        NumberSource::Request => return html! { span.sourced title="from the request" { (text) } },
        NumberSource::Count => return html! { (text) },
        NumberSource::Results => return html! { span.sourced title="in several places of the results" { (text) } },
        NumberSource::Computed { output } => {
            let title = format!("computed for the output {}", one_line(output, 60));
            return html! { span.sourced title=(title) { (text) } };
        }
        NumberSource::Unknown => return html! { mark.unsourced title="in no result and not in the request" { (text) } },
        NumberSource::Result { step, path } => {
            let place = path.to_string();
            let title = format!("from the result of {} at {}", name(step), one_line(&place, 120));
            (step, result_path(run, step.as_str(), &place), title)
        }
        NumberSource::Parameter { step, name: parameter } => {
            let title = format!("the parameter {} of {}", one_line(parameter, 60), name(step));
            (step, step_path(run, step.as_str()), title)
        }
        NumberSource::History { step } => {
            (step, step_path(run, step.as_str()), format!("from what happened to {}", name(step)))
        }
    };
    html! { a.sourced href=(href) title=(title) data-source=(step.as_str()) { (text) } }
}
