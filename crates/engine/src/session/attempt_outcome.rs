//! Decisions after an answer, a failure, or the end of a wait.

use std::sync::Arc;

use reknit_model_api::{
    BlockedBy, ErrorClass, GiveUpReason, ModelAnswer, ModelFailure, Next, TargetName, UsageSource, WaitCause,
    stated_output_limit,
};

use super::Session;
use super::classify_answer::{AnswerClassifier, ClassifiedAnswer};
use super::report_draft::{ReportReader, written_text};
use super::state::Phase;
use crate::budget::Bill;
use crate::event::EventKind;
use crate::notice::{Notice, RetryReason};
use crate::record::{
    AnswerKind, Attempt, AttemptStatus, CollapseReason, ModelRecord, RetryDirective, SessionRecord, TurnOutcome,
    WaitEnd,
};
use crate::report::{FinalTurnReason, SyntheticReason};
use crate::times::ms_between;

const NO_ATTEMPT: &str = "the outcome of a question arrived while no model was asked";

impl Session {
    /// Handles the outcome of a question, a token count or a wait; returns whether the event was one.
    pub(super) fn on_question_event(&mut self, kind: &EventKind) -> bool {
        match (&self.state.phase, kind) {
            (Phase::Asking { .. }, kind) if kind.effect() == Some(&self.ask_id()) => match kind {
                EventKind::ModelAnswered { answer, .. } => self.on_answer(answer),
                EventKind::ModelFailed { failure, .. } => self.on_failure(failure),
                EventKind::BreakerOpen { until_ms, by, .. } => self.on_breaker_open(*until_ms, *by),
                _ => return false,
            },
            (Phase::Counting { .. }, EventKind::TokensCounted { effect, tokens }) if self.count_id() == *effect => {
                self.on_tokens_counted(*tokens);
            }
            (Phase::Waiting { .. }, EventKind::Woke { effect }) if self.wait_id() == *effect => {
                self.end_wait(WaitEnd::Completed);
                self.begin_attempt();
            }
            _ => return false,
        }
        true
    }

    pub(super) fn end_wait(&mut self, end: WaitEnd) {
        let Phase::Waiting { since_ms, until_ms, reason, .. } = self.state.phase else {
            return self.end_on_internal_error("a wait ended that had not begun");
        };
        let ms = ms_between(since_ms, until_ms).min(self.since(since_ms));
        self.state.totals.backoff_ms += ms;
        let (turn, source) = (self.state.current.number, self.state.rotation.wait_cause().source.clone());
        self.record(SessionRecord::WaitEnded { turn, ms, end, reason: Some(reason), source: Some(source) });
    }

    fn on_failure(&mut self, failure: &ModelFailure) {
        let Some(record) = self.attempt_record(AttemptStatus::Failed(failure.class)) else {
            return self.end_on_internal_error(NO_ATTEMPT);
        };
        self.record(ModelRecord::Failed { id: self.ask_id(), failure: failure.clone() });
        self.settle_question(Bill::of_failure(failure.usage.as_ref()));
        if let Some(usage) = &failure.usage {
            self.state.account.spent.add_tokens(usage);
        }
        // What is learned changes the next question: it asks for a shorter answer, or is compacted.
        let is_too_long = failure.class == ErrorClass::ContextLength;
        let is_learned = (is_too_long && self.learn_stated_window(&record.target, &failure.message))
            || self.learn_output_limit(&record.target, failure);
        if is_too_long && !is_learned {
            self.learn_window(&record.target);
        }
        let next = self.rotate(failure);
        if is_learned {
            self.state.rotation.forget_refusal(&record.target);
        }
        self.fail_attempt(Attempt { usage: failure.usage, ..record }, failure, next, Vec::new());
    }

    /// Reports a failed attempt to the rotation.
    fn rotate(&mut self, failure: &ModelFailure) -> Next {
        let now_ms = self.now_unsigned_ms();
        self.state.rotation.failed(failure, now_ms)
    }

