//! Prints expressions as text that parses to the same expression.

use std::fmt;

use reknit_protocol::Value;

use super::{Expression, ITEM, Node, Precedence};
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
            Self::Item(name, path) => write!(out, "{name}{}", PathSuffix(path)),
            Self::ForItem(name, body) if name == ITEM => write!(out, "{body}"),
            Self::ForItem(name, body) => write!(out, "{name} => {body}"),
            Self::Negate(node) if node.precedence().is_some() => write!(out, "-({node})"),
            Self::Negate(node) => write!(out, "-{node}"),
            Self::Not(node) => {
                out.write_str("not ")?;
                let is_tighter = node.precedence().is_none_or(|inner| inner > Precedence::And);
                if is_tighter { write!(out, "{node}") } else { write!(out, "({node})") }
            }
            Self::Chain(first, rest) => {
                write_operand(out, self, first)?;
                rest.iter().try_for_each(|(operator, node)| {
                    write!(out, " {operator} ")?;
                    write_operand(out, self, node)
                })
            }
            Self::Call(function, arguments) => {
                write!(out, "{function}(")?;
                write_list(out, arguments)?;
                out.write_str(")")
            }
            // Without the comma, a quoted text in brackets may be the id of a step.
            Self::List(items) if matches!(items.as_slice(), [Self::Literal(Value::String(_))]) => {
                out.write_str("[")?;
                write_list(out, items)?;
                out.write_str(",]")
            }
            Self::List(items) => {
                out.write_str("[")?;
                write_list(out, items)?;
                out.write_str("]")
            }
            // Every node but a call needs parentheses before a path.
            Self::Access(node, path) if matches!(**node, Self::Call(..)) => write!(out, "{node}{}", PathSuffix(path)),
            Self::Access(node, path) => write!(out, "({node}){}", PathSuffix(path)),
        }
    }
}

fn write_list(out: &mut fmt::Formatter<'_>, nodes: &[Node]) -> fmt::Result {
    nodes.iter().enumerate().try_for_each(|(index, node)| write!(out, "{}{node}", if index == 0 { "" } else { ", " }))
}

/// Writes an operand, in parentheses unless it binds tighter than the chain around it.
fn write_operand(out: &mut fmt::Formatter<'_>, chain: &Node, operand: &Node) -> fmt::Result {
    let is_negation_in_and = matches!(operand, Node::Not(_)) && chain.precedence() == Some(Precedence::And);
    let is_looser = operand
        .precedence()
        .is_some_and(|inner| chain.precedence().is_none_or(|outer| needs_parentheses(outer, inner)));
    if is_looser && !is_negation_in_and { write!(out, "({operand})") } else { write!(out, "{operand}") }
}

/// `??` with `and` or `or` beside it is an error, so one of them stands in parentheses.
fn needs_parentheses(outer: Precedence, inner: Precedence) -> bool {
    let is_logic = matches!(inner, Precedence::Or | Precedence::And);
    inner <= outer || (outer == Precedence::Coalesce && is_logic)
}
