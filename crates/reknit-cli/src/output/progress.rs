//! The progress of a run or a session as lines of text.

pub(crate) mod display;
mod session;

use reknit_engine::{Machine, Progress, SessionActivity, SessionRecord, StepState, StepView};
use reknit_protocol::StepId;

use crate::output::style::LineStyle;
use crate::output::{escape_controls, one_line, padded, width as text_width, wrapped};
pub(crate) use session::session_lines;

/// A line of text and its style. The text is complete without the style.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Line {
    pub(crate) text: String,
    pub(crate) style: LineStyle,
}

/// The current progress of a run or a session. `times` are when the last piece of an answer arrived, and now.
pub(crate) fn lines(machine: &Machine, records: &[SessionRecord], times: (i64, i64), width: usize) -> Vec<Line> {
    let (last_piece_ms, now_ms) = times;
    let heard_ms = last_piece_ms.max(machine.now_ms());
    let (mut lines, asks) = match machine {
        Machine::Run(run) => {
            let lines = run_lines((run.progress(), run.model_wait_ms()), || run.written_steps(), now_ms, width);
            let asks = matches!(run.progress(), Progress::Selecting | Progress::Planning { .. } | Progress::Answering);
            (lines, asks && run.model_wait_ms().is_none())
        }
        Machine::Session(session) => {
            let view = session.view();
            let asks = matches!(view.doing, SessionActivity::Asking { .. });
            (session_lines(Some(&view), records, now_ms, width), asks)
        }
    };
    if let (true, Some(last)) = (asks, lines.last_mut()) {
        last.text = one_line(&format!("{}{}", last.text, silence(heard_ms, now_ms)), width);
    }
    lines
}

/// The end of an answer that a model is writing, below the progress, in at most so many rows.
fn preview_lines(text: &str, width: usize, rows: usize) -> Vec<Line> {
    let text = escape_controls(text.trim_end()).replace('\t', "    ");
    let wrapped: Vec<String> = text.lines().flat_map(|line| wrapped(line, width)).collect();
    if text.is_empty() || rows < 2 {
        return Vec::new();
    }
    let shown = wrapped.len().saturating_sub(rows - 1);
    let text = std::iter::once(String::new()).chain(wrapped.into_iter().skip(shown));
    text.map(|text| Line { text, style: LineStyle::Plain }).collect()
}

/// A model that says nothing for this long is mentioned.
const SILENCE_MS: i64 = 15_000;

/// How long nothing has happened while a model is asked; empty if that is not long.
fn silence(since_ms: i64, now_ms: i64) -> String {
    match now_ms.saturating_sub(since_ms) {
        ms if ms < SILENCE_MS => String::new(),
        ms => format!(", no answer for {} s", ms / 1_000),
    }
}

/// The steps of a run, and the model call that plans or answers, which may wait until a time.
pub(crate) fn run_lines(
    (progress, model_wait_ms): (Progress, Option<i64>),
    steps: impl FnOnce() -> Vec<StepView>,
    now_ms: i64,
    width: usize,
) -> Vec<Line> {
    let wait = model_wait_ms.map(|until_ms| format!(" in {} s", seconds_left(until_ms, now_ms)));
    let wait = wait.unwrap_or_default();
    let model_call = |text: String| Line { text: one_line(&text, width), style: LineStyle::Plain };
    match progress {
        Progress::Selecting => vec![model_call(format!("planning: asking a model to select tools{wait}"))],
        Progress::Planning { attempt: 1 } => vec![model_call(format!("planning: asking a model{wait}"))],
        Progress::Planning { attempt } => {
            vec![model_call(format!("planning: asking a model again{wait} (attempt {attempt})"))]
        }
        Progress::Running | Progress::Ended => step_lines(&steps(), now_ms, width),
        Progress::Answering => {
            let mut lines = step_lines(&steps(), now_ms, width);
            lines.push(model_call(format!("answering: asking a model{wait}")));
            lines
        }
    }
}

pub(crate) fn step_lines(steps: &[StepView], now_ms: i64, width: usize) -> Vec<Line> {
    let columns = StepColumns::of(steps);
    steps.iter().map(|step| columns.line(step, now_ms, width)).collect()
}

#[cfg(test)]
thread_local! {
    /// How many lines of steps this thread has made.
    pub(crate) static LINES_MADE: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// The widths of the columns of step lines.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StepColumns {
    ids: usize,
    names: usize,
}

impl StepColumns {
    pub(crate) fn of(steps: &[StepView]) -> Self {
        Self {
            ids: steps.iter().map(|step| text_width(step.id.as_str())).max().unwrap_or(0),
            names: steps.iter().map(|step| text_width(step.capability.as_str())).max().unwrap_or(0),
        }
    }

    pub(crate) fn line(self, step: &StepView, now_ms: i64, width: usize) -> Line {
        #[cfg(test)]
        LINES_MADE.with(|made| made.set(made.get() + 1));
        let (mark, style) = mark_and_style(&step.state);
        let line = format!(
            "{mark} {}  {}  {}",
            padded(step.id.as_str(), self.ids),
            padded(step.capability.as_str(), self.names),
            state_text(step, now_ms)
        );
        Line { text: one_line(&line, width), style }
    }
}

