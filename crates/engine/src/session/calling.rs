//! The calls of a turn: a run inside the session, whose steps are the calls.

use std::sync::Arc;

use reknit_bind::Parameters;
use reknit_dialogue::{Answer, Message, ToolCall};
use reknit_protocol::{RunId, StepId, Value};

use super::Session;
use super::record::{CollapseReason, TurnOutcome};
use super::report::ReportSource;
use super::sorting::{Call, Sorted};
use super::state::{Calling, Pending, Phase};
use crate::answer::Outcome;
use crate::effect::Effect;
use crate::event::{Event, Started, What};
use crate::nest::Prefix;
use crate::plan::{Checked, Planned};
use crate::run::Run;
use crate::run::state::State as RunState;
use crate::synthesis::data;

impl Session {
    /// Does what an answer wants: makes its calls, or takes its report. A report that comes with calls was written before
    /// their results were known: it counts if they all succeed.
    pub(super) fn act(&mut self, answer: &Answer, sorted: Sorted, attempts: u32) {
        let kept = sorted.calls.iter().map(|call| call.asked.clone());
        let kept: Vec<ToolCall> = kept.chain(sorted.report.iter().map(|(call, _)| call.clone())).collect();
        let message =
            Message::Assistant { text: answer.text.clone(), tool_calls: kept, reasoning: answer.reasoning.clone() };
        if sorted.calls.is_empty() {
            self.state.history.push(message);
            self.end_turn(TurnOutcome::FinalReport, attempts);
            if let Some((_, draft)) = sorted.report {
                self.commit(ReportSource::ToolCall, draft);
            }
            return;
        }
        let (started, plan) = self.calls_of(&sorted.calls);
        let refused: Vec<Option<String>> = sorted.calls.iter().map(|call| self.why_not(call)).collect();
        let run = Run::within(started, plan, self.state.now_ms, self.state.spent.clone(), &refused);
        self.state.phase =
            Phase::Calling(Box::new(Calling { answer: message, calls: sorted.calls, report: sorted.report, attempts }));
        self.calls = Some(Box::new(run));
        self.take_calls();
    }

    /// Why a call is not made: the same one may have happened in an earlier turn, and would be made under another key.
    fn why_not(&self, call: &Call) -> Option<String> {
        let is_same = |other: &Call| {
            (&other.agent, &other.capability, &other.parameters) == (&call.agent, &call.capability, &call.parameters)
        };
        self.state.doubtful.iter().any(is_same).then(|| {
            "not made: an earlier call with the same arguments may have happened; find out what became of it, or report it"
                .to_owned()
        })
    }

    /// The beginning and the steps of the run that makes the calls.
    fn calls_of(&self, calls: &[Call]) -> (Arc<Started>, Arc<Checked>) {
        let run = RunId::new(format!("{}/{}", self.started.run, self.turn_name()));
        let started = Started { run, ..self.known.calls.clone() };
        let steps = calls.iter().enumerate().map(|(index, call)| self.step(index, call)).collect();
        (Arc::new(started), Arc::new(Checked::new(steps, Vec::new())))
    }

    fn step(&self, index: usize, call: &Call) -> Planned {
        let entry = self.started.catalogue.entry(call.agent.as_str(), call.capability.as_str());
        Planned {
            id: StepId::new(format!("call-{}", index + 1)),
            agent: call.agent.clone(),
            capability: call.capability.clone(),
            description: entry.map(|entry| entry.capability.description.clone()).unwrap_or_default(),
            instruction: format!("a call that a model made while it worked on: {}", self.started.input),
            declared: entry.map(|entry| entry.capability.effect).unwrap_or_default(),
            parameters: Parameters::literal(&call.parameters),
            schema: entry.and_then(crate::catalogue::Entry::compiled),
            needs: Vec::new(),
            needs_at: Vec::new(),
        }
    }

    /// Makes the run of the calls again from the session's state.
    pub(super) fn restore_calls(&mut self, run: Option<RunState>) {
        if let (Phase::Calling(calling), Some(state)) = (&self.state.phase, run) {
            let (started, plan) = self.calls_of(&calling.calls);
            self.calls = Some(Box::new(Run::restored_within(started, plan, state)));
        }
    }

