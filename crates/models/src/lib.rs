//! Model providers on the wire, one attempt at a time.
//!
//! ```text
//! Request --> wire format of the provider --> POST --> JSON or a stream of events --> Answer
//!                                              |                   |
//!                                              '- status, limits --'--> Failure { class, .. }
//! ```
//!
//! One call of [`Models::ask`] is one HTTP request. Nothing here retries, follows a redirect or falls back: who is asked
//! next is decided by [`Rotation`](reknit_dialogue::Rotation). Every wait has a limit, every body a largest size, and an
//! answer that was cut is a [`Failure`](reknit_dialogue::Failure), never a short answer. Dropping the future ends the
//! request.
//!
//! ```no_run
//! use reknit_dialogue::{Delta, Message, Request};
//! use reknit_models::{Models, Target};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let models = Models::new(vec![Target::new("local", "http://127.0.0.1:8080/v1", "qwen3-4b")])?;
//! let request = Request::new(vec![Message::user("Say hello.")], 100);
//! let mut show = |delta: Delta<'_>| {
//!     if let Delta::Text(words) = delta {
//!         print!("{words}");
//!     }
//! };
//! let answer = models.ask(&"local".into(), &request, &mut show).await?;
//! println!("\n{} tokens", answer.usage.output_tokens);
//! # Ok(())
//! # }
//! ```
//!
//! Four wire formats are spoken; [`Provider`] says which. What one does not understand is left out and named in the answer.
//! A streamed answer is the same as one that comes in one piece.
//!
//! Where to go next: [`detect`] for a target without configuration, [`Target`] for what can be set, [`Limits`] for how long things may take, [`Models::ask`] for what a
//! failure means.

pub mod detect;

mod anthropic;
mod attempt;
mod body;
mod config;
mod decode;
mod draft;
mod endpoint;
mod gemini;
mod json;
mod known;
mod limits;
mod models;
mod openai;
mod provider;
mod refusal;
mod rendered;
mod responses;
#[cfg(test)]
mod sample;
mod sse;
mod target;
mod text;
mod wire;

pub use config::ConfigError;
pub use decode::{DecodeError, decode};
pub use limits::Limits;
pub use models::Models;
pub use provider::Provider;
pub use target::{FormatSupport, Streaming, Target};
