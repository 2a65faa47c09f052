//! The calls of a turn: a nested run whose steps are the tool calls, and nested machines for plans and agents.

use std::sync::Arc;

use reknit_expressions::Parameters;
use reknit_mend::{Fate, Rung};
use reknit_model_api::{Message, ModelAnswer, ToolCall};
use reknit_plan::{CheckedPlan, PlannedStep};
use reknit_protocol::{RunId, StepId, Value, truncate};

use super::Session;
use super::call::{Call, Callee, ChildState, ToolOutput, approved_calls, call_name, changes_text, in_doubt};
use super::classify_answer::ClassifiedAnswer;
use super::report_draft::{FallbackQuality, FallbackReport};
use super::state::{Calling, Phase};
use super::stored_results::take_attachments;
use crate::answer::{Outcome, StepReport};
use crate::business_key::UncertainCall;
use crate::effect::Effect;
use crate::event::{Event, EventKind, Started};
use crate::record::{CollapseReason, SessionRecord, TurnOutcome};
use crate::report::{FinalTurnReason, MendedCall, ReportSource};
use crate::result_handle::response_data;
use crate::run::state::State as RunState;
use crate::run::{ApplyError, Run};

/// The maximum length of the note about changes of a call, in bytes.
const MAX_NOTE_BYTES: usize = 2_000;

/// The maximum length of the outline of a stored result, in bytes.
const OUTLINE_BYTES: usize = 2_000;

/// Why a report that came with calls is not accepted.
const FAILED_TOGETHER: &str = "It was not accepted: a call that was made together with it failed.";
const UNSEEN_RESULTS: &str = "It was not accepted yet: it was written before the results of the calls that came with it. \
    Report again, now that you know them.";

/// Why a call is not made again.
const MAY_HAVE_HAPPENED: &str =
    "not made: an earlier call with the same arguments may have happened; find out what became of it, or report it";

impl Session {
    /// Makes the calls of an answer, or commits its report. A report that comes with calls was written before their
    /// results were known, so it is kept, and asked for again with the results.
    pub(super) fn act_on_answer(&mut self, answer: &ModelAnswer, mut classified: ClassifiedAnswer, attempts: u32) {
        let tool_calls = classified.calls.iter().map(|call| call.for_history.clone());
        let tool_calls: Vec<ToolCall> =
            tool_calls.chain(classified.report.iter().map(|(call, _)| call.clone())).collect();
        let text = classified.text.unwrap_or_else(|| answer.text.clone());
        let (reasoning, content_state) = (answer.reasoning.clone(), answer.content_state.clone());
        let message = Message::Assistant { text, tool_calls, reasoning, content_state };
        if classified.calls.is_empty() {
            self.state.history.push(message);
            self.end_turn(TurnOutcome::FinalReport, attempts);
            return match (classified.report, classified.text_report) {
                (Some((_, draft)), _) => self.commit_report(ReportSource::ToolCall, draft),
                (None, Some(draft)) => self.commit_report(ReportSource::TextFallback, draft),
                (None, None) => self.end_on_internal_error("an accepted answer has neither calls nor a report"),
            };
        }
        for (index, call) in classified.calls.iter_mut().enumerate() {
            self.stop_repeated_call(index, call);
        }
        self.merge_equal_calls(&mut classified.calls);
        let (started, plan) = self.start_of_calls(&classified.calls);
        // An earlier call may have taken effect, and this one would have another idempotency key.
        let is_uncertain = |call: UncertainCall| self.state.calls.uncertain.contains(&call);
        let refusal = |call| is_uncertain(call).then(|| MAY_HAVE_HAPPENED.to_owned());
        let refused: Vec<_> = classified.calls.iter().filter_map(Call::identity).map(refusal).collect();
        let avoided = self.avoided(self.earlier_for_calls(&classified.calls));
        let (run, records) =
            Run::start_nested((started, plan), self.state.now_ms, &mut self.state.account.spent, &refused, &avoided);
        self.record_nested(&[self.turn_scope()], records);
        let child_states = classified.calls.iter().map(|_| ChildState::NotStarted).collect();
        let calling =
            Calling { answer: message, calls: classified.calls, child_states, report: classified.report, attempts };
        self.state.phase = Phase::Calling(Box::new(calling));
        self.call_run = Some(Box::new(run));
        self.advance_calls();
    }

