//! Runs requests over tools, and mends the calls that fail.
//!
//! Two functions of a program, and a plan over them:
//!
//! ```
//! use reknit::{Object, Reknit, plan::read_plan_file};
//!
//! /// The price of tea in euros.
//! #[reknit::tool(read)]
//! fn price(cups: u32) -> f64 {
//!     4.5 * f64::from(cups)
//! }
//!
//! /// Converts euros to won.
//! #[reknit::tool(read)]
//! fn in_won(euros: f64) -> f64 {
//!     euros * 1500.0
//! }
//!
//! #[tokio::main]
//! async fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let reknit = Reknit::builder().tools([price(), in_won()]).start().await?;
//!     let steps = r#"steps:
//!       - {id: tea, tool: functions/price, with: {cups: "3"}}    # the text is fitted to the type u32
//!       - {id: won, tool: functions/in_won, with: {euros: "{{tea.data}}"}}"#;
//!     let answer = reknit.run_plan(read_plan_file(steps)?.0, Object::new()).await?;
//!     Ok(println!("{} won, mended: {:?}", answer.output::<f64>()?, answer.mends()))
//! }
//! ```
//!
//! It prints `20250 won` and one mend: of the call `tea`, by its schema, `$.cups: "3" -> 3`. What can be fitted is fitted before a call is
//! sent; what a tool refuses is mended after that. `Cargo.toml` needs `reknit` and `tokio` with the features `macros` and
//! `rt-multi-thread`.
//!
//! - [`#[reknit::tool]`](macro@tool) replaces the function by one that returns a [`Tool`], so `price()` is the tool. The types of the
//!   arguments can be all that `serde` reads and `schemars` describes; it may be `async`, and return a `Result`. `read` says that a call
//!   changes nothing; `idempotent`, `keyed` and `unsafe` are the other classes, and none is the careful default.
//! - In a plan the tool is `functions/price`; `service = "shop"` makes it `shop/price`. The ids of steps are free names. A step runs as soon
//!   as the steps that it names have results.
//! - `{{tea.data}}` is the result of the step `tea`, with its type. A function that returns a struct has its fields instead: `{{tea.euros}}`.
//! - `read_plan_file` takes the text of a plan file, and returns the plan and what was corrected in it. The second argument of `run_plan`
//!   has the values of the inputs that the plan declares; this one declares none.
//! - `output` is the result of the last step, unless the plan declares `outputs`; `text` is the answer in words.
//!
//! With a model, [`Reknit::ask`] plans a request, and [`Reknit::agent`] runs an agent with a prompt. Each returns a [`RunHandle`]:
//! the id of the run, its events and its text as streams, its questions to a person, and its outcome.
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! # let reknit = reknit::Reknit::builder();
//! use reknit::models::Target;
//!
//! let reknit = reknit.model(Target::new("local", "http://127.0.0.1:8080/v1", "qwen3-4b")).journal("runs.db").start().await?;
//! let run = reknit.ask("What do three cups of tea cost in won?");
//! let mut events = run.events();
//! while let Some(event) = events.next().await {
//!     println!("{event}");
//! }
//! println!("{}", run.await?.text());
//! # Ok(())
//! # }
//! ```
//!
//! | to | use |
//! |---|---|
//! | set limits, approvals, retries | [`ReknitBuilder::configure`], with a method of [`ConfigBuilder`] for each setting |
//! | ask a model with code of your own | [`ModelClient`]; [`ModelScript`] for tests |
//! | mend failed calls in a loop of your own | [`Mender`] |
//! | continue after a crash | `ReknitBuilder::journal`, [`Reknit::resume_unfinished`] |
//! | read why a run failed | [`RunError`], [`RunFailure`] |
//! | read a model's text as JSON | [`salvage::read_as`] |
//! | serve tools to others | `tool_service::Service`, with the feature `serve` |
//!
//! Features only add parts. The first three are on by default; without any, there are functions as tools ([`Tool::new`]),
//! [`ModelClient`]s, plans, agents and a journal in memory, built from at most 85 packages of others and without a C compiler.
//!
//! | feature | adds |
//! |---|---|
//! | `http` | tool services, models on servers, the approval webhook, callbacks |
//! | `macros` | `#[reknit::tool]`, and `tool_fn`: schemas that follow from types |
//! | `sqlite` | the journal in a file, so that runs survive the process |
//! | `commands`, `mcp`, `openapi`, `registry` | commands, MCP servers, OpenAPI services and services in Redis as tools |
//! | `config-file` | tools, models and settings from `reknit.toml` |
//! | `otlp` | traces and metrics to an OpenTelemetry collector |
//! | `sandbox` | commands and MCP servers are confined |
//! | `serve` | tools for others, served over HTTP |
//! | `testing` | scripted tools, assertions about runs, recorded tests, and faults at every step |
//! | `tokens` | questions to models are measured with their tokenizers |
//!
//! A setting, tool or model that needs a missing feature is an error that names the feature.
//!
//! The parts of Reknit are re-exported as modules: [`engine`] decides, [`runtime`] acts, and [`plan`], [`expressions`], [`mend`] and
//! [`salvage`] can be used alone.

#![warn(missing_docs)]

mod builder;
mod follow;
mod mender;
mod model_script;
mod outcome;
mod reknit;
mod run_event;
mod run_handle;
mod run_state;
mod run_task;
#[cfg(feature = "testing")]
pub mod testing;
mod tool;

pub use crate::reknit::{AgentError, Reknit};
pub use builder::ReknitBuilder;
pub use follow::Follow;
pub use mender::{Correction, FailedCall, MendError, Mender, Mending};
pub use model_script::ModelScript;
pub use outcome::{AppliedMend, CallAttempt, FailedStep, OutputError, RunAnswer, RunError, RunFailure, RunResult};
pub use run_event::{EventCursor, RunEvent, RunEventKind, TextPiece};
pub use run_handle::RunHandle;
pub use tool::Tool;

#[doc(inline)]
pub use reknit_engine::{AskPerson, Decision, Status};
#[cfg(feature = "macros")]
pub use reknit_macros::tool;
#[doc(inline)]
pub use reknit_models::ModelClient;
#[doc(inline)]
pub use reknit_protocol::{Object, Plan, RunId, ToolError, Value};
#[doc(inline)]
pub use reknit_runtime::{StartError, config::ConfigBuilder};

#[doc(inline)]
pub use {
    reknit_engine as engine, reknit_expressions as expressions, reknit_journal as journal, reknit_mend as mend,
    reknit_model_api as model_api, reknit_models as models, reknit_plan as plan, reknit_protocol as protocol,
    reknit_registry as registry, reknit_runtime as runtime, reknit_salvage as salvage,
    reknit_tool_service as tool_service, reknit_tools as tools,
};

/// What the code of `#[reknit::tool]` refers to.
#[cfg(feature = "macros")]
#[doc(hidden)]
pub mod __private {
    pub use schemars;
    pub use serde;
}

/// Compiles and runs the Rust code of the README.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
