//! Why a schema cannot be compiled.

use jsonschema::ReferencingError;
use jsonschema::error::ValidationErrorKind;
use reknit_protocol::{Path, Value};

use super::complexity::MAX_VISITS;
use super::report::Report;
use super::{FitProblem, FitProblemKind};

/// Why a schema cannot be compiled.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaError {
    #[error("a schema must be an object or a boolean, not {found}")]
    NotASchema {
        /// The type of the JSON, with an article: "a string".
        found: &'static str,
    },
    #[error("the schema is not valid at `{path}`: {message}")]
    Invalid { path: Path, message: String },
    /// Validating even a small value could take too long, as in a schema whose definitions refer to each other twice on each
    /// of many levels.
    #[error(
        "the schema is too complex: one value may have to be checked against {visits} subschemas; the limit is {MAX_VISITS}"
    )]
    TooComplex {
        /// How many subschemas a validator may have to visit on the way to one place in a value.
        visits: u64,
    },
    /// Matching the regular expressions that apply to one value could take too long, because they are large or there are many.
    #[error("the schema is too complex: its patterns repeat too many characters; the limit for one pattern is 2500")]
    PatternsTooLarge,
    /// The schema refers to another document. Nothing is ever fetched.
    #[error("the schema refers to `{reference}` at `{path}`, which is outside of it and is not fetched")]
    External {
        /// The path of the reference; the root if it is not known.
        path: Path,
        reference: String,
    },
    /// The schema refers to a part of itself that does not exist.
    #[error("the schema refers to `{reference}` at `{path}`, which does not exist")]
    Dangling {
        /// The path of the reference; the root if it is not known.
        path: Path,
        reference: String,
    },
}

impl SchemaError {
    pub(crate) fn new(error: &jsonschema::ValidationError<'_>, source: &Value) -> Self {
        let ValidationErrorKind::Referencing(reference) = error.kind() else {
            return Self::invalid(error, source);
        };
        let or_root = |found: Option<_>, reference: &String| found.unwrap_or_else(|| (Path::root(), reference.clone()));
        match reference {
            ReferencingError::Unretrievable { uri, .. } => {
                let found = find_reference(source, |text| uri.ends_with(document_of(text)));
                let (path, reference) = or_root(found, uri);
                Self::External { path, reference }
            }
            ReferencingError::PointerToNowhere { pointer: fragment }
            | ReferencingError::NoSuchAnchor { anchor: fragment }
            | ReferencingError::InvalidAnchor { anchor: fragment }
            | ReferencingError::InvalidPercentEncoding { pointer: fragment, .. }
            | ReferencingError::InvalidArrayIndex { pointer: fragment, .. } => {
                let found = find_reference(source, |text| text.ends_with(fragment.as_str()));
                let (path, reference) = or_root(found, fragment);
                Self::Dangling { path, reference }
            }
            other => Self::Invalid { path: Path::root(), message: other.to_string() },
        }
    }

    /// Uses the message of the problem if there is one, otherwise that of the validator.
    fn invalid(error: &jsonschema::ValidationError<'_>, source: &Value) -> Self {
        let mut report = Report::new(source, &Value::Null, Path::root(), &[]);
        report.add(error);
        match report.finish().into_iter().next() {
            Some(FitProblem { path, kind: FitProblemKind::Other { .. } | FitProblemKind::Format { .. }, .. }) => {
                Self::Invalid { path, message: error.to_string() }
            }
            Some(problem) => Self::Invalid { path: problem.path, message: problem.message },
            None => Self::Invalid { path: Path::root(), message: error.to_string() },
        }
    }
}

fn document_of(reference: &str) -> &str {
    reference.split('#').next().filter(|document| !document.is_empty()).unwrap_or(reference)
}

fn find_reference(schema: &Value, matches: impl Fn(&str) -> bool) -> Option<(Path, String)> {
    let mut pending = vec![(Path::root(), schema)];
    while let Some((path, value)) = pending.pop() {
        match value {
            Value::Object(object) => {
                for keyword in ["$ref", "$dynamicRef", "$recursiveRef", "$schema"] {
                    if let Some(text) = object.get(keyword).and_then(Value::as_str)
                        && matches(text)
                    {
                        return Some((path.key(keyword), text.to_owned()));
                    }
                }
                pending.extend(object.iter().rev().map(|(key, value)| (path.key(key), value)));
            }
            Value::Array(items) => {
                pending.extend(items.iter().enumerate().rev().map(|(index, item)| (path.index(index), item)));
            }
            _ => {}
        }
    }
    None
}
