//! The operators between two values.

use std::fmt;

/// An operator between two values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operator {
    Otherwise,
    Equal,
    Unequal,
    AtMost,
    AtLeast,
    Less,
    Greater,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

/// How tightly an operator binds, the loosest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    Otherwise,
    Compare,
    Add,
    Multiply,
}

impl Level {
    /// The next tighter one; `None` where only single values are tighter.
    pub(super) const fn tighter(self) -> Option<Self> {
        match self {
            Self::Otherwise => Some(Self::Compare),
            Self::Compare => Some(Self::Add),
            Self::Add => Some(Self::Multiply),
            Self::Multiply => None,
        }
    }

    /// Its operators; one that begins like another comes first if it is longer.
    pub(super) const fn operators(self) -> &'static [Operator] {
        match self {
            Self::Otherwise => &[Operator::Otherwise],
            Self::Compare => &[
                Operator::Equal,
                Operator::Unequal,
                Operator::AtMost,
                Operator::AtLeast,
                Operator::Less,
                Operator::Greater,
            ],
            Self::Add => &[Operator::Add, Operator::Subtract],
            Self::Multiply => &[Operator::Multiply, Operator::Divide, Operator::Remainder],
        }
    }
}

impl Operator {
    pub(crate) const fn level(self) -> Level {
        match self {
            Self::Otherwise => Level::Otherwise,
            Self::Equal | Self::Unequal | Self::AtMost | Self::AtLeast | Self::Less | Self::Greater => Level::Compare,
            Self::Add | Self::Subtract => Level::Add,
            Self::Multiply | Self::Divide | Self::Remainder => Level::Multiply,
        }
    }

    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Otherwise => "??",
            Self::Equal => "==",
            Self::Unequal => "!=",
            Self::AtMost => "<=",
            Self::AtLeast => ">=",
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

impl fmt::Display for Operator {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}
