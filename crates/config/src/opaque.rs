//! Code of a program in a configuration.

use std::fmt;
use std::sync::Arc;

/// A value of the program that cannot be shown.
pub(super) struct Opaque<T: ?Sized>(pub(super) Arc<T>);

impl<T: ?Sized> Clone for Opaque<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T: ?Sized> fmt::Debug for Opaque<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("code")
    }
}
