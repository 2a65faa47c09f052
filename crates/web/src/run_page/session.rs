//! The page of a session: its report, its turns with every attempt, and the conversation.

use std::collections::BTreeMap;

use maud::{Markup, html};
use reknit_engine::{
    Action, Attempt, AttemptStatus, ContextAction, MendedCall, Report, ReportStatus, SessionActivity, SessionOverview,
    SessionRecord,
};
use reknit_protocol::human_duration;

use super::{RunFacts, header, history};
use crate::frame::PageFrame;
use crate::marks::rung_chip;
use crate::outside_text::{block, one_line, plain_text};
use crate::question_card::question_card;
use crate::sourced_value::tree;
use crate::words::count;

const MAX_QUESTIONS: usize = 20;
const MAX_SHOWN: usize = 200;

pub(super) fn page(frame: &PageFrame<'_>, facts: &RunFacts<'_>, session: &SessionOverview) -> Markup {
    html! {
        (header::head(frame, facts, &session.input, None, &session.spent))
        p.muted { "Agent " strong { (one_line(&session.agent, 60)) } }
        @for question in facts.questions { (question_card(frame, question, false)) }
        @if let Some(report) = &session.report { (of_report(report)) } @else { (activity(session)) }
        div.columns {
            div.main-column { (conversation(session)) (mended(&session.mended)) (tried(&session.tried)) }
            section #panel aria-label="Turns" { (turns(session)) (exchanges(facts)) }
        }
    }
}

fn of_report(report: &Report) -> Markup {
    let status = match report.status {
        _ if !report.is_answer() => "No model wrote a report; code wrote this one.",
        ReportStatus::Success => "The work was done.",
        ReportStatus::Partial => "A part of the work was done.",
        ReportStatus::Failure => "The work was not done.",
    };
    html! {
        section #answer.card aria-labelledby="answer-title" {
            h2 #answer-title { "Report" }
            @match &report.content_json { Some(value) => (tree(value)), None => { div.answer { (plain_text(&report.content)) } } }
            @for doubt in &report.shortcomings.doubts { p.problem { "Verify this: " (plain_text(doubt)) } }
            @for doubt in &report.shortcomings.in_doubt { p.problem { (plain_text(doubt)) } }
            @for line in &report.shortcomings.not_done { p.problem { "Not done: " (plain_text(line)) } }
            @for line in &report.approved { p { "Approved: " (plain_text(line)) } }
            @for call in &report.repeated {
                p {
                    (one_line(&call.tool, 60)) " in turn " (call.turn) " repeats a call of turn " (call.first_turn)
                    @match &call.reason { Some(reason) => { ": " (plain_text(reason)) }, None => "; it was not made again" } "."
                }
            }
            @if !report.children.is_empty() {
                h3 { "Plans and agents that were called" }
                ul { @for child in &report.children { li { (one_line(&child.name, 60)) " in turn " (child.turn) ": " (one_line(&child.status, 60)) } } }
            }
            p.muted {
                (status) " Ended after " (count(report.turn, "turn")) " (" (report.exit.to_string()) "), "
                (count(report.totals.attempts, "attempt")) ", " (report.totals.failed_attempts) " of them failed."
            }
        }
    }
}

fn activity(session: &SessionOverview) -> Markup {
    let Some(view) = &session.view else { return html! {} };
    let words = match &view.doing {
        SessionActivity::Asking { attempt, target } => {
            let target = target.as_ref().map_or_else(|| "a model".to_owned(), |target| format!("model {target}"));
            format!("asks {target}, attempt {attempt}")
        }
        SessionActivity::Counting => "counts the tokens of its question".to_owned(),
        SessionActivity::Waiting { reason, .. } => format!("waits ({reason})"),
        SessionActivity::Calling { steps, children } => {
            let names: Vec<String> = steps
                .iter()
                .map(|step| format!("{}/{}", step.tool, step.capability))
                .chain(children.iter().map(|child| child.name.clone()))
                .collect();
            format!("calls {}", names.join(", "))
        }
        SessionActivity::Ended => "has ended".to_owned(),
    };
    html! { p #now { "Turn " (view.turn) " of at most " (view.max_turns) ": the agent " (one_line(&words, 200)) "." } }
}

/// The lines of the conversation, with who said each.
fn conversation(session: &SessionOverview) -> Markup {
    html! {
        section #conversation aria-labelledby="conversation-title" {
            h2 #conversation-title { "Conversation" }
            ol.conversation {
                li.asked { span.who { "asked" } div.answer { (plain_text(&session.input)) } }
                @for line in session.conversation.iter().take(MAX_SHOWN) { (said(line)) }
            }
            @if session.conversation.len() > MAX_SHOWN { p.muted { (session.conversation.len() - MAX_SHOWN) " more lines" } }
        }
    }
}

