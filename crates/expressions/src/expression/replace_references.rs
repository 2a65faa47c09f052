//! Puts something else in the place of the references of an expression.

use reknit_protocol::Value;

use super::{Expression, Node};
use crate::Reference;

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
