//! A session as lines of text: one for each turn, and one for each call of the turn that is under way.

use reknit_engine::{Doing, Record, Session, TurnOutcome};

use crate::progress::{Line, Tone, step_lines};
use crate::show::one_line;

/// What a session looks like now.
pub(crate) fn lines(session: &Session, now_ms: i64, width: usize) -> Vec<Line> {
    let mut lines: Vec<Line> = session.records().iter().filter_map(|record| line(record, width)).collect();
    let view = session.view();
    let current = |mark: char, words: String, tone: Tone| {
        let last = if view.forced_final_reason.is_some() { " (the last)" } else { "" };
        Line { text: one_line(&format!("{mark} turn {}{last}  {words}", view.turn), width), tone }
    };
    match view.doing {
        Doing::Asking { attempt, target } => {
            let target = target.map_or_else(|| "nobody".to_owned(), |target| target.to_string());
            let again = if attempt > 1 { format!(", attempt {attempt}") } else { String::new() };
            lines.push(current('>', format!("asking {target}{again}"), Tone::Plain));
        }
        Doing::Waiting { until_ms } => {
            let left = until_ms.saturating_sub(now_ms).max(0).unsigned_abs().div_ceil(1_000);
            lines.push(current('~', format!("every model is at its limit; asked again in {left} s"), Tone::Care));
        }
        Doing::Calling(steps) => {
            lines.push(current('>', "calling tools".to_owned(), Tone::Plain));
            lines.extend(step_lines(&steps, now_ms, width.saturating_sub(2)).into_iter().map(|line| indented(&line)));
        }
        Doing::Ended => {}
    }
    lines
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
        _ => return None,
    };
    Some(Line { text: one_line(&text, width), tone })
}
