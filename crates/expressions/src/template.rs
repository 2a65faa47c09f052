//! Templates: parameter values as a plan writes them.

mod parse;

pub use parse::placeholder_len;

use reknit_protocol::{MAX_DEPTH, Path, Segment, StepId, Value};

use crate::step_ids::StepIds;
use crate::{Expression, Reference, TemplateParseError, TemplateProblem};

/// A parameter value as the plan writes it.
#[derive(Debug, Clone, PartialEq)]
pub enum Template {
    Literal(Value),
    /// A reference to a result. The value keeps its type.
    Reference(Reference),
    /// An expression. The value keeps its type.
    Expression(Expression),
    /// A string with placeholders.
    Text(TextTemplate),
    /// An array with at least one item that is not a literal.
    Array(Vec<Template>),
    /// The entries of an object, at least one of which is not a literal.
    Object(Vec<(String, Template)>),
}

/// A string with placeholders, or a plain string that parses as an expression.
#[derive(Debug, Clone, PartialEq)]
pub struct TextTemplate {
    pub parts: Vec<TextPart>,
    /// The expression that the whole string parses as: `100 * {{step-1.price}}`. It is evaluated if the schema does not
    /// allow a string.
    pub calculation: Option<Expression>,
}

/// A part of a [`TextTemplate`].
#[derive(Debug, Clone, PartialEq)]
pub enum TextPart {
    /// Literal text.
    Literal(String),
    /// The expression between `{{` and `}}`.
    Placeholder(Expression),
}

impl Template {
    /// Parses a parameter. References may name the steps in `ids`.
    ///
    /// Fails at the first error.
    pub fn parse(value: &Value, ids: &[StepId]) -> Result<Self, TemplateParseError> {
        Self::parse_at(value, &StepIds::new(ids), &mut Path::root())
    }

    /// Like [`Template::parse`], with ids that were indexed before.
    pub fn parse_with_ids(value: &Value, ids: &StepIds<'_>) -> Result<Self, TemplateParseError> {
        Self::parse_at(value, ids, &mut Path::root())
    }

    pub(crate) fn parse_at(value: &Value, ids: &StepIds<'_>, path: &mut Path) -> Result<Self, TemplateParseError> {
        let error = |problem| TemplateParseError { path: path.clone(), position: 0, problem };
        if path.segments().len() > MAX_DEPTH {
            return Err(error(TemplateProblem::LimitExceeded { unit: "nesting levels", limit: MAX_DEPTH }));
        }
        if matches!(path.segments().last(), Some(Segment::Key(name)) if name.contains("{{")) {
            return Err(error(TemplateProblem::TemplateInName));
        }
        match value {
            Value::String(text) => {
                parse::parse_string(text, ids).map_err(|error| TemplateParseError { path: path.clone(), ..error })
            }
            Value::Array(items) => {
                let mut templates = Vec::with_capacity(items.len());
                for (index, item) in items.iter().enumerate() {
                    path.push_index(index);
                    templates.push(Self::parse_at(item, ids, path)?);
                    path.pop();
                }
                Ok(Self::array(templates))
            }
            Value::Object(object) => {
                let mut entries = Vec::with_capacity(object.len());
                for (key, value) in object {
                    path.push_key(key);
                    entries.push((key.to_owned(), Self::parse_at(value, ids, path)?));
                    path.pop();
                }
                Ok(Self::object(entries))
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => Ok(Self::Literal(value.clone())),
        }
    }

    /// Creates an array template; an array of literals is a literal.
    pub(crate) fn array(templates: Vec<Self>) -> Self {
        if templates.iter().any(|template| template.as_literal().is_none()) {
            return Self::Array(templates);
        }
        Self::Literal(templates.into_iter().filter_map(Self::into_literal).collect())
    }

    /// Creates an object template; an object of literals is a literal.
    pub(crate) fn object(entries: Vec<(String, Self)>) -> Self {
        if entries.iter().any(|(_, template)| template.as_literal().is_none()) {
            return Self::Object(entries);
        }
        let values = entries.into_iter().filter_map(|(key, template)| Some((key, template.into_literal()?)));
        Self::Literal(Value::Object(values.collect()))
    }

    pub fn as_literal(&self) -> Option<&Value> {
        if let Self::Literal(value) = self { Some(value) } else { None }
    }

    fn into_literal(self) -> Option<Value> {
        if let Self::Literal(value) = self { Some(value) } else { None }
    }

    pub fn references(&self) -> Vec<&Reference> {
        let mut found = Vec::new();
        self.collect_references(&mut found);
        found
    }

    fn collect_references<'t>(&'t self, found: &mut Vec<&'t Reference>) {
        match self {
            Self::Literal(_) => {}
            Self::Reference(reference) => found.push(reference),
            Self::Expression(expression) => found.extend(expression.references()),
            Self::Text(text) => {
                for part in &text.parts {
                    if let TextPart::Placeholder(expression) = part {
                        found.extend(expression.references());
                    }
                }
            }
            Self::Array(items) => items.iter().for_each(|item| item.collect_references(found)),
            Self::Object(entries) => entries.iter().for_each(|(_, template)| template.collect_references(found)),
        }
    }
}

impl From<Expression> for Template {
    fn from(expression: Expression) -> Self {
        match expression.as_reference() {
            Some(reference) => Self::Reference(reference.clone()),
            None => Self::Expression(expression),
        }
    }
}
