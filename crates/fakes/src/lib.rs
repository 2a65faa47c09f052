//! A scripted model and scripted tools as real loopback servers, faults, recorded HTTP exchanges, and a virtual clock.
//!
//! ```text
//! your code --HTTP--> ScriptedModel   rules: if a request matches, give this reply              --> requests()
//!           --HTTP--> ScriptedTool    replies: an answer, a status, a delay, a reset, silence   --> calls()
//!           --HTTP--> Cassette        records real exchanges once and replays them              --> misses()
//!           --------> VirtualClock    sleeps end when the test advances the clock
//! ```
//!
//! The code under test talks to these servers over HTTP as it talks to real ones. Each server binds a free port of
//! 127.0.0.1, records every request and stops when it is dropped. A request that no rule matches is answered with 500 and
//! recorded, so that a test does not pass because of a gap in its script.
//!
//! ```
//! use reknit_protocol::{SideEffect, Value};
//! use reknit_fakes::{Reply, ScriptedTool, tool::CallMatcher};
//!
//! # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
//! let tool = ScriptedTool::new("currency-tool")
//!     .capability("convert_currency", SideEffect::Read)
//!     .once("convert_currency", CallMatcher::any(), Reply::status(429).retry_after(1))
//!     .on("convert_currency", CallMatcher::any(), Reply::data(Value::parse(r#"{"converted": 65150150.625}"#)?))
//!     .start()
//!     .await?;
//! println!("listening on {}", tool.base_url());
//! assert_eq!(tool.calls(), []);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Where to go next: [`ScriptedModel`] and [`model::Script`], [`ScriptedTool`], [`Reply`] for answers and faults,
//! [`Scenario`] for models and their faults as a file, [`Cassette`] for recordings of real servers, [`CallBarrier`] for
//! calls that wait until the test releases them, [`VirtualClock`].

#![warn(missing_docs)]

pub mod model;
pub mod scenario;
pub mod tool;

mod call_barrier;
mod cassette;
mod clock;
mod reply;
mod rules;
mod server;

pub use call_barrier::CallBarrier;
pub use cassette::{Cassette, CassetteError};
pub use clock::{VirtualClock, paced};
pub use model::ScriptedModel;
pub use reply::Reply;
pub use scenario::Scenario;
pub use tool::ScriptedTool;