    /// Takes over the output limit that a provider states when it refuses a larger one; returns whether it states one.
    fn learn_output_limit(&mut self, target: &TargetName, failure: &ModelFailure) -> bool {
        let Some(requested) = self.question_effect().map(|question| question.request.max_tokens) else { return false };
        if !failure.status.is_some_and(|status| (400..500).contains(&status)) {
            return false;
        }
        let stated = stated_output_limit(&failure.message, requested);
        if let Some(max_tokens) = stated {
            self.state.models.output_limits.insert(target.clone(), max_tokens);
            self.record(SessionRecord::OutputLimitLearned {
                turn: self.state.current.number,
                target: target.clone(),
                max_tokens,
            });
        }
        stated.is_some()
    }

    /// The driver sent nothing because the target's breaker is open. This counts as no attempt and costs nothing.
    fn on_breaker_open(&mut self, until_ms: i64, by: BlockedBy) {
        let (&Phase::Asking { attempt, .. }, Some(target)) = (&self.state.phase, self.state.rotation.target()) else {
            return self.end_on_internal_error(NO_ATTEMPT);
        };
        let target = target.clone();
        self.record(ModelRecord::Skipped { id: self.ask_id(), until_ms });
        self.settle_question(Bill::Nothing);
        self.state.account.spent.refund_model_call();
        let unsigned = |ms: i64| u64::try_from(ms).unwrap_or(0);
        let next = self.state.rotation.breaker_open(unsigned(until_ms), by, unsigned(self.state.now_ms));
        self.state.ending.last_error =
            Some(format!("model `{target}` was not asked: its circuit breaker is open or it is at its rate limit"));
        self.record(SessionRecord::TargetSkipped { turn: self.state.current.number, target, until_ms });
        self.follow_rotation(attempt, next);
    }

    fn on_answer(&mut self, answer: &ModelAnswer) {
        if self.asks_for_mandate() {
            return self.on_mandate(answer);
        }
        let (kind, mut classified) = self.classify(answer);
        let Some(record) = self.attempt_record(AttemptStatus::Answered(kind)) else {
            return self.end_on_internal_error(NO_ATTEMPT);
        };
        if !answer.tool_calls.is_empty() {
            self.state.models.native_callers.insert(record.target.clone());
        }
        let (id, recorded) = (self.ask_id(), Arc::new(answer.clone()));
        let failure = failure_of(kind, answer);
        self.record(ModelRecord::Answered { id, answer: recorded, failure: failure.clone() });
        self.settle_question(Bill::Used(&answer.usage));
        self.state.account.spent.add_tokens(&answer.usage);
        if answer.usage.source == UsageSource::Reported {
            self.record_token_count(&record.target, answer.usage.input_tokens);
        }
        self.state.ending.last_stop_reason = Some(answer.finish.as_str().to_owned());
        let stop_reason = self.state.ending.last_stop_reason.clone();
        let record = Attempt { stop_reason, usage: Some(answer.usage), cost: answer.cost, ..record };
        self.apply_findings(&mut classified);
        let Some(failure) = failure else {
            self.state.ending.last_error = None;
            // Notices about earlier attempts are obsolete; those about dropped calls of this answer are not.
            self.state.notices.clear();
            let attempts = record.attempt;
            self.record_attempt(record);
            self.add_notices(std::mem::take(&mut classified.notices));
            self.state.rotation.restart();
            return self.act_on_answer(answer, classified, attempts);
        };
        if let Some(text) = written_text(answer) {
            self.state.ending.last_text = Some(text);
        }
        let asks_again = classified.asks_again;
        // Only doubled once, and only as long as answers are cut off: a second truncated answer must become shorter.
        let factor = if kind == AnswerKind::Truncated { 2 } else { 1 };
        self.state.current.max_output_tokens = self.started.rules.max_output_tokens.saturating_mul(factor);
        let next =
            if asks_again { self.state.rotation.ask_again(self.now_unsigned_ms()) } else { self.rotate(&failure) };
        self.fail_attempt(record, &failure, next, classified.notices);
    }

    fn now_unsigned_ms(&self) -> u64 {
        u64::try_from(self.state.now_ms).unwrap_or(0)
    }

