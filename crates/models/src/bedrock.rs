//! Wire format of Amazon Bedrock's `converse`, and the signature of its requests. No I/O.

mod family;
mod request;
mod response;
#[cfg(feature = "http")]
mod signature;

use reknit_model_api::{ErrorClass, ErrorNames};

pub(crate) use request::{path, render};
pub(crate) use response::{read_event, read_whole};
#[cfg(feature = "http")]
pub(crate) use signature::{AccountKeys, SignedRequest};

/// Format of the signature of reasoning, which must be sent back.
const STATE_FORMAT: &str = "bedrock";
/// Format of reasoning that the provider has encrypted.
const REDACTED_STATE_FORMAT: &str = "bedrock-hidden";

/// Exceptions, in lower case. `ValidationException` is generic and left out.
pub(crate) const ERROR_CLASSES: ErrorNames = &[
    (ErrorClass::AuthError, "accessdeniedexception"),
    (
        ErrorClass::NetworkError,
        "internalserverexception invalidframe modelerrorexception modelstreamerrorexception \
         serviceunavailableexception",
    ),
    (ErrorClass::RateLimit, "modelnotreadyexception throttlingexception"),
    (ErrorClass::Timeout, "modeltimeoutexception"),
    (ErrorClass::ModelError, "resourcenotfoundexception"),
    (ErrorClass::QuotaExceeded, "servicequotaexceededexception"),
];