fn said(line: &str) -> Markup {
    let (who, text) = line.split_once(' ').unwrap_or((line, ""));
    let class = match who {
        "call" | "result" | "failed" | "asked" | "said" => who,
        _ => "said",
    };
    html! { li class=(class) { span.who { (one_line(who, 20)) } (block(text.trim_start())) } }
}

fn mended(calls: &[MendedCall]) -> Markup {
    html! {
        @if !calls.is_empty() {
            section #mended {
                h2 { "Mended calls" }
                ul {
                    @for call in calls.iter().take(MAX_SHOWN) {
                        li {
                            "Turn " (call.turn) ", " (one_line(&call.tool, 60)) " " (rung_chip(call.rung.as_str()))
                            (block(&call.change))
                        }
                    }
                }
            }
        }
    }
}

fn tried(calls: &[MendedCall]) -> Markup {
    html! {
        @if !calls.is_empty() {
            section #tried {
                h2 { "Tried, and failed" }
                ul { @for line in MendedCall::lines_in_vain(calls).iter().take(MAX_SHOWN) { li { (one_line(line, 400)) } } }
            }
        }
    }
}

/// Every turn with its attempts and what was decided about them.
fn turns(session: &SessionOverview) -> Markup {
    let mut turns: BTreeMap<u32, Vec<Markup>> = BTreeMap::new();
    let mut turn = 1;
    for record in &session.records {
        let item = match record {
            SessionRecord::TurnStarted(number) => {
                turn = *number;
                turns.entry(turn).or_default();
                continue;
            }
            SessionRecord::Attempt(attempt) => attempt_item(attempt),
            other => match notice(other) {
                Some(text) => html! { li { (one_line(&text, 400)) } },
                None => continue,
            },
        };
        turns.entry(turn).or_default().push(item);
    }
    html! {
        header { h2 { "Turns" } }
        @for (turn, items) in turns.iter().take(MAX_SHOWN) {
            section id={"turn-" (turn)} { h3 { "Turn " (turn) } ol.history { @for item in items { (item) } } }
        }
    }
}

fn attempt_item(attempt: &Attempt) -> Markup {
    let is_answered = matches!(attempt.status, AttemptStatus::Answered(_)) && attempt.error.is_none();
    let class = if is_answered { "badge done" } else { "badge failed" };
    let shape = if is_answered { "●" } else { "✕" };
    html! {
        li.model {
            p {
                strong { "Attempt " (attempt.attempt) } " " (one_line(attempt.target.as_str(), 40)) " "
                span class=(class) { (shape) " " (attempt.status.as_str().replace('_', " ")) } " "
                span.muted {
                    @if let Some(usage) = attempt.usage { (usage.input_tokens) " + " (usage.output_tokens) " tokens, " }
                    @if let Some(cost) = attempt.cost { "cost " (cost) ", " }
                    (human_duration(attempt.latency_ms))
                }
            }
            @if let Some(error) = &attempt.error { (block(error)) }
            @if let Some(directive) = &attempt.directive {
                p.muted {
                    (next_attempt(directive.action))
                    @if let Some(ms) = directive.backoff_ms { ", after a wait of " (human_duration(ms)) } "."
                }
                @if let Some(notice) = &directive.system_message { p.sub { "Notice to the next model" } (block(notice)) }
            }
        }
    }
}

