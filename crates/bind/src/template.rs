//! Parameters as a plan writes them, parsed once.

mod scan;

use reknit_protocol::{MAX_DEPTH, Path, Segment, StepId, Value};

use crate::error::TemplateProblem;
use crate::ids::Ids;
use crate::{Expression, Reference, TemplateError};

/// A parameter as the plan has it: values, and what stands for values.
///
/// ```
/// use reknit_bind::Template;
/// use reknit_protocol::Value;
///
/// let ids = ["step-1".into()];
/// let parsed = Template::parse(&Value::from("{{step-1.items[0].price}}"), &ids)?;
/// assert!(matches!(&parsed, Template::Reference(reference) if reference.to_string() == "step-1.items[0].price"));
/// assert_eq!(Template::parse(&Value::from("{{{{name}}"), &ids)?, Template::Literal(Value::from("{{name}}")));
/// # Ok::<(), reknit_bind::TemplateError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum Template {
    /// A value as it is.
    Literal(Value),
    /// The value at a place of a result, with its type.
    Reference(Reference),
    /// A calculation.
    Expression(Expression),
    /// A text with values in it.
    Text(Text),
    /// A list with at least one item that is no literal.
    Array(Vec<Template>),
    /// Keys and values, at least one of which is no literal.
    Object(Vec<(String, Template)>),
}

/// A text with values in it.
#[derive(Debug, Clone, PartialEq)]
pub struct Text {
    /// Its parts, in order.
    pub parts: Vec<Part>,
    /// The calculation the whole text would be, if it can be read as one: `100 * {{step-1.price}}`. It counts where a
    /// text does not fit.
    pub calculation: Option<Expression>,
}

/// A part of a [`Text`].
#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    /// Text as it is.
    Literal(String),
    /// What stood between `{{` and `}}`.
    Hole(Expression),
}

impl Template {
    /// Reads a parameter whose references are to the steps in `ids`.
    ///
    /// Fails with the place of the first defect.
    pub fn parse(value: &Value, ids: &[StepId]) -> Result<Self, TemplateError> {
        Self::parse_at(value, &Ids::new(ids), &mut Path::root())
    }

    pub(crate) fn parse_at(value: &Value, ids: &Ids<'_>, path: &mut Path) -> Result<Self, TemplateError> {
        if path.segments().len() > MAX_DEPTH {
            let problem = TemplateProblem::TooMuch { of: "levels", limit: MAX_DEPTH };
            return Err(TemplateError { path: path.clone(), position: 0, problem });
        }
        if matches!(path.segments().last(), Some(Segment::Key(name)) if name.contains("{{")) {
            return Err(TemplateError { path: path.clone(), position: 0, problem: TemplateProblem::Name });
        }
        match value {
            Value::String(text) => {
                scan::parse(text, ids).map_err(|error| TemplateError { path: path.clone(), ..error })
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

    /// A list of literals is a literal.
    pub(crate) fn array(templates: Vec<Self>) -> Self {
        if templates.iter().any(|template| template.as_literal().is_none()) {
            return Self::Array(templates);
        }
        Self::Literal(templates.into_iter().filter_map(Self::into_literal).collect())
    }

    /// An object of literals is a literal.
    pub(crate) fn object(entries: Vec<(String, Self)>) -> Self {
        if entries.iter().any(|(_, template)| template.as_literal().is_none()) {
            return Self::Object(entries);
        }
        let values = entries.into_iter().filter_map(|(key, template)| Some((key, template.into_literal()?)));
        Self::Literal(Value::Object(values.collect()))
    }

    /// The value, if it is one as it is.
    pub fn as_literal(&self) -> Option<&Value> {
        match self {
            Self::Literal(value) => Some(value),
            _ => None,
        }
    }

    fn into_literal(self) -> Option<Value> {
        match self {
            Self::Literal(value) => Some(value),
            _ => None,
        }
    }

    /// The references in it, in order.
    pub fn references(&self) -> Vec<&Reference> {
        let mut found = Vec::new();
        self.collect(&mut found);
        found
    }

    fn collect<'t>(&'t self, found: &mut Vec<&'t Reference>) {
        match self {
            Self::Literal(_) => {}
            Self::Reference(reference) => found.push(reference),
            Self::Expression(expression) => found.extend(expression.references()),
            Self::Text(text) => {
                for part in &text.parts {
                    if let Part::Hole(expression) = part {
                        found.extend(expression.references());
                    }
                }
            }
            Self::Array(items) => items.iter().for_each(|item| item.collect(found)),
            Self::Object(entries) => entries.iter().for_each(|(_, template)| template.collect(found)),
        }
    }

    /// The steps whose results it needs, each once, in the order they come up.
    pub fn steps(&self) -> Vec<StepId> {
        let mut steps: Vec<StepId> = Vec::new();
        for reference in self.references() {
            if !steps.contains(reference.step()) {
                steps.push(reference.step().clone());
            }
        }
        steps
    }
}
