//! A session as lines of text: one for each turn, and one for each call of the turn that is under way.

use reknit_engine::{ChildDoing, ChildView, ContextAction, Doing, Record, Session, SessionView, TurnOutcome};

use crate::progress::{Line, Tone, step_lines};
use crate::show::one_line;

/// What a session looks like now.
pub(crate) fn lines(session: &Session, now_ms: i64, width: usize) -> Vec<Line> {
    let mut lines: Vec<Line> = session.records().iter().filter_map(|record| line(record, width)).collect();
    lines.extend(current(&session.view(), now_ms, width));
    lines
}

/// What is being done in the turn that is under way.
fn current(view: &SessionView, now_ms: i64, width: usize) -> Vec<Line> {
    let line = |mark: char, words: String, tone: Tone| {
        let last = if view.forced_final_reason.is_some() { " (the last)" } else { "" };
        Line { text: one_line(&format!("{mark} turn {}{last}  {words}", view.turn), width), tone }
    };
    match &view.doing {
        Doing::Asking { attempt, target } => {
            let target = target.as_ref().map_or_else(|| "nobody".to_owned(), ToString::to_string);
            let again = if *attempt > 1 { format!(", attempt {attempt}") } else { String::new() };
            vec![line('>', format!("asking {target}{again}"), Tone::Plain)]
        }
        Doing::Counting => vec![line('>', "counting how long the question is".to_owned(), Tone::Plain)],
        Doing::Waiting { until_ms } => {
            let left = until_ms.saturating_sub(now_ms).max(0).unsigned_abs().div_ceil(1_000);
            vec![line('~', format!("every model is at its limit; asked again in {left} s"), Tone::Care)]
        }
        Doing::Calling { steps, children } => {
            let width = width.saturating_sub(2);
            let mut lines = vec![line('>', "calling tools".to_owned(), Tone::Plain)];
            lines.extend(step_lines(steps, now_ms, width).iter().map(indented));
            lines.extend(
                children.iter().flat_map(|child| child_lines(child, now_ms, width)).map(|line| indented(&line)),
            );
            lines
        }
        Doing::Ended => Vec::new(),
    }
}

/// A plan or an agent that was called, and below it what it does.
fn child_lines(child: &ChildView, now_ms: i64, width: usize) -> Vec<Line> {
    let text = one_line(&format!("> {}  {}", child.call, child.name), width);
    let inner = match &child.doing {
        ChildDoing::Plan(steps) => step_lines(steps, now_ms, width.saturating_sub(2)),
        ChildDoing::Agent(view) => current(view, now_ms, width.saturating_sub(2)),
    };
    std::iter::once(Line { text, tone: Tone::Plain }).chain(inner.iter().map(indented)).collect()
}

fn indented(line: &Line) -> Line {
    Line { text: format!("  {}", line.text), tone: line.tone }
}

/// What is said of a turn that is over, and of what made it shorter or the last one.
fn line(record: &Record, width: usize) -> Option<Line> {
    let (text, tone) = match record {
        Record::TurnEnded { turn, attempts, outcome, .. } => {
            let (mark, words, tone) = match outcome {
                TurnOutcome::ToolCalls => ('✓', "tools were called", Tone::Good),
                TurnOutcome::FinalReport => ('✓', "the report", Tone::Good),
                TurnOutcome::Failed => ('✗', "no answer that can be used", Tone::Bad),
                TurnOutcome::Stopped => ('-', "stopped", Tone::Quiet),
            };
            let attempts = if *attempts > 1 { format!(", {attempts} attempts") } else { String::new() };
            (format!("{mark} turn {turn}  {words}{attempts}"), tone)
        }
        Record::Collapsed { reason, new_max_turns, .. } => {
            (format!("- turn {new_max_turns} will be the last: {}", reason.as_str().replace('_', " ")), Tone::Quiet)
        }
        Record::Child(child) => {
            let (mark, tone) = if child.done { ('✓', Tone::Good) } else { ('✗', Tone::Bad) };
            (format!("{mark} turn {}  {} {}: {}", child.turn, child.call, child.name, child.status), tone)
        }
        Record::ContextGuard { turn, action } => {
            let words = match action {
                ContextAction::Skipped(target) => format!("too long for {target}: another is asked"),
                ContextAction::Compacted { results } => format!("too long: older results stored ({results})"),
                ContextAction::Trimmed { turns } => format!("too long: the oldest turns left out ({turns})"),
            };
            (format!("- turn {turn}  {words}"), Tone::Quiet)
        }
        Record::ResultStored { turn, tool, bytes } => {
            (format!("- turn {turn}  {tool}: a result of {bytes} bytes was stored"), Tone::Quiet)
        }
        _ => return None,
    };
    Some(Line { text: one_line(&text, width), tone })
}
