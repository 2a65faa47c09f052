//! Expressions as text that reads back as the same expression.

use std::fmt;

use super::{Expression, Node};
use crate::reference::Tail;

impl fmt::Display for Expression {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.root)
    }
}

impl fmt::Display for Node {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Literal(value) => write!(out, "{value}"),
            Self::Reference(reference) => write!(out, "{reference}"),
            Self::Negate(node) if matches!(**node, Self::Chain(..)) => write!(out, "-({node})"),
            Self::Negate(node) => write!(out, "-{node}"),
            Self::Chain(first, rest) => {
                write_operand(out, self, first)?;
                rest.iter().try_for_each(|(operator, node)| {
                    write!(out, " {operator} ")?;
                    write_operand(out, self, node)
                })
            }
            Self::Call(function, arguments) => {
                write!(out, "{function}(")?;
                for (index, argument) in arguments.iter().enumerate() {
                    write!(out, "{}{argument}", if index == 0 { "" } else { ", " })?;
                }
                out.write_str(")")
            }
            // Only a call can be followed by a point and still be read as the same thing.
            Self::Inside(node, path) if matches!(**node, Self::Call(..)) => write!(out, "{node}{}", Tail(path)),
            Self::Inside(node, path) => write!(out, "({node}){}", Tail(path)),
        }
    }
}

/// Only what binds tighter than the chain around it can do without parentheses.
fn write_operand(out: &mut fmt::Formatter<'_>, chain: &Node, operand: &Node) -> fmt::Result {
    if operand.level().is_some_and(|inner| chain.level().is_none_or(|outer| inner <= outer)) {
        write!(out, "({operand})")
    } else {
        write!(out, "{operand}")
    }
}