/// A mark that shows the state without colour, and its style.
fn mark_and_style(state: &StepState) -> (char, LineStyle) {
    match state {
        StepState::Waiting | StepState::Queued => ('·', LineStyle::Dimmed),
        StepState::Running | StepState::Looping { .. } => ('>', LineStyle::Plain),
        StepState::Polling { .. } | StepState::AwaitingJob { problem: None, .. } => ('~', LineStyle::Plain),
        StepState::BackingOff { .. }
        | StepState::BreakerOpen { .. }
        | StepState::KeyHeld { .. }
        | StepState::AwaitingJob { .. } => ('~', LineStyle::Warning),
        StepState::Verifying => ('+', LineStyle::Plain),
        StepState::Mending(_) | StepState::Checking => ('+', LineStyle::Warning),
        StepState::AwaitingApproval(_) => ('?', LineStyle::Warning),
        StepState::Done => ('✓', LineStyle::Success),
        StepState::Failed { .. } => ('✗', LineStyle::Error),
        StepState::Unconfirmed { .. } => ('!', LineStyle::Error),
        StepState::Skipped { .. } => ('-', LineStyle::Dimmed),
    }
}

fn state_text(step: &StepView, now_ms: i64) -> String {
    match &step.state {
        StepState::Waiting if step.item_of.is_some() => "waiting for a free place in its loop".to_owned(),
        // Only the approval of the whole plan holds back a step without dependencies.
        StepState::Waiting if step.needs.is_empty() => "waiting for approval of the plan".to_owned(),
        StepState::Waiting => {
            let needs: Vec<&str> = step.needs.iter().map(StepId::as_str).collect();
            format!("waiting for {}", needs.join(", "))
        }
        StepState::Queued => "waiting for a free slot".to_owned(),
        StepState::Running => match &step.session {
            Some(session) => format!("running as session {session}"),
            None if step.calls > 1 => format!("running, call {}", step.calls),
            None => "running".to_owned(),
        },
        StepState::Looping { items, done, failed: 0 } => format!("running, {done} of {items} items done"),
        StepState::Looping { items, done, failed } => format!("running, {done} of {items} items done, {failed} failed"),
        StepState::BackingOff { until_ms } => format!("retrying in {} s", seconds_left(*until_ms, now_ms)),
        StepState::Polling { polls, until_ms } => {
            format!("not yet as wished, asked {}, again in {} s", times(*polls), seconds_left(*until_ms, now_ms))
        }
        StepState::BreakerOpen { until_ms } => {
            format!("circuit breaker of {} open, retrying in {} s", step.tool, seconds_left(*until_ms, now_ms))
        }
        StepState::KeyHeld { by, until_ms } => {
            format!("waiting for the same call of run {by}, asking again in {} s", seconds_left(*until_ms, now_ms))
        }
        StepState::Mending(rung) => format!("mending: asking a model ({})", rung.as_str()),
        StepState::Checking => "checking whether the call took effect".to_owned(),
        StepState::Verifying => "verifying its effect".to_owned(),
        StepState::AwaitingJob { since_ms, asked, problem } => {
            let since = jiff::Timestamp::from_millisecond(*since_ms)
                .map_or_else(|_| since_ms.to_string(), |since| format!("{since:.0}"));
            let problem = problem.as_ref().map_or_else(String::new, |problem| format!("; not answered: {problem}"));
            let asked = if *asked == 0 { String::new() } else { format!(", asked {}", times(*asked)) };
            match &step.session {
                Some(session) => format!("session {session} waits for a person since {since}{problem}"),
                None => format!("waiting for a job since {since}{asked}{problem}"),
            }
        }
        StepState::AwaitingApproval(_) => "waiting for approval".to_owned(),
        StepState::Done => format!("done{}", mended(step)),
        StepState::Failed { reason } => format!("failed: {reason}"),
        StepState::Unconfirmed { reason } => format!("unconfirmed: {reason}"),
        StepState::Skipped { reason } => format!("skipped: {reason}"),
    }
}

/// `once` or `3 times`.
fn times(count: u32) -> String {
    if count == 1 { "once".to_owned() } else { format!("{count} times") }
}

fn seconds_left(until_ms: i64, now_ms: i64) -> u64 {
    until_ms.saturating_sub(now_ms).max(0).unsigned_abs().div_ceil(1_000)
}

/// `, mended by schema, context`.
fn mended(step: &StepView) -> String {
    let mut rungs: Vec<&str> = Vec::new();
    for mend in step.mended() {
        if !rungs.contains(&mend.rung.as_str()) {
            rungs.push(mend.rung.as_str());
        }
    }
    if rungs.is_empty() { String::new() } else { format!(", mended by {}", rungs.join(", ")) }
}

#[cfg(test)]
mod tests {
    use reknit_engine::{AskPerson, Question};
    use reknit_mend::{Mend, MendEffect, Rung};
    use reknit_protocol::CallTool;
    use reknit_protocol::{Object, SideEffect};

    use super::*;

