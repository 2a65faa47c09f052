//! The sentences about what happened to a step, and about what was spent.

use reknit_mend::{MendEffect, Rung};
use reknit_protocol::human_duration;

use super::ExplainedLine;
use crate::budget::Spent;
use crate::event::Decision;
use crate::history::{ANSWER, HistoryEntry, HistoryKind, PLAN, TOOL_SELECTION};

/// A sentence for each entry.
pub(super) fn entry_lines(entries: &[HistoryEntry]) -> Vec<ExplainedLine> {
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
        HistoryKind::Mended(mend) if mend.effect == MendEffect::Applied => {
            format!("Mended by {} ({}): {}", mend.rung.as_str(), rung_words(mend.rung), mend.description)
        }
        HistoryKind::Mended(mend) => format!("No help by {}: {}", mend.rung.as_str(), mend.description),
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
pub(super) fn rung_words(rung: Rung) -> &'static str {
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
pub(super) fn decision_sentence(decision: &Decision, by: &str) -> String {
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

/// What was spent.
pub(super) fn cost_lines(spent: &Spent) -> Vec<String> {
    let tokens = match (spent.input_tokens, spent.output_tokens) {
        (0, 0) => String::new(),
        (input, output) => format!(" ({input} tokens sent, {output} received)"),
    };
    let time = format!("Time: {}, without waits for people and jobs.", human_duration(spent.active_ms));
    let calls = format!("Calls: {} to tools, {} to models{tokens}.", spent.tool_calls, spent.model_calls);
    let mut lines = vec![time, calls];
    if spent.wasted_tokens > 0 {
        lines.push(format!("{} tokens went to questions that were interrupted.", spent.wasted_tokens));
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