    /// The first event and the plan of the run that makes the tool calls.
    fn start_of_calls(&self, calls: &[Call]) -> (Arc<Started>, Arc<CheckedPlan>) {
        let run = RunId::new(format!("{}/{}", self.started.run, self.turn_scope()));
        let request = self.input().to_owned();
        let started = Started { run, request, ..self.setup.calls_started.clone() };
        let steps = calls.iter().enumerate().filter_map(|(index, call)| self.step(index, call)).collect();
        (Arc::new(started), Arc::new(CheckedPlan::new(steps, Vec::new())))
    }

    fn step(&self, index: usize, call: &Call) -> Option<PlannedStep> {
        let Callee::Capability { tool: agent, capability } = &call.callee else { return None };
        let catalogue = &self.started.catalogue;
        let entry = catalogue.entry(agent.as_str(), capability.as_str());
        let effects = &self.started.policy.effects;
        Some(PlannedStep {
            id: StepId::new(call_name(index)),
            tool: agent.clone(),
            capability: capability.clone(),
            description: entry.map(|entry| entry.capability.description.clone()).unwrap_or_default(),
            instruction: format!("a call that a model made while it worked on: {}", self.input()),
            declared: entry.map(|entry| entry.capability.effect).unwrap_or_default(),
            declared_key: entry.and_then(|entry| entry.capability.business_key.clone()),
            parameters: Arc::new(Parameters::literal(&call.parameters)),
            changes_when_read: call.changes.clone(),
            schema: entry.and_then(reknit_plan::CatalogueEntry::compiled_schema),
            announced: entry.and_then(|entry| entry.capability.output_schema()).map(Arc::new),
            error_fields: entry.and_then(|entry| entry.capability.error_fields.clone()),
            limit_ms: None,
            computed: false,
            controls: Arc::new(effects.confirmation_of(agent.as_str(), capability.as_str(), catalogue)),
            item: None,
            dependencies: Vec::new(),
            dependency_indices: Vec::new(),
        })
    }

    /// Rebuilds the run of the calls from a snapshot.
    pub(super) fn restore_call_run(&mut self, state: Option<RunState>) -> Result<(), ApplyError> {
        let Phase::Calling(calling) = &self.state.phase else { return Ok(()) };
        let state = state.ok_or_else(|| ApplyError::Snapshot("the state of the tool calls is missing".to_owned()))?;
        let (started, plan) = self.start_of_calls(&calling.calls);
        self.call_run = Some(Box::new(Run::restore_nested(started, plan, state)));
        Ok(())
    }

    pub(super) fn call_effects(&self) -> Vec<Effect> {
        let scope = [self.turn_scope()];
        let run = self.call_run.iter().filter(|run| run.answer().is_none());
        let effects = run.flat_map(|run| run.pending_nested()).map(|effect| effect.nested_in(&scope));
        effects.chain(self.child_effects()).collect()
    }

    /// Handles the outcome of an effect of a call; returns whether the event was one.
    pub(super) fn on_call_event(&mut self, at_ms: i64, kind: &EventKind) -> bool {
        if self.on_child_event(at_ms, kind) {
            return true;
        }
        let Some(kind) = kind.for_scope(&[self.turn_scope()]) else { return false };
        if self.call_run.is_none() {
            return false;
        }
        self.apply_to_call_run(at_ms, kind);
        self.advance_calls();
        true
    }

    /// Applies an event to the run of the calls and to every child.
    pub(super) fn apply_to_all_calls(&mut self, at_ms: i64, kind: &EventKind) {
        self.apply_to_call_run(at_ms, kind.clone());
        self.apply_to_children(at_ms, kind);
        self.advance_calls();
    }

    /// Applies an event to the run of the calls, which spends the session's budget.
    fn apply_to_call_run(&mut self, at_ms: i64, kind: EventKind) {
        let Some(run) = &mut self.call_run else {
            return self.end_on_internal_error("a turn that calls tools has no run for the calls");
        };
        let late = run.late();
        match run.apply_nested(&Event { at_ms, kind }, &mut self.state.account.spent) {
            Ok(records) => {
                self.state.late_outcomes += run.late() - late;
                self.record_nested(&[self.turn_scope()], records);
            }
            Err(error) => self.end_on_internal_error(&format!("the run of the calls rejected an event: {error}")),
        }
    }

