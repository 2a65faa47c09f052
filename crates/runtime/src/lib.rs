//! Drives runs and sessions: executes the effects that a state machine asks for and journals their outcomes.
//!
//! ```text
//!            pending()                       apply(event)
//!   Run  ------------->  effects -> outcome ------------->  Run
//!                           ^                  |
//!                           '--- journal <-----'      commit, then act
//! ```
//!
//! ```
//! use reknit_plan::read_plan_file;
//! use reknit_protocol::ToolError;
//! use reknit_runtime::{DriveOutcome, Runtime};
//!
//! #[derive(serde::Deserialize, schemars::JsonSchema)]
//! struct Square {
//!     side: f64,
//! }
//!
//! async fn area(square: Square) -> Result<f64, ToolError> {
//!     Ok(square.side * square.side)
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let reknit = Runtime::from_builder(Runtime::builder().tool_fn("geometry", "area", area)).await?;
//! let (plan, _) = read_plan_file(r#"steps: [{id: square, tool: geometry/area, with: {side: "3"}}]"#)?;
//! let DriveOutcome::Finished(answer) = reknit.run(plan).await? else { panic!("the run waits") };
//! assert!(answer.text.contains('9'));
//! # Ok(())
//! # }
//! ```
//!
//! Where to go next: [`Runtime`] assembles everything that runs need from a [`config::Config`]. [`Driver`] drives runs in
//! one process, calls tools and models through a [`Transport`] and reads the time from a [`Clock`]. [`Breakers`] limit the
//! calls of all runs, [`telemetry`] exports logs, traces and metrics, and [`RotatingClient`] asks models outside of a run.

mod agent_session;
mod answer_text;
mod approval_webhook;
mod assembly;
mod breakers;
mod business_keys;
mod call_rate;
mod callbacks;
mod clock;
mod driver;
mod effect_executor;
mod effect_runner;
mod error;
mod export;
mod export_filter;
mod first_decision;
mod fork;
mod gate_replay;
mod import;
mod journal_results;
mod learned_mappings;
mod live_catalogue;
mod model_client;
pub mod operations;
mod parking;
mod piece_watcher;
mod pruner;
mod refusal;
mod remote_engine;
mod replay;
mod resume_check;
mod rule_review;
mod rule_store;
mod run_owner;
mod run_start;
mod saved_run;
pub mod signals;
mod snapshot;
mod start_options;
pub mod telemetry;
#[cfg(feature = "tokens")]
mod tokens;
mod transport;
mod watcher;

// The tests of the driver are written as for users of the library.
#[cfg(test)]
extern crate self as reknit_runtime;
#[cfg(test)]
#[path = "../tests/drive/mod.rs"]
mod drive;

pub use agent_session::{AgentStartError, NamedAgent};
pub use answer_text::{AnswerText, TextChange};
pub use approval_webhook::WebhookReport;
pub use assembly::{Runtime, StartError, new_run_id};
pub use breakers::{Breakers, EndpointHealth};
pub use callbacks::Callbacks;
#[cfg(feature = "http")]
pub use callbacks::TokenRefusal;
pub use clock::{Clock, SystemClock, system_ms};
pub use driver::{DriveOutcome, Driver};
pub use effect_runner::{AdmittedCall, EffectRunner};
pub use error::DriveError;
pub use export::{ExportLine, export};
pub use export_filter::ExportFilter;
pub use first_decision::DecisionOutcome;
pub use fork::{Fork, ForkChanges, ForkError, JournalledCall, recorded_calls};
pub use gate_replay::{GateQuestions, GateReplay, ReplayedRules};
pub use import::{ImportError, import};
pub use journal_results::{JournalResults, ResultError};
pub use model_client::{
    FailedAttempt, ModelAttempts, NoAnswerError, RotatingClient, Served, ServedAnswer, StreamItem, StreamMode,
};
pub use parking::{ParkReason, bare_overview, close, park};
pub use piece_watcher::PieceWatcher;
pub use refusal::{Refusal, RefusalCode};
pub use reknit_config::{self as config, BreakerPolicy, CallLimits, CallRate, InvalidRate, ToolLimits, agent};
pub use reknit_tools::BoxFuture;
pub use remote_engine::{RemoteEngine, RemoteError, RemoteEvent};
pub use replay::RestoreError;
pub use rule_review::{KeptLessons, RuleReview, RuleReviewError, RuleSavings};
pub use rule_store::{RuleStore, RuleStoreError};
pub use run_owner::{RunOwner, month_of};
pub use run_start::RunStart;
pub use saved_run::{SavedRun, load_run, replay_run, run_overview};
pub use snapshot::Changes;
pub use transport::{Network, Transport};
pub use watcher::{Committed, EventOrigin, QueuedEvent, Watcher};
