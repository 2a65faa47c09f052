//! What follows on an answer, a failure, or the end of a wait.

use reknit_dialogue::{Answer, ErrorClass, Failure, GiveUp, Next, TargetName, Usage, UsageSource};

use super::Session;
use super::directive::Directive;
use super::draft::Form;
use super::notice::RetryReason;
use super::record::{AnswerKind, Attempt, AttemptStatus, CollapseReason, ForcedReason, Record, TurnOutcome, WaitEnd};
use super::report::SyntheticReason;
use super::sorting::{Sorted, Sorter};
use super::state::{Pending, Phase};
use crate::budget::Bill;
use crate::event::What;

/// An attempt that is over.
#[derive(Debug, Clone)]
pub(super) struct Tried {
    attempt: u32,
    since_ms: i64,
    target: TargetName,
}

impl Session {
    /// Takes in what concerns a question or a wait; says whether it did.
    pub(super) fn on_asking(&mut self, what: &What) -> bool {
        match (&self.state.phase, what) {
            (Phase::Asking { .. }, What::ModelAnswered { effect, answer }) if self.ask_id() == *effect => {
                self.on_answer(answer);
            }
            (Phase::Asking { .. }, What::ModelFailed { effect, failure }) if self.ask_id() == *effect => {
                self.on_failure(failure);
            }
            (Phase::Asking { .. }, What::GateClosed { effect, until_ms }) if self.ask_id() == *effect => {
                self.on_closed(*until_ms);
            }
            (Phase::Counting { .. }, What::TokensCounted { effect, tokens }) if self.count_id() == *effect => {
                self.on_counted(*tokens);
            }
            (Phase::Waiting { .. }, What::Woke { effect }) if self.wait_id() == *effect => {
                self.end_wait(WaitEnd::Completed);
                self.begin_attempt();
            }
            _ => return false,
        }
        true
    }

    /// The attempt that is under way, if there is one.
    pub(super) fn tried(&self) -> Option<Tried> {
        let Phase::Asking { attempt, since_ms } = self.state.phase else { return None };
        Some(Tried { attempt, since_ms, target: self.state.rotation.target()?.clone() })
    }

    pub(super) fn end_wait(&mut self, end: WaitEnd) {
        let Phase::Waiting { since_ms, until_ms, .. } = self.state.phase else { return };
        let ms = u64::try_from(until_ms.saturating_sub(since_ms)).unwrap_or(0);
        self.state.totals.backoff_ms += ms.min(self.since(since_ms));
        self.state.records.push(Record::Waited { turn: self.state.turn, ms, end });
    }

    fn on_failure(&mut self, failure: &Failure) {
        let Some(tried) = self.tried() else { return };
        self.settle_attempt(Bill::of_failure(failure.usage.as_ref()));
        self.count(failure.usage);
        if failure.class == ErrorClass::ContextLength {
            self.learn_window(&tried.target);
        }
        let record = Attempt { usage: failure.usage, ..self.attempt(tried, AttemptStatus::Failed(failure.class)) };
        self.fail(record, failure, None);
    }

    /// Nobody was asked, for the target rests. That is no attempt, and costs nothing.
    fn on_closed(&mut self, until_ms: i64) {
        let Some(tried) = self.tried() else { return };
        self.settle_attempt(Bill::Nothing);
        self.state.spent.give_back_model_call();
        let at = |ms: i64| u64::try_from(ms).unwrap_or(0);
        let next = self.state.rotation.closed(at(until_ms), at(self.state.now_ms));
        self.state.last_error = Some(format!("`{}` is resting", tried.target));
        self.state.records.push(Record::Rested { turn: self.state.turn, target: tried.target, until_ms });
        self.go_on(tried.attempt, next);
    }

