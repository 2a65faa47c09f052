//! Runs requests with tools and repairs what fails.
//!
//! Programs import this library. It re-exports the crates of the workspace.
//!
//! ```text
//! request -> plan -> check -> bind -> call -> (mend -> bind -> call)* -> answer
//!
//! engine     decides: a state machine of events and effects, without I/O      bind, salvage, dialogue
//! runtime    acts: executes effects, writes events to the journal             models, tools, journal
//! toolkit    makes a tool from a typed handler
//! ```
//!
//! A tool, a plan, and a run of it:
//!
//! ```
//! use reknit::Reknit;
//! use reknit::engine::Synthesis;
//! use reknit::protocol::{SideEffect, Object, Plan, Step, ToolError};
//! use reknit::runtime::DriveOutcome;
//! use reknit::toolkit::{CallContext, CapabilityDefinition, Service};
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
//! let tool = Service::new("geometry").capability(CapabilityDefinition::new("area", SideEffect::Read, area)).start().await?;
//! let reknit = Reknit::builder()
//!     .tool("geometry", &tool.base_url())
//!     .answer_by(Synthesis::Template)
//!     .semantic_retry(false)
//!     .start()
//!     .await?;
//!
//! // Models often write "12" instead of 12. Reknit fits it to the schema before the call and records the change.
//! let step = Step::new("step-1", "geometry", "area", "the area").with_parameters(Object::from([("side", "12".into())]));
//! let plan = Plan::new("plan-1", "How large is a square of 12?", vec![step]);
//! let DriveOutcome::Finished(answer) = reknit.run(plan).await? else { panic!("the run needs no approval") };
//! assert!(answer.text.contains("144"), "{}", answer.text);
//! # Ok(())
//! # }
//! ```
//!
//! Where to go next: [`Reknit`] runs requests and plans, its [`ConfigBuilder`] has a method for each setting,
//! [`runtime::Driver`] drives the state machine [`engine::Run`], [`toolkit::Service`] makes a tool, and
//! [`salvage::read_as`] reads a model's answer.

#[doc(inline)]
pub use reknit_bind as bind;
#[doc(inline)]
pub use reknit_dialogue as dialogue;
#[doc(inline)]
pub use reknit_engine as engine;
#[doc(inline)]
pub use reknit_journal as journal;
#[doc(inline)]
pub use reknit_mend as mend;
#[doc(inline)]
pub use reknit_models as models;
#[doc(inline)]
pub use reknit_plan as plan;
#[doc(inline)]
pub use reknit_protocol as protocol;
#[doc(inline)]
pub use reknit_registry as registry;
#[doc(inline)]
pub use reknit_runtime as runtime;
#[doc(inline)]
pub use reknit_salvage as salvage;
#[doc(inline)]
pub use reknit_toolkit as toolkit;
#[doc(inline)]
pub use reknit_tools as tools;

#[doc(inline)]
pub use reknit_runtime::Reknit;
#[doc(inline)]
pub use reknit_runtime::config::ConfigBuilder;

/// Compiles and runs the Rust code of the README.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
