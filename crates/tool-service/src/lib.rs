//! Write a tool in Rust: a typed handler becomes a service that speaks the protocol.
//!
//! ```text
//! POST /api/capabilities/<name> --> parse --> validate against the schema --> your handler --> envelope
//!                                     |              |                           |
//!                              INVALID_REQUEST   MISSING_REQUIRED_FIELD       your ToolError, or
//!                              (not retryable)   INVALID_FORMAT, a hint       SERVICE_ERROR if it panics
//! ```
//!
//! A handler receives only arguments that fit its schema. A call that does not fit is answered with an error that says
//! what is missing, what was expected and whether another attempt can help. Answers and errors have the same envelope.
//!
//! ```no_run
//! use reknit_protocol::{Category, SideEffect, Retryable, ToolError, tool::codes};
//! use reknit_tool_service::{CallContext, CapabilityDefinition, Service};
//! use schemars::JsonSchema;
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Deserialize, JsonSchema)]
//! struct Place {
//!     /// The city and its country.
//!     #[schemars(example = &"Seoul, KR")]
//!     location: String,
//! }
//!
//! #[derive(Serialize, JsonSchema)]
//! struct Location {
//!     country: &'static str,
//! }
//!
//! async fn locate(_: CallContext, place: Place) -> Result<Location, ToolError> {
//!     match place.location.as_str() {
//!         "Seoul, KR" => Ok(Location { country: "South Korea" }),
//!         other => Err(ToolError::new(codes::LOCATION_NOT_FOUND, format!("there is no `{other}`"), Category::NotFound)
//!             .retryable(Retryable::Yes)
//!             .detail("hint", "write `City, Country`")),
//!     }
//! }
//!
//! # async fn start() -> Result<(), Box<dyn std::error::Error>> {
//! let running = Service::new("geocoding-tool")
//!     .description("Finds places")
//!     .capability(
//!         CapabilityDefinition::new("locate", SideEffect::Read, locate)
//!             .description("Finds the country of a city")
//!             .output::<Location>(),
//!     )
//!     .start()
//!     .await?;
//! println!("listening on {}", running.base_url());
//! running.shutdown().await?;
//! # Ok(())
//! # }
//! ```
//!
//! Where to go next: [`CapabilityDefinition`] for the description of a handler, [`Service`] for limits and embedding,
//! [`LocalCapability`] for calls without a server, [`RegistrationOptions`] for services that others find in a registry, [`IdempotencyLimits`] for the memory of `keyed` capabilities, [`ExactNumber`] for numbers that must keep their digits.

#![warn(missing_docs)]
#![cfg_attr(not(feature = "serve"), expect(dead_code, reason = "a part is only for services over HTTP"))]

mod call_context;
mod call_runner;
mod capability;
mod exact_number;
mod handler;
mod idempotency;
mod local_capability;
mod reply;
mod schema;
#[cfg(feature = "serve")]
mod service;
mod validate;

pub use call_context::{CallContext, IdempotencyKey, IdempotencyKeyError};
pub use capability::{BuildError, CapabilityDefinition};
pub use exact_number::ExactNumber;
pub use handler::Handler;
pub use idempotency::IdempotencyLimits;
pub use local_capability::LocalCapability;
#[cfg(feature = "serve")]
#[doc(no_inline)]
pub use reknit_registry::{AdvertisedAddress, Namespace, RedisUrl, RegistrationOptions, RegistrationStatus};
#[cfg(feature = "serve")]
pub use service::{RunningService, ServeError, Service, ServiceLimits, ShutdownError};
