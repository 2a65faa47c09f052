//! Turns and attempts: who is asked, and what.

use reknit_dialogue::{Money, Purpose, Request, TargetName, ToolChoice, Usage};

use super::Session;
use super::context::Room;
use super::estimate::size;
use super::notice::{Notice, RetryReason};
use super::record::{ForcedReason, Record, TurnOutcome};
use super::report::SyntheticReason;
use super::state::Phase;
use crate::budget::{Bill, Quote};
use crate::effect::{AskModel, Effect};
use reknit_protocol::EffectId;
use reknit_protocol::{EffectKind, EffectOwner};

impl Session {
    /// Begins the next turn with all its attempts.
    pub(super) fn begin_turn(&mut self) {
        self.state.turn += 1;
        self.state.turn_began_ms = self.state.now_ms;
        self.state.asked = 0;
        self.state.counted = 0;
        self.state.rotation.restart();
        if self.state.turn >= self.state.max_turns && self.state.forced.is_none() {
            self.state.forced = Some(ForcedReason::MaxTurns);
        }
        if let Some(reason) = self.state.forced {
            self.state.records.push(Record::FinalTurn { turn: self.state.turn, reason });
        }
        self.begin_attempt();
    }

    /// Asks whoever is due, if that can be paid for and the question goes into the window.
    pub(super) fn begin_attempt(&mut self) {
        let Some(target) = self.state.rotation.target().cloned() else {
            return self.end_with(SyntheticReason::NoProviders);
        };
        self.force_if_little_is_left();
        match self.room(&target) {
            Room::Enough => {}
            Room::Unsure => return self.begin_counting(),
            Room::TooLittle => return self.on_too_long(&target),
        }
        if !self.pay_for_attempt() {
            return;
        }
        self.state.asked += 1;
        let attempt = self.state.rotation.attempts() + 1;
        self.state.phase = Phase::Asking { attempt, since_ms: self.state.now_ms };
    }

    /// Pays for a question, and keeps one for the report, and money for it; says whether there was enough. With the last one
    /// the turn becomes the last turn.
    pub(super) fn pay_for_attempt(&mut self) -> bool {
        self.settle_attempt(Bill::Unknown);
        self.state.spent.release(std::mem::take(&mut self.state.kept));
        self.force_if_little_is_left();
        let (quote, policy) = (self.quote(), &self.started.policy);
        let target = self.state.rotation.target().map_or("", TargetName::as_str);
        let payable = self.state.spent.can_pay(policy, quote, Money::default(), target);
        let is_spent = self.state.spent.model_calls >= policy.limits.model_calls || payable.is_err();
        if let Err(exhausted) = payable {
            self.state.last_error = Some(exhausted.to_string());
        }
        if is_spent {
            self.end_without_report();
            return false;
        }
        self.state.spent.model_calls += 1;
        self.state.spent.reserve(quote);
        self.state.quote = Some(quote);
        if self.state.forced.is_none() {
            // Calls that are mended must not use that up.
            self.state.kept = self.report_quote(quote);
            self.state.spent.reserve(self.state.kept);
        }
        true
    }

    /// With the last question that can be paid for, the turn becomes the last one.
    fn force_if_little_is_left(&mut self) {
        if self.state.forced.is_some() {
            return;
        }
        let (quote, policy) = (self.quote(), &self.started.policy);
        let mut spent = self.state.spent.clone();
        spent.release(self.state.kept);
        let is_last = spent.model_calls.saturating_add(1) >= policy.limits.model_calls
            || spent.can_pay(policy, quote, self.report_quote(quote).most(), "").is_err();
        if is_last {
            self.force(ForcedReason::Budget);
        }
    }

    /// What the question that is due could cost.
    fn quote(&self) -> Quote {
        match self.state.rotation.target() {
            Some(target) if !self.started.policy.prices.is_empty() => {
                Quote::new(&self.started.policy, Some(target), &self.request(target))
            }
            _ => Quote::default(),
        }
    }

    /// What the question for the report could cost: as much as this one, with its answer and one result more to read.
    fn report_quote(&self, quote: Quote) -> Quote {
        let result = u64::try_from(self.started.rules.result_bytes).unwrap_or(u64::MAX);
        let more = Usage::reported(u64::from(self.state.output_tokens).saturating_add(result), 0);
        quote.plus(Quote::of_usage(&self.started.policy, self.state.rotation.target(), &more))
    }

    /// The question that was paid for is over.
    pub(super) fn settle_attempt(&mut self, bill: Bill<'_>) {
        if let Some(quote) = self.state.quote.take() {
            self.state.spent.settle(quote, bill);
        }
    }

    /// Makes this turn the last one.
    pub(super) fn force(&mut self, reason: ForcedReason) {
        self.state.forced = Some(reason);
        self.state.records.push(Record::FinalTurn { turn: self.state.turn, reason });
    }

    /// Takes down how a turn ended.
    pub(super) fn end_turn(&mut self, outcome: TurnOutcome, attempts: u32) {
        let ms = self.since(self.state.turn_began_ms);
        self.state.records.push(Record::TurnEnded { turn: self.state.turn, attempts, outcome, ms });
    }

    pub(super) fn since(&self, at_ms: i64) -> u64 {
        u64::try_from(self.state.now_ms.saturating_sub(at_ms)).unwrap_or(0)
    }

    pub(super) fn is_last_turn(&self) -> bool {
        self.state.forced.is_some()
    }

    /// The question of an attempt.
    pub(super) fn ask(&self) -> Option<Effect> {
        let target = self.state.rotation.target()?.clone();
        let request = self.request(&target);
        Some(Effect::AskModel(AskModel { id: self.ask_id(), target, purpose: Purpose::AgentTurn, request }))
    }

    /// What this target is asked: its answer may be as long as its window has room for.
    fn request(&self, target: &TargetName) -> Request {
        let request = self.question();
        Request { max_tokens: self.output_tokens(target, size(&request)), ..request }
    }

    pub(super) fn ask_id(&self) -> EffectId {
        EffectId::new(EffectOwner::Turn(self.state.turn), EffectKind::Ask, self.state.asked)
    }

    pub(super) fn wait_id(&self) -> EffectId {
        EffectId::new(EffectOwner::Turn(self.state.turn), EffectKind::AskWait, self.state.asked)
    }

    /// What is asked, whoever is asked.
    pub(super) fn question(&self) -> Request {
        let rules = &self.started.rules;
        let messages = self.state.history.iter().cloned().chain(self.notices().iter().map(Notice::message)).collect();
        let tools = self.known.toolbox.shown(self.is_last_turn(), !self.state.stored.is_empty());
        Request {
            temperature: rules.temperature,
            effort: rules.effort,
            max_ms: Some(rules.llm_timeout_ms),
            ..Request::new(messages, self.state.output_tokens).with_tools(tools, ToolChoice::Auto)
        }
    }

    /// What the next attempt is told besides the history.
    pub fn notices(&self) -> Vec<Notice> {
        let words = &self.started.words;
        let last = self.state.forced.map(|reason| match reason {
            ForcedReason::Context => &words.final_context,
            ForcedReason::MaxTurns => &words.final_max_turns,
            ForcedReason::RetryExhaustion => &words.final_retries,
            ForcedReason::UserStop => &words.final_stop,
            ForcedReason::Budget => &words.final_budget,
        });
        let last = last.map(|text| Notice { reason: RetryReason::FinalTurn, text: text.clone() });
        self.state.notices.iter().cloned().chain(last).collect()
    }
}
