//! The context guard: no question goes to a target that cannot read it.
//!
//! A question that does not fit a target goes to one with a larger window. If nobody can read it, older results are replaced
//! by their names, then the turn becomes the last one, and then older turns are left out of it.

use reknit_dialogue::{Message, Next, TargetName};

use super::Session;
use super::estimate::size;
use super::record::{ContextAction, ForcedReason, Record, TurnOutcome};
use super::state::Phase;
use crate::effect::{CountTokens, Effect};
use reknit_protocol::EffectId;
use reknit_protocol::{EffectKind, EffectOwner};

/// How much of a window is kept for the answer, at most: a quarter of it.
const ANSWER_SHARE: u64 = 4;

/// How much is said of a result that made room for others, in bytes.
const OUTLINE: usize = 200;

/// A result that is shorter than this takes no less room if it is stored.
const SMALL: usize = 600;

/// How long a question is, as far as that is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuestionSize {
    /// The tokens of the question, counted or estimated on the safe side.
    pub tokens: u64,
    /// The most tokens that are asked for.
    pub max_tokens: u32,
    /// What the target can read, both together.
    pub window: u64,
}

/// Whether a question goes into a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Room {
    Enough,
    /// It may not, but somebody could count.
    Unsure,
    TooLittle,
}

impl Session {
    /// How much a target can read, as far as that is known.
    fn window(&self, target: &TargetName) -> Option<u64> {
        let known = self.started.policy.rotation.windows.get(target).copied().map(u64::from);
        let learned = self.state.learned_windows.get(target).copied();
        known.into_iter().chain(learned).min()
    }

    /// How many tokens are kept for the answer.
    fn reserve(&self, window: u64) -> u64 {
        u64::from(self.state.output_tokens).min(window / ANSWER_SHARE)
    }

    fn has_room(&self, target: &TargetName, size: u64) -> bool {
        self.window(target)
            .is_none_or(|window| self.state.meters.tokens(target, size).saturating_add(self.reserve(window)) <= window)
    }

    /// Whether the question that is due goes into the window of a target.
    pub(super) fn room(&self, target: &TargetName) -> Room {
        if self.window(target).is_none() {
            return Room::Enough;
        }
        let size = size(&self.question());
        if self.has_room(target, size) {
            Room::Enough
        } else if self.state.meters.has_counted(target, size) || self.state.uncountable.contains(target) {
            Room::TooLittle
        } else {
            Room::Unsure
        }
    }

    /// The most a target may answer: what is allowed, as far as its window has room for it.
    pub(super) fn output_tokens(&self, target: &TargetName, size: u64) -> u32 {
        let wanted = self.state.output_tokens;
        let Some(window) = self.window(target) else { return wanted };
        let left = window.saturating_sub(self.state.meters.tokens(target, size));
        wanted.min(u32::try_from(left).unwrap_or(u32::MAX)).max(1)
    }

    /// How long the question is that somebody is asked, as far as there is a window that it must go into.
    pub fn question_size(&self) -> Option<QuestionSize> {
        let (Phase::Asking { .. }, Some(target)) = (&self.state.phase, self.state.rotation.target()) else {
            return None;
        };
        let size = size(&self.question());
        Some(QuestionSize {
            tokens: self.state.meters.tokens(target, size),
            max_tokens: self.output_tokens(target, size),
            window: self.window(target)?,
        })
    }

    /// Wants the question to be counted before anybody is asked.
    pub(super) fn begin_counting(&mut self) {
        self.state.counted += 1;
        self.state.phase = Phase::Counting { attempt: self.state.rotation.attempts() + 1 };
    }

    pub(super) fn count_id(&self) -> EffectId {
        EffectId::new(EffectOwner::Turn(self.state.turn), EffectKind::CountTokens, self.state.counted)
    }

    pub(super) fn count_effect(&self) -> Option<Effect> {
        let target = self.state.rotation.target()?.clone();
        Some(Effect::CountTokens(Box::new(CountTokens { id: self.count_id(), target, request: self.question() })))
    }

    /// Somebody has counted, or there is nobody who could.
    pub(super) fn on_counted(&mut self, tokens: Option<u64>) {
        let Some(target) = self.state.rotation.target().cloned() else { return };
        match tokens {
            Some(tokens) => self.note_tokens(&target, tokens.max(1)),
            None => _ = self.state.uncountable.insert(target),
        }
        self.begin_attempt();
    }