    fn step(id: &str, capability: &str, state: StepState) -> StepView {
        StepView {
            id: id.into(),
            tool: "tool".into(),
            capability: capability.into(),
            instruction: String::new(),
            needs: Vec::new(),
            item_of: None,
            session: None,
            state,
            replaced: false,
            mends: Vec::new(),
            calls: 1,
            parameters: Object::new(),
            provenance: Vec::new(),
        }
    }

    fn question() -> StepState {
        let call = CallTool {
            id: "pay/call/1".parse().unwrap(),
            step: "pay".into(),
            tool: "tool".into(),
            capability: "pay".into(),
            parameters: Object::new(),
            side_effect: SideEffect::Unsafe,
            idempotency_key: None,
            business_key: None,
            timeout_ms: 1,
            job: None,
            callback: None,
        };
        StepState::AwaitingApproval(Box::new(AskPerson {
            id: "pay/approval/1".parse().unwrap(),
            step: "pay".into(),
            question: Question::SendAgain { call: Box::new(call), error: String::new(), check: None },
            provenance: Vec::new(),
            hash: String::new(),
            expires_ms: 0,
        }))
    }

    fn mend(rung: Rung, effect: MendEffect) -> Mend {
        Mend { rung, effect, description: String::new() }
    }

    /// A step in every state, with names of different widths.
    fn steps() -> Vec<StepView> {
        let mended = vec![
            mend(Rung::Schema, MendEffect::Applied),
            mend(Rung::Feedback, MendEffect::NoHelp),
            mend(Rung::Context, MendEffect::Applied),
            mend(Rung::Schema, MendEffect::Applied),
        ];
        let reason = "step `가격` has no result".to_owned();
        vec![
            StepView { needs: vec!["b".into(), "c".into()], ..step("a", "wait", StepState::Waiting) },
            step("b", "queue", StepState::Queued),
            step("c", "run", StepState::Running),
            StepView { calls: 2, mends: mended.clone(), ..step("d", "run_again", StepState::Running) },
            step("n", "loop", StepState::Looping { items: 10, done: 3, failed: 0 }),
            StepView { item_of: Some("n".into()), ..step("n[4]", "loop", StepState::Waiting) },
            step("e", "back_off", StepState::BackingOff { until_ms: 3_001 }),
            step("k", "breaker", StepState::BreakerOpen { until_ms: 3_001 }),
            step("f", "mend", StepState::Mending(Rung::Context)),
            step("g", "ask", question()),
            step("l", "job", StepState::AwaitingJob { since_ms: -3_600_000, asked: 3, problem: None }),
            step("m", "job", StepState::AwaitingJob { since_ms: 0, asked: 1, problem: Some("no answer".to_owned()) }),
            step("가격", "done", StepState::Done),
            StepView { mends: mended, ..step("h", "mended", StepState::Done) },
            step("i", "fail", StepState::Failed { reason: "404 NOT_FOUND:\nnothing \u{1b}[31mthere".to_owned() }),
            step("j", "skip", StepState::Skipped { reason }),
        ]
    }

    fn text(width: usize, now_ms: i64) -> String {
        let lines: Vec<String> = step_lines(&steps(), now_ms, width).into_iter().map(|line| line.text).collect();
        lines.join("\n")
    }

    #[test]
    fn every_state_has_a_mark_and_a_text() {
        insta::assert_snapshot!(text(1_000, 1_000), @r"
        · a     wait       waiting for b, c
        · b     queue      waiting for a free slot
        > c     run        running
        > d     run_again  running, call 2
        > n     loop       running, 3 of 10 items done
        · n[4]  loop       waiting for a free place in its loop
        ~ e     back_off   retrying in 3 s
        ~ k     breaker    circuit breaker of tool open, retrying in 3 s
        + f     mend       mending: asking a model (context)
        ? g     ask        waiting for approval
        ~ l     job        waiting for a job since 1969-12-31T23:00:00Z, asked 3 times
        ~ m     job        waiting for a job since 1970-01-01T00:00:00Z, asked once; not answered: no answer
        ✓ 가격  done       done
        ✓ h     mended     done, mended by schema, context
        ✗ i     fail       failed: 404 NOT_FOUND:\nnothing \u{1b}[31mthere
        - j     skip       skipped: step `가격` has no result
        ");
    }

    #[test]
    fn a_line_is_cut_to_the_width_of_the_terminal() {
        let text = text(30, 1_000);
        assert!(text.lines().all(|line| text_width(line) <= 31), "{text}");
        assert!(text.starts_with("· a     wait       waiting for…\n"), "{text}");
    }

    #[test]
    fn a_model_that_is_silent_for_long_is_mentioned() {
        assert_eq!(silence(1_000, 15_999), "");
        assert_eq!(silence(1_000, 36_500), ", no answer for 35 s");
    }

    #[test]
    fn a_wait_counts_down_to_zero() {
        let seconds = |now_ms| step_lines(&steps(), now_ms, 1_000)[6].text.clone();
        assert!(seconds(2_500).ends_with("retrying in 1 s"), "{}", seconds(2_500));
        assert!(seconds(9_999).ends_with("retrying in 0 s"), "{}", seconds(9_999));
    }
}
