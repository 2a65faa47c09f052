//! What a tool answers: an envelope with data, or with an error that can be acted on.

pub mod codes;

mod category;
mod error;
mod response;

pub use category::Category;
pub use error::{Retryable, ToolError};
pub use response::ToolResponse;
