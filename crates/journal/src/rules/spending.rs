//! Rules for what an account may spend in a month.

use super::RuleResult;
use crate::error::storage::StoreResult;
use crate::spending::RunSpending;
use crate::tables::{RunKey, WriteTables};
use crate::{OverBudget, Reopening, Reservation, Spending};

/// Reserves an amount for a call that belongs to no run.
pub(crate) fn reserve(tables: &mut dyn WriteTables, new: &Reservation) -> RuleResult<(), OverBudget> {
    let spending = match check(tables, new)? {
        Err(refused) => return Ok(Err(refused)),
        Ok(spending) => spending,
    };
    let spending = Spending { reserved: spending.reserved.saturating_add(new.amount), ..spending };
    Ok(Ok(tables.set_spending(&new.account, &new.month, spending)?))
}

/// Replaces a reserved amount by the actual cost of the call.
pub(crate) fn settle(tables: &mut dyn WriteTables, reserved: &Reservation, cost: u64) -> StoreResult<()> {
    change(tables, (&reserved.account, &reserved.month), reserved.amount, cost)
}

/// Reserves an amount for a run that has cost `cost_so_far`.
pub(super) fn reserve_for_run(
    tables: &mut dyn WriteTables,
    key: RunKey,
    new: &Reservation,
    cost_so_far: u64,
) -> RuleResult<(), OverBudget> {
    let reserved = reserve(tables, new)?;
    if reserved.is_ok() {
        let (account, month) = (new.account.clone(), new.month.clone());
        let run = RunSpending { account, month, reserved: new.amount, counted: cost_so_far };
        tables.set_run_spending(key, Some(&run))?;
    }
    Ok(reserved)
}

/// Reserves what a run that goes on after its end may cost. Without a reservation nobody pays for the rest of it.
pub(super) fn change_payer(
    tables: &mut dyn WriteTables,
    key: RunKey,
    reopening: &Reopening,
) -> RuleResult<(), OverBudget> {
    match &reopening.reservation {
        Some(new) => reserve_for_run(tables, key, new, reopening.cost_so_far),
        None => Ok(Ok(tables.set_run_spending(key, None)?)),
    }
}

/// Replaces what is reserved for a run by what it has cost since the last time; by all of it if `cost` is not known. Does nothing
/// for a run that nobody pays for.
pub(crate) fn settle_run(tables: &mut dyn WriteTables, key: RunKey, cost: Option<u64>) -> StoreResult<()> {
    let Some(run) = tables.run_spending(key)? else { return Ok(()) };
    let new = cost.map_or(run.reserved, |cost| cost.saturating_sub(run.counted));
    change(tables, (&run.account, &run.month), run.reserved, new)?;
    let settled = RunSpending { reserved: 0, counted: run.counted.saturating_add(new), ..run };
    tables.set_run_spending(key, Some(&settled))
}

/// Whether an amount can be reserved.
pub(super) fn check(tables: &dyn WriteTables, new: &Reservation) -> RuleResult<Spending, OverBudget> {
    let spending = tables.spending(&new.account, &new.month)?;
    let left = spending.left_of(new.limit);
    if new.amount == 0 || new.amount > left {
        let (account, month) = (new.account.clone(), new.month.clone());
        return Ok(Err(OverBudget { account, month, limit: new.limit, left }));
    }
    Ok(Ok(spending))
}

fn change(tables: &mut dyn WriteTables, (account, month): (&str, &str), released: u64, cost: u64) -> StoreResult<()> {
    let Spending { spent, reserved } = tables.spending(account, month)?;
    let spending = Spending { spent: spent.saturating_add(cost), reserved: reserved.saturating_sub(released) };
    tables.set_spending(account, month, spending)
}
