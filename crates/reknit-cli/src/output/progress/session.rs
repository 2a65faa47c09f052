//! The progress of a session: a line for each turn, and for each call of the current turn.

use reknit_engine::{
    ChildActivity, ChildView, ContextAction, ModelWaitReason, SessionActivity, SessionRecord, SessionView, TurnOutcome,
};

use super::{Line, seconds_left, step_lines};
use crate::output::style::LineStyle;
use crate::output::{exit_words, one_line};

pub(crate) fn session_lines(
    view: Option<&SessionView>,
    records: &[SessionRecord],
    now_ms: i64,
    width: usize,
) -> Vec<Line> {
    let mut lines: Vec<Line> = records.iter().filter_map(|record| record_line(record, width)).collect();
    lines.extend(view.into_iter().flat_map(|view| current_turn(view, now_ms, width)));
    lines
}

fn current_turn(view: &SessionView, now_ms: i64, width: usize) -> Vec<Line> {
    let line = |mark: char, text: String, style: LineStyle| {
        let last = if view.forced_final_reason.is_some() { " (last)" } else { "" };
        Line { text: one_line(&format!("{mark} turn {}{last}  {text}", view.turn), width), style }
    };
    match &view.doing {
        SessionActivity::Asking { attempt, target } => {
            let target = target.as_ref().map_or_else(|| "no model".to_owned(), ToString::to_string);
            let again = if *attempt > 1 { format!(", attempt {attempt}") } else { String::new() };
            vec![line('>', format!("asking {target}{again}"), LineStyle::Plain)]
        }
        SessionActivity::Counting => vec![line('>', "counting the tokens of the prompt".to_owned(), LineStyle::Plain)],
        SessionActivity::Waiting { until_ms, reason } => {
            let left = seconds_left(*until_ms, now_ms);
            let reason = match reason {
                ModelWaitReason::RateLimit => "every model is rate limited",
                ModelWaitReason::BreakerOpen => "no model may be asked yet",
                ModelWaitReason::Failure => "the model failed",
            };
            vec![line('~', format!("{reason}; retrying in {left} s"), LineStyle::Warning)]
        }
        SessionActivity::Calling { steps, children } => {
            let width = width.saturating_sub(2);
            let mut lines = vec![line('>', "calling tools".to_owned(), LineStyle::Plain)];
            lines.extend(step_lines(steps, now_ms, width).iter().map(indented));
            lines.extend(
                children.iter().flat_map(|child| child_lines(child, now_ms, width)).map(|line| indented(&line)),
            );
            lines
        }
        SessionActivity::Ended => Vec::new(),
    }
}

/// A plan or an agent that the session called, and its activity below it.
fn child_lines(child: &ChildView, now_ms: i64, width: usize) -> Vec<Line> {
    let text = one_line(&format!("> {}  {}", child.call, child.name), width);
    let inner = match &child.doing {
        ChildActivity::Plan(steps) => step_lines(steps, now_ms, width.saturating_sub(2)),
        ChildActivity::Agent(view) => current_turn(view, now_ms, width.saturating_sub(2)),
    };
    std::iter::once(Line { text, style: LineStyle::Plain }).chain(inner.iter().map(indented)).collect()
}

fn indented(line: &Line) -> Line {
    Line { text: format!("  {}", line.text), style: line.style }
}

/// The line of a record, for the kinds that are shown.
fn record_line(record: &SessionRecord, width: usize) -> Option<Line> {
    let (text, style) = match record {
        SessionRecord::TurnEnded { turn, attempts, outcome, .. } => {
            let (mark, text, style) = match outcome {
                TurnOutcome::ToolCalls => ('✓', "called tools", LineStyle::Success),
                TurnOutcome::FinalReport => ('✓', "wrote the report", LineStyle::Success),
                TurnOutcome::Failed => ('✗', "no usable answer", LineStyle::Error),
                TurnOutcome::Stopped => ('-', "stopped", LineStyle::Dimmed),
            };
            let attempts = if *attempts > 1 { format!(", {attempts} attempts") } else { String::new() };
            (format!("{mark} turn {turn}  {text}{attempts}"), style)
        }
        SessionRecord::Collapsed { reason, new_max_turns, .. } => (
            format!("- turn {new_max_turns} will be the last: {}", reason.as_str().replace('_', " ")),
            LineStyle::Dimmed,
        ),
        SessionRecord::ChildEnded(child) => {
            let (mark, style) = if child.done { ('✓', LineStyle::Success) } else { ('✗', LineStyle::Error) };
            (format!("{mark} turn {}  {} {}: {}", child.turn, child.call, child.name, exit_words(&child.status)), style)
        }
        SessionRecord::ContextGuard { turn, action } => {
            let text = match action {
                ContextAction::Skipped(target) => format!("prompt too long for {target}: asking another model"),
                ContextAction::Compacted { results } => {
                    format!("prompt too long: moved older results to storage ({results})")
                }
                ContextAction::Trimmed { turns } => format!("prompt too long: dropped the oldest turns ({turns})"),
            };
            (format!("- turn {turn}  {text}"), LineStyle::Dimmed)
        }
        SessionRecord::MandateStated { turn, mandate, .. } => {
            (format!("- turn {turn}  may change: {mandate}"), LineStyle::Dimmed)
        }
        SessionRecord::ResultStored { turn, tool, bytes } => {
            (format!("- turn {turn}  {tool}: stored a result of {bytes} bytes"), LineStyle::Dimmed)
        }
        SessionRecord::CallRepeated(repeated) => {
            let outcome = if repeated.reason.is_some() { "makes the call again" } else { "uses the earlier result" };
            (
                format!("- turn {}  {}: {outcome} of turn {}", repeated.turn, repeated.tool, repeated.first_turn),
                LineStyle::Dimmed,
            )
        }
        _ => return None,
    };
    Some(Line { text: one_line(&text, width), style })
}
