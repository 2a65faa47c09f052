//! Business keys between the machine and the journal: claims, what the journal knows, and what the machine decided.

use reknit_engine::{EventKind, KeyHolder, KeySettlement, KnownReceipt, Record, RecordKind, RunRecord};
use reknit_journal::{KeyChange, KeyClaim, StoredKey};
use reknit_protocol::{BusinessKey, CallTool, Delivery, EffectId, TransportFailure, TransportKind, Value};

/// The claim of a call with a business key. `id` is the id of the call for the driver, with its scope.
pub(crate) fn key_claim(call: &CallTool, key: &BusinessKey, id: &EffectId) -> KeyClaim {
    KeyClaim {
        key: key.id.clone(),
        capability: format!("{}/{}", call.tool, call.capability),
        values: key.values.to_string(),
        window_ms: key.window_ms,
        step: id.owner_text(),
    }
}

/// What the machine decided about the keys of calls at one event.
pub(crate) fn key_changes(records: &[Record]) -> impl Iterator<Item = KeyChange> + '_ {
    records.iter().filter_map(|record| {
        let RecordKind::Run(RunRecord::KeySettled { call, settlement }) = &record.kind else { return None };
        let id = call.id.clone().nested_in(&record.scope);
        let claim = key_claim(call, call.business_key.as_ref()?, &id);
        let receipt = match settlement {
            KeySettlement::Done(result) => Some(result.to_string()),
            KeySettlement::Released => None,
        };
        Some(KeyChange { claim, receipt })
    })
}

/// Another call has done the deed of this one.
pub(crate) fn receipt_known(call: &CallTool, done: StoredKey) -> EventKind {
    let effect = call.id.clone();
    match done.receipt.as_deref().map(Value::parse) {
        Some(Ok(result)) => {
            let receipt = KnownReceipt { run: done.run, step: done.claim.step, at_ms: done.since_ms, result };
            EventKind::ReceiptKnown { effect, receipt }
        }
        // Never sent: the deed is done.
        unreadable => {
            let problem = unreadable.and_then(Result::err).map_or_else(String::new, |error| format!(": {error}"));
            let message = format!("the receipt of business key `{}` cannot be read{problem}", done.claim.key);
            let failure = TransportFailure { kind: TransportKind::NotCallable, delivery: Delivery::NotSent, message };
            EventKind::ToolFailed { effect, failure }
        }
    }
}

/// The outcome of another call with the same key is not known. `ahead_ms` is how far the clock of the run is ahead.
pub(crate) fn key_held(call: &CallTool, by: StoredKey, has_ended: bool, ahead_ms: i64) -> EventKind {
    let until_ms = by.until_ms().saturating_add(ahead_ms);
    let StoredKey { claim, run, since_ms, .. } = by;
    let holder = KeyHolder { key: claim.key, run, step: claim.step, since_ms, until_ms, has_ended };
    EventKind::KeyHeld { effect: call.id.clone(), holder }
}
