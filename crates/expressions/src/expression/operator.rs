//! Binary operators and their precedence.

use std::fmt;

use crate::step_ids::name_len;

/// Defines the operators: each with its precedence and its signs, of which the first is the one that is printed.
macro_rules! operators {
    ($($operator:ident: $precedence:ident $($sign:literal)+,)*) => {
        /// A binary operator.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Operator {
            $($operator,)*
        }

        impl Operator {
            pub(super) const ALL: &[Self] = &[$(Self::$operator),*];

            pub(crate) const fn precedence(self) -> Precedence {
                match self {
                    $(Self::$operator => Precedence::$precedence,)*
                }
            }

            const fn signs(self) -> &'static [&'static str] {
                match self {
                    $(Self::$operator => &[$($sign),+],)*
                }
            }
        }
    };
}

// A longer operator comes before its prefix. Models and people write `2 × 100`, `200 ÷ 2` and `a && b`.
operators! {
    Coalesce: Coalesce "??",
    Or: Or "or" "||",
    And: And "and" "&&",
    In: Comparison "in",
    NotIn: Comparison "not in",
    Equal: Comparison "==",
    Unequal: Comparison "!=",
    LessOrEqual: Comparison "<=",
    GreaterOrEqual: Comparison ">=",
    Less: Comparison "<",
    Greater: Comparison ">",
    Add: Additive "+",
    Subtract: Additive "-",
    Multiply: Multiplicative "*" "×" "·" "⋅",
    Divide: Multiplicative "/" "÷",
    Remainder: Multiplicative "%",
}

/// The precedence of operators, lowest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Precedence {
    Coalesce,
    Or,
    And,
    Comparison,
    Additive,
    Multiplicative,
}

impl Precedence {
    /// The next higher precedence; `None` above multiplication.
    pub(super) fn next_higher(self) -> Option<Self> {
        let all = [Self::Coalesce, Self::Or, Self::And, Self::Comparison, Self::Additive, Self::Multiplicative];
        all.into_iter().find(|other| *other > self)
    }
}

impl Operator {
    /// The length in bytes of the operator at the start of a text. `None` if the text begins with something else.
    pub(super) fn len_at_start(self, text: &str) -> Option<usize> {
        if self == Self::NotIn {
            let after = word(text, "not")?.trim_start();
            return word(after, "in").map(|rest| text.len() - rest.len());
        }
        let rest = self.signs().iter().find_map(|sign| {
            if sign.starts_with(char::is_alphabetic) { word(text, sign) } else { text.strip_prefix(sign) }
        })?;
        Some(text.len() - rest.len())
    }
}

/// The text after a word at its start.
pub(super) fn word<'t>(text: &'t str, word: &str) -> Option<&'t str> {
    text.strip_prefix(word).filter(|_| name_len(text) == word.len())
}

impl fmt::Display for Operator {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.signs().first().copied().unwrap_or_default())
    }
}
