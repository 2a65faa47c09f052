//! Pure types and state machines for talking to models: requests, answers, failures, and which target to ask next.
//!
//! ```text
//!              .-----------------------------------------------------.
//!              v                                                     |
//! Rotation::target() -> one attempt -> ModelAnswer  -> restart()     |   the counters are reset
//!              |            |                                        |
//!              |            '--------> ModelFailure -> failed() -----+-> Next::Ask | Next::Wait
//!              |                                                     |
//!              '-- its Breaker is open: no attempt --> breaker_open()'-> Next::GiveUp
//! ```
//!
//! The caller makes the attempts: nothing here has a clock, a network or an `await`. All types are plain data that can be
//! serialized, a rotation in the middle of its work too.
//!
//! ```
//! use reknit_model_api::{ErrorClass, ModelFailure, Next, Rotation, RotationRules};
//!
//! let mut rotation = Rotation::new(vec!["big".into(), "small".into()], RotationRules::default());
//! assert_eq!(rotation.target().map(|target| target.as_str()), Some("big"));
//!
//! // If one target is rate limited, the other is asked at once. Only if both are, there is a wait.
//! let limited = ModelFailure::new(ErrorClass::RateLimit, "slow down").with_retry_after_ms(2_500);
//! assert_eq!(rotation.failed(&limited, 0), Next::Ask);
//! assert_eq!(rotation.target().map(|target| target.as_str()), Some("small"));
//! assert_eq!(rotation.failed(&limited, 0), Next::Wait { ms: 2_500 });
//! ```
//!
//! Where to go next: [`ModelRequest`] and [`ModelAnswer`] for one exchange, [`ModelFailure`] and [`classify`] for a failed
//! one, [`Rotation`] for several attempts, [`Breaker`] for what all callers of a target share, [`Prices`] for costs.

mod answer;
mod api;
mod attachment;
mod breaker;
mod classify;
mod delta;
mod error_class;
mod failure;
mod message;
mod output_limit;
mod price;
mod purpose;
mod request;
mod rotation;
mod sampling;
mod usage;

pub use answer::{Citation, FinishReason, FormatUsed, ModelAnswer, Timings};
pub use api::Api;
pub use attachment::{Attachment, AttachmentKind, AttachmentSource};
pub use breaker::{Admission, Breaker, BreakerRules, BreakerStatus, CallOutcome, CallPermit};
pub use classify::{ErrorNames, FailureEvidence, classify, classify_with_provider_names};
pub use delta::{Delta, RawEvent};
pub use error_class::ErrorClass;
pub use failure::ModelFailure;
pub use message::{Message, ProviderState, Role, Thought, ToolCall};
pub use output_limit::{stated_output_limit, stated_window};
pub use price::{Money, MoneyError, Price, PriceError, Prices};
pub use purpose::Purpose;
pub use reknit_protocol::{TargetName, ToolCallId};
pub use request::{Effort, ModelRequest, ResponseFormat, ToolChoice, ToolDefinition};
pub use rotation::{
    AfterRefusal, BlockedBy, GiveUpReason, ModelWaitReason, Next, OnAuthError, Rotation, RotationPolicy, RotationRules,
    WaitCause, WaitSource, WaitSourceError,
};
pub use sampling::{Temperature, TemperatureError, TopP, TopPError};
pub use usage::{Usage, UsageSource};

/// For fields that are left out of JSON if they have their default.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
