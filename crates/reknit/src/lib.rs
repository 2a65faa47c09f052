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
//! use reknit::Reknit;
//! use reknit::engine::Synthesis;
//! use reknit::protocol::{Effect, Object, Plan, Step, ToolError};
//! use reknit::runtime::Ended;
//! use reknit::toolkit::{CallContext, Capability, Service};
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
//! let reknit = Reknit::builder()
//!     .tool("geometry", &tool.base_url())
//!     .answer_by(Synthesis::Template)
//!     .semantic_retry(false)
//!     .start()
//!     .await?;
//!
//! // A model would have written "12" too; it is fitted to the schema before the call, and the change is recorded.
//! let step = Step::new("step-1", "geometry", "area", "the area").with_parameters(Object::from([("side", "12".into())]));
//! let plan = Plan::new("plan-1", "How large is a square of 12?", vec![step]);
//! let Ended::Finished(answer) = reknit.run(plan).await? else { panic!("nobody is to be asked") };
//! assert!(answer.text.contains("144"), "{}", answer.text);
//! # Ok(())
//! # }
//! ```
//!
//! Where to go next: [`Reknit`] runs requests and plans, its [`Builder`] has a method for each setting of
//! theirs, [`runtime::Driver`] drives runs, [`engine::Run`] is what it drives, [`toolkit::Service`] makes a
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
pub use reknit_mend as mend;
#[doc(inline)]
pub use reknit_models as models;
#[doc(inline)]
pub use reknit_plan as plan;
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

#[doc(inline)]
pub use reknit_runtime::Reknit;
#[doc(inline)]
pub use reknit_runtime::config::Builder;

/// Compiles and runs the Rust code of the README.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