    fn classify(&self, answer: &ModelAnswer) -> (AnswerKind, ClassifiedAnswer) {
        let classifier = AnswerClassifier {
            toolbox: &self.setup.toolbox,
            report_reader: ReportReader {
                format: self.started.rules.report.format,
                schema: self.setup.report_schema.as_ref(),
            },
            words: &self.started.words,
            turn: self.state.current.number,
            final_turn: self.is_final_turn(),
            calls_in_text: self.started.rules.calls_in_text,
            text_answers: self.started.rules.text_answers,
            history: &self.state.history,
            stored_results: &self.state.stored_results,
            has_native_call: self
                .state
                .rotation
                .target()
                .is_some_and(|model| self.state.models.native_callers.contains(model)),
            was_asked: self.state.notices.iter().any(|notice| notice.reason == RetryReason::CallInText),
        };
        classifier.classify(answer)
    }

    /// Keeps notices for the next attempts, each text once.
    fn add_notices(&mut self, notices: Vec<Notice>) {
        for notice in notices {
            if !self.state.notices.iter().any(|known| known.text == notice.text) {
                self.record(SessionRecord::Noticed { turn: self.state.current.number, notice: notice.clone() });
                self.state.notices.push(notice);
            }
        }
    }

    /// Applies everything in an answer except its calls: dropped calls, a fallback report, and fewer turns.
    fn apply_findings(&mut self, classified: &mut ClassifiedAnswer) {
        let turn = self.state.current.number;
        for (tool, form) in classified.text_calls.drain(..) {
            self.record(SessionRecord::CallInText { turn, tool, form });
        }
        for (tool, why) in classified.dropped.drain(..) {
            self.record(SessionRecord::CallDropped { turn, tool, why });
        }
        let kept = self.state.ending.fallback_report.as_ref().map(|report| report.quality);
        if let Some(report) =
            classified.fallback_report.take().filter(|report| kept.is_none_or(|kept| report.quality >= kept))
        {
            self.record(SessionRecord::FallbackReportFound { turn, source: report.source });
            self.state.ending.fallback_report = Some(report);
        }
        self.state.ending.final_report_attempts += classified.report_attempts;
        if let Some(reason) = classified.collapse {
            self.collapse(reason);
        }
    }

    /// Limits the session to one more turn: a model that tries to report is nearly done. Applies once per turn.
    pub(super) fn collapse(&mut self, reason: CollapseReason) {
        let (turn, previous_max_turns) = (self.state.current.number, self.state.max_turns);
        let new_max_turns = turn.saturating_add(1);
        if self.state.ending.collapsed_in_turn == Some(turn) || new_max_turns >= previous_max_turns {
            return;
        }
        self.state.ending.collapsed_in_turn = Some(turn);
        self.state.max_turns = new_max_turns;
        self.record(SessionRecord::Collapsed { turn, reason, previous_max_turns, new_max_turns });
    }

    /// Handles an attempt without a usable answer.
    fn fail_attempt(&mut self, record: Attempt, failure: &ModelFailure, next: Next, notices: Vec<Notice>) {
        let attempt = record.attempt;
        let message = notices.first().map(|notice| notice.text.clone());
        let directive = RetryDirective::new(failure, &next, message);
        self.state.ending.last_error = Some(failure.to_string());
        if let Some(usage) = &record.usage {
            self.state.account.spent.wasted_tokens += usage.input_tokens.saturating_add(usage.output_tokens);
        }
        self.record_attempt(Attempt { error: Some(failure.to_string()), directive: Some(directive), ..record });
        self.add_notices(notices);
        match (self.state.ending.final_turn_reason, failure.class) {
            // A user who stopped the session does not wait for a second slow model.
            (Some(FinalTurnReason::UserStop), ErrorClass::Timeout) => {
                self.end_turn(TurnOutcome::Failed, attempt);
                self.end_with_fallback_report();
            }
            _ => self.follow_rotation(attempt, next),
        }
    }