    /// Advances the children, and ends the turn when every call is over.
    pub(super) fn advance_calls(&mut self) {
        self.advance_children();
        let is_over = self.call_run.as_ref().is_none_or(|run| run.answer().is_some());
        if is_over && self.children.is_empty() && matches!(self.state.phase, Phase::Calling(_)) {
            self.finish_calls();
        }
    }

    /// Adds the calls and their results to the history, then ends the turn.
    fn finish_calls(&mut self) {
        let placeholder = Phase::Asking { attempt: 0, since_ms: self.state.now_ms };
        let phase = std::mem::replace(&mut self.state.phase, placeholder);
        let (Some(run), Phase::Calling(calling)) = (self.call_run.take(), phase) else {
            return self.end_on_internal_error("the calls of a turn ended before they started");
        };
        let Calling { answer, calls, child_states, report, attempts } = *calling;
        // The model may repeat a call as it wrote it or as it was sent.
        let uncertain = run.uncertain_steps();
        let written = calls.iter().filter_map(Call::identity).zip(&uncertain);
        let written: Vec<_> = written.filter_map(|(call, is_uncertain)| is_uncertain.then_some(call)).collect();
        self.add_uncertain_calls(written.into_iter().chain(run.uncertain_calls()));
        self.add_denied_calls(run.denied_calls());
        self.state.history.push(answer);
        let reports = run.step_reports();
        let sent = reports.iter().zip(run.sent_parameters()).zip(uncertain);
        let in_doubt = sent.filter_map(|((report, parameters), is_uncertain)| match &report.outcome {
            Outcome::Failed { fate: Fate::Unknown, .. } => {
                Some(in_doubt(&report.tool, &report.capability, &parameters))
            }
            Outcome::Unconfirmed { reason, .. } if is_uncertain => {
                let StepReport { tool, capability, .. } = report;
                Some(format!("`{capability}` of `{tool}` with {parameters} was made, and is not confirmed: {reason}"))
            }
            _ => None,
        });
        self.state.calls.in_doubt.extend(in_doubt);
        let mut results = call_outputs(&calls, child_states, &reports);
        self.repeat_results(&calls, &mut results);
        self.tell_changes_of_own_tools(&calls, &mut results);
        self.record_outcomes(&calls, &reports, &results);
        self.add_call_facts(&calls, &run, &reports, &results);
        self.keep_completed_calls(&calls, run.sent_parameters(), &results);
        let ran_out = run.ran_out();
        let all_done = results.iter().all(|result| !result.is_error);
        let limit = self.result_byte_limit(results.len());
        for (call, result) in calls.iter().zip(results) {
            let message = self.result_message(&call.for_history, result, limit);
            self.state.history.push(message);
        }
        self.lower_pending_report();
        if self.state.ending.abort_reason.is_some() {
            self.end_turn(TurnOutcome::Stopped, attempts);
            return self.end_with_fallback_report();
        }
        if let Some((call, draft)) = report {
            let message = if all_done { UNSEEN_RESULTS } else { FAILED_TOGETHER };
            self.state.history.push(Message::tool_error(&call, message));
            self.state.ending.fallback_report =
                Some(FallbackReport { source: ReportSource::ToolCall, draft, quality: FallbackQuality::Whole });
            self.lower_pending_report();
            self.collapse(CollapseReason::FinalReportAttempt);
        }
        self.end_turn(TurnOutcome::ToolCalls, attempts);
        if ran_out {
            let reason = self.state.ending.final_turn_reason.unwrap_or(FinalTurnReason::Budget);
            self.set_final_turn(reason);
        }
        self.begin_turn();
    }

    /// Counts the calls that succeeded, and keeps the repairs for the report.
    fn record_outcomes(&mut self, calls: &[Call], reports: &[StepReport], results: &[ToolOutput]) {
        self.count_changes(reports);
        let mut reports = reports.iter();
        for (index, (call, result)) in calls.iter().zip(results).enumerate() {
            let is_tool = !matches!(call.callee, Callee::StoredResult | Callee::EarlierResult(_) | Callee::SameTurn(_));
            self.state.calls.successful += u32::from(is_tool && !result.is_error);
            if let Callee::Capability { .. } = call.callee
                && let Some(report) = reports.next()
            {
                self.keep_mends(&call_name(index), &call.for_history.name, report);
                self.state.calls.approved.extend(approved_calls(report));
            }
        }
    }

