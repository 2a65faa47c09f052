//! Runs a request over tools and mends what breaks.
//!
//! This is the library that programs import; what it re-exports lives in crates of its own.
//!
//! ```text
//! request -> plan -> check -> bind -> call -> (mend -> bind -> call)* -> answer
//!
//! engine     decides: a machine of events and effects, without I/O      bind, salvage, dialogue
//! runtime    acts: does effects, writes events to the journal           models, tools, journal
//! toolkit    a typed handler becomes a tool
//! ```
//!
//! A tool, a plan, and a run of it:
//!
//! ```
//! use std::sync::Arc;
//!
//! use reknit::engine::{MACHINE_VERSION, Policy, Started, Synthesis, Templates};
//! use reknit::journal::Journal;
//! use reknit::models::Models;
//! use reknit::protocol::{Effect, Object, Plan, Step, ToolError};
//! use reknit::runtime::{CallLimits, Driver, Ended, Network, SystemClock};
//! use reknit::toolkit::{CallContext, Capability, Service};
//! use reknit::tools::{Address, Client};
//!
//! #[derive(serde::Deserialize, schemars::JsonSchema)]
//! struct Square { side: f64 }
//!
//! async fn area(_: CallContext, square: Square) -> Result<f64, ToolError> {
//!     Ok(square.side * square.side)
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let tool = Service::new("geometry").capability(Capability::new("area", Effect::Read, area)).start().await?;
//! let found = Client::new()?.discover(&[Address::parse("geometry", &tool.base_url())?]).await;
//!
//! // A model would have written "12" too; it is fitted to the schema before the call, and the change is recorded.
//! let step = Step::new("step-1", "geometry", "area", "the area").with_parameters(Object::from([("side", "12".into())]));
//! let started = Started {
//!     run: "run-1".into(),
//!     request: "How large is a square of 12?".to_owned(),
//!     plan: Some(Plan::new("plan-1", "How large is a square of 12?", vec![step])),
//!     inputs: Object::new(),
//!     catalogue: Arc::new(found.catalogue),
//!     targets: Vec::new(),
//!     policy: Arc::new(Policy { synthesis: Synthesis::Template, ..Policy::default() }),
//!     templates: Arc::new(Templates::default()),
//!     mappings: Vec::new(),
//!     seed: 1,
//!     machine_version: MACHINE_VERSION,
//! };
//! let edge = Network { models: Arc::new(Models::new(Vec::new())?), tools: found.tools };
//! let driver = Driver::new(Journal::in_memory(), Arc::new(edge), Arc::new(SystemClock::new()), CallLimits::default());
//! let Ended::Finished(answer) = driver.start(started).await? else { panic!("nobody is to be asked") };
//! assert!(answer.text.contains("144"), "{}", answer.text);
//! # Ok(())
//! # }
//! ```
//!
//! Where to go next: [`runtime::Driver`] drives runs, [`engine::Run`] is what it drives, [`toolkit::Service`] makes a
//! tool, [`salvage::read_as`] reads what a model wrote.

#[doc(inline)]
pub use reknit_bind as bind;
#[doc(inline)]
pub use reknit_dialogue as dialogue;
#[doc(inline)]
pub use reknit_engine as engine;
#[doc(inline)]
pub use reknit_journal as journal;
#[doc(inline)]
pub use reknit_models as models;
#[doc(inline)]
pub use reknit_protocol as protocol;
#[doc(inline)]
pub use reknit_runtime as runtime;
#[doc(inline)]
pub use reknit_salvage as salvage;
#[doc(inline)]
pub use reknit_toolkit as toolkit;
#[doc(inline)]
pub use reknit_tools as tools;

/// Compiles and runs the Rust code of the README.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
