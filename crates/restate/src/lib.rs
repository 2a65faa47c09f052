//! Runs on many machines, on [Restate](https://restate.dev), a durable engine that runs as a server of its own.
//!
//! ```text
//!   reknit serve --begin, signal, events--> Restate --one event--> object of the run (any worker): applies it, stores it
//!                                              |                          |
//!                                              '------ one effect <-------'
//!                                              v
//!                                   effect service (any worker): claims, calls, sends the outcome to the object
//! ```
//!
//! The machine of a run lives in a virtual object, whose key is the id of the run. Each invocation applies one event and is over, so a
//! run that waits holds nothing in a worker, and a new build takes over between two events. Waits are delayed messages, and so is the
//! end of a grace period. `docs/scale.md` says how claims, blobs and upgrades work.
//!
//! Where to go next: [`RestateClient`] begins and follows runs, [`Worker`] advances them, [`BlobStore`] keeps large values. In the code,
//! `advance.rs` has the decisions and `kept_run.rs` what is stored.

mod advance;
mod blobs;
mod client;
mod effect_service;
mod inline_calls;
mod kept_run;
mod messages;
mod run_object;
#[cfg(test)]
mod test_runs;
mod worker;
mod worker_parts;

pub use blobs::{BlobStore, FileBlobs};
pub use client::{RestateAddressError, RestateClient};
pub use worker::{IdentityKeyError, Worker};
