//! The end of a run or a session.

use super::{Tracer, since};
use crate::answer::Status;
use crate::budget::Spent;
use crate::machine::{Ending, Machine};
use crate::telemetry::datum::{Datum, ERROR, WORDS};
use crate::telemetry::signal::{SpanKind, SpanStatus};
use crate::telemetry::table::{logs, metrics, spans};

impl Tracer {
    /// Tells of the end, once.
    pub(super) fn end(&mut self, machine: &Machine, at_ms: i64) {
        let Some(ending) = machine.ending() else { return };
        if self.root.is_none() {
            return;
        }
        self.end_planning("error", at_ms);
        self.end_turn(0, "stopped", at_ms);
        let Some(root) = self.root.take() else { return };
        let (status, duration_ms) = (ending.status(), since(root.start_ms, at_ms));
        let reason = match ending {
            Ending::Answer(answer) => answer.reason.clone().unwrap_or_default(),
            Ending::Report(report) => report.exit.as_str().to_owned(),
        };
        let outcome = match status {
            Status::Complete => SpanStatus::Ok,
            _ if reason.is_empty() => SpanStatus::Error(status.as_str().to_owned()),
            _ => SpanStatus::Error(Datum::words(&reason, ERROR).to_string()),
        };
        let words = Datum::words(&reason, ERROR);
        match machine {
            Machine::Run(run) => {
                let mode = if run.started().plan.is_some() { "plan" } else { "request" };
                let [calls, questions, input, output] = spent(&run.spent());
                let steps = run.glances().count();
                let values = [
                    self.run_id(),
                    Datum::words(&run.started().request, WORDS),
                    mode.into(),
                    status.as_str().into(),
                    words.clone(),
                    steps.into(),
                    calls,
                    questions,
                    input,
                    output,
                ];
                self.close(root, SpanKind::Internal, (&spans::PROCESS_REQUEST, values), outcome, at_ms);
            }
            Machine::Session(session) => {
                let [calls, questions, input, output] = spent(&session.spent());
                let values = [
                    self.run_id(),
                    session.started().agent.as_str().into(),
                    Datum::words(&session.started().input, WORDS),
                    status.as_str().into(),
                    words.clone(),
                    session.view().turn.into(),
                    calls,
                    questions,
                    input,
                    output,
                ];
                self.close(root, SpanKind::Internal, (&spans::SESSION, values), outcome, at_ms);
            }
        }
        // What is inside a session is no request of its own.
        if !self.context.is_nested() {
            self.tell_request(status, words, duration_ms);
        }
    }

    fn tell_request(&mut self, status: Status, words: Datum, duration_ms: u64) {
        self.count(metrics::REQUESTS.amount(1, [self.module(), status.as_str().into()]));
        self.count(metrics::REQUEST_MS.amount(duration_ms, [self.module(), status.as_str().into()]));
        let values = ["process_request".into(), self.run_id(), status.as_str().into(), words, duration_ms.into()];
        self.say(logs::ENDED.line("", values));
    }
}

fn spent(spent: &Spent) -> [Datum; 4] {
    [spent.tool_calls.into(), spent.model_calls.into(), spent.input_tokens.into(), spent.output_tokens.into()]
}
