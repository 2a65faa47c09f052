//! Turns and attempts: which target is asked, and the question.

use std::sync::Arc;

use reknit_model_api::{Message, ModelRequest, Money, Purpose, TargetName, ToolChoice, Usage};
use reknit_protocol::{EffectId, EffectKind, EffectOwner};

use super::Session;
use super::context_window::{WindowFit, size};
use super::state::Phase;
use crate::budget::{Bill, Quote};
use crate::effect::{AskModel, OpenBreakerPolicy};
use crate::notice::{Notice, RetryReason};
use crate::record::{ModelQuestion, ModelRecord, SessionRecord, TurnOutcome};
use crate::report::{FinalTurnReason, SyntheticReason};
use crate::times::ms_between;

impl Session {
    /// Starts the next turn with a fresh set of attempts.
    pub(super) fn begin_turn(&mut self) {
        self.state.current.number += 1;
        self.state.current.started_ms = self.state.now_ms;
        self.state.current.question_ordinal = 0;
        self.state.current.count_ordinal = 0;
        self.state.current.max_output_tokens = self.started.rules.max_output_tokens;
        self.state.rotation.restart();
        if self.state.current.number >= self.state.max_turns && !self.is_final_turn() {
            self.set_final_turn(FinalTurnReason::MaxTurns);
        }
        self.update_rotation_deadline();
        self.record(SessionRecord::TurnStarted(self.state.current.number));
        if let Some(reason) = self.state.ending.final_turn_reason {
            self.record_final_turn(reason);
        }
        self.state.current.asks_for_mandate = self.needs_mandate();
        self.begin_attempt();
    }

    /// Asks the target whose turn it is, if the budget covers the question and the question fits the window.
    pub(super) fn begin_attempt(&mut self) {
        // An internal error may have ended the session just before.
        if self.report().is_some() {
            return;
        }
        let Some(target) = self.state.rotation.target().cloned() else {
            return self.end_synthetic(SyntheticReason::NoProviders);
        };
        self.force_final_turn_on_low_budget();
        match self.window_fit(&target) {
            WindowFit::Fits => {}
            WindowFit::Uncertain => return self.request_token_count(),
            WindowFit::TooLong => return self.on_question_too_long(&target),
        }
        if !self.pay_for_question() {
            return;
        }
        self.state.current.question_ordinal += 1;
        let attempt = self.state.rotation.attempts() + 1;
        self.state.phase = Phase::Asking { attempt, since_ms: self.state.now_ms };
        self.record_question();
    }

    pub(super) fn record_question(&mut self) {
        let Some(AskModel { id, target, purpose, request, .. }) = self.question_effect() else {
            return self.end_on_internal_error("a question that is asked has no target");
        };
        let attempt = id.ordinal();
        self.record(ModelRecord::Asked(ModelQuestion { id, target, purpose, attempt, request }));
    }

    /// Charges the budget for a question and reserves budget for the report; returns whether the budget was sufficient.
    /// If only one question is left, it forces the final turn.
    pub(super) fn pay_for_question(&mut self) -> bool {
        self.settle_question(Bill::Unknown);
        self.state.account.spent.release(std::mem::take(&mut self.state.account.report_reserve));
        self.force_final_turn_on_low_budget();
        let (quote, policy) = (self.quote(), &self.started.policy);
        let target = self.state.rotation.target().map_or("", TargetName::as_str);
        let payment = self.state.account.spent.can_pay(policy, quote, Money::default(), target);
        let is_exhausted = self.state.account.spent.model_calls >= policy.limits.model_calls || payment.is_err();
        if let Err(exhausted) = payment {
            self.state.ending.last_error = Some(exhausted.to_string());
        }
        if is_exhausted {
            self.end_with_fallback_report();
            return false;
        }
        self.state.account.spent.model_calls += 1;
        self.state.account.spent.reserve(quote);
        self.state.account.question_quote = Some(quote);
        if self.state.ending.final_turn_reason.is_none() {
            // Repairs of calls must not use up this reservation.
            self.state.account.report_reserve = self.report_quote(quote);
            self.state.account.spent.reserve(self.state.account.report_reserve);
        }
        true
    }

    /// Makes the turn the final one if the budget covers only one more question.
    fn force_final_turn_on_low_budget(&mut self) {
        if self.state.ending.final_turn_reason.is_some() {
            return;
        }
        let (quote, policy) = (self.quote(), &self.started.policy);
        let mut spent = self.state.account.spent.clone();
        spent.release(self.state.account.report_reserve);
        let is_last = spent.model_calls.saturating_add(1) >= policy.limits.model_calls
            || spent.can_pay(policy, quote, self.report_quote(quote).max_cost, "").is_err();
        if is_last {
            self.force_final_turn(FinalTurnReason::Budget);
        }
    }

    /// The maximum cost of the next question.
    fn quote(&self) -> Quote {
        match self.state.rotation.target() {
            Some(target) if !self.started.policy.prices.is_empty() => {
                Quote::new(&self.started.policy, Some(target), &self.request(target))
            }
            _ => Quote::default(),
        }
    }

    /// The maximum cost of the question for the report: the current question plus its answer and one more result.
    fn report_quote(&self, quote: Quote) -> Quote {
        let result = u64::try_from(self.started.rules.result_bytes).unwrap_or(u64::MAX);
        let more = Usage::reported(u64::from(self.state.current.max_output_tokens).saturating_add(result), 0);
        quote.plus(Quote::of_usage(&self.started.policy, self.state.rotation.target(), &more))
    }

