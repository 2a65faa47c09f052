//! Binary operators and their precedence.

use std::fmt;

use crate::step_ids::name_len;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operator {
    Coalesce,
    Or,
    And,
    In,
    NotIn,
    Equal,
    Unequal,
    LessOrEqual,
    GreaterOrEqual,
    Less,
    Greater,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
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

    /// The operators of this precedence. A longer operator comes before its prefix.
    pub(super) const fn operators(self) -> &'static [Operator] {
        match self {
            Self::Coalesce => &[Operator::Coalesce],
            Self::Or => &[Operator::Or],
            Self::And => &[Operator::And],
            Self::Comparison => &[
                Operator::In,
                Operator::NotIn,
                Operator::Equal,
                Operator::Unequal,
                Operator::LessOrEqual,
                Operator::GreaterOrEqual,
                Operator::Less,
                Operator::Greater,
            ],
            Self::Additive => &[Operator::Add, Operator::Subtract],
            Self::Multiplicative => &[Operator::Multiply, Operator::Divide, Operator::Remainder],
        }
    }
}

impl Operator {
    pub(crate) const fn precedence(self) -> Precedence {
        match self {
            Self::Coalesce => Precedence::Coalesce,
            Self::Or => Precedence::Or,
            Self::And => Precedence::And,
            Self::Add | Self::Subtract => Precedence::Additive,
            Self::Multiply | Self::Divide | Self::Remainder => Precedence::Multiplicative,
            _ => Precedence::Comparison,
        }
    }

    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Coalesce => "??",
            Self::Or => "or",
            Self::And => "and",
            Self::In => "in",
            Self::NotIn => "not in",
            Self::Equal => "==",
            Self::Unequal => "!=",
            Self::LessOrEqual => "<=",
            Self::GreaterOrEqual => ">=",
            Self::Less => "<",
            Self::Greater => ">",
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::Remainder => "%",
        }
    }

    /// The length in bytes of the operator at the start of a text. `None` if the text begins with something else.
    pub(super) fn len_at_start(self, text: &str) -> Option<usize> {
        if self == Self::NotIn {
            let after = word(text, "not")?.trim_start();
            return word(after, "in").map(|rest| text.len() - rest.len());
        }
        let is_word = self.as_str().starts_with(char::is_alphabetic);
        let rest = if is_word { word(text, self.as_str()) } else { text.strip_prefix(self.as_str()) };
        let rest = rest.or_else(|| self.other_signs().iter().find_map(|sign| text.strip_prefix(sign)));
        rest.map(|rest| text.len() - rest.len())
    }

    /// Other signs for the operator. Models and people write `2 × 100`, `200 ÷ 2` and `a && b`.
    const fn other_signs(self) -> &'static [&'static str] {
        match self {
            Self::Or => &["||"],
            Self::And => &["&&"],
            Self::Multiply => &["×", "·", "⋅"],
            Self::Divide => &["÷"],
            _ => &[],
        }
    }
}

/// The text after a word at its start.
pub(super) fn word<'t>(text: &'t str, word: &str) -> Option<&'t str> {
    text.strip_prefix(word).filter(|_| name_len(text) == word.len())
}

impl fmt::Display for Operator {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}
