//! A run or a session as lines of text. Pure: where and when they are drawn is not decided here.

use reknit_engine::{Machine, Progress, Run, StepState, StepView};
use reknit_mend::MendEffect;
use reknit_protocol::StepId;
use unicode_width::UnicodeWidthStr;

use crate::show::one_line;
use crate::turns;

/// A line, and how it is meant. The text says it all without the tone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) text: String,
    pub(crate) tone: Tone,
}

/// How a line is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    /// Nothing to look at yet.
    Quiet,
    /// Under way.
    Plain,
    /// Something was wrong and is being dealt with, or somebody must deal with it.
    Care,
    /// It went well.
    Good,
    /// It did not.
    Bad,
}

/// What a run or a session looks like now.
pub(crate) fn lines(machine: &Machine, now_ms: i64, width: usize) -> Vec<Line> {
    match machine {
        Machine::Run(run) => run_lines(run, now_ms, width),
        Machine::Session(session) => turns::lines(session, now_ms, width),
    }
}

/// The steps of a run, or what is being done about having some.
pub(crate) fn run_lines(run: &Run, now_ms: i64, width: usize) -> Vec<Line> {
    let wait = run.model_wait_ms().map(|until_ms| format!(" in {} s", seconds_left(until_ms, now_ms)));
    let wait = wait.unwrap_or_default();
    let asking = |text: String| Line { text: one_line(&text, width), tone: Tone::Plain };
    match run.progress() {
        Progress::Choosing => vec![asking(format!("planning: asking a model which tools to use{wait}"))],
        Progress::Planning { attempt: 1 } => vec![asking(format!("planning: asking a model{wait}"))],
        Progress::Planning { attempt } => {
            vec![asking(format!("planning: asking a model again{wait} (try {attempt})"))]
        }
        Progress::Running | Progress::Ended => step_lines(&run.steps(), now_ms, width),
        Progress::Answering => {
            let mut lines = step_lines(&run.steps(), now_ms, width);
            lines.push(asking(format!("answering: asking a model{wait}")));
            lines
        }
    }
}

/// One line for each step.
pub(crate) fn step_lines(steps: &[StepView], now_ms: i64, width: usize) -> Vec<Line> {
    let longest = |texts: Vec<&str>| texts.iter().map(|text| text.width()).max().unwrap_or(0);
    let ids = longest(steps.iter().map(|step| step.id.as_str()).collect());
    let names = longest(steps.iter().map(|step| step.capability.as_str()).collect());
    steps
        .iter()
        .map(|step| {
            let line = format!(
                "{} {}  {}  {}",
                mark(&step.state),
                padded(step.id.as_str(), ids),
                padded(step.capability.as_str(), names),
                words(step, now_ms)
            );
            Line { text: one_line(&line, width), tone: tone(&step.state) }
        })
        .collect()
}

fn padded(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(text.width())))
}

/// One letter that says it without colour.
fn mark(state: &StepState) -> char {
    match state {
        StepState::Waiting | StepState::Queued => '·',
        StepState::Running => '>',
        StepState::Resting { .. } | StepState::TurnedAway { .. } => '~',
        StepState::Mending(_) => '+',
        StepState::Asking(_) => '?',
        StepState::Done => '✓',
        StepState::Failed { .. } => '✗',
        StepState::Skipped { .. } => '-',
    }
}

fn tone(state: &StepState) -> Tone {
    match state {
        StepState::Waiting | StepState::Queued | StepState::Skipped { .. } => Tone::Quiet,
        StepState::Running => Tone::Plain,
        StepState::Resting { .. } | StepState::TurnedAway { .. } | StepState::Mending(_) | StepState::Asking(_) => {
            Tone::Care
        }
        StepState::Done => Tone::Good,
        StepState::Failed { .. } => Tone::Bad,
    }
}

fn words(step: &StepView, now_ms: i64) -> String {
    match &step.state {
        StepState::Waiting => {
            let needs: Vec<&str> = step.needs.iter().map(StepId::as_str).collect();
            format!("waiting for {}", needs.join(", "))
        }
        StepState::Queued => "waiting for a free place".to_owned(),
        StepState::Running if step.calls > 1 => format!("running, call {}{}", step.calls, mended(step)),
        StepState::Running => "running".to_owned(),
        StepState::Resting { until_ms } => format!("sent again in {} s", seconds_left(*until_ms, now_ms)),
        StepState::TurnedAway { until_ms } => {
            format!("{} is resting, called in {} s", step.agent, seconds_left(*until_ms, now_ms))
        }
        StepState::Mending(rung) => format!("being mended: asking a model ({})", rung.as_str()),
        StepState::Asking(_) => "waiting for a person".to_owned(),
        StepState::Done => format!("done{}", mended(step)),
        StepState::Failed { reason } => format!("failed: {reason}"),
        StepState::Skipped { reason } => format!("skipped: {reason}"),
    }
}