    /// Releases the reservation for a question that is over, and books its cost.
    pub(super) fn settle_question(&mut self, bill: Bill<'_>) {
        if let Some(quote) = self.state.account.question_quote.take() {
            self.state.account.spent.settle(quote, bill);
        }
    }

    /// Makes the current turn the final one.
    pub(super) fn force_final_turn(&mut self, reason: FinalTurnReason) {
        self.set_final_turn(reason);
        self.update_rotation_deadline();
        self.record_final_turn(reason);
    }

    fn record_final_turn(&mut self, reason: FinalTurnReason) {
        let turn = self.state.current.number;
        self.record(SessionRecord::FinalTurn { turn, reason });
        if let Some(notice) = self.final_turn_notice() {
            self.record(SessionRecord::Noticed { turn, notice });
        }
    }

    /// Makes this turn, or the next one that starts, the final one.
    pub(super) fn set_final_turn(&mut self, reason: FinalTurnReason) {
        if !self.is_final_turn() {
            // The deadline of the final turn is another one.
            self.state.clock.next_deadline();
        }
        self.state.ending.final_turn_reason = Some(reason);
    }

    /// Tells the rotation when the time of the session is over, so that it does not wait longer.
    pub(super) fn update_rotation_deadline(&mut self) {
        if let Some(limit_ms) = self.time_limit_ms() {
            let left_ms = limit_ms.saturating_sub(self.state.clock.active_ms(self.state.now_ms));
            let now_ms = u64::try_from(self.state.now_ms).unwrap_or(0);
            self.state.rotation.set_deadline_ms(now_ms.saturating_add(left_ms));
        }
    }

    pub(super) fn end_turn(&mut self, outcome: TurnOutcome, attempts: u32) {
        let ms = self.since(self.state.current.started_ms);
        self.state.turns_completed += u32::from(outcome == TurnOutcome::ToolCalls);
        self.record(SessionRecord::TurnEnded { turn: self.state.current.number, attempts, outcome, ms });
    }

    pub(super) fn since(&self, at_ms: i64) -> u64 {
        ms_between(at_ms, self.state.now_ms)
    }

    pub(super) fn is_final_turn(&self) -> bool {
        self.state.ending.final_turn_reason.is_some()
    }

    pub(super) fn question_effect(&self) -> Option<AskModel> {
        let target = self.state.rotation.target()?.clone();
        let request = Arc::new(self.request(&target));
        let breaker = match self.state.ending.final_turn_reason {
            // The report is wanted now: a target that is cooling down may answer all the same.
            Some(FinalTurnReason::UserStop | FinalTurnReason::TimeLimit) => OpenBreakerPolicy::Ignore,
            _ => OpenBreakerPolicy::for_current_target(&self.state.rotation),
        };
        Some(AskModel { id: self.ask_id(), target, purpose: self.purpose(), request, breaker })
    }

    /// The question for one target: `max_tokens` is limited to what its window and its provider allow.
    fn request(&self, target: &TargetName) -> ModelRequest {
        let request = self.question();
        let stated = self.state.models.output_limits.get(target).copied().unwrap_or(u32::MAX);
        ModelRequest { max_tokens: self.max_output_tokens(target, size(&request)).min(stated), ..request }
    }

    pub(super) fn ask_id(&self) -> EffectId {
        EffectId::new(
            EffectOwner::Turn(self.state.current.number),
            EffectKind::Ask,
            self.state.current.question_ordinal,
        )
    }

    pub(super) fn wait_id(&self) -> EffectId {
        EffectId::new(
            EffectOwner::Turn(self.state.current.number),
            EffectKind::AskWait,
            self.state.current.question_ordinal,
        )
    }

    fn purpose(&self) -> Purpose {
        if self.asks_for_mandate() { Purpose::Mandate } else { Purpose::AgentTurn }
    }

    /// The question, regardless of the target.
    pub(super) fn question(&self) -> ModelRequest {
        if self.asks_for_mandate() {
            return self.mandate_question();
        }
        let rules = &self.started.rules;
        let notices = self.notices().into_iter().map(|notice| Message::user(notice.text));
        let messages = self.state.history.iter().cloned().chain(notices).collect();
        let tools = self.setup.toolbox.definitions(self.is_final_turn(), !self.state.stored_results.is_empty());
        ModelRequest {
            temperature: rules.temperature,
            effort: rules.effort,
            timeout_ms: Some(rules.llm_timeout_ms),
            ..ModelRequest::new(messages, self.state.current.max_output_tokens).with_tools(tools, ToolChoice::Auto)
        }
    }

    /// The notices that the next attempt gets besides the history.
    pub fn notices(&self) -> Vec<Notice> {
        self.state.notices.iter().cloned().chain(self.final_turn_notice()).collect()
    }

    fn final_turn_notice(&self) -> Option<Notice> {
        let words = &self.started.words;
        let text = match self.state.ending.final_turn_reason? {
            FinalTurnReason::Context => &words.final_context,
            FinalTurnReason::MaxTurns => &words.final_max_turns,
            FinalTurnReason::RetryExhaustion => &words.final_retries,
            FinalTurnReason::UserStop => &words.final_stop,
            FinalTurnReason::Budget => &words.final_budget,
            FinalTurnReason::TimeLimit => &words.final_time,
        };
        Some(Notice { reason: RetryReason::FinalTurn, text: text.clone() })
    }
}
