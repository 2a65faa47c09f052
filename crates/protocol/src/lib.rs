//! The words every part of Reknit shares: JSON values that keep what was written, and the things tools and plans are
//! made of.
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
//! let error = response.error().expect("the tool has reported one");
//! assert_eq!(error.category, Some(Category::NotFound));
//! assert_eq!(response.to_value().to_string(), body);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Where to go next: [`Value`] and [`Number`] for JSON, [`Path`] for places inside it, [`ToolResponse`] for what tools
//! answer, [`Capability`] and [`schema`] for what they announce, [`Plan`] for what is to be done. Nothing here performs
//! I/O.

pub mod capability;
pub mod exact;
pub mod object;
pub mod plan;
pub mod schema;
pub mod spelling;
pub mod tool;

mod call_tool;
mod effect_id;
mod human_duration;
mod id;
mod number;
mod parse;
mod path;
mod print;
mod retry_after;
mod shape;
mod shown;
mod tool_reply;
mod truncate;
mod value;

pub use call_tool::CallTool;
pub use capability::{Capability, Effect, Effect as SideEffect};
pub use effect_id::{EffectId, EffectIdError, EffectKind, EffectOwner, ScopeLevel};
pub use human_duration::human_duration;
pub use id::{AgentName, CapabilityName, PlanId, RunId, StepId};
pub use number::{Number, NumberError};
pub use object::Object;
pub use parse::{Found, MAX_DEPTH, ParseError, ParseProblem};
pub use path::{Path, PointerError, Segment};
pub use plan::{Input, Mode, Plan, Step};
pub use retry_after::RetryAfter;
pub use shape::{Actual, Extra, ShapeError};
pub use shown::{shown_url, shown_urls};
pub use tool::{Category, Retryable, ToolError, ToolResponse};
pub use tool_reply::{Delivery, ReplyBody, ToolReply, TransportFailure, TransportKind};
pub use truncate::{join_first, truncate};
pub use value::{Kind, Value};