    /// Follows the rotation's decision.
    pub(super) fn follow_rotation(&mut self, attempt: u32, next: Next) {
        let now_ms = self.state.now_ms;
        match next {
            Next::Ask => self.begin_attempt(),
            // A user who stopped the session does not wait for rate limits.
            Next::Wait { .. } if self.state.ending.final_turn_reason == Some(FinalTurnReason::UserStop) => {
                self.end_turn(TurnOutcome::Failed, attempt);
                self.end_with_fallback_report();
            }
            Next::Wait { ms } => {
                let until_ms = now_ms.saturating_add_unsigned(ms);
                let WaitCause { reason, source } = self.state.rotation.wait_cause().clone();
                let turn = self.state.current.number;
                self.record(SessionRecord::WaitStarted { turn, ms, reason, source: Some(source) });
                self.state.phase = Phase::Waiting { attempt, since_ms: now_ms, until_ms, reason };
            }
            Next::GiveUp(reason) => {
                self.end_turn(TurnOutcome::Failed, attempt);
                let no_model = match reason {
                    GiveUpReason::Fatal(ErrorClass::AuthError) => SyntheticReason::AuthError,
                    GiveUpReason::Fatal(ErrorClass::QuotaExceeded) => SyntheticReason::QuotaExceeded,
                    GiveUpReason::NoTargets => SyntheticReason::NoProviders,
                    GiveUpReason::Deadline => return self.on_attempts_exhausted(FinalTurnReason::TimeLimit),
                    GiveUpReason::Fatal(_) | GiveUpReason::AttemptsSpent { .. } | GiveUpReason::BreakersOpen => {
                        return self.on_attempts_exhausted(FinalTurnReason::RetryExhaustion);
                    }
                };
                self.end_without_model(no_model);
            }
        }
    }

    /// Forces the final turn after a turn in which every attempt failed; ends the session after the final turn.
    fn on_attempts_exhausted(&mut self, reason: FinalTurnReason) {
        if self.is_final_turn() {
            return self.end_with_fallback_report();
        }
        self.set_final_turn(reason);
        // The notices are about answers of the turn that failed.
        self.state.notices.clear();
        self.begin_turn();
    }

    /// The record of the attempt in progress.
    fn attempt_record(&self, status: AttemptStatus) -> Option<Attempt> {
        let Phase::Asking { attempt, since_ms } = self.state.phase else { return None };
        Some(Attempt {
            turn: self.state.current.number,
            attempt,
            target: self.state.rotation.target()?.clone(),
            status,
            error: None,
            directive: None,
            stop_reason: None,
            usage: None,
            cost: None,
            latency_ms: self.since(since_ms),
        })
    }

    fn record_attempt(&mut self, attempt: Attempt) {
        let totals = &mut self.state.totals;
        totals.attempts += 1;
        totals.failed_attempts += u32::from(attempt.error.is_some());
        totals.model_ms = totals.model_ms.saturating_add(attempt.latency_ms);
        self.record(SessionRecord::Attempt(Box::new(attempt)));
    }

    /// Records an attempt whose outcome no longer matters.
    pub(super) fn abandon_attempt(&mut self) {
        let Some(record) = self.attempt_record(AttemptStatus::Abandoned) else {
            return self.end_on_internal_error(NO_ATTEMPT);
        };
        self.settle_question(Bill::Unknown);
        let attempts = record.attempt;
        self.record_attempt(Attempt {
            error: Some("abandoned: the user or the time limit stopped the turn".to_owned()),
            ..record
        });
        self.end_turn(TurnOutcome::Stopped, attempts);
    }
}

/// Why an answer is unusable; `None` for a usable one.
fn failure_of(kind: AnswerKind, answer: &ModelAnswer) -> Option<ModelFailure> {
    let (class, message) = match kind {
        AnswerKind::ToolCalls | AnswerKind::FinalReport => return None,
        AnswerKind::Refused => (ErrorClass::ContentFilter, "the model refused, or the provider blocked the answer"),
        AnswerKind::TextOnly => (ErrorClass::InvalidResponse, "text without tool calls"),
        AnswerKind::Empty => (ErrorClass::InvalidResponse, "neither text nor tool calls"),
        AnswerKind::ReasoningOnly => (ErrorClass::InvalidResponse, "reasoning without text or tool calls"),
        AnswerKind::Truncated => (ErrorClass::InvalidResponse, "the answer was cut off at the token limit"),
        AnswerKind::MalformedCall => (ErrorClass::InvalidResponse, "the arguments of every tool call are unreadable"),
        AnswerKind::UnknownTool => {
            (ErrorClass::InvalidResponse, "every tool call names a tool that is unknown or not allowed in this turn")
        }
        AnswerKind::ReportRejected => (ErrorClass::InvalidResponse, "the final report was rejected"),
    };
    Some(ModelFailure::new(class, message).with_usage(answer.usage))
}
