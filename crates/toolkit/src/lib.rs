//! Write a tool in Rust: a typed handler becomes a service that speaks the protocol.
//!
//! ```text
//! POST /api/capabilities/<name> --> parse --> check against the schema --> your handler --> envelope
//!                                     |              |                        |
//!                              INVALID_REQUEST   MISSING_REQUIRED_FIELD    your ToolError, or
//!                              (not retryable)   INVALID_FORMAT, a hint    SERVICE_ERROR if it panics
//! ```
//!
//! A tool reports what happened and never hides it: what is missing, what was expected, whether another try can help.
//! The handler sees only arguments that fit; its answer and its errors travel in the one envelope that callers know.
//!
//! ```no_run
//! use reknit_protocol::{Category, Effect, Retryable, ToolError, tool::codes};
//! use reknit_toolkit::{CallContext, Capability, Service};
//! use schemars::JsonSchema;
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Deserialize, JsonSchema)]
//! struct Place {
//!     /// The city, and its country if there are several.
//!     #[schemars(example = &"Seoul, KR")]
//!     location: String,
//! }
//!
//! #[derive(Serialize, JsonSchema)]
//! struct Found {
//!     country: &'static str,
//! }
//!
//! async fn locate(_: CallContext, place: Place) -> Result<Found, ToolError> {
//!     match place.location.as_str() {
//!         "Seoul, KR" => Ok(Found { country: "South Korea" }),
//!         other => Err(ToolError::new(codes::LOCATION_NOT_FOUND, format!("there is no `{other}`"), Category::NotFound)
//!             .retryable(Retryable::Yes)
//!             .detail("hint", "write `City, Country`")),
//!     }
//! }
//!
//! # async fn start() -> Result<(), Box<dyn std::error::Error>> {
//! let running = Service::new("geocoding-tool")
//!     .describe("Finds places")
//!     .capability(Capability::new("locate", Effect::Read, locate).describe("Where is it?").answers_with::<Found>())
//!     .start()
//!     .await?;
//! println!("listening on {}", running.base_url());
//! running.shutdown().await?;
//! # Ok(())
//! # }
//! ```
//!
//! Where to go next: [`Capability`] for what can be said about a handler, [`Service`] for limits and how to embed it,
//! [`KeyLimits`] for what `keyed` capabilities remember, [`Exact`] for numbers that must keep their digits.

mod call;
mod capability;
mod check;
mod context;
mod exact;
mod handler;
mod keys;
mod reply;
mod routes;
mod running;
mod schema;
mod service;

pub use capability::Capability;
pub use context::{CallContext, IdempotencyKey, KeyError};
pub use exact::Exact;
pub use handler::Handler;
pub use keys::KeyLimits;
pub use running::{Running, ShutdownError};
pub use service::{BuildError, Limits, Service, StartError};
