//! Turns and attempts: who is asked, and what.

use reknit_dialogue::{Purpose, Request, ToolChoice};

use super::Session;
use super::context::Room;
use super::estimate::size;
use super::notice::{Notice, RetryReason};
use super::record::{ForcedReason, Record, TurnOutcome};
use super::report::SyntheticReason;
use super::state::Phase;
use crate::effect::{AskModel, Effect, EffectId};

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

    /// Pays for a question, and keeps one for the report; says whether there was enough. With the last one the turn becomes
    /// the last turn.
    pub(super) fn pay_for_attempt(&mut self) -> bool {
        self.force_if_little_is_left();
        if self.state.spent.model_calls >= self.started.policy.limits.model_calls {
            self.end_without_report();
            return false;
        }
        self.state.spent.model_calls += 1;
        true
    }

    fn force_if_little_is_left(&mut self) {
        let limit = self.started.policy.limits.model_calls;
        if self.state.spent.model_calls.saturating_add(1) >= limit && self.state.forced.is_none() {
            self.force(ForcedReason::Budget);
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
        let mut request = self.question();
        request.max_tokens = self.output_tokens(&target, size(&request));
        Some(Effect::AskModel(AskModel { id: self.ask_id(), target, purpose: Purpose::AgentTurn, request }))
    }

    pub(super) fn ask_id(&self) -> EffectId {
        EffectId::new(&self.turn_name(), "ask", self.state.asked)
    }

    pub(super) fn wait_id(&self) -> EffectId {
        EffectId::new(&self.turn_name(), "wait", self.state.asked)
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