    pub(super) fn call_effects(&self) -> Vec<Effect> {
        let name = self.turn_name();
        let effects = self.calls.iter().flat_map(|run| run.pending_within());
        effects.map(|effect| Prefix(&name).outer(effect)).collect()
    }

    /// Takes in what concerns a call; says whether it did.
    pub(super) fn on_calls(&mut self, at_ms: i64, what: &What) -> bool {
        let Some(what) = Prefix(&self.turn_name()).inner(what) else { return false };
        if self.calls.is_none() {
            return false;
        }
        self.tell_calls(at_ms, what);
        true
    }

    /// Tells the run of the calls what happened. What it spends is the session's.
    pub(super) fn tell_calls(&mut self, at_ms: i64, what: What) {
        let Some(run) = &mut self.calls else { return };
        let late = run.late();
        run.set_spent(self.state.spent.clone());
        // The only events that are refused are beginnings.
        if run.apply(&Event { at_ms, what }).is_err() {
            return;
        }
        self.state.late += run.late() - late;
        self.take_calls();
    }

    /// Takes over what the run of the calls has become, and goes on when it is over.
    fn take_calls(&mut self) {
        let Some(run) = &self.calls else { return };
        self.state.spent = run.raw_spent().clone();
        if run.answer().is_some() {
            self.end_calls();
        }
    }

    /// The calls are over: they and their results become part of the history.
    fn end_calls(&mut self) {
        let Some(run) = self.calls.take() else { return };
        let placeholder = Phase::Asking { attempt: 0, since_ms: self.state.now_ms };
        let Phase::Calling(calling) = std::mem::replace(&mut self.state.phase, placeholder) else { return };
        let Calling { answer, calls, report, attempts, .. } = *calling;
        let outcomes: Vec<Outcome> = run.reports().into_iter().map(|report| report.outcome).collect();
        let doubtful = calls.iter().zip(run.doubtful()).filter(|(_, doubtful)| *doubtful).map(|(call, _)| call.clone());
        self.state.doubtful.extend(doubtful);
        let ran_out = run.ran_out();
        self.ended_calls = Some(run);
        let all_done = outcomes.iter().all(|outcome| matches!(outcome, Outcome::Done(_)));
        self.state.history.push(answer);
        for (call, outcome) in calls.iter().zip(&outcomes) {
            self.state.history.push(self.result(&call.asked, outcome));
        }
        if self.state.halt.is_some() {
            self.end_turn(TurnOutcome::Stopped, attempts);
            return self.end_without_report();
        }
        match report {
            Some((_, draft)) if all_done => {
                self.end_turn(TurnOutcome::FinalReport, attempts);
                return self.commit(ReportSource::ToolCall, draft);
            }
            Some((call, draft)) => {
                let words = "It was not accepted: a call that was made together with it failed.";
                self.state.history.push(Message::error(&call, words));
                self.state.pending_report = Some(Pending { source: ReportSource::ToolCall, draft });
                self.collapse(CollapseReason::FinalReportAttempt);
            }
            None => {}
        }
        self.end_turn(TurnOutcome::ToolCalls, attempts);
        if ran_out {
            self.state.forced.get_or_insert(super::record::ForcedReason::Budget);
        }
        self.begin_turn();
    }

    /// What a model sees of a call.
    fn result(&self, call: &ToolCall, outcome: &Outcome) -> Message {
        let limit = self.started.rules.result_bytes;
        match outcome {
            Outcome::Done(value) => {
                let text = match data(value) {
                    Value::String(text) => text,
                    other => other.to_string(),
                };
                Message::result(call, shortened(text, limit))
            }
            Outcome::Failed { reason, .. } | Outcome::Skipped { reason } => {
                Message::error(call, shortened(format!("(tool failed: {reason})"), limit))
            }
        }
    }
}

/// The text, or as much of it as fits, which then says how much there was.
fn shortened(text: String, limit: usize) -> String {
    match text.get(..text.floor_char_boundary(limit)) {
        Some(start) if start.len() < text.len() => format!("{start}… (cut: {} bytes in all)", text.len()),
        _ => text,
    }
}
