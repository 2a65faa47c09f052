//! Binary operators and their precedence.

use std::fmt;

/// A binary operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operator {
    Coalesce,
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
    Comparison,
    Additive,
    Multiplicative,
}

impl Precedence {
    /// The next higher precedence; `None` above multiplication.
    pub(super) const fn next_higher(self) -> Option<Self> {
        match self {
            Self::Coalesce => Some(Self::Comparison),
            Self::Comparison => Some(Self::Additive),
            Self::Additive => Some(Self::Multiplicative),
            Self::Multiplicative => None,
        }
    }

    /// The operators of this precedence. A longer operator comes before its prefix.
    pub(super) const fn operators(self) -> &'static [Operator] {
        match self {
            Self::Coalesce => &[Operator::Coalesce],
            Self::Comparison => &[
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
            Self::Equal | Self::Unequal | Self::LessOrEqual | Self::GreaterOrEqual | Self::Less | Self::Greater => {
                Precedence::Comparison
            }
            Self::Add | Self::Subtract => Precedence::Additive,
            Self::Multiply | Self::Divide | Self::Remainder => Precedence::Multiplicative,
        }
    }

    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Coalesce => "??",
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
}

impl Operator {
    /// Other signs for the operator. Models and people write `2 × 100` and `200 ÷ 2`.
    pub(super) const fn other_signs(self) -> &'static [&'static str] {
        match self {
            Self::Multiply => &["×", "·", "⋅"],
            Self::Divide => &["÷"],
            _ => &[],
        }
    }
}

impl fmt::Display for Operator {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}
