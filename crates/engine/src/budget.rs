//! What a run may spend and has spent. A call is paid for when it becomes due, so no number of parallel steps can
//! overdraw.

mod quote;

use reknit_dialogue::{Money, Purpose, TargetName, Usage};
use serde::{Deserialize, Serialize};

use crate::policy::{Limits, Policy, Synthesis};
pub(crate) use quote::{Bill, Quote};
use reknit_protocol::human_duration;

/// How long the last question, the one for the answer, is taken to be: its results are not known yet. If it turns out to be
/// longer and cannot be paid for, code writes the answer.
const ENDING_TOKENS: u64 = 6_000;

/// What a run has spent.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Spent {
    /// Calls of tools.
    pub tool_calls: u32,
    /// Questions to models.
    pub model_calls: u32,
    /// Tokens sent, as far as models said.
    pub input_tokens: u64,
    /// Tokens received, as far as models said.
    pub output_tokens: u64,
    /// Tokens of questions that broke off, sent and received: the provider may want to be paid for them. Counted by it, or
    /// roughly by us.
    #[serde(default)]
    pub wasted_tokens: u64,
    /// What models cost, as far as they have prices, in the unit of the prices.
    #[serde(default, skip_serializing_if = "Money::is_zero")]
    pub cost: Money,
    /// The part of it that nobody knows: questions that broke off, or whose provider did not say what they used, count at
    /// the most they could cost.
    #[serde(default, skip_serializing_if = "Money::is_zero")]
    pub estimated_cost: Money,
    /// Set aside for questions that are under way, and for the end.
    #[serde(default, skip_serializing_if = "Money::is_zero")]
    pub reserved_cost: Money,
    /// Questions to models that have no price.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unpriced_calls: u32,
    /// Time in which the run was not waiting for a person, up to the last event.
    pub active_ms: u64,
}

/// What ran out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum Exhausted {
    /// Calls of tools.
    #[error("the limit of {} is reached", counted(*.0, "tool call"))]
    ToolCalls(u32),
    /// Questions to models.
    #[error("the limit of {} is reached", counted(*.0, "model call"))]
    ModelCalls(u32),
    /// Money.
    #[error(
        "the limit of {limit} for models is reached: the next question may cost {most}, and {left} is left for it, apart from what the end needs"
    )]
    Money {
        /// The limit.
        limit: Money,
        /// What is left, without what is kept for the end.
        left: Money,
        /// What the question may cost.
        most: Money,
    },
    /// A model that must not be asked under a limit of money.
    #[error("there is a limit of money, and model `{0}` has no price")]
    Unpriced(String),
    /// Time.
    #[error("the limit of {} of active time is reached", human_duration(*.0))]
    Time(u64),
}

/// `1 tool call`, `2 tool calls`.
fn counted(number: u32, thing: &str) -> String {
    if number == 1 { format!("1 {thing}") } else { format!("{number} {thing}s") }
}

impl Spent {
    /// Counts the tokens of an answer.
    pub(crate) fn add_tokens(&mut self, usage: &Usage) {
        self.input_tokens += usage.input_tokens;
        self.output_tokens += usage.output_tokens;
    }

    /// Pays for a call.
    pub(crate) fn take_tool_call(&mut self, limits: &Limits) -> Result<(), Exhausted> {
        if self.tool_calls >= limits.tool_calls {
            return Err(Exhausted::ToolCalls(limits.tool_calls));
        }
        self.tool_calls += 1;
        Ok(())
    }

    /// A call that was paid for and not made.
    pub(crate) fn give_back_tool_call(&mut self) {
        self.tool_calls = self.tool_calls.saturating_sub(1);
    }

    /// A question that was paid for and not asked.
    pub(crate) fn give_back_model_call(&mut self) {
        self.model_calls = self.model_calls.saturating_sub(1);
    }

    /// Pays for a question to that target. One is kept for the answer, if a model is to write it, and the money for it.
    pub(crate) fn take_model_call(
        &mut self,
        policy: &Policy,
        purpose: Purpose,
        target: Option<&TargetName>,
        quote: Quote,
    ) -> Result<(), Exhausted> {
        let keeps = policy.synthesis == Synthesis::Model && purpose != Purpose::Synthesis;
        let limit = policy.limits.model_calls;
        if self.model_calls.saturating_add(u32::from(keeps)) >= limit {
            return Err(Exhausted::ModelCalls(limit));
        }
        let ending = Usage::reported(ENDING_TOKENS, u64::from(policy.asking.answer.max_tokens));
        let kept = if keeps { Quote::of_usage(policy, target, &ending).most() } else { Money::default() };
        self.can_pay(policy, quote, kept, target.map_or("", TargetName::as_str))?;
        self.model_calls += 1;
        self.reserve(quote);
        Ok(())
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}
