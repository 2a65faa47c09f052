//! ARCHITECTURE.md traces one run. The trace is made here, so that the page cannot become wrong.

#![expect(clippy::expect_used, clippy::panic, reason = "a test that panics has failed, and says where")]

#[expect(dead_code, reason = "other tests use the rest of it")]
#[path = "run/world.rs"]
mod world;

use std::fmt::Write as _;

use reknit_engine::{Effect, ModelRecord, Record, RecordKind, RunRecord, Synthesis};
use world::{Play, policy, started};

const PAGE: &str = include_str!("../../../ARCHITECTURE.md");

/// The trace as a table: each event, what was decided, and the effects that are due then.
struct Trace {
    play: Play,
    table: String,
    shown: usize,
}

impl Trace {
    fn row(&mut self, event: &str) {
        let records = self.play.records.get(self.shown..).expect("records are only added");
        let records: Vec<String> = records.iter().map(name).collect();
        self.shown = self.play.records.len();
        let due = self.play.run.pending();
        let due: Vec<String> = due.iter().filter_map(effect).collect();
        writeln!(self.table, "| {event} | {} | {} |", records.join(", "), due.join(", ")).expect("a string grows");
    }
}

fn effect(effect: &Effect) -> Option<String> {
    Some(match effect {
        Effect::AskModel(ask) => format!("`AskModel` {}", ask.id),
        Effect::CallTool(call) => format!("`CallTool` {}", call.id),
        Effect::Sleep { id, .. } if id.to_string().starts_with("run/deadline") => return None,
        Effect::Sleep { id, .. } => format!("`Sleep` {id}"),
        Effect::Finish(_) => "`Finish`".to_owned(),
        other => panic!("the trace has no such effect: {other:?}"),
    })
}

fn name(record: &Record) -> String {
    let words = match &record.kind {
        RecordKind::Model(ModelRecord::Asked(_)) => "Asked",
        RecordKind::Model(ModelRecord::Answered { .. }) => "Answered",
        RecordKind::Run(RunRecord::Started { .. }) => "Started",
        RecordKind::Run(RunRecord::PlanAccepted { .. }) => "PlanAccepted",
        RecordKind::Run(RunRecord::StepStarted(_)) => "StepStarted",
        RecordKind::Run(RunRecord::StepBound { .. }) => "StepBound",
        RecordKind::Run(RunRecord::CallStarted(_)) => "CallStarted",
        RecordKind::Run(RunRecord::CallEnded { .. }) => "CallEnded",
        RecordKind::Run(RunRecord::RungStarted(_)) => "RungStarted",
        RecordKind::Run(RunRecord::AdviceRead { .. }) => "AdviceRead",
        RecordKind::Run(RunRecord::Mended { mend, .. }) => return format!("`Mended` by {}", mend.rung.as_str()),
        RecordKind::Run(RunRecord::WaitStarted { .. }) => "WaitStarted",
        RecordKind::Run(RunRecord::WaitEnded(_)) => "WaitEnded",
        RecordKind::Run(RunRecord::StepEnded { .. }) => "StepEnded",
        RecordKind::Run(RunRecord::Ended { .. }) => "Ended",
        other => panic!("the trace has no such record: {other:?}"),
    };
    format!("`{words}`")
}

#[test]
fn the_architecture_page_traces_a_run_as_it_really_is() {
    let mut rules = policy();
    rules.synthesis = Synthesis::Model;
    let run = Play::begin(started(None, rules));
    let mut trace = Trace { play: run, table: String::new(), shown: 0 };
    trace.row("`Started`");
    let plan = r#"{"plan_id": "p", "steps": [{"step_id": "pay", "agent_name": "t", "instruction": "convert",
        "metadata": {"capability": "convert", "parameters": {"amount": "0", "to": "KRW"}}}]}"#;
    trace.play.answer_model("plan/ask/1", plan);
    trace.row("`ModelAnswered`: a plan with one step");
    trace.play.answer_tool("pay/call/1", 429, "{}");
    trace.row("`ToolAnswered`: 429");
    trace.play.wake("pay/retry-wait/1");
    trace.row("`Woke`");
    trace.play.answer_tool("pay/call/2", 400, r#"{"error": "amount must be greater than 0"}"#);
    trace.row("`ToolAnswered`: 400, the amount must be positive");
    let advice = r#"{"should_retry": true, "reason": "100 shares", "suggested_changes": {"amount": 100}}"#;
    trace.play.answer_model("pay/feedback/1", advice);
    trace.row("`ModelAnswered`: the amount is 100");
    trace.play.answer_tool("pay/call/3", 200, r#"{"won": 7}"#);
    trace.row("`ToolAnswered`: 200");
    trace.play.answer_model("answer/ask/1", "That is 7 won.");
    trace.row("`ModelAnswered`: the answer");
    assert!(PAGE.contains(&trace.table), "ARCHITECTURE.md must contain this table:\n{}", trace.table);
}
