//! What a program gives that no file can hold: code.

use std::fmt;
use std::sync::Arc;

/// Code, of which nothing can be shown.
pub(super) struct Code<T: ?Sized>(pub(super) Arc<T>);

impl<T: ?Sized> Clone for Code<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T: ?Sized> fmt::Debug for Code<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("code")
    }
}
