//! Prints expressions as text that parses to the same expression.

use std::fmt;

use super::{Expression, Node};
use crate::reference::PathSuffix;

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
            // Every node but a call needs parentheses before a path.
            Self::Access(node, path) if matches!(**node, Self::Call(..)) => write!(out, "{node}{}", PathSuffix(path)),
            Self::Access(node, path) => write!(out, "({node}){}", PathSuffix(path)),
        }
    }
}

/// Writes an operand, in parentheses unless it binds tighter than the chain around it.
fn write_operand(out: &mut fmt::Formatter<'_>, chain: &Node, operand: &Node) -> fmt::Result {
    if operand.precedence().is_some_and(|inner| chain.precedence().is_none_or(|outer| inner <= outer)) {
        write!(out, "({operand})")
    } else {
        write!(out, "{operand}")
    }
}