    fn on_answer(&mut self, answer: &Answer) {
        let Some(tried) = self.tried() else { return };
        self.settle_attempt(Bill::Used(&answer.usage));
        self.count(Some(answer.usage));
        if answer.usage.source == UsageSource::Reported {
            self.note_tokens(&tried.target, answer.usage.input_tokens);
        }
        self.state.last_stop_reason = Some(answer.finish.as_str().to_owned());
        let (kind, mut sorted) = self.sort(answer);
        let record = Attempt {
            stop_reason: Some(answer.finish.as_str().to_owned()),
            usage: Some(answer.usage),
            cost: answer.cost,
            ..self.attempt(tried, AttemptStatus::Answered(kind))
        };
        self.note(&mut sorted);
        let Some(failure) = failure_of(kind, answer) else {
            self.state.last_error = None;
            // What earlier attempts did wrong is over; what was left out of this answer is still to be said.
            self.state.notices.clear();
            self.tell(sorted.notices.drain(..));
            let attempts = record.attempt;
            self.record(record);
            self.state.rotation.succeeded();
            return self.act(answer, sorted, attempts);
        };
        if kind == AnswerKind::Truncated && self.state.output_tokens == self.started.rules.max_output_tokens {
            // Once: an answer that is cut again must become shorter.
            self.state.output_tokens = self.state.output_tokens.saturating_mul(2);
        }
        let message = sorted.notices.first().map(|(_, text)| text.clone());
        self.tell(sorted.notices.drain(..));
        self.fail(record, &failure, message);
    }

    fn sort(&self, answer: &Answer) -> (AnswerKind, Sorted) {
        let sorter = Sorter {
            toolbox: &self.known.toolbox,
            form: Form { format: self.started.rules.report.format, schema: self.known.schema.as_ref() },
            words: &self.started.words,
            last_turn: self.is_last_turn(),
        };
        sorter.sort(answer)
    }

    fn tell(&mut self, notices: impl Iterator<Item = (RetryReason, String)>) {
        notices.for_each(|(reason, text)| self.state.notices.push(reason, text));
    }

    /// Takes down what an answer brings besides calls: what was left out, a report for later, fewer turns.
    fn note(&mut self, sorted: &mut Sorted) {
        let turn = self.state.turn;
        for (tool, why) in sorted.dropped.drain(..) {
            self.state.records.push(Record::CallDropped { turn, tool, why });
        }
        if let Some((source, draft)) = sorted.pending.take() {
            self.state.records.push(Record::ReportKept { turn, source });
            self.state.pending_report = Some(Pending { source, draft });
        }
        self.state.final_report_attempts += sorted.tries;
        if let Some(reason) = sorted.collapse {
            self.collapse(reason);
        }
    }

    /// Who tries to report is near the end: one more turn is left, if there were more. Once in a turn.
    pub(super) fn collapse(&mut self, reason: CollapseReason) {
        let (turn, previous_max_turns) = (self.state.turn, self.state.max_turns);
        let new_max_turns = turn.saturating_add(1);
        if self.state.collapsed_in == Some(turn) || new_max_turns >= previous_max_turns {
            return;
        }
        self.state.collapsed_in = Some(turn);
        self.state.max_turns = new_max_turns;
        self.state.records.push(Record::Collapsed { turn, reason, previous_max_turns, new_max_turns });
    }

    fn count(&mut self, usage: Option<Usage>) {
        if let Some(usage) = usage {
            self.state.spent.input_tokens = self.state.spent.input_tokens.saturating_add(usage.input_tokens);
            self.state.spent.output_tokens = self.state.spent.output_tokens.saturating_add(usage.output_tokens);
        }
    }

    /// An attempt brought nothing that can be used.
    fn fail(&mut self, record: Attempt, failure: &Failure, message: Option<String>) {
        let attempt = record.attempt;
        let next = self.state.rotation.failed(failure, u64::try_from(self.state.now_ms).unwrap_or(0));
        let directive = Directive::new(failure, &next, message);
        self.state.last_error = Some(failure.to_string());
        self.record(Attempt { error: Some(failure.to_string()), directive: Some(directive), ..record });
        match (self.state.forced, failure.class) {
            // Nor does who wants it to stop want to hear another one say nothing.
            (Some(ForcedReason::UserStop), ErrorClass::Timeout) => {
                self.end_turn(TurnOutcome::Failed, attempt);
                self.end_without_report();
            }
            _ => self.go_on(attempt, next),
        }
    }

