//! A scripted model and scripted tools as real loopback servers, with faults, and a clock that stands still.
//!
//! ```text
//! your code --HTTP--> ScriptedModel   rules: when a request looks like this, give that reply    --> requests()
//!           --HTTP--> ScriptedTool    replies: an answer, a status, a delay, a reset, silence   --> calls()
//!           --HTTP--> Cassette        real exchanges, written down once and given again               --> misses()
//!           --------> VirtualClock    sleeps end when the test says so
//! ```
//!
//! What is tested talks to them as it talks to the real ones, so that nothing on the way is faked. Both bind a free
//! port of 127.0.0.1, record everything they are asked, and end when they are dropped. A request that no rule covers is
//! answered with 500 and recorded: a script with a hole never looks like a pass.
//!
//! ```
//! use reknit_protocol::{Effect, Value};
//! use reknit_testing::{Reply, ScriptedTool, tool::When};
//!
//! # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
//! let tool = ScriptedTool::new("currency-tool")
//!     .capability("convert_currency", Effect::Read)
//!     .once("convert_currency", When::any(), Reply::status(429).retry_after(1))
//!     .on("convert_currency", When::any(), Reply::data(Value::parse(r#"{"converted": 65150150.625}"#)?))
//!     .start()
//!     .await?;
//! println!("listening on {}", tool.base_url());
//! assert_eq!(tool.calls(), []);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Where to go next: [`ScriptedModel`] and [`model::Script`], [`ScriptedTool`], [`Reply`] for everything that can go
//! wrong on purpose, [`Scenario`] for models and their faults as a file, [`Cassette`] for tests against real servers that
//! need none, [`Gate`] for calls that wait until the test lets them go on, [`VirtualClock`].

pub mod model;
pub mod scenario;
pub mod tool;

mod cassette;
mod clock;
mod gate;
mod log;
mod reply;
mod rules;
mod server;

pub use cassette::{Cassette, CassetteError};
pub use clock::VirtualClock;
pub use gate::Gate;
pub use model::ScriptedModel;
pub use reply::Reply;
pub use scenario::Scenario;
pub use tool::ScriptedTool;
