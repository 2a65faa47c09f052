//! The budget of a run: limits and spending. A call is charged when it becomes due, so parallel steps cannot exceed a
//! limit.

use reknit_model_api::{ModelRequest, Money, Prices, Purpose, TargetName, Usage, UsageSource};
use reknit_protocol::human_duration;
use serde::{Deserialize, Serialize};

use crate::policy::{Policy, Synthesis};
use crate::stored::is_default;

/// The assumed length of the prompt for the final answer: its results are not known yet. If the prompt turns out longer
/// and exceeds the budget, code writes the answer.
const ANSWER_PROMPT_TOKENS: u64 = 6_000;

/// What a run has spent.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Spent {
    pub tool_calls: u32,
    pub model_calls: u32,
    /// Input tokens, as far as providers reported them.
    pub input_tokens: u64,
    /// Output tokens, as far as providers reported them.
    pub output_tokens: u64,
    /// Input and output tokens of model calls without a usable answer: reported or estimated. In a session, whose answers are judged, they
    /// are part of the other counts, too.
    #[serde(default)]
    pub wasted_tokens: u64,
    /// The cost of model calls with a price, in the currency of the prices.
    #[serde(default, skip_serializing_if = "Money::is_zero")]
    pub cost: Money,
    /// The estimated part of the cost: a call that was interrupted or has no reported usage counts with its maximum
    /// cost.
    #[serde(default, skip_serializing_if = "Money::is_zero")]
    pub estimated_cost: Money,
    /// Reserved for model calls in progress and for the final answer.
    #[serde(default, skip_serializing_if = "Money::is_zero")]
    pub reserved_cost: Money,
    #[serde(default, skip_serializing_if = "is_default")]
    pub unpriced_calls: u32,
    /// Time in which the run did not only wait for people and jobs, up to the last event.
    pub active_ms: u64,
}

/// The limit that was reached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum Exhausted {
    #[error("the limit of {} is reached", count_of(*.0, "tool call"))]
    ToolCalls(u32),
    #[error("the limit of {} is reached", count_of(*.0, "model call"))]
    ModelCalls(u32),
    /// The cost of model calls.
    #[error(
        "the cost limit of {limit} is reached: the next model call may cost {most}, and {left} is left after reserving for the final answer"
    )]
    Money {
        limit: Money,
        /// The rest of the budget, after the reservation for the final answer.
        left: Money,
        /// The maximum cost of the next call.
        most: Money,
    },
    /// The model has no price, so a cost limit cannot be enforced.
    #[error("model `{0}` has no price, so it cannot be used under a cost limit")]
    Unpriced(String),
    /// Active time, in milliseconds.
    #[error("the limit of {} of active time is reached", human_duration(*.0))]
    Time(u64),
}

