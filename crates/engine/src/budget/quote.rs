//! The maximum cost of a model call before it is made, and the actual cost afterwards.

use reknit_model_api::{ModelRequest, Money, Prices, TargetName, Usage, UsageSource};
use serde::{Deserialize, Serialize};

use super::{Exhausted, Spent};
use crate::policy::Policy;

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