    /// Tells how the calls of plans, agents and stored results were changed when they were read. Those of tools tell it with their other
    /// repairs.
    fn tell_changes_of_own_tools(&mut self, calls: &[Call], results: &mut [ToolOutput]) {
        for (index, (call, result)) in calls.iter().zip(results).enumerate() {
            let is_sent = matches!(call.callee, Callee::Plan | Callee::Agent(_) | Callee::StoredResult);
            if !is_sent || call.changes.is_empty() {
                continue;
            }
            let change = call.changes.join("; ");
            let note = result.note.take().map_or_else(String::new, |note| note + "\n");
            result.note = Some(note + &changed_note(&change));
            let (turn, tool) = (self.state.current.number, call.for_history.name.clone());
            self.state.calls.mended.push(MendedCall { turn, call: call_name(index), tool, rung: Rung::Schema, change });
        }
    }

    /// The message with the result of a call. A result that is too long is stored, and the message has a reference to
    /// it.
    fn result_message(&mut self, call: &ToolCall, result: ToolOutput, limit: usize) -> Message {
        let note = result.note.map_or_else(String::new, |note| format!("\n{}", truncate(note, MAX_NOTE_BYTES)));
        if result.is_error {
            return Message::tool_error(call, truncate_with_size(result.text, limit) + &note);
        }
        let (text, attachments) = take_attachments(result.text);
        if text.len() <= limit {
            return Message::tool_result(call, text + &note).with_attachments(attachments);
        }
        let bytes = u64::try_from(text.len()).unwrap_or(u64::MAX);
        self.record(SessionRecord::ResultStored { turn: self.state.current.number, tool: call.name.clone(), bytes });
        let outline = self.state.stored_results.store(text, limit.min(OUTLINE_BYTES));
        Message::tool_result(call, outline + &note).with_attachments(attachments)
    }
}

/// The note with the result of a call that was changed.
fn changed_note(changes: &str) -> String {
    format!("(changed before it was sent: {changes})")
}

/// What a model reads about a call with an unknown outcome.
const UNKNOWN_OUTCOME: &str = "the call may have taken effect";

/// The output of each call, in order.
fn call_outputs(calls: &[Call], child_states: Vec<ChildState>, reports: &[StepReport]) -> Vec<ToolOutput> {
    let mut reports = reports.iter();
    let output = |(call, state): (&Call, ChildState)| match (&call.callee, state) {
        (Callee::Capability { .. }, _) => reports.next().map_or_else(not_called, step_output),
        (_, ChildState::Ended(output)) => output,
        (_, ChildState::NotStarted | ChildState::Running(_)) => not_called(),
    };
    calls.iter().zip(child_states).map(output).collect()
}

fn not_called() -> ToolOutput {
    ToolOutput::failure("it was not called")
}

/// The result of a call, and how the call was changed.
fn step_output(report: &StepReport) -> ToolOutput {
    let mut output = match &report.outcome {
        Outcome::Done(value) => {
            let text = match response_data(&value.load()) {
                Value::String(text) => text,
                other => other.to_string(),
            };
            ToolOutput::success(text)
        }
        Outcome::Failed { reason, fate: Fate::Unknown } if !reason.contains(UNKNOWN_OUTCOME) => {
            ToolOutput::failure(&format!("{reason}; {UNKNOWN_OUTCOME}"))
        }
        Outcome::Unconfirmed { reason, .. } => {
            ToolOutput::failure(&format!("the call was made, but it is not confirmed: {reason}"))
        }
        Outcome::Failed { reason, .. } | Outcome::Skipped { reason } => ToolOutput::failure(reason),
    };
    let edits = report.approvals.iter().filter(|approval| approval.change.is_some()).map(ToString::to_string);
    let changes: Vec<String> = changes_text(&report.mends).into_iter().chain(edits).collect();
    output.note = (!changes.is_empty()).then(|| changed_note(&changes.join("; ")));
    output
}

/// The text, or its beginning and its full size.
fn truncate_with_size(text: String, limit: usize) -> String {
    match text.get(..text.floor_char_boundary(limit)) {
        Some(start) if start.len() < text.len() => format!("{start}… (cut: {} bytes in all)", text.len()),
        _ => text,
    }
}
