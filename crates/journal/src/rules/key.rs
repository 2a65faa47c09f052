//! Rules for business keys: who may do a deed, and when it is done.
//!
//! A key counts among the runs of one owner. What others do with the same key is neither seen nor changed by them.

use reknit_protocol::RunId;

use super::{RuleResult, check_lease, fenced};
use crate::blob::digest;
use crate::error::storage::StoreResult;
use crate::tables::{RunRow, WriteTables};
use crate::{EffectClaim, FenceError, KeyChange, KeyClaim, KeyedClaim, Lease, RunSummary, StoredKey};

/// Who may do the deed of a key.
#[derive(Debug, PartialEq, Eq)]
enum Decision {
    Caller,
    /// Nobody: it is done.
    Done,
    /// Nobody for now: the outcome of another call is unknown.
    Wait,
}

/// Decides who may do the deed of a key at `now_ms`. `stored` is what the journal has about the key.
fn decide(stored: Option<&StoredKey>, run: &RunId, step: &str, now_ms: i64) -> Decision {
    match stored {
        None => Decision::Caller,
        Some(key) if key.until_ms() <= now_ms => Decision::Caller,
        Some(StoredKey { receipt: Some(_), .. }) => Decision::Done,
        Some(key) if is_of(key, run, step) => Decision::Caller,
        Some(_) => Decision::Wait,
    }
}

fn is_of(key: &StoredKey, run: &RunId, step: &str) -> bool {
    key.run == *run && key.claim.step == step
}

/// The key under which the journal has the deed of an owner.
fn owned_key(owner: Option<&str>, key: &str) -> String {
    owner.map_or_else(|| key.to_owned(), |owner| digest(&format!("{}:{owner}{key}", owner.len())))
}

/// The claim as it is stored, and what the journal has about its key. Version 0.1.0 stored keys without their owner: such a key counts
/// for the owner of its run.
fn find(tables: &dyn WriteTables, owner: Option<&str>, claim: &KeyClaim) -> StoreResult<(KeyClaim, Option<StoredKey>)> {
    let mut keyed = claim.clone();
    keyed.key = owned_key(owner, &claim.key);
    let stored = tables.business_key(&keyed.key)?;
    if stored.is_none()
        && owner.is_some()
        && let Some(older) = tables.business_key(&claim.key)?
        && tables.run(&older.run)?.is_some_and(|row| row.summary.owner.as_deref() == owner)
    {
        return Ok((claim.clone(), Some(older)));
    }
    Ok((keyed, stored))
}

/// Claims an effect and its business key, or neither.
pub(crate) fn claim_with_key(
    tables: &mut dyn WriteTables,
    lease: &Lease,
    claim: &EffectClaim,
) -> RuleResult<KeyedClaim, FenceError> {
    match check_lease(tables, lease)? {
        Err(by) => Ok(Err(fenced(&lease.run, by))),
        Ok(row) => Ok(Ok(claim_effect(tables, lease, &row, claim)?)),
    }
}

/// The same for a run whose current lease is `lease`.
pub(super) fn claim_effect(
    tables: &mut dyn WriteTables,
    lease: &Lease,
    row: &RunRow,
    claim: &EffectClaim,
) -> StoreResult<KeyedClaim> {
    let EffectClaim { effect, key, now_ms } = claim;
    let add = |tables: &mut dyn WriteTables| tables.add_claim(row.key, row.summary.len, effect, lease.info.epoch);
    let Some(claim) = key else { return Ok(KeyedClaim::Claimed(add(tables)?)) };
    let (claim, stored) = find(tables, row.summary.owner.as_deref(), claim)?;
    let decision = decide(stored.as_ref(), &lease.run, &claim.step, *now_ms);
    match (decision, stored) {
        (Decision::Done, Some(key)) => Ok(KeyedClaim::Done(key)),
        (Decision::Wait, Some(by)) => {
            let has_ended = tables.run(&by.run)?.is_none_or(|row| row.summary.status.is_some());
            Ok(KeyedClaim::Held { by, has_ended })
        }
        (Decision::Caller | Decision::Done | Decision::Wait, _) => {
            let outcome = add(tables)?;
            let key = StoredKey { claim, run: lease.run.clone(), since_ms: *now_ms, receipt: None };
            tables.set_business_key(&key)?;
            Ok(KeyedClaim::Claimed(outcome))
        }
    }
}

/// Stores what became of the deed of a call. A key that meanwhile belongs to another call, or has a receipt, is left alone.
pub(super) fn change(
    tables: &mut dyn WriteTables,
    run: &RunSummary,
    change: &KeyChange,
    at_ms: i64,
) -> StoreResult<()> {
    let KeyChange { claim, receipt } = change;
    let (claim, stored) = find(tables, run.owner.as_deref(), claim)?;
    if stored.is_some_and(|key| !is_of(&key, &run.run, &claim.step) || key.receipt.is_some()) {
        return Ok(());
    }
    match receipt {
        None => _ = tables.remove_business_key(&claim.key)?,
        // A key that a person has removed is stored again: the deed is done.
        Some(_) => tables.set_business_key(&StoredKey {
            claim,
            run: run.run.clone(),
            since_ms: at_ms,
            receipt: receipt.clone(),
        })?,
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored(run: &str, step: &str, receipt: Option<&str>) -> StoredKey {
        let [key, capability, values, step] = ["k", "shop/refund", "{}", step].map(str::to_owned);
        let claim = KeyClaim { key, capability, values, window_ms: 100, step };
        StoredKey { claim, run: run.into(), since_ms: 1_000, receipt: receipt.map(str::to_owned) }
    }

    #[test]
    fn a_free_key_belongs_to_the_caller() {
        assert_eq!(decide(None, &"r".into(), "s", 0), Decision::Caller);
    }

    #[test]
    fn a_pending_key_belongs_to_its_step_alone_until_its_window_ends() {
        let pending = stored("r", "s", None);
        for (run, step, now_ms, expected) in [
            ("r", "s", 1_000, Decision::Caller),
            ("r", "s", 1_099, Decision::Caller),
            ("r", "other", 1_000, Decision::Wait),
            ("other", "s", 1_000, Decision::Wait),
            ("other", "s", 1_099, Decision::Wait),
            ("other", "s", 1_100, Decision::Caller),
            // The clock of another process may be behind.
            ("other", "s", 0, Decision::Wait),
        ] {
            assert_eq!(decide(Some(&pending), &run.into(), step, now_ms), expected, "{run} {step} {now_ms}");
        }
    }

    #[test]
    fn a_receipt_is_for_everybody_until_its_window_ends() {
        let done = stored("r", "s", Some("7"));
        for (run, step) in [("r", "s"), ("r", "other"), ("other", "s")] {
            assert_eq!(decide(Some(&done), &run.into(), step, 1_099), Decision::Done, "{run} {step}");
            assert_eq!(decide(Some(&done), &run.into(), step, 1_100), Decision::Caller, "{run} {step}");
        }
    }
}
