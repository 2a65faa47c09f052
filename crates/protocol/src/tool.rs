//! Responses of tools: an envelope around data or around a structured error.

pub mod codes;

mod category;
mod error;
mod response;

pub use category::Category;
pub use error::{Retryable, ToolError};
pub use response::ToolResponse;
