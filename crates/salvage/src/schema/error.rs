//! Why a schema cannot be used.

use jsonschema::ReferencingError;
use jsonschema::error::ValidationErrorKind;
use reknit_protocol::{Path, Value};

use super::report::Report;
use super::{Problem, ProblemKind};

/// Why a schema cannot be compiled.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SchemaError {
    /// A schema is an object, or `true`, or `false`.
    #[error("a schema is an object or a boolean, not {found}")]
    NotASchema {
        /// What was given: "a string".
        found: &'static str,
    },
    /// A keyword has a value that makes no sense.
    #[error("the schema is not valid at `{path}`: {message}")]
    Invalid {
        /// Where in the schema.
        path: Path,
        /// What is wrong there.
        message: String,
    },
    /// The schema refers to something outside of itself. Nothing is ever fetched.
    #[error("the schema refers to `{reference}` at `{path}`, which is not part of it; nothing is fetched")]
    External {
        /// Where in the schema the reference stands; the root if it cannot be told.
        path: Path,
        /// What it refers to.
        reference: String,
    },
    /// The schema refers to a part of itself that it does not have.
    #[error("the schema refers to `{reference}` at `{path}`, which does not exist")]
    Dangling {
        /// Where in the schema the reference stands; the root if it cannot be told.
        path: Path,
        /// What it refers to.
        reference: String,
    },
}

impl SchemaError {
    pub(crate) fn new(error: &jsonschema::ValidationError<'_>, source: &Value) -> Self {
        let ValidationErrorKind::Referencing(reference) = error.kind() else {
            return Self::invalid(error, source);
        };
        match reference {
            ReferencingError::Unretrievable { uri, .. } => {
                let (path, reference) = find_reference(source, |text| uri.ends_with(document_of(text)))
                    .unwrap_or_else(|| (Path::root(), uri.clone()));
                Self::External { path, reference }
            }
            ReferencingError::PointerToNowhere { pointer: fragment }
            | ReferencingError::NoSuchAnchor { anchor: fragment }
            | ReferencingError::InvalidAnchor { anchor: fragment }
            | ReferencingError::InvalidPercentEncoding { pointer: fragment, .. }
            | ReferencingError::InvalidArrayIndex { pointer: fragment, .. } => {
                let (path, reference) = find_reference(source, |text| text.ends_with(fragment.as_str()))
                    .unwrap_or_else(|| (Path::root(), fragment.clone()));
                Self::Dangling { path, reference }
            }
            other => Self::Invalid { path: Path::root(), message: other.to_string() },
        }
    }

    /// In our words where we have them, else in those of the validator.
    fn invalid(error: &jsonschema::ValidationError<'_>, source: &Value) -> Self {
        let mut report = Report::new(source, &Value::Null, Path::root(), &[]);
        report.add(error);
        match report.finish().into_iter().next() {
            Some(Problem { path, kind: ProblemKind::Other { .. }, .. }) => {
                Self::Invalid { path, message: error.to_string() }
            }
            Some(problem) => Self::Invalid { path: problem.path, message: problem.message },
            None => Self::Invalid { path: Path::root(), message: error.to_string() },
        }
    }
}

/// A reference without its fragment.
fn document_of(reference: &str) -> &str {
    reference.split('#').next().filter(|document| !document.is_empty()).unwrap_or(reference)
}

/// The first `$ref` or the like that is meant, with its place.
fn find_reference(schema: &Value, is_meant: impl Fn(&str) -> bool) -> Option<(Path, String)> {
    let mut open = vec![(Path::root(), schema)];
    while let Some((path, value)) = open.pop() {
        match value {
            Value::Object(object) => {
                for keyword in ["$ref", "$dynamicRef", "$recursiveRef", "$schema"] {
                    if let Some(text) = object.get(keyword).and_then(Value::as_str)
                        && is_meant(text)
                    {
                        return Some((path.key(keyword), text.to_owned()));
                    }
                }
                open.extend(object.iter().rev().map(|(key, value)| (path.key(key), value)));
            }
            Value::Array(items) => {
                open.extend(items.iter().enumerate().rev().map(|(index, item)| (path.index(index), item)));
            }
            _ => {}
        }
    }
    None
}
