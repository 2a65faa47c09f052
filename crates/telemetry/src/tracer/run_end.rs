//! The end of a run or session.

use reknit_engine::{SessionExit, Spent, Status};

use super::{OpenSpan, ROOT, RootInfo, Tracer, elapsed_ms};
use crate::attribute_value::{AttributeValue, MAX_TEXT};
use crate::signal::{Definition, SpanKind, SpanStatus};
use crate::table::{logs, metrics, spans};

struct RootEnd<'a> {
    status: Status,
    reason: &'a str,
    /// The number of steps or turns.
    length: AttributeValue,
    spent: &'a Spent,
}

impl Tracer {
    pub(super) fn end_run(&mut self, status: Status, reason: &str, steps: usize, spent: &Spent) {
        self.abandon(|_| true);
        self.end_planning("error");
        let Some((root, RootInfo::Run { request, has_plan })) = self.root.take() else { return };
        let mode = if has_plan { "plan" } else { "request" };
        let info = [AttributeValue::excerpt(&request, MAX_TEXT), mode.into()];
        let end = RootEnd { status, reason, length: steps.into(), spent };
        self.end_root(root, (&spans::PROCESS_REQUEST, info), end);
    }

    pub(super) fn end_session(&mut self, turn: u32, exit: SessionExit, status: Status, spent: &Spent) {
        self.abandon(|_| true);
        self.end_turn(0, "stopped");
        let Some((root, RootInfo::Session { agent, input })) = self.root.take() else { return };
        let info = [agent.as_str().into(), AttributeValue::excerpt(&input, MAX_TEXT)];
        let end = RootEnd { status, reason: exit.as_str(), length: turn.into(), spent };
        self.end_root(root, (&spans::SESSION, info), end);
    }

    /// Reports the span of a run or session, and counts the request.
    fn end_root(
        &mut self,
        root: OpenSpan,
        (definition, [first, second]): (&Definition<10>, [AttributeValue; 2]),
        RootEnd { status, reason, length, spent }: RootEnd<'_>,
    ) {
        let duration_ms = elapsed_ms(root.start_ms, self.at_ms);
        let message = AttributeValue::error(reason);
        let outcome = match status {
            Status::Complete => SpanStatus::Ok,
            _ if reason.is_empty() => SpanStatus::Error(status.as_str().to_owned()),
            _ => SpanStatus::Error(message.to_string()),
        };
        let values = [
            self.run_id(),
            first,
            second,
            status.as_str().into(),
            message.clone(),
            length,
            spent.tool_calls.into(),
            spent.model_calls.into(),
            spent.input_tokens.into(),
            spent.output_tokens.into(),
        ];
        // A retried run is part of the request that it goes on with.
        let parent = (self.retries > 0).then(|| ROOT.to_owned());
        self.close(root, (SpanKind::Internal, parent), (definition, values), outcome);
        // A machine that is nested in a session is not a request of its own.
        if self.context.is_nested() {
            return;
        }
        self.count(&metrics::REQUESTS, [self.module(), status.as_str().into()]);
        self.measure(&metrics::REQUEST_MS, duration_ms, [self.module(), status.as_str().into()]);
        let values = ["process_request".into(), self.run_id(), status.as_str().into(), message, duration_ms.into()];
        self.log(&logs::ENDED, values);
    }
}
