//! The context guard: no question goes to a target whose context window is too small for it.
//!
//! A question that does not fit goes to a target with a larger window. If it fits no window, older results are replaced
//! by references, then the turn becomes the final one, and then the oldest turns are dropped from it.

use reknit_model_api::{Attachment, Message, ModelRequest, TargetName, ToolDefinition, stated_window};
use reknit_protocol::{EffectId, EffectKind, EffectOwner};

use super::Session;
use super::state::Phase;
use crate::effect::{CountTokens, Effect};
use crate::record::{ContextAction, SessionRecord, TurnOutcome};
use crate::report::FinalTurnReason;

/// At most one part in this many of a window is reserved for the answer.
const ANSWER_SHARE: u64 = 4;

/// The maximum length of the outline of a compacted result, in bytes.
const OUTLINE_BYTES: usize = 200;

/// Shorter results are not compacted: a reference would save nothing.
const MIN_COMPACTED_BYTES: usize = 600;

/// The size of a question compared with the window of its target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuestionSize {
    /// The tokens of the question, counted or conservatively estimated.
    pub tokens: u64,
    /// The limit for the answer, in tokens.
    pub max_tokens: u32,
    /// The context window: the limit for question and answer together.
    pub window: u64,
}

/// Whether a question fits a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WindowFit {
    Fits,
    /// The estimate is too large; an exact count may still fit.
    Uncertain,
    TooLong,
}

impl Session {
    /// The context window of a target, if it is known.
    fn window(&self, target: &TargetName) -> Option<u64> {
        let configured = self.started.policy.rotation.context_windows.get(target).copied().map(u64::from);
        let learned = self.state.models.learned_windows.get(target).copied();
        configured.into_iter().chain(learned).min()
    }

    /// The number of tokens reserved for the answer.
    fn answer_reserve(&self, window: u64) -> u64 {
        u64::from(self.state.current.max_output_tokens).min(window / ANSWER_SHARE)
    }

    fn fits_window(&self, target: &TargetName, size: u64) -> bool {
        self.window(target).is_none_or(|window| {
            self.state.models.token_counts.estimate(target, size).saturating_add(self.answer_reserve(window)) <= window
        })
    }

    /// Whether the next question fits the window of a target.
    pub(super) fn window_fit(&self, target: &TargetName) -> WindowFit {
        if self.window(target).is_none() {
            return WindowFit::Fits;
        }
        let size = size(&self.question());
        if self.fits_window(target, size) {
            WindowFit::Fits
        } else if self.state.models.token_counts.is_exact(target, size)
            || self.state.models.uncountable.contains(target)
        {
            WindowFit::TooLong
        } else {
            WindowFit::Uncertain
        }
    }

    /// The token limit for the answer of a target: the session's limit, or what the window leaves.
    pub(super) fn max_output_tokens(&self, target: &TargetName, size: u64) -> u32 {
        let wanted = self.state.current.max_output_tokens;
        let Some(window) = self.window(target) else { return wanted };
        let left = window.saturating_sub(self.state.models.token_counts.estimate(target, size));
        wanted.min(u32::try_from(left).unwrap_or(u32::MAX)).max(1)
    }

    /// The size of the question in progress; `None` if no question is in progress or the window is unknown.
    pub fn question_size(&self) -> Option<QuestionSize> {
        let (Phase::Asking { .. }, Some(target)) = (&self.state.phase, self.state.rotation.target()) else {
            return None;
        };
        let size = size(&self.question());
        Some(QuestionSize {
            tokens: self.state.models.token_counts.estimate(target, size),
            max_tokens: self.max_output_tokens(target, size),
            window: self.window(target)?,
        })
    }

    /// Requests an exact token count before the question is asked.
    pub(super) fn request_token_count(&mut self) {
        self.state.current.count_ordinal += 1;
        self.state.phase = Phase::Counting { attempt: self.state.rotation.attempts() + 1 };
    }

    pub(super) fn count_id(&self) -> EffectId {
        EffectId::new(
            EffectOwner::Turn(self.state.current.number),
            EffectKind::CountTokens,
            self.state.current.count_ordinal,
        )
    }

