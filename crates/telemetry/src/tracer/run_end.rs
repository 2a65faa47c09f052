//! The end of a run or session.

use reknit_engine::{SessionExit, Spent, Status};

use super::{RootInfo, Tracer, elapsed_ms};
use crate::attribute_value::{AttributeValue, MAX_ERROR, MAX_TEXT};
use crate::signal::{SpanKind, SpanStatus};
use crate::table::{logs, metrics, spans};

impl Tracer {
    pub(super) fn end_run(&mut self, at_ms: i64, status: Status, reason: &str, steps: usize, spent: &Spent) {
        self.abandon(at_ms, |_| true);
        self.end_planning("error", at_ms);
        let Some((root, RootInfo::Run { request, has_plan })) = self.root.take() else { return };
        let duration_ms = elapsed_ms(root.start_ms, at_ms);
        let (message, outcome) = outcome(status, reason);
        let [calls, questions, input, output] = amounts(spent);
        let values = [
            self.run_id(),
            AttributeValue::excerpt(&request, MAX_TEXT),
            if has_plan { "plan" } else { "request" }.into(),
            status.as_str().into(),
            message.clone(),
            steps.into(),
            calls,
            questions,
            input,
            output,
        ];
        self.close(root, (SpanKind::Internal, None), (&spans::PROCESS_REQUEST, values), outcome, at_ms);
        self.count_request(status, message, duration_ms);
    }

    pub(super) fn end_session(&mut self, at_ms: i64, turn: u32, exit: SessionExit, status: Status, spent: &Spent) {
        self.abandon(at_ms, |_| true);
        self.end_turn(0, "stopped", at_ms);
        let Some((root, RootInfo::Session { agent, input })) = self.root.take() else { return };
        let duration_ms = elapsed_ms(root.start_ms, at_ms);
        let (message, outcome) = outcome(status, exit.as_str());
        let [calls, questions, input_tokens, output_tokens] = amounts(spent);
        let values = [
            self.run_id(),
            agent.as_str().into(),
            AttributeValue::excerpt(&input, MAX_TEXT),
            status.as_str().into(),
            message.clone(),
            turn.into(),
            calls,
            questions,
            input_tokens,
            output_tokens,
        ];
        self.close(root, (SpanKind::Internal, None), (&spans::SESSION, values), outcome, at_ms);
        self.count_request(status, message, duration_ms);
    }

    /// Counts a request. A machine that is nested in a session is not a request of its own.
    fn count_request(&mut self, status: Status, message: AttributeValue, duration_ms: u64) {
        if self.context.is_nested() {
            return;
        }
        self.count(&metrics::REQUESTS, [self.module(), status.as_str().into()]);
        self.measure(&metrics::REQUEST_MS, duration_ms, [self.module(), status.as_str().into()]);
        let values = ["process_request".into(), self.run_id(), status.as_str().into(), message, duration_ms.into()];
        self.log(&logs::ENDED, values);
    }
}

fn outcome(status: Status, reason: &str) -> (AttributeValue, SpanStatus) {
    let message = AttributeValue::excerpt(reason, MAX_ERROR);
    let outcome = match status {
        Status::Complete => SpanStatus::Ok,
        _ if reason.is_empty() => SpanStatus::Error(status.as_str().to_owned()),
        _ => SpanStatus::Error(message.to_string()),
    };
    (message, outcome)
}

fn amounts(spent: &Spent) -> [AttributeValue; 4] {
    [spent.tool_calls.into(), spent.model_calls.into(), spent.input_tokens.into(), spent.output_tokens.into()]
}
