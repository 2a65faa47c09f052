//! Talking to models, purely: what is asked, what comes back, why it failed, and who is asked next.
//!
//! ```text
//!            .-----------------------------------------------.
//!            v                                               |
//! Rotation::target() -> one attempt -> Answer  -> succeeded()  the counters start again
//!                            |                               ^
//!        |                   '-------> Failure -> failed() --+--> Next::Ask | Next::Wait
//!        |                                                   |
//!        '-- its Gate is shut: no attempt ----> closed() ----'--> Next::GiveUp
//! ```
//!
//! The attempt itself is somebody else's: nothing here has a clock, a network or an `await`. All types are plain data
//! that can be written down and read back, a rotation in the middle of its work too.
//!
//! ```
//! use reknit_dialogue::{ErrorClass, Failure, Next, Rotation, Rules};
//!
//! let mut rotation = Rotation::new(vec!["big".into(), "small".into()], Rules::default());
//! assert_eq!(rotation.target().map(|target| target.as_str()), Some("big"));
//!
//! // One is at its limit: the other is asked at once. Both are: only then is there a wait.
//! let limited = Failure::new(ErrorClass::RateLimit, "slow down").with_retry_after_ms(2_500);
//! assert_eq!(rotation.failed(&limited, 0), Next::Ask);
//! assert_eq!(rotation.target().map(|target| target.as_str()), Some("small"));
//! assert_eq!(rotation.failed(&limited, 0), Next::Wait { ms: 2_500 });
//! ```
//!
//! Where to go next: [`Request`] and [`Answer`] for one exchange, [`Failure`] and [`classify`] for one that went wrong,
//! [`Rotation`] for several attempts, [`Gate`] for what all who ask the same target share, [`Prices`] for what they cost.

mod answer;
mod class;
mod classify;
mod delta;
mod failure;
mod gate;
mod message;
mod name;
mod price;
mod purpose;
mod request;
mod rotation;
mod temperature;
mod tool;
mod usage;

pub use answer::{Answer, Finish, FormatUsed, Timings};
pub use class::ErrorClass;
pub use classify::{Evidence, classify, classify_with};
pub use delta::Delta;
pub use failure::Failure;
pub use gate::{CallOutcome, Entry, Gate, GateRules, Pass};
pub use message::{Message, Role, Seal, Thought, ToolCall, ToolCallId};
pub use name::TargetName;
pub use price::{Money, MoneyError, Price, PriceError, Prices};
pub use purpose::Purpose;
pub use request::{Effort, Format, Request};
pub use rotation::{GiveUp, Next, OnAuthError, Policy, Rotation, Rules};
pub use temperature::{Temperature, TemperatureError};
pub use tool::{Tool, ToolChoice};
pub use usage::{Usage, UsageSource};
