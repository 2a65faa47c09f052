//! Expressions: what stands between `{{` and `}}`.

mod cursor;
mod function;
mod operator;
mod parser;
mod print;
mod quoted;

use reknit_protocol::{Path, StepId, Value};

pub use function::Function;
pub(crate) use operator::{Level, Operator};
pub(crate) use quoted::quoted_len;

use crate::ids::Ids;
use crate::{Reference, TemplateError};

/// A calculation over the results of steps: `100 * step-1.price`.
///
/// It prints as text that parses, with the same ids, to an equal expression.
///
/// ```
/// use reknit_bind::Expression;
///
/// let expression = Expression::parse("(2+step-1.price)*3", &["step-1".into()])?;
/// assert_eq!(expression.to_string(), "(2 + step-1.price) * 3");
/// # Ok::<(), reknit_bind::TemplateError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Expression {
    pub(crate) root: Node,
}

/// One part of an expression.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Node {
    Literal(Value),
    Reference(Reference),
    Negate(Box<Node>),
    /// Operators of one level, from left to right. A list and not a tree, so that a long sum is not a deep one.
    Chain(Box<Node>, Vec<(Operator, Node)>),
    Call(Function, Vec<Node>),
    /// A place in a value that is no result of a step itself: `first(a.items).price`.
    Inside(Box<Node>, Path),
}

impl Expression {
    /// Reads an expression whose references are to the steps in `ids`.
    ///
    /// Fails with the place of the first defect: a name that is no step, something the grammar does not allow, or more
    /// of anything than the limits on the front page allow.
    pub fn parse(text: &str, ids: &[StepId]) -> Result<Self, TemplateError> {
        Self::parse_among(text, &Ids::new(ids))
    }

    /// The same with ids that were prepared before.
    pub fn parse_among(text: &str, ids: &Ids<'_>) -> Result<Self, TemplateError> {
        parser::parse(text, ids).map(|root| Self { root })
    }

    /// The references in it, in the order of the text.
    pub fn references(&self) -> Vec<&Reference> {
        let mut found = Vec::new();
        let mut open = vec![&self.root];
        while let Some(node) = open.pop() {
            match node {
                Node::Literal(_) => {}
                Node::Reference(reference) => found.push(reference),
                Node::Negate(inner) | Node::Inside(inner, _) => open.push(inner),
                Node::Chain(first, rest) => {
                    open.extend(rest.iter().rev().map(|(_, node)| node));
                    open.push(first);
                }
                Node::Call(_, arguments) => open.extend(arguments.iter().rev()),
            }
        }
        found
    }

    /// The reference, if it is nothing else.
    pub fn as_reference(&self) -> Option<&Reference> {
        match &self.root {
            Node::Reference(reference) => Some(reference),
            _ => None,
        }
    }

    /// Whether it only says a value and calculates nothing: `5`, `-5`, `"a"`.
    pub(crate) fn is_literal(&self) -> bool {
        match &self.root {
            Node::Literal(_) => true,
            Node::Negate(inner) => matches!(**inner, Node::Literal(_)),
            _ => false,
        }
    }
}

impl Node {
    /// How tightly its own operators bind; `None` for what needs no parentheses.
    pub(crate) fn level(&self) -> Option<Level> {
        match self {
            Self::Chain(_, rest) => rest.first().map(|(operator, _)| operator.level()),
            _ => None,
        }
    }
}

impl From<Reference> for Expression {
    fn from(reference: Reference) -> Self {
        Self { root: Node::Reference(reference) }
    }
}