fn next_attempt(action: Action) -> &'static str {
    match action {
        Action::Retry => "The next model is asked; this one may be asked again",
        Action::SkipProvider => "The next model is asked; this one cannot answer",
        Action::Abort => "No model is asked any more",
    }
}

/// What else was decided, as a sentence; `None` for what the page shows elsewhere.
fn notice(record: &SessionRecord) -> Option<String> {
    Some(match record {
        SessionRecord::FollowedUp { number, input, .. } => format!("Message {number} of the user: {input}"),
        SessionRecord::WaitEnded { ms, end, reason, source, .. } => {
            let reason = reason.map_or_else(String::new, |reason| format!("{}, ", reason.as_str().replace('_', " ")));
            let source = source.as_ref().map_or_else(String::new, |source| format!("{source}, "));
            format!("Waited {} ({reason}{source}{end}).", human_duration(*ms))
        }
        SessionRecord::TargetSkipped { target, .. } => {
            format!("{target} was skipped: its circuit breaker is open or it is at its limit.")
        }
        SessionRecord::CallInText { tool, .. } => format!("The model wrote the call of {tool} as text; it was made."),
        SessionRecord::OutputLimitLearned { target, max_tokens, .. } => {
            format!("{target} takes at most {max_tokens} output tokens.")
        }
        SessionRecord::CallDropped { tool, why, .. } => format!("A call of {tool} was dropped ({why})."),
        SessionRecord::FallbackReportFound { source, .. } => format!("A fallback report was found ({source})."),
        SessionRecord::FinalTurn { reason, .. } => format!("This is the final turn ({reason})."),
        SessionRecord::Collapsed { reason, previous_max_turns, new_max_turns, .. } => {
            format!("The turns were reduced from {previous_max_turns} to {new_max_turns} ({reason}).")
        }
        SessionRecord::ContextGuard { action, .. } => match action {
            ContextAction::Skipped(target) => {
                format!("The question does not fit {target}; another model has a larger window.")
            }
            ContextAction::Compacted { results } => format!("{results} older results were replaced by references."),
            ContextAction::Trimmed { turns } => format!("The {turns} oldest turns were left out."),
        },
        SessionRecord::MandateStated { mandate, is_read, .. } => {
            let unread = if *is_read { "" } else { " The answer of the model could not be read." };
            format!("This session may change: {mandate}.{unread}")
        }
        SessionRecord::ResultStored { tool, bytes, .. } => format!("A result of {tool} with {bytes} bytes was stored."),
        SessionRecord::CallRepeated(call) => {
            format!("The call of {} repeats one of turn {}.", call.tool, call.first_turn)
        }
        SessionRecord::ChildEnded(child) => format!("{} ended: {}.", child.name, child.status),
        SessionRecord::Resumed => "Another process took the session over.".to_owned(),
        SessionRecord::Started { .. }
        | SessionRecord::TurnStarted(_)
        | SessionRecord::Attempt(_)
        | SessionRecord::WaitStarted { .. }
        | SessionRecord::Noticed { .. }
        | SessionRecord::TurnEnded { .. }
        | SessionRecord::Reported(_)
        | SessionRecord::LateOutcome(_) => return None,
    })
}

/// What models were asked, word for word.
fn exchanges(facts: &RunFacts<'_>) -> Markup {
    html! {
        @match facts.interactions {
            None => (history::hidden(facts.run)),
            Some([]) => {},
            Some(interactions) => {
                h3 { "Questions to models" }
                ol.history {
                    @for (index, interaction) in interactions.iter().take(MAX_QUESTIONS).enumerate() {
                        li.model {
                            p {
                                strong { "Question " (index + 1) } " to " (one_line(interaction.target.as_str(), 40))
                                @if interaction.error().is_some() { ", without an answer" }
                            }
                            (history::question(interaction))
                        }
                    }
                }
                @if interactions.len() > MAX_QUESTIONS {
                    p.muted { (interactions.len() - MAX_QUESTIONS) " more: " code { "reknit runs show " (one_line(facts.run, 40)) " --llm" } }
                }
            },
        }
    }
}
