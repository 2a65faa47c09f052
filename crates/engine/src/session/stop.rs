//! Requests to stop or cancel a session, resumption by another process, and the next message of the user after the report.

use reknit_model_api::{Message, Role, ToolCall};

use super::Session;
use super::state::{AbortReason, Phase};
use crate::event::EventKind;
use crate::record::{SessionRecord, TurnOutcome, WaitEnd};
use crate::report::FinalTurnReason;
use crate::run::with_metadata;

/// The most time that is reserved for the final turn.
const MAX_RESERVE_MS: u64 = 60_000;

/// The part of a time limit that is reserved for the final turn.
pub(super) fn final_turn_reserve_ms(limit_ms: u64) -> u64 {
    (limit_ms / 4).min(MAX_RESERVE_MS)
}

impl Session {
    /// The active time after which the deadline is due: earlier before the final turn, so that time is left for it.
    pub(super) fn time_limit_ms(&self) -> Option<u64> {
        let limit_ms = self.started.rules.max_time_ms?;
        Some(if self.is_final_turn() { limit_ms } else { limit_ms - final_turn_reserve_ms(limit_ms) })
    }

    /// Forces the final turn when only the time for it is left, and ends the session at the time limit.
    pub(super) fn on_deadline(&mut self) {
        if self.is_final_turn() {
            return self.abort(AbortReason::TimeLimit);
        }
        self.set_final_turn(FinalTurnReason::TimeLimit);
        if matches!(self.state.phase, Phase::Calling(_)) {
            return self.apply_to_all_calls(self.state.now_ms, &EventKind::Cancelled);
        }
        self.interrupt_turn(WaitEnd::AbortedStop);
        self.begin_turn();
    }

    /// Makes the next turn the final one. In the final turn, ends a wait for rate limits.
    pub(super) fn stop(&mut self) {
        let was_final_turn = self.is_final_turn();
        if was_final_turn && !matches!(self.state.phase, Phase::Waiting { .. }) {
            return;
        }
        self.set_final_turn(FinalTurnReason::UserStop);
        // Calls in progress may drain, and a called agent may report; nothing else starts.
        if matches!(self.state.phase, Phase::Calling(_)) {
            return self.apply_to_all_calls(self.state.now_ms, &EventKind::Stopped);
        }
        self.interrupt_turn(WaitEnd::AbortedStop);
        if was_final_turn { self.end_with_fallback_report() } else { self.begin_turn() }
    }

    /// Ends the session at once, except that calls in progress may drain.
    pub(super) fn abort(&mut self, reason: AbortReason) {
        self.state.ending.abort_reason.get_or_insert(reason);
        match &self.state.phase {
            Phase::Asking { .. } | Phase::Counting { .. } | Phase::Waiting { .. } => {
                self.interrupt_turn(WaitEnd::AbortedCancel);
                self.end_with_fallback_report();
            }
            Phase::Calling(_) => self.apply_to_all_calls(self.state.now_ms, &EventKind::Cancelled),
            Phase::Ended(_) => {}
        }
    }

    /// Ends a turn whose question is not answered yet. Its notices are about answers of that turn.
    fn interrupt_turn(&mut self, wait_end: WaitEnd) {
        self.state.notices.clear();
        match self.state.phase {
            Phase::Asking { .. } => self.abandon_attempt(),
            Phase::Counting { attempt } => self.end_turn(TurnOutcome::Stopped, attempt - 1),
            Phase::Waiting { attempt, .. } => {
                self.end_wait(wait_end);
                self.end_turn(TurnOutcome::Stopped, attempt);
            }
            Phase::Calling(_) | Phase::Ended(_) => {
                self.end_on_internal_error("a turn was interrupted whose question is answered");
            }
        }
    }

    /// Starts effects in progress again after another process took over, and charges for them again.
    pub(super) fn on_resumed(&mut self, last_ms: i64) {
        let now_ms = self.state.now_ms;
        self.state.clock.resume(last_ms, now_ms);
        self.update_rotation_deadline();
        self.record(SessionRecord::Resumed);
        match &self.state.phase {
            // It is the same attempt; only its question is charged again.
            Phase::Asking { .. } => {
                let before = self.state.ending.final_turn_reason;
                self.pay_for_question();
                // If this was the last question in the budget, its text changes, so it needs a new id.
                self.state.current.question_ordinal += u32::from(self.state.ending.final_turn_reason != before);
                if matches!(self.state.phase, Phase::Asking { .. }) {
                    self.record_question();
                }
            }
            Phase::Calling(_) => self.apply_to_all_calls(now_ms, &EventKind::Resumed),
            Phase::Counting { .. } | Phase::Waiting { .. } | Phase::Ended(_) => {}
        }
    }

    /// The last message of the user.
    pub fn input(&self) -> &str {
        self.state.follow_ups.last().unwrap_or(&self.started.input)
    }

    /// The messages of the user after the first one.
    pub fn follow_ups(&self) -> &[String] {
        &self.state.follow_ups
    }

    pub(super) fn on_follow_up(&mut self, input: &str) {
        self.add_report_to_history();
        self.renew_limits();
        let message = with_metadata(input, &self.started.metadata, &self.started.policy);
        self.state.history.push(Message::user(message));
        self.state.follow_ups.push(input.to_owned());
        let number = u32::try_from(self.state.follow_ups.len()).unwrap_or(u32::MAX).saturating_add(1);
        let (agent, metadata) = (self.started.agent.clone(), self.started.metadata.clone());
        self.record(SessionRecord::FollowedUp { number, input: input.to_owned(), agent, metadata });
        self.begin_turn();
    }

    /// Completes the history, so that the model sees what the user has read. A provider rejects a call without a result.
    fn add_report_to_history(&mut self) {
        let Some(report) = self.report().map(|report| report.content.clone()) else { return };
        let history = &mut self.state.history;
        let last_answer = history.iter().rposition(|message| message.role() == Role::Assistant).unwrap_or(0);
        let (_, since) = history.split_at(last_answer);
        let is_open = |call: &&ToolCall| {
            !since.iter().any(|message| matches!(message, Message::Tool { call: answered, .. } if *answered == call.id))
        };
        let calls = since.first().map(Message::tool_calls).unwrap_or_default();
        let open: Vec<Message> =
            calls.iter().filter(is_open).map(|call| Message::tool_result(call, READ_BY_USER)).collect();
        // Nothing follows an answer of the model but its results, unless its text was the report.
        let is_text = since.len() == 1 && since.first().is_some_and(|last| last.role() == Role::Assistant);
        if open.is_empty() && !is_text {
            history.push(Message::assistant(report));
        }
        history.extend(open);
    }

    /// The limits count anew. What was spent stays in its sum.
    fn renew_limits(&mut self) {
        let state = &mut self.state;
        let mut spent = std::mem::take(&mut state.account.spent);
        spent.active_ms = state.clock.active_ms(state.now_ms);
        state.account.spent_before.add(&spent);
        state.clock.restart();
        state.phase = Phase::Asking { attempt: 0, since_ms: state.now_ms };
        state.max_turns = state.current.number.saturating_add(self.started.rules.max_turns);
        (state.ending.final_turn_reason, state.ending.collapsed_in_turn, state.ending.abort_reason) =
            (None, None, None);
        (state.ending.fallback_report, state.ending.final_report_attempts, state.ending.no_model) = (None, 0, None);
        (state.ending.last_stop_reason, state.ending.last_error, state.ending.last_text) = (None, None, None);
        self.renew_call_facts();
    }
}

/// The result of the call that gave the report.
const READ_BY_USER: &str = "The user has read it.";
