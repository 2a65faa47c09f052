//! The types that every part of Reknit shares: lossless JSON values, capabilities, tool responses and plans.
//!
//! ```text
//! text -> Value::parse -> Value -> from_value -> Capability | Plan | ToolResponse -> to_value -> Value -> text
//!                           |                                                                      ^
//!                           +----------- digits as written, key order, unknown fields -------------+
//! ```
//!
//! ```
//! use reknit_protocol::{Category, ToolResponse, Value};
//!
//! let body = r#"{"success":false,"error":{"code":"SYMBOL_NOT_FOUND","message":"no `TSLQ`","category":"NOT_FOUND"}}"#;
//! let response = ToolResponse::from_value(&Value::parse(body)?)?;
//! let error = response.error().expect("the response is a failure");
//! assert_eq!(error.category, Some(Category::NotFound));
//! assert_eq!(response.to_value().to_string(), body);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Where to go next: [`Value`] and [`Number`] for JSON, [`Path`] for places inside it, [`ToolResponse`] for the answers
//! of tools, [`Capability`] and [`schema`] for their announcements, [`Plan`] for steps to run. The crate does no I/O.

pub mod capability;
pub mod exact;
pub mod plan;
pub mod schema;
pub mod spelling;
pub mod tool;

mod business_key;
mod call_tool;
mod chosen_run_id;
mod civil_date;
mod effect_id;
mod error_chain;
mod hidden_char;
mod human_duration;
mod id;
mod json;
mod retry_after;
mod sha256;
mod shape;
mod short_run_id;
mod small_map;
mod tool_reply;
mod truncate;
mod url_text;
mod word_enum;

pub use business_key::{BusinessKey, KeyRule};
pub use call_tool::{CallTool, HttpMethod, JobRequest, ToolJob};
pub use capability::{Capability, ErrorFields, SideEffect};
pub use chosen_run_id::InvalidRunId;
pub use civil_date::{date_of_days, days_since_epoch, timestamp_text};
pub use effect_id::{EffectId, EffectIdError, EffectKind, EffectOwner, ScopeLevel};
pub use error_chain::error_chain;
pub use hidden_char::{is_hidden, json_without_hidden, markup_text};
pub use human_duration::{human_duration, parse_human_duration};
pub use id::{CapabilityName, PlanId, RunId, StepId, TargetName, ToolCallId, ToolName};
pub use json::number::{Decimal, DecimalError, Exactness, Number, NumberError};
pub use json::parse::{MAX_DEPTH, NextChar, ParseError, ParseProblem};
pub use json::path::{Path, Segment};
pub use json::pointer::PointerError;
pub use json::value::object::{self, Object};
pub use json::value::{Value, ValueKind};
pub use plan::{Plan, PlanInput, PlanMode, PlanOutput, Step};
pub use retry_after::RetryAfter;
pub use sha256::{Sha256, hex};
pub use shape::{ActualShape, ExtraFields, ShapeError};
pub use small_map::SmallMap;
pub use tool::{Category, Retryable, ToolError, ToolResponse};
pub use tool_reply::{Delivery, ReplyBody, ToolReply, TransportFailure, TransportKind};
pub use truncate::{join_first, shorten, truncate};
pub use url_text::{percent_encoded, percent_encoded_except};
pub use url_text::{redact_url, redact_urls};
