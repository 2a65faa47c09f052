//! Tests of runs: scripted models and tools, assertions in the words of a test file, recorded runs, and faults at every step.
//!
//! ```
//! use reknit::plan::read_plan_file;
//! use reknit::protocol::{Category, SideEffect, ToolError};
//! use reknit::testing::{ToolScript, observe};
//! use reknit::{Object, Reknit, Value};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let refund = ToolScript::new("bank/refund", SideEffect::Keyed)
//!     .error(ToolError::new("CURRENCY", "currency must be one of EUR, USD", Category::InputError))
//!     .reply(Value::parse(r#"{"id": "r-7"}"#)?);
//! let reknit = Reknit::builder().tools([refund.tool()]).start().await?;
//! let plan = "steps: [{id: pay, tool: bank/refund, with: {order: 7, currency: eur}}]";
//! let run = reknit.run_plan(read_plan_file(plan)?.0, Object::new());
//! run.settled().await?;
//!
//! observe(&reknit, &run.id).await?.check("
//!   status: complete
//!   calls:
//!     - {call: bank/refund, with: {order: 7, currency: eur}}
//!     - {call: bank/refund, with: {order: 7, currency: EUR}}
//!   mended: [{step: pay, by: facts}]
//! ")?;
//! refund.check_used()?;
//! # Ok(())
//! # }
//! ```
//!
//! [`ModelScript`] is the same for models. A test file, as `reknit test record` writes it, is read by [`TestFile::read`] and played by
//! [`TestFile::run`]; [`run_chaos`] repeats its run with each fault at each call and question.

mod tool_script;

pub use crate::ModelScript;
#[doc(inline)]
pub use reknit_recorded_tests::*;
pub use tool_script::ToolScript;

use reknit_protocol::RunId;
use reknit_runtime::DriveError;

use crate::Reknit;

/// What a run did, for assertions about it: [`ObservedRun::check`].
pub async fn observe(reknit: &Reknit, run: &RunId) -> Result<ObservedRun, DriveError> {
    observe_run(&reknit.runtime().journal, run).await
}