/// `1 tool call` or `2 tool calls`.
fn count_of(count: u32, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

impl Spent {
    /// Adds what was spent at another time.
    pub(crate) fn add(&mut self, other: &Self) {
        *self = self.combined(other, u32::saturating_add, u64::saturating_add, Money::plus);
    }

    /// What was spent since `before`.
    #[must_use]
    pub(crate) fn since(&self, before: &Self) -> Self {
        self.combined(before, u32::saturating_sub, u64::saturating_sub, Money::minus)
    }

    fn combined(
        &self,
        other: &Self,
        counts: fn(u32, u32) -> u32,
        amounts: fn(u64, u64) -> u64,
        costs: fn(Money, Money) -> Money,
    ) -> Self {
        Self {
            tool_calls: counts(self.tool_calls, other.tool_calls),
            model_calls: counts(self.model_calls, other.model_calls),
            input_tokens: amounts(self.input_tokens, other.input_tokens),
            output_tokens: amounts(self.output_tokens, other.output_tokens),
            wasted_tokens: amounts(self.wasted_tokens, other.wasted_tokens),
            cost: costs(self.cost, other.cost),
            estimated_cost: costs(self.estimated_cost, other.estimated_cost),
            reserved_cost: costs(self.reserved_cost, other.reserved_cost),
            unpriced_calls: counts(self.unpriced_calls, other.unpriced_calls),
            active_ms: amounts(self.active_ms, other.active_ms),
        }
    }

    /// Adds the tokens of an answer.
    pub(crate) fn add_tokens(&mut self, usage: &Usage) {
        self.input_tokens = self.input_tokens.saturating_add(usage.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(usage.output_tokens);
    }

    pub(crate) fn charge_tool_call(&mut self, limit: u32) -> Result<(), Exhausted> {
        if self.tool_calls >= limit {
            return Err(Exhausted::ToolCalls(limit));
        }
        self.tool_calls += 1;
        Ok(())
    }

    /// Refunds a tool call that was not made.
    pub(crate) fn refund_tool_call(&mut self) {
        self.tool_calls = self.tool_calls.saturating_sub(1);
    }

    /// Refunds a model call that was not made.
    pub(crate) fn refund_model_call(&mut self) {
        self.model_calls = self.model_calls.saturating_sub(1);
    }

    /// Charges a model call, and reserves its cost. One call and its cost stay reserved for the answer if a model
    /// writes it.
    pub(crate) fn charge_model_call(
        &mut self,
        policy: &Policy,
        purpose: Purpose,
        target: Option<&TargetName>,
        quote: Quote,
    ) -> Result<(), Exhausted> {
        let reserves_answer = policy.synthesis == Synthesis::Model && purpose != Purpose::Synthesis;
        let limit = policy.limits.model_calls;
        if self.model_calls.saturating_add(u32::from(reserves_answer)) >= limit {
            return Err(Exhausted::ModelCalls(limit));
        }
        let answer = Usage::reported(ANSWER_PROMPT_TOKENS, u64::from(policy.asking.answer.max_tokens));
        let reserved =
            if reserves_answer { Quote::of_usage(policy, target, &answer).max_cost } else { Money::default() };
        self.can_pay(policy, quote, reserved, target.map_or("", TargetName::as_str))?;
        self.model_calls += 1;
        self.reserve(quote);
        Ok(())
    }
}

/// The maximum cost of a model call. It is reserved while the call is in progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Quote {
    /// `None` if the target has no price.
    prices: Option<Prices>,
    pub(crate) max_cost: Money,
}

/// The usage of a model call that is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bill<'a> {
    /// The provider did no work.
    Nothing,
    /// The provider reported this usage, or it was estimated.
    Used(&'a Usage),
    /// The call was sent, and its usage is unknown.
    Unknown,
}

impl<'a> Bill<'a> {
    /// The usage of a failed call: the provider did no work if none was reported. The usage of an interrupted answer is
    /// unknown, because it was reported before the interruption.
    pub(crate) fn of_failure(usage: Option<&'a Usage>) -> Self {
        if usage.is_some() { Self::Unknown } else { Self::Nothing }
    }
}

impl Quote {
    /// The maximum cost of a request.
    pub(crate) fn new(policy: &Policy, target: Option<&TargetName>, request: &ModelRequest) -> Self {
        let prices = target.and_then(|target| policy.prices.get(target)).copied();
        Self { prices, max_cost: prices.map(|prices| prices.max_cost(request)).unwrap_or_default() }
    }

    /// The cost of a usage.
    pub(crate) fn of_usage(policy: &Policy, target: Option<&TargetName>, usage: &Usage) -> Self {
        let prices = target.and_then(|target| policy.prices.get(target)).copied();
        Self { prices, max_cost: prices.map(|prices| prices.cost(usage)).unwrap_or_default() }
    }

    /// The sum of two quotes for the same target.
    pub(crate) fn plus(self, other: Self) -> Self {
        Self { max_cost: self.max_cost.plus(other.max_cost), ..self }
    }
}

impl Spent {
    /// Whether the cost limit covers a call besides the amount that is reserved.
    pub(crate) fn can_pay(
        &self,
        policy: &Policy,
        quote: Quote,
        reserved: Money,
        target: &str,
    ) -> Result<(), Exhausted> {
        let Some(limit) = policy.limits.cost() else { return Ok(()) };
        if quote.prices.is_none() {
            return Err(Exhausted::Unpriced(target.to_owned()));
        }
        let left = self.left_of(limit).minus(reserved);
        if quote.max_cost > left {
            return Err(Exhausted::Money { limit, left, most: quote.max_cost });
        }
        Ok(())
    }

    /// The rest of a cost limit.
    pub(crate) fn left_of(&self, limit: Money) -> Money {
        limit.minus(self.cost).minus(self.reserved_cost)
    }

    /// Reserves the cost of a call.
    pub(crate) fn reserve(&mut self, quote: Quote) {
        self.reserved_cost = self.reserved_cost.plus(quote.max_cost);
    }

    /// Releases a reservation.
    pub(crate) fn release(&mut self, quote: Quote) {
        self.reserved_cost = self.reserved_cost.minus(quote.max_cost);
    }

    /// Replaces a reservation by the actual cost. A call with unknown usage costs all of it.
    pub(crate) fn settle(&mut self, quote: Quote, bill: Bill<'_>) {
        self.release(quote);
        let known = match bill {
            Bill::Nothing => return,
            Bill::Used(usage) if usage.source == UsageSource::Reported => quote.prices.map(|prices| prices.cost(usage)),
            Bill::Used(_) | Bill::Unknown => None,
        };
        match (quote.prices, known) {
            (None, _) => self.unpriced_calls += 1,
            (Some(_), Some(cost)) => self.cost = self.cost.plus(cost),
            (Some(_), None) => {
                self.cost = self.cost.plus(quote.max_cost);
                self.estimated_cost = self.estimated_cost.plus(quote.max_cost);
            }
        }
    }
}
