//! Why a calculation stopped.

use crate::expression::{Function, Node};
use crate::lookup::Missed;
use crate::{Expression, Fault, Reason};

/// Why a calculation stopped.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Halt {
    /// Something is missing or null: `??` covers it.
    Absent(Reason),
    /// A value could not be had for another reason, which nothing covers.
    Unclear(Reason),
    /// The values make no sense together.
    Fault(Fault),
}

pub(crate) type Outcome<T> = Result<T, Halt>;

impl Halt {
    pub(super) fn null(node: &Node) -> Self {
        Self::Absent(Reason::Null { what: node.to_string() })
    }

    pub(super) fn kind(operation: &dyn std::fmt::Display, expected: &str, found: String) -> Self {
        Self::Fault(Fault::Kind { operation: operation.to_string(), expected: expected.to_owned(), found })
    }

    pub(super) fn bad(function: Function, problem: impl Into<String>) -> Self {
        Self::Fault(Fault::BadArgument { operation: function.to_string(), problem: problem.into() })
    }

    /// The parser counts arguments, so this is for what cannot happen.
    pub(super) fn arguments(function: Function) -> Self {
        Self::bad(function, "the number of arguments is wrong")
    }

    pub(super) fn is_absence(&self) -> bool {
        match self {
            Self::Absent(_) => true,
            Self::Unclear(_) => false,
            Self::Fault(fault) => matches!(fault, Fault::EmptyList { .. } | Fault::NoSuchField { .. }),
        }
    }

    pub(crate) fn into_reason(self, expression: &Expression) -> Reason {
        match self {
            Self::Absent(reason) | Self::Unclear(reason) => reason,
            Self::Fault(fault) => Reason::Fault { expression: expression.to_string(), fault },
        }
    }
}

impl From<Missed> for Halt {
    fn from(missed: Missed) -> Self {
        match missed {
            Missed::Absent(reason) => Self::Absent(reason),
            Missed::Unclear(reason) => Self::Unclear(reason),
        }
    }
}
