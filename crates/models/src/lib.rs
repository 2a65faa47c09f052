//! HTTP clients for model providers, one attempt at a time.
//!
//! ```text
//! ModelRequest --> wire format of the provider --> POST --> JSON or a stream of events --> ModelAnswer
//!                                                    |                |
//!                                                    '-- status, timeouts --> ModelFailure { class, .. }
//! ```
//!
//! One call of [`Models::ask`] is one HTTP request. This crate never retries, follows a redirect or falls back to another
//! target: [`Rotation`](reknit_model_api::Rotation) decides that. Every wait has a timeout, every body a largest size, and a
//! truncated answer is a [`ModelFailure`](reknit_model_api::ModelFailure), never a short answer. Dropping the future closes
//! the connection.
//!
//! ```no_run
//! use reknit_model_api::{Delta, Message, ModelRequest};
//! use reknit_models::{Models, Target};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let models = Models::new(vec![Target::new("local", "http://127.0.0.1:8080/v1", "qwen3-4b")])?;
//! let request = ModelRequest::new(vec![Message::user("Say hello.")], 100);
//! let mut on_delta = |delta: Delta<'_>| {
//!     if let Delta::Text(text) = delta {
//!         print!("{text}");
//!     }
//! };
//! let answer = models.ask(&"local".into(), &request, &mut on_delta).await?;
//! println!("\n{} tokens", answer.usage.output_tokens);
//! # Ok(())
//! # }
//! ```
//!
//! There are seven wire formats; [`Provider`] chooses one. Options that it does not support are not sent, and the answer lists
//! them. A streamed answer equals one that is sent as a whole.
//!
//! Where to go next: `detect` for a target without configuration, [`Target`] for its settings, [`Timeouts`],
//! [`Models::ask`] for the meaning of each failure.

#![cfg_attr(not(feature = "http"), expect(dead_code, reason = "only HTTP requests need the wire formats"))]

#[cfg(feature = "http")]
pub mod detect;

#[macro_use]
mod json;

mod answer_builder;
mod anthropic;
mod attachments;
#[cfg(feature = "http")]
mod attempt;
mod azure;
mod bedrock;
#[cfg(feature = "http")]
mod body;
mod client;
mod cohere;
mod decode;
#[cfg(feature = "http")]
mod endpoint;
mod error_response;
mod event_decoder;
#[cfg(feature = "http")]
mod forward;
mod gemini;
mod model_info;
mod models;
mod ollama;
mod openai;
#[cfg(feature = "http")]
mod pass;
mod prompt_cache;
mod provider;
mod request_body;
mod request_extras;
mod response_schema;
mod responses;
#[cfg(test)]
mod sample;
mod sanitize;
mod schema_subset;
mod sse;
mod target;
mod timeouts;
mod wire_format;

pub use client::{ModelClient, OnDelta, SharedClient};
pub use decode::{DecodeError, decode_body, decode_stream};
#[cfg(feature = "http")]
pub use forward::{ForwardedAnswer, ForwardedError, ForwardedPart, ForwardedRequest, OnForwardedPart};
pub use models::Models;
#[cfg(feature = "http")]
pub use pass::{PassedRequest, PassedResponse};
pub use provider::Provider;
pub use request_extras::{RequestDefaults, RequestExtras};
pub use target::{Caching, FormatSupport, Streaming, Target, TargetError};
pub use timeouts::Timeouts;
