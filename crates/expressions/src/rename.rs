//! Gives the steps in expressions and templates other names.

use reknit_protocol::{StepId, Value};

use crate::expression::Node;
use crate::step_ids::StepIds;
use crate::{Expression, Reference, Template, TemplateParseError, TextPart};

/// Other names for the steps that expressions and templates refer to.
///
/// ```
/// use reknit_expressions::{Renaming, StepIds};
/// use reknit_protocol::Value;
///
/// let (before, after) = (["order".into()], ["shop.order".into()]);
/// let rename = |id: &reknit_protocol::StepId| format!("shop.{id}").into();
/// let (before, after) = (StepIds::new(&before), StepIds::new(&after));
/// let renaming = Renaming::new(&before, &after, &rename);
/// assert_eq!(renaming.expression("order.total * 2")?, "shop.order.total * 2");
/// assert_eq!(renaming.template(&Value::from("{{order.id}} is done"))?, Value::from("{{shop.order.id}} is done"));
/// # Ok::<(), reknit_expressions::RenameError>(())
/// ```
#[derive(Clone, Copy)]
pub struct Renaming<'a> {
    before: &'a StepIds<'a>,
    after: &'a StepIds<'a>,
    rename: &'a dyn Fn(&StepId) -> StepId,
}

/// Why a text cannot be rewritten.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RenameError {
    #[error(transparent)]
    Parse(#[from] TemplateParseError),
    #[error("`{0}` would mean something else after its steps are renamed")]
    Ambiguous(String),
}

impl std::fmt::Debug for Renaming<'_> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Renaming").field("before", self.before).field("after", self.after).finish_non_exhaustive()
    }
}

impl<'a> Renaming<'a> {
    /// `before` are the names that the texts use, `after` all names of the plan that the new texts are for, and `rename` says which
    /// new name a step gets.
    pub fn new(before: &'a StepIds<'a>, after: &'a StepIds<'a>, rename: &'a dyn Fn(&StepId) -> StepId) -> Self {
        Self { before, after, rename }
    }

    pub fn expression(&self, text: &str) -> Result<String, RenameError> {
        let expression = Expression::parse_with_ids(text, self.before)?;
        if expression.references().is_empty() {
            return Ok(text.to_owned());
        }
        let renamed = self.renamed(&expression);
        let written = renamed.to_string();
        match Expression::parse_with_ids(&written, self.after) {
            Ok(again) if again == renamed => Ok(written),
            _ => Err(RenameError::Ambiguous(text.to_owned())),
        }
    }

    /// A parameter value with the new names in its placeholders. A value without references stays as it is.
    pub fn template(&self, value: &Value) -> Result<Value, RenameError> {
        Ok(match value {
            Value::String(text) => Value::String(self.text(text)?),
            Value::Array(items) => {
                Value::Array(items.iter().map(|item| self.template(item)).collect::<Result<_, _>>()?)
            }
            Value::Object(object) => {
                let entries = object.iter().map(|(key, value)| Ok((key.to_owned(), self.template(value)?)));
                Value::Object(entries.collect::<Result<_, RenameError>>()?)
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        })
    }

    fn text(&self, text: &str) -> Result<String, RenameError> {
        let template = Template::parse_with_ids(&Value::from(text), self.before)?;
        if template.references().is_empty() {
            return Ok(text.to_owned());
        }
        let placeholder = |expression: &Expression| format!("{{{{{}}}}}", self.renamed(expression));
        let written = match &template {
            Template::Reference(reference) => placeholder(&reference.clone().into()),
            Template::Expression(expression) => placeholder(expression),
            Template::Text(text) => {
                let parts = text.parts.iter().map(|part| match part {
                    TextPart::Literal(literal) => literal.replace("{{", "{{{{"),
                    TextPart::Placeholder(expression) => placeholder(expression),
                });
                parts.collect()
            }
            Template::Literal(_) | Template::Array(_) | Template::Object(_) => text.to_owned(),
        };
        let references = |template: &Template, rename: bool| -> Vec<(StepId, String)> {
            let reference = |reference: &Reference| {
                let step = if rename { (self.rename)(reference.step()) } else { reference.step().clone() };
                (step, reference.path().to_string())
            };
            template.references().into_iter().map(reference).collect()
        };
        let again = Template::parse_with_ids(&Value::from(written.as_str()), self.after)?;
        if references(&again, false) != references(&template, true) {
            return Err(RenameError::Ambiguous(text.to_owned()));
        }
        Ok(written)
    }

    fn renamed(&self, expression: &Expression) -> Expression {
        let rename = |reference: &Reference| {
            let step = (self.rename)(reference.step());
            Node::Reference(Reference::new(step, reference.path().clone(), self.after))
        };
        Expression { root: expression.root.replace_references(&rename) }
    }
}
