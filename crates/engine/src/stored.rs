//! What the stored JSON leaves out.

/// Whether a field has its default value, so that it is not stored.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