    pub(super) fn count_effect(&self) -> Option<Effect> {
        let target = self.state.rotation.target()?.clone();
        Some(Effect::CountTokens(Box::new(CountTokens { id: self.count_id(), target, request: self.question() })))
    }

    /// Handles a token count; `None` if no tokenizer is known for the target.
    pub(super) fn on_tokens_counted(&mut self, tokens: Option<u64>) {
        let Some(target) = self.state.rotation.target().cloned() else {
            return self.end_on_internal_error("tokens were counted for a question without a target");
        };
        match tokens {
            Some(tokens) => self.record_token_count(&target, tokens.max(1)),
            None => _ = self.state.models.uncountable.insert(target),
        }
        self.begin_attempt();
    }

    /// Records the exact token count of the current question.
    pub(super) fn record_token_count(&mut self, target: &TargetName, tokens: u64) {
        let size = size(&self.question());
        self.state.models.token_counts.record(target, size, tokens);
    }

    /// Takes over the context window that a provider states when a question and its answer do not fit; returns whether the
    /// window is news.
    pub(super) fn learn_stated_window(&mut self, target: &TargetName, message: &str) -> bool {
        let Some(stated) = stated_window(message) else { return false };
        let is_news = self.window(target).is_none_or(|known| stated < known);
        if is_news {
            self.state.models.learned_windows.insert(target.clone(), stated);
        }
        is_news
    }

    /// Learns from a rejection: the window of the target is smaller than the question.
    pub(super) fn learn_window(&mut self, target: &TargetName) {
        let tokens = self.state.models.token_counts.estimate(target, size(&self.question()));
        let window = self.window(target).unwrap_or(u64::MAX).min(tokens.saturating_sub(1));
        self.state.models.learned_windows.insert(target.clone(), window);
    }

    /// Handles a question that does not fit the window of its target.
    pub(super) fn on_question_too_long(&mut self, target: &TargetName) {
        let now_ms = u64::try_from(self.state.now_ms).unwrap_or(0);
        if let Some(next) = self.state.rotation.exclude_target(now_ms) {
            self.record_context_action(ContextAction::Skipped(target.clone()));
            return self.follow_rotation(self.state.rotation.attempts() + 1, next);
        }
        self.state.rotation.readmit();
        let results = self.compact_results();
        if results > 0 {
            self.record_context_action(ContextAction::Compacted { results });
            return self.begin_attempt();
        }
        if !self.is_final_turn() {
            self.force_final_turn(FinalTurnReason::Context);
            return self.begin_attempt();
        }
        let turns = self.drop_oldest_turns();
        if turns > 0 {
            self.record_context_action(ContextAction::Trimmed { turns });
            return self.begin_attempt();
        }
        self.set_final_turn(FinalTurnReason::Context);
        self.state.ending.last_error = Some("the question does not fit the context window of any model".to_owned());
        self.end_turn(TurnOutcome::Failed, self.state.rotation.attempts());
        self.end_with_fallback_report();
    }

    fn record_context_action(&mut self, action: ContextAction) {
        self.record(SessionRecord::ContextGuard { turn: self.state.current.number, action });
    }

    /// Whether a question of this size fits the window of any target, by the estimate.
    fn fits_any_target(&self, size: u64) -> bool {
        self.state.rotation.targets().any(|target| self.fits_window(target, size))
    }

    /// Replaces results by references, the oldest first, until the question fits a target. Returns how many.
    fn compact_results(&mut self) -> u32 {
        let mut results = 0;
        let mut left = size(&self.question());
        for index in 0..self.state.history.len() {
            let Some(Message::Tool { text, attachments, .. }) = self.state.history.get(index) else { continue };
            if text.len() <= MIN_COMPACTED_BYTES && attachments.is_empty() {
                continue;
            }
            if self.fits_any_target(left) {
                break;
            }
            if let Some(message) = self.state.history.get_mut(index) {
                let before = size_of_message(message);
                if let Message::Tool { text, attachments, .. } = message {
                    // The model has looked at them.
                    attachments.clear();
                    if text.len() > MIN_COMPACTED_BYTES {
                        *text = self.state.stored_results.store_or_shorten(std::mem::take(text), OUTLINE_BYTES);
                    }
                }
                left = left.saturating_sub(before).saturating_add(size_of_message(message));
                results += 1;
            }
            if results == 1 {
                // The first reference also adds the tool that reads a stored result.
                left = size(&self.question());
            }
        }
        results
    }

