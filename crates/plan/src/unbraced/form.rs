//! The forms in which other template languages write references.

/// The form of a text that may be a reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// Between delimiters that have no other use: `${a.price}`, `[[a.price]]`, `$a.price$`.
    Delimited,
    /// `{a.price}`
    Brace,
    /// `<a.price>`
    Angle,
    /// `[a.price]`
    Bracket,
    /// `$a.price`
    Dollar,
    /// `@a.price`, `#E1`
    Sigil,
    /// `a.price`
    Bare,
    /// `{{$a.price}}`, which is no expression.
    Placeholder,
    /// `${{a.price}}`, which is a dollar sign before an expression.
    DollarPlaceholder,
}
