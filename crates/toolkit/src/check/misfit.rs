//! What is wrong with arguments, in the words of the protocol.

use reknit_protocol::tool::codes;
use reknit_protocol::{Category, Kind, Object, Path, Retryable, ToolError, Value};

use crate::schema::{Form, example, expected};

/// More than anybody mends at once.
const MAX_PROBLEMS: usize = 10;
/// Longer values are named by their beginning: an error is no place for a megabyte.
const MAX_ACTUAL: usize = 80;

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Misfit {
    /// A field that must be there is not.
    Missing { path: Path, schema: Value },
    /// A field is there that nobody declared.
    Unknown { path: Path, meant: Option<String>, known: Vec<String> },
    /// A value of another kind.
    Kind { path: Path, schema: Value, actual: Actual },
    /// A value that is not one of those listed.
    NotListed { path: Path, allowed: Vec<Value>, actual: Value },
    /// A value beyond a bound.
    Bound { path: Path, rule: String, actual: Value },
    /// A value that could be so many things that looking for the right one was given up.
    TooManyWays { path: Path },
}

/// The kind of a value that was not expected.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Actual {
    Kind(Kind),
    /// Where only a whole number will do.
    Fraction,
}

impl Actual {
    fn bare(self) -> &'static str {
        match self {
            Self::Kind(kind) => kind.as_str(),
            Self::Fraction => "number with a fraction",
        }
    }

    fn with_article(self) -> &'static str {
        match self {
            Self::Kind(kind) => kind.with_article(),
            Self::Fraction => "a number with a fraction",
        }
    }
}

/// The error about the first misfit; a missing field comes before everything else, because nothing works without it.
pub(super) fn report(root: &Value, found: &[Misfit]) -> Option<ToolError> {
    let is_missing = |misfit: &&Misfit| matches!(misfit, Misfit::Missing { .. });
    let first = found.iter().find(is_missing).or_else(|| found.first())?;
    let mut error = first.error(root);
    if found.len() > 1 {
        let problems: Vec<Value> = found.iter().take(MAX_PROBLEMS).map(|one| one.message(root).into()).collect();
        error.details.insert("problems", problems);
    }
    Some(error)
}

impl Misfit {
    fn path(&self) -> &Path {
        match self {
            Self::Missing { path, .. }
            | Self::Unknown { path, .. }
            | Self::Kind { path, .. }
            | Self::NotListed { path, .. }
            | Self::Bound { path, .. }
            | Self::TooManyWays { path } => path,
        }
    }

    fn error(&self, root: &Value) -> ToolError {
        let code = match self {
            Self::Missing { .. } => codes::MISSING_REQUIRED_FIELD,
            _ => codes::INVALID_FORMAT,
        };
        let mut error = ToolError::new(code, self.message(root), Category::InputError).retryable(Retryable::Yes);
        error.details.insert("field", field(self.path()));
        self.add_facts(root, &mut error.details);
        error.details.insert("hint", self.hint(root));
        error
    }

    fn message(&self, root: &Value) -> String {
        let field = field(self.path());
        match self {
            Self::Missing { .. } => format!("`{field}` is required"),
            Self::Unknown { .. } => format!("there is no field `{field}`"),
            Self::Kind { schema, actual, .. } => {
                let expected = expected(root, schema, Form::WithArticle);
                format!("`{field}` must be {expected}, not {}", actual.with_article())
            }
            Self::NotListed { allowed, .. } => format!("`{field}` must be one of {}", list(allowed)),
            Self::Bound { rule, .. } => format!("`{field}` must be {rule}"),
            Self::TooManyWays { .. } => format!("`{field}` can be read in too many ways"),
        }
    }

    fn hint(&self, root: &Value) -> String {
        let field = field(self.path());
        match self {
            Self::Missing { schema, .. } | Self::Kind { schema, .. } => {
                let example = example(root, schema).map_or_else(String::new, |value| format!(", for example {value}"));
                format!("send `{field}` as {}{example}", expected(root, schema, Form::WithArticle))
            }
            Self::Unknown { meant: Some(meant), .. } => format!("did you mean `{meant}`?"),
            Self::Unknown { known, .. } if known.is_empty() => "leave it out: nothing is taken here".to_owned(),
            Self::Unknown { known, .. } => format!("leave it out; the fields are {}", known.join(", ")),
            Self::NotListed { allowed, .. } => format!("send one of {}", list(allowed)),
            Self::Bound { rule, .. } => format!("send a value that is {rule}"),
            Self::TooManyWays { .. } => "send a simpler value".to_owned(),
        }
    }

    /// What a program reads instead of the words.
    fn add_facts(&self, root: &Value, details: &mut Object) {
        match self {
            Self::Missing { schema, .. } => {
                details.insert("expected", expected(root, schema, Form::Bare));
                if let Some(example) = example(root, schema) {
                    details.insert("example", example);
                }
            }
            Self::Unknown { meant, known, .. } => {
                if let Some(meant) = meant {
                    details.insert("did_you_mean", meant.as_str());
                }
                details.insert("fields", known.iter().map(|name| name.as_str().into()).collect::<Vec<Value>>());
            }
            Self::Kind { schema, actual, .. } => {
                details.insert("expected", expected(root, schema, Form::Bare));
                details.insert("actual", actual.bare());
                if let Some(example) = example(root, schema) {
                    details.insert("example", example);
                }
            }
            Self::NotListed { allowed, actual, .. } => {
                details.insert("allowed", allowed.clone());
                details.insert("actual", brief(actual));
            }
            Self::Bound { rule, actual, .. } => {
                details.insert("expected", rule.as_str());
                details.insert("actual", brief(actual));
            }
            Self::TooManyWays { .. } => {}
        }
    }
}

/// `amount`, `legs[0].to`; the parameters as a whole are `parameters`.
fn field(path: &Path) -> String {
    if path.is_root() {
        return "parameters".to_owned();
    }
    let text = path.to_string();
    let text = text.strip_prefix('$').unwrap_or(&text);
    text.strip_prefix('.').unwrap_or(text).to_owned()
}

fn list(values: &[Value]) -> String {
    values.iter().map(Value::to_string).collect::<Vec<_>>().join(", ")
}

/// A short value is a fact; a long one is named by its beginning.
fn brief(value: &Value) -> Value {
    let text = value.to_string();
    if text.len() <= MAX_ACTUAL {
        return value.clone();
    }
    Value::String(text.chars().take(MAX_ACTUAL).chain(['…']).collect())
}
