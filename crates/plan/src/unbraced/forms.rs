//! The forms of references in other template languages.

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

/// The delimiters of other template languages. A longer one stands before a shorter one with the same start.
pub(super) const DELIMITERS: [(&str, &str, Form); 14] = [
    ("<%=", "%>", Form::Delimited),
    ("<%", "%>", Form::Delimited),
    ("{%", "%}", Form::Delimited),
    ("[[", "]]", Form::Delimited),
    ("<<", ">>", Form::Delimited),
    ("${", "}", Form::Delimited),
    ("$(", ")", Form::Delimited),
    ("#{", "}", Form::Delimited),
    ("@{", "}", Form::Delimited),
    ("%{", "}", Form::Delimited),
    ("((", "))", Form::Delimited),
    ("{", "}", Form::Brace),
    ("<", ">", Form::Angle),
    ("[", "]", Form::Bracket),
];

/// The signs that other languages put before a variable.
pub(super) const SIGILS: [char; 5] = ['$', '@', '#', '%', '&'];
