//! Expressions: the language between `{{` and `}}`.

mod cursor;
mod function;
mod operator;
pub(crate) mod parse_error;
mod parser;
mod print;

use reknit_protocol::{Path, StepId, Value};

pub(crate) use cursor::quoted_len;
pub use function::Function;
pub(crate) use operator::{Operator, Precedence};

use crate::step_ids::StepIds;
use crate::{Reference, TemplateParseError};

/// An expression over the results of steps: `100 * step-1.price`.
///
/// Its `Display` output parses, with the same ids, to an equal expression.
#[derive(Debug, Clone, PartialEq)]
pub struct Expression {
    pub(crate) root: Node,
}

/// The name of an item where an expression gives it no other.
pub(crate) const ITEM: &str = "item";

/// A node of the syntax tree.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Node {
    Literal(Value),
    Reference(Reference),
    Negate(Box<Node>),
    Not(Box<Node>),
    /// Operators of one precedence, from left to right. A list, so that a long sum does not nest deeply.
    Chain(Box<Node>, Vec<(Operator, Node)>),
    Call(Function, Vec<Node>),
    /// `[1, 2]`
    List(Vec<Node>),
    /// An argument that is evaluated for each item of a list, which it calls by this name.
    ForItem(String, Box<Node>),
    /// The item of a list, or a value inside it: `item.price`.
    Item(String, Path),
    /// A path into a computed value: `first(a.items).price`.
    Access(Box<Node>, Path),
}

impl Expression {
    /// Parses an expression. References may name the steps in `ids`.
    ///
    /// Fails at the first error: an unknown step or function, a syntax error, or an exceeded limit. The limits are listed
    /// in the documentation of this crate.
    pub fn parse(text: &str, ids: &[StepId]) -> Result<Self, TemplateParseError> {
        Self::parse_with_ids(text, &StepIds::new(ids))
    }

    /// Like [`Expression::parse`], with ids that were indexed before.
    pub fn parse_with_ids(text: &str, ids: &StepIds<'_>) -> Result<Self, TemplateParseError> {
        parser::parse(text, ids).map(|root| Self { root })
    }

    /// The references in the expression, in the order of the text.
    pub fn references(&self) -> Vec<&Reference> {
        self.nodes().filter_map(|node| if let Node::Reference(it) = node { Some(it) } else { None }).collect()
    }

    /// All nodes, in the order of the text.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = &Node> {
        let mut stack = vec![&self.root];
        std::iter::from_fn(move || {
            let node = stack.pop()?;
            match node {
                Node::Literal(_) | Node::Reference(_) | Node::Item(..) => {}
                Node::Negate(inner) | Node::Not(inner) | Node::Access(inner, _) | Node::ForItem(_, inner) => {
                    stack.push(inner);
                }
                Node::Chain(first, rest) => {
                    stack.extend(rest.iter().rev().map(|(_, node)| node));
                    stack.push(first);
                }
                Node::Call(_, nodes) | Node::List(nodes) => stack.extend(nodes.iter().rev()),
            }
            Some(node)
        })
    }

    /// The reference, if the expression is only a reference.
    pub fn as_reference(&self) -> Option<&Reference> {
        if let Node::Reference(reference) = &self.root { Some(reference) } else { None }
    }

    /// Whether the whole expression is `a and b`, `a or b`, `not a` or `a in b`.
    pub(crate) fn is_logic(&self) -> bool {
        match &self.root {
            Node::Not(_) => true,
            Node::Chain(_, rest) => rest
                .iter()
                .any(|(operator, _)| matches!(operator, Operator::And | Operator::Or | Operator::In | Operator::NotIn)),
            _ => false,
        }
    }

    pub(crate) fn is_literal(&self) -> bool {
        match &self.root {
            Node::Literal(_) => true,
            Node::Negate(inner) => matches!(**inner, Node::Literal(_)),
            _ => false,
        }
    }
}

impl Node {
    /// The precedence of the operators of a chain; `None` for nodes that need no parentheses.
    pub(crate) fn precedence(&self) -> Option<Precedence> {
        match self {
            // `not` binds like an operand of `and`.
            Self::Not(_) => Some(Precedence::And),
            Self::Chain(_, rest) => rest.first().map(|(operator, _)| operator.precedence()),
            _ => None,
        }
    }
}

impl From<Reference> for Expression {
    fn from(reference: Reference) -> Self {
        Self { root: Node::Reference(reference) }
    }
}
