//! The provenance of parameter values.

use reknit_protocol::{Exactness, Path, StepId, Value};
use reknit_salvage::Fix;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Where the value of a parameter comes from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Provenance {
    Literal,
    Reference {
        /// The step whose result has the value.
        step: StepId,
        /// The path of the value in the body of the result.
        #[serde(with = "path_serde")]
        path: Path,
    },
    /// An expression computed the value.
    Expression {
        text: String,
        /// Its literals and references, in order of evaluation.
        inputs: Vec<EvaluationInput>,
        exact: Exactness,
    },
    /// A string with inserted values.
    Text {
        /// The inserted values.
        inputs: Vec<EvaluationInput>,
        exact: Exactness,
    },
    Nested {
        /// The parts that are not literal.
        parts: Vec<NestedPart>,
    },
    /// The plan omits the parameter, and exactly one result had a matching value.
    Wired {
        step: StepId,
        /// The path of the value in the body of the result.
        #[serde(with = "path_serde")]
        path: Path,
    },
    /// The plan omits the parameter, and a model or a stored mapping located the value.
    Resolved {
        by: ResolvedBy,
        /// The provenance of the located value.
        origin: Box<Provenance>,
    },
    Inferred,
    /// A person set the value when they approved the call.
    Person,
    /// A correction after a failure set the value.
    Corrected {
        rung: String,
        backing: Backing,
    },
}

/// The evidence for a corrected value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Backing {
    /// Code derived it from known facts.
    Known,
    /// A model wrote the number, and an expression over known values gives the same number.
    Explained {
        /// The expression, over results and numbers of the request.
        text: String,
    },
    /// A rule that was learned in earlier runs computed it.
    Rule { rule: String, text: String },
    /// A model wrote it, and no expression explains it.
    Inferred,
}

/// What located the value of a parameter that the plan omits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResolvedBy {
    Model,
    /// A mapping learned in an earlier run, which no person has accepted.
    Learned,
    /// A mapping that a person has accepted.
    Accepted,
}

impl Provenance {
    /// Whether at least a part of the value comes from a step result.
    pub fn comes_from_result(&self) -> bool {
        self.has_source(&|_| true)
    }

    /// Whether at least a part of the value comes from this step, or from the inputs of the plan by their name.
    pub fn refers_to(&self, id: &str) -> bool {
        self.has_source(&|step| step.as_str() == id)
    }

    /// Whether at least a part of the value comes from a step for which `is_wanted` is true.
    fn has_source(&self, is_wanted: &dyn Fn(&StepId) -> bool) -> bool {
        let is_input =
            |input: &EvaluationInput| matches!(&input.source, InputSource::Reference { step, .. } if is_wanted(step));
        match self {
            Self::Literal | Self::Inferred | Self::Person | Self::Corrected { .. } => false,
            Self::Reference { step, .. } | Self::Wired { step, .. } => is_wanted(step),
            Self::Expression { inputs, .. } | Self::Text { inputs, .. } => inputs.iter().any(is_input),
            Self::Nested { parts } => parts.iter().any(|part| part.provenance.has_source(is_wanted)),
            Self::Resolved { origin, .. } => origin.has_source(is_wanted),
        }
    }
}

/// A part of an array or an object, with its provenance.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NestedPart {
    #[serde(with = "path_serde")]
    pub path: Path,
    pub provenance: Provenance,
}

/// A value used by an expression or inserted into a string.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EvaluationInput {
    pub source: InputSource,
    /// The value, [abridged](crate::abridge()) if it is large.
    #[serde(with = "reknit_protocol::exact")]
    pub value: Value,
}

/// The source of an [`EvaluationInput`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InputSource {
    Literal,
    /// A reference in the expression.
    Reference {
        step: StepId,
        /// The path of the value in the body of the result.
        #[serde(with = "path_serde")]
        path: Path,
    },
}

/// A recorded change to a value between the plan and the call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ValueChange {
    #[serde(with = "path_serde")]
    pub path: Path,
    /// The kind of change: the name of a [`FixKind`](reknit_salvage::FixKind), or [`ValueChange::CALCULATION`].
    pub kind: String,
    pub before: String,
    pub after: String,
}

impl ValueChange {
    /// The kind for a string that was evaluated as an expression because the schema does not allow a string.
    pub const CALCULATION: &str = "calculation";
}

impl From<Fix> for ValueChange {
    fn from(fix: Fix) -> Self {
        let after = if fix.times > 1 { format!("{} times", fix.times) } else { fix.after };
        Self { path: fix.path, kind: fix.kind.name().to_owned(), before: fix.before, after }
    }
}

/// Serializes paths as text: `$.items[0]["odd key"]`.
mod path_serde {
    use super::{Deserialize, Deserializer, Path, Serializer, Value, de};

    pub(crate) fn serialize<S: Serializer>(path: &Path, out: S) -> Result<S::Ok, S::Error> {
        out.collect_str(path)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Path, D::Error> {
        let text = String::deserialize(from)?;
        parse(&text).ok_or_else(|| de::Error::custom(format!("`{text}` is not a path such as `$.items[0].id`")))
    }

    /// Parses the output of `Path`'s `Display`.
    pub(super) fn parse(text: &str) -> Option<Path> {
        let mut path = Path::root();
        let mut rest = text.strip_prefix('$')?;
        while !rest.is_empty() {
            if let Some(name) = rest.strip_prefix('.') {
                let end = name.find(['.', '[']).unwrap_or(name.len());
                let (key, after) = name.split_at_checked(end).filter(|(key, _)| !key.is_empty())?;
                path.push_key(key);
                rest = after;
            } else if let Some(quoted) = rest.strip_prefix('[').filter(|inside| inside.starts_with('"')) {
                let (key, after) = quoted.split_at_checked(crate::expression::quoted_len(quoted)?)?;
                path.push_key(Value::parse(key).ok()?.as_str()?);
                rest = after.strip_prefix(']')?;
            } else {
                let (index, after) = rest.strip_prefix('[')?.split_once(']')?;
                path.push_index(index.parse().ok()?);
                rest = after;
            }
        }
        Some(path)
    }
}

#[cfg(test)]
mod tests {
    use super::path_serde::parse;
    use super::*;

    #[test]
    fn a_printed_path_parses_to_the_same_path() {
        let odd = Path::root().key("a.b").key("").key("0").key("\"]\\").key("é");
        for path in [Path::root(), Path::root().key("items").index(0).key("id"), odd] {
            assert_eq!(parse(&path.to_string()), Some(path));
        }
        for text in ["", "a", "$.", "$[", "$[\"a\"", "$[x]", "$a"] {
            assert_eq!(parse(text), None, "case: {text}");
        }
    }
}
