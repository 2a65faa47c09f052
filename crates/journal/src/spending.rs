//! What callers spend in a month, and what is reserved for the calls and runs in progress.

/// What an account has spent in a month. Amounts have no unit here; the caller chooses one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Spending {
    /// The cost of what is over.
    pub spent: u64,
    /// The most that calls and runs in progress may cost. What a process that was killed had reserved for a call stays reserved:
    /// nobody knows what the call has cost.
    pub reserved: u64,
}

impl Spending {
    /// What a monthly limit leaves.
    pub fn left_of(&self, limit: u64) -> u64 {
        limit.saturating_sub(self.spent).saturating_sub(self.reserved)
    }
}

/// An amount to reserve, within the limit of a month.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reservation {
    /// Who pays.
    pub account: String,
    /// The month: `2026-11`.
    pub month: String,
    /// The amount. Nothing can be reserved with an amount of 0.
    pub amount: u64,
    /// The most that the account may spend in this month.
    pub limit: u64,
}

/// The limit of the month does not cover an amount. Nothing was written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the budget of `{}` for {} does not cover it", .account, .month)]
pub struct OverBudget {
    pub account: String,
    pub month: String,
    pub limit: u64,
    pub left: u64,
}

/// What is reserved for a run, and what of its cost is counted already.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RunSpending {
    pub(crate) account: String,
    pub(crate) month: String,
    pub(crate) reserved: u64,
    pub(crate) counted: u64,
}
