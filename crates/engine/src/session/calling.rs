//! The calls of a turn: a run inside the session, whose steps are the calls, and beside it whatever else was called.

use std::sync::Arc;

use reknit_bind::Parameters;
use reknit_dialogue::{Answer, Message, ToolCall};
use reknit_protocol::ScopeLevel;
use reknit_protocol::{RunId, StepId, Value};

use super::Session;
use super::children::Made;
use super::record::{CollapseReason, Record, TurnOutcome};
use super::report::ReportSource;
use super::sorting::{Call, Callee, Sorted};
use super::state::{Calling, Pending, Phase};
use crate::answer::Outcome;
use crate::effect::Effect;
use crate::event::{Event, Started, What};
use crate::nest;
use crate::run::Run;
use crate::run::state::State as RunState;
use crate::synthesis::data;
use reknit_plan::{Checked, Planned};

/// How much is said of a result that does not fit, in bytes.
const OUTLINE: usize = 2_000;

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
        let refused: Vec<Option<String>> =
            sorted.calls.iter().filter(|call| call.identity().is_some()).map(|call| self.why_not(call)).collect();
        let run =
            Run::within(started, plan, self.state.now_ms, self.state.spent.clone(), &refused, &self.state.doubtful);
        self.state.spent = run.raw_spent().clone();
        let made = sorted.calls.iter().map(|_| Made::Waiting).collect();
        let calling = Calling { answer: message, calls: sorted.calls, made, report: sorted.report, attempts };
        self.state.phase = Phase::Calling(Box::new(calling));
        self.calls = Some(Box::new(run));
        self.take_calls();
    }

    /// Why a call is not made: the same one may have happened in an earlier turn, and would be made under another key.
    fn why_not(&self, call: &Call) -> Option<String> {
        let deed = call.identity()?;
        self.state.doubtful.contains(&deed).then(|| {
            "not made: an earlier call with the same arguments may have happened; find out what became of it, or report it"
                .to_owned()
        })
    }

    /// The beginning and the steps of the run that makes the calls of tools.
    fn calls_of(&self, calls: &[Call]) -> (Arc<Started>, Arc<Checked>) {
        let run = RunId::new(format!("{}/{}", self.started.run, self.turn_scope()));
        let started = Started { run, ..self.known.calls.clone() };
        let steps = calls.iter().enumerate().filter_map(|(index, call)| self.step(index, call)).collect();
        (Arc::new(started), Arc::new(Checked::new(steps, Vec::new())))
    }

    fn step(&self, index: usize, call: &Call) -> Option<Planned> {
        let Callee::Capability { agent, capability } = &call.callee else { return None };
        let entry = self.started.catalogue.entry(agent.as_str(), capability.as_str());
        Some(Planned {
            id: StepId::new(call_name(index)),
            agent: agent.clone(),
            capability: capability.clone(),
            description: entry.map(|entry| entry.capability.description.clone()).unwrap_or_default(),
            instruction: format!("a call that a model made while it worked on: {}", self.started.input),
            declared: entry.map(|entry| entry.capability.effect).unwrap_or_default(),
            parameters: Parameters::literal(&call.parameters),
            schema: entry.and_then(reknit_plan::Entry::compiled),
            limit_ms: None,
            needs: Vec::new(),
            needs_at: Vec::new(),
        })
    }

    /// Makes the run of the calls again from the session's state.
    pub(super) fn restore_calls(&mut self, run: Option<RunState>) {
        if let (Phase::Calling(calling), Some(state)) = (&self.state.phase, run) {
            let (started, plan) = self.calls_of(&calling.calls);
            self.calls = Some(Box::new(Run::restored_within(started, plan, state)));
        }
    }

    pub(super) fn call_effects(&self) -> Vec<Effect> {
        let scope = [self.turn_scope()];
        let run = self.calls.iter().filter(|run| run.answer().is_none());
        let effects = run.flat_map(|run| run.pending_within()).map(|effect| nest::outer(&scope, effect));
        effects.chain(self.child_effects()).collect()
    }

    /// Takes in what concerns a call; says whether it did.
    pub(super) fn on_calls(&mut self, at_ms: i64, what: &What) -> bool {
        if self.on_child(at_ms, what) {
            return true;
        }
        let Some(what) = nest::inner(&[self.turn_scope()], what) else { return false };
        if self.calls.is_none() {
            return false;
        }
        self.tell_calls(at_ms, what);
        self.take_calls();
        true
    }

    /// Tells everything that was called what happened to all of it.
    pub(super) fn tell_all(&mut self, at_ms: i64, what: &What) {
        self.tell_calls(at_ms, what.clone());
        self.tell_children(at_ms, what);
        self.take_calls();
    }

    /// Tells the run of the calls what happened. What it spends is the session's.
    fn tell_calls(&mut self, at_ms: i64, what: What) {
        let Some(run) = &mut self.calls else { return };
        let late = run.late();
        run.set_spent(self.state.spent.clone());
        // The only events that are refused are beginnings.
        if run.apply(&Event { at_ms, what }).is_err() {
            return;
        }
        self.state.late += run.late() - late;
        self.state.spent = run.raw_spent().clone();
    }

    /// Goes on with what was called, and with the session when all of it is over.
    pub(super) fn take_calls(&mut self) {
        self.move_children();
        let over = self.calls.as_ref().is_none_or(|run| run.answer().is_some());
        if over && self.children.is_empty() && matches!(self.state.phase, Phase::Calling(_)) {
            self.end_calls();
        }
    }

    /// The calls are over: they and their results become part of the history.
    fn end_calls(&mut self) {
        let Some(run) = self.calls.take() else { return };
        let placeholder = Phase::Asking { attempt: 0, since_ms: self.state.now_ms };
        let Phase::Calling(calling) = std::mem::replace(&mut self.state.phase, placeholder) else { return };
        let Calling { answer, calls, made, report, attempts } = *calling;
        // As the model wrote them and as they were sent: it may write either again.
        let written = calls.iter().filter_map(Call::identity).zip(run.is_doubtful());
        let written: Vec<_> = written.filter_map(|(deed, doubtful)| doubtful.then_some(deed)).collect();
        self.doubt(written.into_iter().chain(run.doubtful()));
        self.state.history.push(answer);
        let results = results(&calls, made, &run);
        let ran_out = run.ran_out();
        self.ended_calls = Some(run);
        let all_done = results.iter().all(|result| !result.is_error);
        let limit = self.room_for_results(results.len());
        for (call, result) in calls.iter().zip(results) {
            let message = self.told(&call.asked, result, limit);
            self.state.history.push(message);
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

    /// What a model sees of a call. What does not fit is stored, and can be read and searched under its name.
    fn told(&mut self, call: &ToolCall, result: Brought, limit: usize) -> Message {
        if result.is_error {
            return Message::error(call, shortened(result.text, limit));
        }
        if result.text.len() <= limit {
            return Message::result(call, result.text);
        }
        let bytes = u64::try_from(result.text.len()).unwrap_or(u64::MAX);
        self.state.records.push(Record::ResultStored { turn: self.state.turn, tool: call.name.clone(), bytes });
        Message::result(call, self.state.stored.keep(result.text, limit.min(OUTLINE)))
    }
}

/// What a call has brought.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Brought {
    pub(super) text: String,
    pub(super) is_error: bool,
}

