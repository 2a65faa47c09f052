//! Requests without a usable response, as failures of a call.

use std::error::Error;
use std::io;

use reknit_protocol::{CallTool, Delivery, TransportFailure, TransportKind};

use super::body::BodyError;
use super::client::SendError;

/// A call without a response. Only a connection that was never established proves that nothing was sent.
pub(crate) fn send_failure(call: &CallTool, error: &SendError) -> TransportFailure {
    let (kind, delivery) = match error {
        error if error.is_invalid() => (TransportKind::NotCallable, Delivery::NotSent),
        error if error.is_connect() => (TransportKind::Refused, Delivery::NotSent),
        error if error.is_timeout() => (TransportKind::TimedOut, Delivery::Possible),
        _ => (TransportKind::Reset, Delivery::Possible),
    };
    let mut message = match kind {
        TransportKind::Refused => format!("`{}` cannot be reached", call.tool),
        _ => format!("`{}` broke the connection", call.tool),
    };
    if let Some(cause) = last_cause(error) {
        message = format!("{message}: {cause}");
    }
    TransportFailure { kind, delivery, message }
}

/// A response whose body cannot be used. The tool has received the call.
pub(crate) fn body_failure(call: &CallTool, status: u16, error: &BodyError) -> TransportFailure {
    let kind = match error {
        BodyError::Broken(_) => TransportKind::Reset,
        BodyError::TooLarge(_) => TransportKind::TooLarge,
        BodyError::Compressed(_) | BodyError::InvalidJson(_) => TransportKind::Unreadable,
    };
    TransportFailure {
        kind,
        delivery: Delivery::Possible,
        message: format!("`{}` answered {status}, but {error}", call.tool),
    }
}

/// The last error of the chain, the most specific one: `Connection refused (os error 111)`.
pub(crate) fn last_cause(error: &SendError) -> Option<String> {
    std::iter::successors(error.source(), |cause| (*cause).source()).last().map(ToString::to_string)
}

/// Whether nothing listens at the address.
pub(crate) fn is_refused(error: &SendError) -> bool {
    let chain = std::iter::successors(error.source(), |cause| (*cause).source());
    let mut kinds = chain.filter_map(|cause| cause.downcast_ref::<io::Error>()).map(io::Error::kind);
    kinds.any(|kind| kind == io::ErrorKind::ConnectionRefused)
}
