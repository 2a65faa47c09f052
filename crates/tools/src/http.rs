//! Services over HTTP: where they are, how requests are authenticated, and one request at a time.

pub(crate) mod address;
pub(crate) mod body;
pub(crate) mod client;
pub(crate) mod credential;
mod direct;
pub(crate) mod job;
mod send_error;
pub(crate) mod service;
pub(crate) mod token;