/// What each call has brought, in their order.
fn results(calls: &[Call], made: Vec<Made>, run: &Run) -> Vec<Brought> {
    let mut outcomes = run.reports().into_iter().map(|report| report.outcome);
    let result = |(call, made): (&Call, Made)| match (&call.callee, made) {
        (Callee::Capability { .. }, _) => outcomes.next().map_or_else(not_made, brought),
        (_, Made::Over { text, is_error }) => Brought { text, is_error },
        (_, Made::Waiting | Made::UnderWay(_)) => not_made(),
    };
    calls.iter().zip(made).map(result).collect()
}

fn not_made() -> Brought {
    Brought { text: "(tool failed: it was not called)".to_owned(), is_error: true }
}

fn brought(outcome: Outcome) -> Brought {
    match outcome {
        Outcome::Done(value) => {
            let text = match data(&value) {
                Value::String(text) => text,
                other => other.to_string(),
            };
            Brought { text, is_error: false }
        }
        Outcome::Failed { reason, .. } | Outcome::Skipped { reason } => {
            Brought { text: format!("(tool failed: {reason})"), is_error: true }
        }
    }
}

/// The scope of what a call of a turn has started.
pub(super) fn call_scope(index: usize) -> ScopeLevel {
    ScopeLevel::Call(u32::try_from(index).unwrap_or(u32::MAX).saturating_add(1))
}

/// The step id of a call of a turn.
pub(super) fn call_name(index: usize) -> String {
    call_scope(index).to_string()
}

/// The text, or as much of it as fits, which then says how much there was.
fn shortened(text: String, limit: usize) -> String {
    match text.get(..text.floor_char_boundary(limit)) {
        Some(start) if start.len() < text.len() => format!("{start}… (cut: {} bytes in all)", text.len()),
        _ => text,
    }
}
