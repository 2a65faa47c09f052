//! Expressions of one call, rewritten so that they hold for other calls.

use reknit_protocol::{Segment, StepId, Value};

use crate::expression::Node;
use crate::step_ids::StepIds;
use crate::{Expression, Function, Reference};

impl Expression {
    /// The same expression over other sources: references to a step become references to what `source_of` calls it, and
    /// numbers become the references that `reference_for` gives.
    ///
    /// `None` if the expression may be specific to one call: it contains a number or a text for which there is no
    /// reference, an array index, or a step without a source. The texts that functions take, such as a separator, stay.
    ///
    /// ```
    /// use reknit_expressions::{Expression, Reference, StepIds};
    /// use reknit_protocol::{Number, Path, StepId, Value};
    ///
    /// let expression = Expression::parse("100 * step-1.price", &["step-1".into()])?;
    /// let sources: [StepId; 2] = ["quote".into(), "request".into()];
    /// let ids = StepIds::new(&sources);
    /// let number = Reference::new("request".into(), Path::root().key("number"), &ids);
    /// let is_hundred = |value: &Value| (*value == Value::from(100)).then(|| number.clone());
    ///
    /// let general = expression.generalize(&|_| Some("quote".into()), &is_hundred, &ids);
    /// assert_eq!(general.map(|general| general.to_string()).as_deref(), Some("request.number * quote.price"));
    /// assert_eq!(expression.generalize(&|_| Some("quote".into()), &|_| None, &ids), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn generalize(
        &self,
        source_of: &dyn Fn(&StepId) -> Option<StepId>,
        reference_for: &dyn Fn(&Value) -> Option<Reference>,
        ids: &StepIds<'_>,
    ) -> Option<Self> {
        Rewriter { source_of, reference_for, ids }.node(&self.root, Texts::Refused).map(|root| Self { root })
    }

    /// The literals in the expression, in the order of the text.
    pub fn literals(&self) -> Vec<&Value> {
        self.nodes().filter_map(|node| if let Node::Literal(value) = node { Some(value) } else { None }).collect()
    }

    /// The names of the functions that the expression calls, in the order of the text.
    pub fn functions(&self) -> Vec<&'static str> {
        let name = |node: &Node| if let Node::Call(function, _) = node { Some(function.as_str()) } else { None };
        self.nodes().filter_map(name).collect()
    }
}

struct Rewriter<'a> {
    source_of: &'a dyn Fn(&StepId) -> Option<StepId>,
    reference_for: &'a dyn Fn(&Value) -> Option<Reference>,
    ids: &'a StepIds<'a>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Texts {
    /// It tells a function what to do.
    Allowed,
    Refused,
}

impl Rewriter<'_> {
    fn node(&self, node: &Node, texts: Texts) -> Option<Node> {
        let boxed = |node: &Node| self.node(node, Texts::Refused).map(Box::new);
        Some(match node {
            Node::Literal(Value::String(text)) if texts == Texts::Allowed => Node::Literal(Value::from(text.as_str())),
            Node::Literal(value) => Node::Reference((self.reference_for)(value)?),
            Node::Reference(reference) => {
                let has_index = reference.path().segments().iter().any(|part| matches!(part, Segment::Index(_)));
                let source = (self.source_of)(reference.step()).filter(|_| !has_index)?;
                Node::Reference(Reference::new(source, reference.path().clone(), self.ids))
            }
            Node::Negate(inner) => Node::Negate(boxed(inner)?),
            Node::Not(inner) => Node::Not(boxed(inner)?),
            Node::Chain(first, rest) => {
                let rest = rest.iter().map(|(operator, node)| Some((*operator, self.node(node, Texts::Refused)?)));
                Node::Chain(boxed(first)?, rest.collect::<Option<_>>()?)
            }
            Node::Call(function, arguments) => {
                let arguments = arguments.iter().enumerate().map(|(index, argument)| {
                    let texts = if index > 0 && takes_text(*function) { Texts::Allowed } else { Texts::Refused };
                    self.node(argument, texts)
                });
                Node::Call(*function, arguments.collect::<Option<_>>()?)
            }
            // A list, an item or a path into a computed value depends on what one result contained.
            Node::List(_) | Node::ForItem(..) | Node::Item(..) | Node::Access(..) => return None,
        })
    }
}

/// Whether the later arguments of a function say what it does.
fn takes_text(function: Function) -> bool {
    let is_about_lists = matches!(function, Function::Join | Function::Split | Function::Pluck | Function::SortBy);
    is_about_lists || matches!(function, Function::Replace | Function::DateAdd | Function::DateDiff)
}
