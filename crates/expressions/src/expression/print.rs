//! Prints expressions as text that parses to the same expression, and replaces their references.

use std::fmt;

use reknit_protocol::Value;

use super::{Expression, ITEM, Node, Precedence};
use crate::Reference;
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
            Self::List(items) => {
                out.write_str("[")?;
                write_list(out, items)?;
                // Without the comma, a quoted text in brackets may be the id of a step.
                let is_one_text = matches!(items.as_slice(), [Self::Literal(Value::String(_))]);
                out.write_str(if is_one_text { ",]" } else { "]" })
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

impl Expression {
    /// The expression with values in the place of the references that `value_of` knows.
    ///
    /// ```
    /// use reknit_expressions::Expression;
    /// use reknit_protocol::Value;
    ///
    /// let expression = Expression::parse("a.price * b.count", &["a".into(), "b".into()])?;
    /// let known = expression.with_values(&|reference| (reference.step().as_str() == "b").then(|| Value::from(3)));
    /// assert_eq!(known.to_string(), "a.price * 3");
    /// # Ok::<(), reknit_expressions::TemplateParseError>(())
    /// ```
    #[must_use]
    pub fn with_values(&self, value_of: &dyn Fn(&Reference) -> Option<Value>) -> Self {
        let replace = |reference: &Reference| {
            value_of(reference).map_or_else(|| Node::Reference(reference.clone()), Node::Literal)
        };
        Self { root: self.root.replace_references(&replace) }
    }
}

impl Node {
    /// The parser limits how deeply expressions nest.
    pub(crate) fn replace_references(&self, replace: &dyn Fn(&Reference) -> Self) -> Self {
        let inner = |node: &Self| Box::new(node.replace_references(replace));
        let each = |nodes: &[Self]| nodes.iter().map(|node| node.replace_references(replace)).collect();
        match self {
            Self::Literal(_) | Self::Item(..) => self.clone(),
            Self::Reference(reference) => replace(reference),
            Self::Negate(node) => Self::Negate(inner(node)),
            Self::Not(node) => Self::Not(inner(node)),
            Self::Chain(first, rest) => {
                let rest = rest.iter().map(|(operator, node)| (*operator, node.replace_references(replace)));
                Self::Chain(inner(first), rest.collect())
            }
            Self::Call(function, arguments) => Self::Call(*function, each(arguments)),
            Self::List(items) => Self::List(each(items)),
            Self::ForItem(name, body) => Self::ForItem(name.clone(), inner(body)),
            Self::Access(node, path) => Self::Access(inner(node), path.clone()),
        }
    }
}