    /// Does what the rotation says.
    pub(super) fn go_on(&mut self, attempt: u32, next: Next) {
        let now_ms = self.state.now_ms;
        match next {
            Next::Ask => self.begin_attempt(),
            // Who wants it to stop does not want it to wait.
            Next::Wait { .. } if self.state.forced == Some(ForcedReason::UserStop) => {
                self.end_turn(TurnOutcome::Failed, attempt);
                self.end_without_report();
            }
            Next::Wait { ms } => {
                let until_ms = now_ms.saturating_add_unsigned(ms);
                self.state.phase = Phase::Waiting { attempt, since_ms: now_ms, until_ms };
            }
            Next::GiveUp(reason) => {
                self.end_turn(TurnOutcome::Failed, attempt);
                match reason {
                    GiveUp::Fatal(ErrorClass::AuthError) => self.end_with(SyntheticReason::AuthError),
                    GiveUp::Fatal(ErrorClass::QuotaExceeded) => self.end_with(SyntheticReason::QuotaExceeded),
                    GiveUp::NoTargets => self.end_with(SyntheticReason::NoProviders),
                    GiveUp::Fatal(_) | GiveUp::AttemptsSpent { .. } | GiveUp::Deadline | GiveUp::Resting => {
                        self.attempts_spent();
                    }
                }
            }
        }
    }

    /// No attempt of the turn brought anything. The next turn is the last one; after the last there is none.
    fn attempts_spent(&mut self) {
        if self.is_last_turn() {
            return self.end_without_report();
        }
        self.state.forced = Some(ForcedReason::RetryExhaustion);
        self.begin_turn();
    }

    fn attempt(&self, tried: Tried, status: AttemptStatus) -> Attempt {
        Attempt {
            turn: self.state.turn,
            attempt: tried.attempt,
            target: tried.target,
            status,
            error: None,
            directive: None,
            stop_reason: None,
            usage: None,
            cost: None,
            latency_ms: self.since(tried.since_ms),
        }
    }

    fn record(&mut self, attempt: Attempt) {
        let totals = &mut self.state.totals;
        totals.attempts += 1;
        totals.failed_attempts += u32::from(attempt.error.is_some());
        totals.model_ms = totals.model_ms.saturating_add(attempt.latency_ms);
        self.state.records.push(Record::Attempt(Box::new(attempt)));
    }

    /// Takes down an attempt that nobody waits for any more.
    pub(super) fn abandon(&mut self) {
        self.settle_attempt(Bill::Unknown);
        if let Some(tried) = self.tried() {
            let attempts = tried.attempt;
            let record = self.attempt(tried, AttemptStatus::Abandoned);
            self.record(Attempt { error: Some("it was not waited for".to_owned()), ..record });
            self.end_turn(TurnOutcome::Stopped, attempts);
        }
    }
}

/// Why an answer cannot be used; none if it can.
fn failure_of(kind: AnswerKind, answer: &Answer) -> Option<Failure> {
    let (class, words) = match kind {
        AnswerKind::ToolCalls | AnswerKind::FinalReport => return None,
        AnswerKind::Refused => (ErrorClass::ContentFilter, "the model refused, or its answer was held back"),
        AnswerKind::TextOnly => (ErrorClass::InvalidResponse, "content without tool calls"),
        AnswerKind::Empty => (ErrorClass::InvalidResponse, "neither content nor tool calls"),
        AnswerKind::ReasoningOnly => (ErrorClass::InvalidResponse, "only reasoning"),
        AnswerKind::Truncated => (ErrorClass::InvalidResponse, "the answer was cut"),
        AnswerKind::MalformedCall => (ErrorClass::InvalidResponse, "no tool call has parameters that can be read"),
        AnswerKind::UnknownTool => (ErrorClass::InvalidResponse, "no tool call is of a tool that may be called"),
        AnswerKind::ReportRejected => (ErrorClass::InvalidResponse, "the final report cannot be accepted"),
    };
    Some(Failure::new(class, words).with_usage(answer.usage))
}
