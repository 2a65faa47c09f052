//! The next message of the user, after the report: the session goes on with what it knows.

use reknit_model_api::{Message, Role, ToolCall};

use super::Session;
use super::state::Phase;
use crate::record::SessionRecord;
use crate::run::with_metadata;

/// The result of the call that gave the report.
const READ_BY_USER: &str = "The user has read it.";

impl Session {
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
        let mut spent = std::mem::take(&mut state.spent);
        spent.active_ms = state.clock.active_ms(state.now_ms);
        state.spent_before.add(&spent);
        state.clock.restart();
        state.phase = Phase::Asking { attempt: 0, since_ms: state.now_ms };
        state.max_turns = state.turn.saturating_add(self.started.rules.max_turns);
        (state.final_turn_reason, state.collapsed_in_turn, state.abort_reason) = (None, None, None);
        (state.fallback_report, state.final_report_attempts) = (None, 0);
        (state.last_stop_reason, state.last_error) = (None, None);
    }
}
