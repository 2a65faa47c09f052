//! Durable log of runs: append-only events, claims, business keys, leases, inboxes, blobs and snapshots, in `SQLite` or
//! in memory.
//!
//! ```text
//!  driver --create, append, claim--> writer thread --group commit--> file <--concurrent reads-- runs list
//!                                                                     ^
//!                   another process --send: cancel, decision----------+---> Mailbox --> driver
//! ```
//!
//! The journal does not know the engine: an event is text that it returns byte for byte, with a few columns beside it.
//! It guarantees order and safety: a write is committed before its method returns; a run has one driver at a time, by a
//! lease whose epoch is a fencing token; an append names the length that it expects the run to have; an effect can be
//! claimed once, forever, and a business key by one call at a time. Values over 32 KiB are stored once and shared between events.
//!
//! ```
//! use reknit_journal::{Append, DueEffect, Holder, Journal, LeaseTerm, NewEvent, NewRun};
//!
//! # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
//! let journal = Journal::in_memory();
//! let (holder, term) = (Holder::this_process(), LeaseTerm { now_ms: 0, ttl_ms: 30_000 });
//!
//! let first = NewEvent::new(0, "started", r#"{"request":"weather in Seoul"}"#).with_due([DueEffect::new("plan/0", "5f2a")]);
//! let run = NewRun::new("r-1", "weather in Seoul", "5f2a", first);
//! let lease = journal.create(run, &holder, term).await?;
//!
//! let answered = NewEvent::new(900, "model_answered", r#"{"text":"it rains"}"#);
//! let len = journal.append(&lease, Append::at(1).event(answered).ending("complete", 900)).await?;
//! assert_eq!(len, 2);
//! assert_eq!(journal.events(lease.run(), 1).await?[0].body, r#"{"text":"it rains"}"#);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Where to go next: [`Journal`] has all operations, [`Append`] is the content of one transaction, [`Lease`] and
//! [`Holder`] decide which process may drive a run, [`Mailbox`] delivers signals to a driver, [`Durability`] says what a
//! commit survives.

#![cfg_attr(not(feature = "sqlite"), expect(dead_code, reason = "a part is only for journals in files"))]

mod blob;
mod checked_events;
mod claim;
mod error;
mod event;
mod file_options;
mod holder;
mod journal;
mod lease;
mod mailboxes;
mod memory;
mod platform;
mod retention;
mod rules;
mod run;
mod signal;
mod simulated;
mod spending;
#[cfg(feature = "sqlite")]
mod sqlite;
mod stored_mapping;
mod tables;
#[doc(hidden)]
pub mod test_support;

pub use claim::{ClaimOutcome, EffectClaim, KeyChange, KeyClaim, KeyedClaim, StoredKey};
pub use error::{
    AppendError, CreateError, Damage, DeleteError, FenceError, LeaseError, OpenError, ReserveError, RunReadError,
    SendError, SqliteError, StorageError,
};
pub use event::{DueEffect, EventsOfKind, NewEvent, Snapshot, StoredEvent};
pub use file_options::{BUSY_TIMEOUT, Durability, MAX_LOCK_WAIT, Migration};
pub use holder::Holder;
pub use journal::{Journal, Mailbox};
pub use lease::{Lease, LeaseTerm};
pub use platform::Liveness;
pub use retention::{PrunePreview, Pruned, PrunedRun, Retention, StoreSize};
pub use rules::Deletion;
pub use run::{Append, Appended, LeaseInfo, NewRun, Reopening, RunEnding, RunFilter, RunSummary, StatusFilter};
pub use signal::{EarlierSignal, InboxMessage, RunSignal, SignalId};
pub use spending::{OverBudget, Reservation, Spending};
pub use stored_mapping::{LearnedMapping, StoredMapping};
