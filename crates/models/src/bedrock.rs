//! Wire format of Amazon Bedrock's `converse`, and the signature of its requests. No I/O.

mod error_names;
mod family;
mod request;
mod response;
#[cfg(feature = "http")]
mod signature;

pub(crate) use error_names::ERROR_CLASSES;
pub(crate) use request::{path, render};
pub(crate) use response::{Tools, read_event, read_whole};
#[cfg(feature = "http")]
pub(crate) use signature::{AccountKeys, SignedRequest};

/// Format of the signature of reasoning, which must be sent back.
const STATE_FORMAT: &str = "bedrock";
/// Format of reasoning that the provider has encrypted.
const REDACTED_STATE_FORMAT: &str = "bedrock-hidden";