    /// Takes down how many tokens the question has that is due or was just answered.
    pub(super) fn note_tokens(&mut self, target: &TargetName, tokens: u64) {
        let size = size(&self.question());
        self.state.meters.note(target, size, tokens);
    }

    /// A target says that the question is too long for it, whatever we thought: its window is smaller than the question.
    pub(super) fn learn_window(&mut self, target: &TargetName) {
        let tokens = self.state.meters.tokens(target, size(&self.question()));
        let less = self.window(target).unwrap_or(u64::MAX).min(tokens.saturating_sub(1));
        self.state.learned_windows.insert(target.clone(), less);
    }

    /// The question does not go into the window of the target that is due.
    pub(super) fn on_too_long(&mut self, target: &TargetName) {
        let now_ms = u64::try_from(self.state.now_ms).unwrap_or(0);
        if let Some(next) = self.state.rotation.leave_out(now_ms) {
            self.guard(ContextAction::Skipped(target.clone()));
            return match next {
                Next::Ask => self.begin_attempt(),
                other => self.go_on(self.state.rotation.attempts() + 1, other),
            };
        }
        self.state.rotation.readmit();
        let results = self.compact();
        if results > 0 {
            self.guard(ContextAction::Compacted { results });
            return self.begin_attempt();
        }
        if !self.is_last_turn() {
            self.force(ForcedReason::Context);
            return self.begin_attempt();
        }
        let turns = self.trim();
        if turns > 0 {
            self.guard(ContextAction::Trimmed { turns });
            return self.begin_attempt();
        }
        self.state.forced = Some(ForcedReason::Context);
        self.state.last_error = Some("the question is longer than any model can read".to_owned());
        self.end_turn(TurnOutcome::Failed, self.state.rotation.attempts());
        self.end_without_report();
    }

    fn guard(&mut self, action: ContextAction) {
        self.state.records.push(Record::ContextGuard { turn: self.state.turn, action });
    }

    /// Whether any target can read the question as it is, as far as is known without counting.
    fn fits_somebody(&self) -> bool {
        let size = size(&self.question());
        self.state.rotation.targets().any(|target| self.has_room(target, size))
    }

    /// Replaces results by their names, the oldest first and those of the last turn last, until somebody can read the
    /// question. Says how many.
    fn compact(&mut self) -> u32 {
        let mut results = 0;
        for index in 0..self.state.history.len() {
            let Some(Message::Tool { text, .. }) = self.state.history.get(index) else { continue };
            if text.len() <= SMALL {
                continue;
            }
            if self.fits_somebody() {
                break;
            }
            if let Some(Message::Tool { text, .. }) = self.state.history.get_mut(index) {
                let whole = std::mem::take(text);
                *text = self.state.stored.keep_or_shorten(whole, OUTLINE);
                results += 1;
            }
        }
        results
    }

    /// Leaves out the oldest turns, calls and results together, until somebody can read the question. Says how many.
    fn trim(&mut self) -> u32 {
        let mut turns = 0;
        while !self.fits_somebody() {
            let is_call = |message: &Message| matches!(message, Message::Assistant { .. });
            let Some(first) = self.state.history.iter().position(is_call) else { break };
            let behind = self.state.history.iter().skip(first + 1);
            let results = behind.take_while(|message| matches!(message, Message::Tool { .. })).count();
            self.state.history.drain(first..=first + results);
            turns += 1;
        }
        turns
    }

    /// How many bytes each of so many results may have in the conversation: what is allowed, as far as the largest window
    /// has room for it.
    pub(super) fn room_for_results(&self, count: usize) -> usize {
        let most = self.started.rules.result_bytes;
        let size = size(&self.question());
        let mut free = 0;
        for target in self.state.rotation.targets() {
            let Some(window) = self.window(target) else { return most };
            let used = self.state.meters.tokens(target, size).saturating_add(self.reserve(window));
            free = window.saturating_sub(used).max(free);
        }
        // Half a token a byte is the most that a text is taken for.
        let each = usize::try_from(free).unwrap_or(usize::MAX).saturating_mul(2) / count.max(1);
        most.min(each.max(OUTLINE))
    }
}
