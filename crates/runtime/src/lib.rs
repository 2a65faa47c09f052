//! Drives a run: does what the machine wants, writes down what came of it, and asks again what it wants.
//!
//! ```text
//!            pending()                       apply(event)
//!   Run  ------------->  effects -> outcome ------------->  Run
//!                           ^                  |
//!                           '--- journal <-----'      commit, then act
//! ```
//!
//! Where to go next: [`Reknit`] puts everything together, [`Driver`] drives runs in one process, [`Segments`] is a second
//! driver that keeps nothing in memory, [`Network`] is where effects leave, [`Clock`] where time comes from, [`telemetry`]
//! who is told. [`Asker`] asks models without a run.

pub mod agent;
mod asker;
mod assembly;
mod beginning;
mod clock;
pub mod config;
mod driver;
mod edge;
mod error;
mod gates;
mod lessons;
mod perform;
mod record;
mod segments;
pub mod signals;
pub mod telemetry;
mod tokens;

pub use asker::{Asked, Asker, FailedAttempt, Piece, Stream, Unanswered};
pub use assembly::{Reknit, StartError};
pub use beginning::Beginning;
pub use clock::{BoxFuture, Clock, SystemClock};
pub use driver::{Driver, Ended, Watcher};
pub use edge::{Edge, Network};
pub use error::DriveError;
pub use gates::{CallLimits, Gates, Rests};
pub use record::RestoreError;
pub use segments::Segments;
