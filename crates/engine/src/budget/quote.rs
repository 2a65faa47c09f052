//! What a question could cost, and what it did cost.

use reknit_dialogue::{Money, Prices, Request, TargetName, Usage, UsageSource};
use serde::{Deserialize, Serialize};

use super::{Exhausted, Spent};
use crate::policy::Policy;

/// What a question could cost at the target that is asked. It is set aside while the question is under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Quote {
    /// None if the target has no price.
    prices: Option<Prices>,
    most: Money,
}

/// What is known about the cost of a question that is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bill<'a> {
    /// The provider did no work for it.
    Nothing,
    /// It used this.
    Used(&'a Usage),
    /// It was sent, and nobody knows how far it came.
    Unknown,
}

impl<'a> Bill<'a> {
    /// The bill of a failure: without a usage no work was done for it. What is reported of an answer that broke off was
    /// counted before it did, and more may have been written since.
    pub(crate) fn of_failure(usage: Option<&'a Usage>) -> Self {
        if usage.is_some() { Self::Unknown } else { Self::Nothing }
    }
}

impl Quote {
    /// What this request could cost there.
    pub(crate) fn new(policy: &Policy, target: Option<&TargetName>, request: &Request) -> Self {
        let prices = target.and_then(|target| policy.prices.get(target)).copied();
        Self { prices, most: prices.map(|prices| prices.most(request)).unwrap_or_default() }
    }

    /// What this usage would cost there.
    pub(crate) fn of_usage(policy: &Policy, target: Option<&TargetName>, usage: &Usage) -> Self {
        let prices = target.and_then(|target| policy.prices.get(target)).copied();
        Self { prices, most: prices.map(|prices| prices.cost(usage)).unwrap_or_default() }
    }

    /// Both together, at the same target.
    pub(crate) fn plus(self, other: Self) -> Self {
        Self { most: self.most.plus(other.most), ..self }
    }

    /// The most it could cost.
    pub(crate) fn most(&self) -> Money {
        self.most
    }
}

impl Spent {
    /// Whether a question and what is kept behind it can be paid for under the limit.
    pub(crate) fn can_pay(&self, policy: &Policy, quote: Quote, kept: Money, target: &str) -> Result<(), Exhausted> {
        let Some(limit) = policy.limits.money else { return Ok(()) };
        if quote.prices.is_none() {
            return Err(Exhausted::Unpriced(target.to_owned()));
        }
        let left = self.left_of(limit).minus(kept);
        if quote.most > left {
            return Err(Exhausted::Money { limit, left, most: quote.most });
        }
        Ok(())
    }

    /// What is left of a limit of money.
    pub(crate) fn left_of(&self, limit: Money) -> Money {
        limit.minus(self.cost).minus(self.reserved_cost)
    }

    /// Sets money aside.
    pub(crate) fn reserve(&mut self, quote: Quote) {
        self.reserved_cost = self.reserved_cost.plus(quote.most);
    }

    /// Frees what was set aside.
    pub(crate) fn release(&mut self, quote: Quote) {
        self.reserved_cost = self.reserved_cost.minus(quote.most);
    }

    /// A question is over: what was set aside for it becomes what it cost. What nobody knows costs all of it.
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
                self.cost = self.cost.plus(quote.most);
                self.estimated_cost = self.estimated_cost.plus(quote.most);
            }
        }
    }
}
