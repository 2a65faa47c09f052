//! A run in plain words: what was asked, what was done, what failed, how it was mended, what is missing, who decided and what
//! it cost. It follows from the overview of the run alone.

mod run;
mod session;

use reknit_mend::{MendAction, Rung};
use reknit_plan::StepGraph;
use reknit_protocol::{RunId, StepId, human_duration};
use serde::Serialize;

use crate::budget::Spent;
use crate::event::Decision;
use crate::history::{ANSWER, HistoryEntry, HistoryKind, PLAN, TOOL_SELECTION};
use crate::overview::{BareOverview, Overview};

/// A run in plain words.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explanation {
    pub run: RunId,
    /// What was asked, word for word.
    pub asked: String,
    /// How it ended, or how far it is, in one sentence.
    pub outcome: String,
    pub planning: Vec<ExplainedLine>,
    /// What was done, step by step; for a session turn by turn.
    pub steps: Vec<ExplainedStep>,
    /// What was said and called in a session, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conversation: Vec<String>,
    /// What failed: the steps, and the errors that were mended.
    pub failed: Vec<String>,
    /// What was mended, and by which rung: it failed at first, and succeeded.
    pub mended: Vec<String>,
    /// What was changed or sent again, and has not succeeded.
    pub tried: Vec<String>,
    pub missing: Vec<String>,
    pub decided: Vec<String>,
    pub cost: Vec<String>,
    /// The steps as a graph; without steps for a session.
    #[serde(skip)]
    pub graph: StepGraph,
}

/// A step, or a turn, in plain words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ExplainedStep {
    /// The step: `quote`, or `turn 2`.
    pub step: String,
    /// What it does: `get_stock_quote of stock-tool`.
    pub does: String,
    /// How it ended, or what it waits for.
    pub outcome: String,
    /// What happened, in order.
    pub lines: Vec<ExplainedLine>,
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ExplainedLine {
    /// When it began, in milliseconds since 1970, if that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_ms: Option<i64>,
    /// How long it took, if it took time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub took_ms: Option<u64>,
    /// What happened, as a sentence.
    pub text: String,
}

/// Explains a run or a session from what is shown about it.
///
/// `status` is the word for a run that has not ended, such as `waiting` or `stopped`, which its overview does not know.
pub fn explain(overview: &Overview, status: &str) -> Explanation {
    match overview {
        Overview::Run(run) => run::explain(run, status),
        Overview::Session(session) => session::explain(session, status),
        Overview::Bare(bare) => explain_bare(bare),
    }
}

/// What is known without a machine: no outcome of a step, but what happened to it.
fn explain_bare(bare: &BareOverview) -> Explanation {
    let step = |(step, entries): (&StepId, &Vec<_>)| ExplainedStep {
        step: step.to_string(),
        does: String::new(),
        outcome: "unknown".to_owned(),
        lines: entry_lines(entries),
    };
    let reason = bare.closed.as_ref().or(bare.problem.as_ref());
    let reason = reason.map_or_else(String::new, |reason| format!(": {reason}"));
    let open = |call: &String| format!("The call `{call}` may have been made; its outcome is unknown.");
    Explanation {
        run: bare.run.clone(),
        asked: bare.title.clone(),
        outcome: format!("The run is {}{reason}.", bare.status),
        planning: Vec::new(),
        steps: bare.history.iter().map(step).collect(),
        conversation: Vec::new(),
        failed: Vec::new(),
        mended: Vec::new(),
        tried: Vec::new(),
        missing: bare.open_calls.iter().map(open).collect(),
        decided: Vec::new(),
        cost: Vec::new(),
        graph: StepGraph::default(),
    }
}

fn entry_lines(entries: &[HistoryEntry]) -> Vec<ExplainedLine> {
    let mut calls = 0;
    let mut line = |entry: &HistoryEntry| {
        let took_ms = match entry.kind {
            HistoryKind::Called { .. }
            | HistoryKind::Checked { .. }
            | HistoryKind::Asked { .. }
            | HistoryKind::AwaitedJob { .. }
            | HistoryKind::Decided { .. }
            | HistoryKind::Waited => Some(entry.took_ms),
            HistoryKind::BreakerOpen | HistoryKind::KeyFound(_) | HistoryKind::Interrupted | HistoryKind::Mended(_) => {
                None
            }
        };
        ExplainedLine { at_ms: Some(entry.at_ms), took_ms, text: sentence(&entry.kind, &mut calls) }
    };
    entries.iter().map(&mut line).collect()
}

