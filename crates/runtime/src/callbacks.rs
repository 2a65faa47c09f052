//! Callback URLs: a tool that works on a job calls one of them when the job has ended.

#[cfg(not(feature = "http"))]
mod none;
#[cfg(feature = "http")]
mod signed;

#[cfg(not(feature = "http"))]
pub use none::NoCallbacks as Callbacks;
#[cfg(not(feature = "http"))]
pub(crate) use none::without_http;
#[cfg(feature = "http")]
pub use signed::{Callbacks, TokenRefusal};
