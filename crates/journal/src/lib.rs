//! What happened in each run, written down before anything is done about it: append-only events, claims, leases, inboxes.
//!
//! ```text
//!  driver --create, append, claim--> writer --one commit for all that wait--> file <--reads beside it-- runs list
//!                                                                              ^
//!                             another process --send: cancel, decision---------+---> Mailbox --> driver
//! ```
//!
//! The journal does not know the engine: an event is text that it gives back byte for byte, with a little beside it. What
//! it promises is order and safety. What was answered is committed; a run has one driver at a time, by a lease whose epoch
//! fences off earlier ones; an append says which length it expects; an effect is claimed once and forever; values over
//! 32 KiB are kept apart and shared.
//!
//! ```
//! use reknit_journal::{Append, Due, Holder, Journal, NewEvent, NewRun, Term};
//!
//! # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
//! let journal = Journal::in_memory();
//! let (holder, term) = (Holder::this_process(), Term { now_ms: 0, ttl_ms: 30_000 });
//!
//! let first = NewEvent::new(0, "started", r#"{"request":"weather in Seoul"}"#).with_due([Due::new("plan/0", "5f2a")]);
//! let run = NewRun { run: "r-1".into(), title: "weather in Seoul".to_owned(), first };
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
//! Where to go next: [`Journal`] has everything that can be done, [`Append`] what one transaction may hold, [`Lease`] and
//! [`Holder`] who may drive, [`Mailbox`] how a driver hears from others, [`Durability`] what a commit survives.

mod blob;
mod claim;
mod durability;
mod error;
mod event;
mod holder;
mod journal;
mod lease;
mod lesson;
mod mailbox;
mod memory;
mod rules;
mod run;
mod signal;
mod snapshot;
mod sqlite;
mod tables;

pub use claim::Claim;
pub use durability::Durability;
pub use error::{
    AppendError, CreateError, Damage, FenceError, LeaseError, OpenError, ReadError, SendError, SqliteError,
    StorageError,
};
pub use event::{Due, NewEvent, Record};
pub use holder::{Holder, Liveness};
pub use journal::Journal;
pub use lease::{Lease, Term};
pub use lesson::Lesson;
pub use mailbox::Mailbox;
pub use run::{Append, Ending, Held, NewRun, RunFilter, RunSummary, Which};
pub use signal::{Letter, Signal, SignalId};
pub use snapshot::Snapshot;
pub use sqlite::BUSY;