fn sentence(kind: &HistoryKind, calls: &mut u32) -> String {
    match kind {
        HistoryKind::Called { parameters, error, mended, .. } => {
            *calls += 1;
            let with =
                if parameters.is_empty() { "without parameters".to_owned() } else { format!("with {parameters}") };
            let outcome = match error {
                Some(error) => format!("it failed: {error}"),
                None if mended.is_empty() => "the tool accepted it.".to_owned(),
                None => {
                    format!("the tool accepted it, and the JSON of its answer was repaired: {}.", mended.join("; "))
                }
            };
            format!("Call {calls} was sent {with}; {outcome}")
        }
        HistoryKind::Checked { capability, status, .. } => {
            let status = status.map_or_else(|| "no answer".to_owned(), |status| format!("status {status}"));
            format!("{capability} was asked whether the call took effect: {status}.")
        }
        HistoryKind::Asked { rung, target, usage: Some(usage), .. } => {
            let (sent, received) = (usage.input_tokens, usage.output_tokens);
            format!("Model {target} was asked {}: {sent} tokens sent, {received} received.", question(rung))
        }
        HistoryKind::Asked { rung, target, usage: None, error } => {
            let error = error.as_deref().unwrap_or("no answer");
            format!("Model {target} was asked {}, and did not answer: {error}", question(rung))
        }
        HistoryKind::Waited => "Waited before the next attempt.".to_owned(),
        HistoryKind::AwaitedJob { asked: 1 } => "Waited for the job of the tool, which was asked once.".to_owned(),
        HistoryKind::AwaitedJob { asked } => format!("Waited for the job of the tool, which was asked {asked} times."),
        HistoryKind::BreakerOpen => "Not sent: a circuit breaker was open.".to_owned(),
        HistoryKind::KeyFound(finding) => format!("Not sent: {finding}."),
        HistoryKind::Decided { decision, by } => decision_sentence(decision, by.as_str()),
        HistoryKind::Interrupted => "The process ended during the call; its outcome is unknown.".to_owned(),
        HistoryKind::Mended(mend) => match mend.action() {
            MendAction::Changed => {
                format!("Changed by {} ({}): {}", mend.rung.as_str(), rung_words(mend.rung), mend.description)
            }
            MendAction::SentAgain => format!("The same call is {}", mend.description),
            MendAction::Settled => format!("Settled: {}", mend.description),
            MendAction::NoHelp => format!("No help by {}: {}", mend.rung.as_str(), mend.description),
        },
    }
}

/// What a model was asked, by the word of the history.
fn question(rung: &str) -> String {
    match rung {
        PLAN => "for a plan".to_owned(),
        TOOL_SELECTION => "which tools the plan may need".to_owned(),
        ANSWER => "to write the answer".to_owned(),
        "resolution" => "where a missing value is (resolution)".to_owned(),
        "feedback" => "to correct the call, shown its error (feedback)".to_owned(),
        "context" => "to correct the call, shown all that is known (context)".to_owned(),
        other => format!("about {other}"),
    }
}

/// How a rung mends, in a few words.
fn rung_words(rung: Rung) -> &'static str {
    match rung {
        Rung::Schema => "code made the values fit their schema",
        Rung::Facts => "code did what the error asks for",
        Rung::Rules => "a rule learned in earlier runs changed the call",
        Rung::Resolution => "a model said where the value is",
        Rung::Resend => "the same call was sent again",
        Rung::Feedback => "a model was shown the error",
        Rung::Context => "a model was shown all that is known",
        Rung::Settlement => "a check or a person said whether the call took effect",
    }
}

/// A decision, and who made it.
fn decision_sentence(decision: &Decision, by: &str) -> String {
    match decision {
        Decision::Approve => format!("Approved by {by}."),
        Decision::Edit { parameters } => format!("Approved by {by} with other parameters: {parameters}."),
        Decision::Deny { reason: None } => format!("Denied by {by}."),
        Decision::Deny { reason: Some(reason) } => format!("Denied by {by}: {reason}"),
        Decision::Happened { .. } => format!("Settled by {by}: the call took effect."),
        Decision::DidNotHappen => format!("Settled by {by}: the call did not take effect."),
        Decision::Check => format!("Another check was asked for by {by}."),
    }
}

fn cost_lines(spent: &Spent) -> Vec<String> {
    let tokens = match (spent.input_tokens, spent.output_tokens) {
        (0, 0) => String::new(),
        (input, output) => format!(" ({input} tokens sent, {output} received)"),
    };
    let time = format!("Time: {}, without waits for people and jobs.", human_duration(spent.active_ms));
    let calls = format!("Calls: {} to tools, {} to models{tokens}.", spent.tool_calls, spent.model_calls);
    let mut lines = vec![time, calls];
    if spent.wasted_tokens > 0 {
        lines.push(format!("{} tokens went to questions without a usable answer.", spent.wasted_tokens));
    }
    lines.push(match (spent.cost.is_zero(), spent.unpriced_calls) {
        _ if spent.model_calls == 0 => "Models: no cost, none was asked.".to_owned(),
        (true, _) => "Models: the cost is not known; they have no prices.".to_owned(),
        (false, 0) => format!("Models: {}, {} of it estimated.", spent.cost, spent.estimated_cost),
        (false, unpriced) => {
            format!("Models: {}, {} of it estimated; {unpriced} calls have no price.", spent.cost, spent.estimated_cost)
        }
    });
    lines
}
