//! Starting a run: a request, a plan or an agent.

use maud::{Markup, html};
use reknit_protocol::word_enum;

use crate::frame::{PageFrame, Tab, framed};
use crate::outside_text::plain_text;
use crate::words::with_query;

word_enum! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum NewRunKind {
        /// A request that a model plans.
        #[default]
        Request = "request",
        Plan = "plan",
        /// An agent with a request.
        Agent = "agent",
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PlanFindings {
    pub steps: usize,
    /// What is wrong, each with its place and what to write instead.
    pub problems: Vec<String>,
}

/// The page that starts a run, with what was typed so far.
#[derive(Debug, Clone, Default)]
pub struct NewRunForm<'a> {
    pub kind: NewRunKind,
    pub request: &'a str,
    pub text: &'a str,
    /// What is wrong with the plan; `None` if it was not checked.
    pub findings: Option<PlanFindings>,
    /// The id that the run will have, so that a form that is sent twice starts one run.
    pub run_id: &'a str,
    /// How the answer is written: a word of the API, or empty.
    pub answer: &'a str,
    /// Which calls a person is asked about: a word of the API, or empty.
    pub ask: &'a str,
    /// Whether there is a model. Without one, requests and agents cannot be started.
    pub has_model: bool,
}

const PLAN: &str =
    "request: What are my shares worth?\nsteps:\n  - id: quote\n    tool: get_stock_quote\n    with: {symbol: TSLA}\n";
const AGENT: &str = "---\ntools: []\n---\nYou are a clerk who answers questions about orders.\n";

pub fn new_run_page(frame: &PageFrame<'_>, new: &NewRunForm<'_>) -> Markup {
    let tab = |kind: NewRunKind, word: &str| {
        html! {
            li {
                a.chip href=(with_query("/new", &[("kind", kind.as_str())])) aria-current=[(kind == new.kind).then_some("true")] { (word) }
            }
        }
    };
    let content = html! {
        section.wide-form {
            h1 { "New run" }
            ul.chips {
                (tab(NewRunKind::Request, "Request")) (tab(NewRunKind::Plan, "Plan")) (tab(NewRunKind::Agent, "Agent"))
            }
            @if !frame.may_run {
                p.problem { "Your token may not start runs: it does not have the scope " code { "run" } "." }
            } @else if !new.has_model && new.kind != NewRunKind::Plan {
                p.problem { "No model is configured, so only plans can be run. " code { "reknit models" } " says how to add one." }
            } @else {
                (form(new))
            }
        }
    };
    framed(frame, "New run", Tab::New, None, &content)
}

fn form(new: &NewRunForm<'_>) -> Markup {
    let (about, placeholder) = match new.kind {
        NewRunKind::Plan => ("The plan, as in a plan file", PLAN),
        _ => ("The agent, as in an agent file", AGENT),
    };
    html! {
        form.stack method="post" action="/new" data-check=[(new.kind == NewRunKind::Plan).then_some("/ui/plan-check")] {
            input type="hidden" name="kind" value=(new.kind.as_str());
            input type="hidden" name="run_id" value=(new.run_id);
            @if new.kind != NewRunKind::Request {
                label { (about) textarea name="text" rows="16" spellcheck="false" required placeholder=(placeholder) { (new.text) } }
            }
            @if new.kind != NewRunKind::Plan {
                label { "What is asked for" textarea name="request" rows="4" required { (new.request) } }
            }
            details {
                summary { "Options" }
                @if new.kind != NewRunKind::Agent { (choice("How the answer is written", ("answer", new.answer), ANSWERS)) }
                (choice("Which calls you approve", ("ask", new.ask), QUESTIONS))
            }
            @if new.kind == NewRunKind::Plan { (findings(new.findings.as_ref())) }
            div.decisions {
                button.main type="submit" name="do" value="run" { "Start" }
                @if new.kind == NewRunKind::Plan { button type="submit" name="do" value="check" { "Check" } }
            }
        }
    }
}

const ANSWERS: &[(&str, &str)] =
    &[("", "as configured"), ("model", "by a model"), ("template", "by code"), ("raw", "as the results")];
const QUESTIONS: &[(&str, &str)] =
    &[("", "as configured"), ("all", "all that do not only read"), ("plan", "the whole plan, once, before it begins")];

/// A choice between words of the API.
fn choice(label: &str, (name, chosen): (&str, &str), words: &[(&str, &str)]) -> Markup {
    html! {
        label {
            (label)
            select name=(name) {
                @for (word, text) in words { option value=(word) selected[*word == chosen] { (text) } }
            }
        }
    }
}

/// What a check found, or nothing if there was none.
pub fn findings(findings: Option<&PlanFindings>) -> Markup {
    html! {
        div #findings role="status" {
            @if let Some(PlanFindings { steps, problems }) = findings {
                @if problems.is_empty() {
                    p.good { "● The plan can be run: " (crate::words::count(*steps, "step")) "." }
                } @else {
                    p.problem { "✕ " (crate::words::count(problems.len(), "problem")) }
                    ul.problems { @for problem in problems.iter().take(50) { li { (plain_text(problem)) } } }
                }
            }
        }
    }
}