    /// Drops the oldest turns with their calls and results until the question fits a target. Returns how many.
    fn drop_oldest_turns(&mut self) -> u32 {
        let mut turns = 0;
        let mut left = size(&self.question());
        let mut is_dropping = false;
        let history = std::mem::take(&mut self.state.history);
        let mut kept = Vec::with_capacity(history.len());
        for message in history {
            match &message {
                Message::Assistant { .. } => {
                    is_dropping = !self.fits_any_target(left);
                    turns += u32::from(is_dropping);
                }
                Message::Tool { .. } => {}
                Message::System { .. } | Message::User { .. } => is_dropping = false,
            }
            if is_dropping {
                left = left.saturating_sub(size_of_message(&message));
            } else {
                kept.push(message);
            }
        }
        self.state.history = kept;
        turns
    }

    /// The byte limit for each of `count` new results in the conversation: the session's limit, or what the largest
    /// window leaves.
    pub(super) fn result_byte_limit(&self, count: usize) -> usize {
        let limit = self.started.rules.result_bytes;
        let size = size(&self.question());
        let mut free = 0;
        for target in self.state.rotation.targets() {
            let Some(window) = self.window(target) else { return limit };
            let used =
                self.state.models.token_counts.estimate(target, size).saturating_add(self.answer_reserve(window));
            free = window.saturating_sub(used).max(free);
        }
        // The estimate counts at most half a token per byte.
        let each = usize::try_from(free).unwrap_or(usize::MAX).saturating_mul(2) / count.max(1);
        limit.min(each.max(OUTLINE_BYTES))
    }
}

/// The overhead of a message or tool besides its text.
const OVERHEAD_TOKENS: u64 = 8;

/// The size of a question in tokens, a conservative estimate for prose, JSON and code: a third of a token per ASCII
/// byte, half a token per other byte. Prose alone is nearer to a quarter.
pub(super) fn size(request: &ModelRequest) -> u64 {
    let messages = request.messages.iter().map(size_of_message);
    let tools = request.tools.iter().map(size_of_tool);
    messages.chain(tools).fold(0, u64::saturating_add)
}

pub(super) fn size_of_message(message: &Message) -> u64 {
    let calls = message
        .tool_calls()
        .iter()
        .map(|call| OVERHEAD_TOKENS + size_of_text(&call.name) + size_of_text(&call.arguments));
    let reasoning = match message {
        // Providers want their reasoning sent back.
        Message::Assistant { reasoning, .. } => reasoning.iter().map(|part| size_of_text(&part.text)).sum(),
        Message::System { .. } | Message::User { .. } | Message::Tool { .. } => 0,
    };
    let attachments = message.attachments().iter().map(Attachment::tokens);
    calls.chain(attachments).fold(OVERHEAD_TOKENS + size_of_text(message.text()) + reasoning, u64::saturating_add)
}

fn size_of_tool(tool: &ToolDefinition) -> u64 {
    OVERHEAD_TOKENS
        + size_of_text(&tool.name)
        + size_of_text(&tool.description)
        + size_of_text(&tool.schema.to_string())
}

pub(super) fn size_of_text(text: &str) -> u64 {
    let ascii = text.bytes().filter(u8::is_ascii).count();
    let others = text.len() - ascii;
    u64::try_from(ascii.div_ceil(3) + others.div_ceil(2)).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use reknit_model_api::ToolChoice;
    use reknit_protocol::Value;

    use super::*;

    #[test]
    fn the_size_of_a_question_includes_its_tools_and_their_schemas() {
        let bare = ModelRequest::new(vec![Message::user("1234"), Message::user("äö")], 10);
        assert_eq!(size(&bare), 8 + 2 + 8 + 2);
        let schema = Value::parse(r#"{"type":"object"}"#).unwrap();
        let tool = ToolDefinition { name: "f".into(), description: "does".into(), schema };
        assert_eq!(size(&bare.with_tools(vec![tool], ToolChoice::Auto)), 20 + 8 + 1 + 2 + 6);
    }
}
