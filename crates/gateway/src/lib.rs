//! The server side of the APIs of models: reads the requests of programs, mends the answers of models, and writes responses.
//!
//! ```text
//! body ----> read_request -> GatewayRequest { model, request, body }
//!                                  |
//!            ModelAnswer --> AnswerMender::mend -> MendedAnswer { answer, changes }, or why the answer cannot be used
//!                                                        |
//!                       write_response, patch_response, StreamWriter -> bytes in the API of the caller
//! ```
//!
//! Nothing here has a clock, a network or an `await`. An answer that needs no mending is never written again: the bytes of the
//! model's server are passed on if it has the same API.
//!
//! ```
//! use reknit_model_api::{Api, ModelAnswer, Usage};
//! use reknit_gateway::{AnswerMender, Identity, read_request, write_response};
//! use reknit_protocol::Value;
//!
//! let body = r#"{"model": "auto", "messages": [{"role": "user", "content": "How warm is it in Seoul?"}], "tools": [{"type": "function",
//!     "function": {"name": "weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}}}}]}"#;
//! let Value::Object(body) = Value::parse(body)? else { unreachable!() };
//! let request = read_request(Api::ChatCompletions, body)?;
//!
//! // A small model writes the call as text, with a number as a string.
//! let text = r#"<tool_call>{"name": "weather", "arguments": {"city": "Seoul", "days": "3"}}</tool_call>"#;
//! let answer = ModelAnswer::complete(text, "small", Usage::reported(80, 20));
//! let mended = AnswerMender::new(&request.request).mend(answer)?;
//! assert_eq!(mended.answer.tool_calls[0].arguments, r#"{"city":"Seoul","days":3}"#);
//!
//! let identity = Identity { id: "1".to_owned(), created: 0 };
//! let response = write_response(Api::ChatCompletions, &mended.answer, &identity).to_string();
//! assert!(response.contains(r#""finish_reason":"tool_calls""#));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[macro_use]
mod json;

mod error_response;
mod mend;
mod output;
mod request;
mod response;
mod stream;
mod text_gate;

pub use error_response::{GatewayError, stream_error};
pub use mend::{AnswerMender, MendedAnswer, UnusableAnswer};
pub use request::{GatewayRequest, RequestError, read_request};
pub use response::{Identity, patch_response, write_response};
pub use stream::{StreamMender, StreamWriter};