fn seconds_left(until_ms: i64, now_ms: i64) -> u64 {
    until_ms.saturating_sub(now_ms).max(0).unsigned_abs().div_ceil(1_000)
}

/// `, mended by schema, context`.
fn mended(step: &StepView) -> String {
    let mut rungs: Vec<&str> = Vec::new();
    for mend in step.mends.iter().filter(|mend| mend.effect == MendEffect::Applied) {
        if !rungs.contains(&mend.rung.as_str()) {
            rungs.push(mend.rung.as_str());
        }
    }
    if rungs.is_empty() { String::new() } else { format!(", mended by {}", rungs.join(", ")) }
}

#[cfg(test)]
mod tests {
    use reknit_engine::{AskPerson, Question};
    use reknit_mend::{Mend, Rung};
    use reknit_protocol::CallTool;
    use reknit_protocol::{Effect, Object};

    use super::*;

    fn step(id: &str, capability: &str, state: StepState) -> StepView {
        StepView {
            id: id.into(),
            agent: "tool".into(),
            capability: capability.into(),
            instruction: String::new(),
            needs: Vec::new(),
            state,
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
            agent: "tool".into(),
            capability: "pay".into(),
            parameters: Object::new(),
            side_effect: Effect::Unsafe,
            idempotency_key: None,
            timeout_ms: 1,
        };
        StepState::Asking(Box::new(AskPerson {
            id: "pay/approval/1".parse().unwrap(),
            step: "pay".into(),
            question: Question::SendAgain { call: Box::new(call) },
            hash: String::new(),
            expires_ms: 0,
        }))
    }

    fn mend(rung: Rung, effect: MendEffect) -> Mend {
        Mend { rung, effect, words: String::new() }
    }

    /// A step in every state, with names of different widths.
    fn steps() -> Vec<StepView> {
        let mended = vec![
            mend(Rung::Schema, MendEffect::Applied),
            mend(Rung::Feedback, MendEffect::NoHelp),
            mend(Rung::Context, MendEffect::Applied),
            mend(Rung::Schema, MendEffect::Applied),
        ];
        let reason = "no result of `가격` is there".to_owned();
        vec![
            StepView { needs: vec!["b".into(), "c".into()], ..step("a", "wait", StepState::Waiting) },
            step("b", "queue", StepState::Queued),
            step("c", "run", StepState::Running),
            StepView { calls: 2, mends: mended.clone(), ..step("d", "run_again", StepState::Running) },
            step("e", "rest", StepState::Resting { until_ms: 3_001 }),
            step("k", "gate", StepState::TurnedAway { until_ms: 3_001 }),
            step("f", "mend", StepState::Mending(Rung::Context)),
            step("g", "ask", question()),
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
    fn every_state_has_a_mark_and_words() {
        insta::assert_snapshot!(text(1_000, 1_000), @r#"
        · a     wait       waiting for b, c
        · b     queue      waiting for a free place
        > c     run        running
        > d     run_again  running, call 2, mended by schema, context
        ~ e     rest       sent again in 3 s
        ~ k     gate       tool is resting, called in 3 s
        + f     mend       being mended: asking a model (context)
        ? g     ask        waiting for a person
        ✓ 가격  done       done
        ✓ h     mended     done, mended by schema, context
        ✗ i     fail       failed: 404 NOT_FOUND:\nnothing \u{1b}[31mthere
        - j     skip       skipped: no result of `가격` is there
        "#);
    }

    #[test]
    fn a_line_is_cut_to_the_width_of_the_terminal() {
        insta::assert_snapshot!(text(30, 1_000), @"
        · a     wait       waiting for…
        · b     queue      waiting for…
        > c     run        running
        > d     run_again  running, ca…
        ~ e     rest       sent again …
        ~ k     gate       tool is res…
        + f     mend       being mende…
        ? g     ask        waiting for…
        ✓ 가격  done       done
        ✓ h     mended     done, mende…
        ✗ i     fail       failed: 404…
        - j     skip       skipped: no…
        ");
    }

    #[test]
    fn a_wait_counts_down_to_nothing() {
        let seconds = |now_ms| step_lines(&steps(), now_ms, 1_000)[4].text.clone();
        assert!(seconds(2_500).ends_with("sent again in 1 s"), "{}", seconds(2_500));
        assert!(seconds(9_999).ends_with("sent again in 0 s"), "{}", seconds(9_999));
    }
}
