//! The provenance of parameter values.

use reknit_protocol::{Path, StepId, Value};
use serde::{Deserialize, Serialize};

use crate::Exactness;

/// Where the value of a parameter comes from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Provenance {
    /// The plan contains the value.
    Literal,
    /// The plan references a result.
    Reference {
        /// The step whose result has the value.
        step: StepId,
        /// The path of the value in the body of the result.
        #[serde(with = "crate::path_serde")]
        path: Path,
    },
    /// An expression computed the value.
    Expression {
        /// The expression.
        text: String,
        /// Its literals and references, in order of evaluation.
        inputs: Vec<EvaluationInput>,
        /// Whether the value was rounded.
        exact: Exactness,
    },
    /// A string with inserted values.
    Text {
        /// The inserted values.
        inputs: Vec<EvaluationInput>,
        /// Whether an inserted value was rounded.
        exact: Exactness,
    },
    /// An array or an object whose parts have different provenance.
    Nested {
        /// The parts that are not literal.
        parts: Vec<NestedPart>,
    },
    /// The plan omits the parameter, and exactly one result had a matching value.
    Wired {
        /// The step whose result has the value.
        step: StepId,
        /// The path of the value in the body of the result.
        #[serde(with = "crate::path_serde")]
        path: Path,
    },
    /// The plan omits the parameter, and a model or a stored mapping located the value.
    Resolved {
        /// What located the value.
        by: ResolvedBy,
        /// The provenance of the located value.
        origin: Box<Provenance>,
    },
    /// A model wrote the value.
    Inferred,
    /// A person set the value when they approved the call.
    Person,
    /// A correction after a failure set the value.
    Corrected {
        /// The rung that corrected the value.
        rung: String,
        /// The evidence for the value.
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
    Rule {
        /// The id of the rule.
        rule: String,
        /// The expression of the rule.
        text: String,
    },
    /// A model wrote it, and no expression explains it.
    Inferred,
}

/// What located the value of a parameter that the plan omits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResolvedBy {
    /// A model.
    Model,
    /// A mapping learned in an earlier run, which no person has accepted.
    Learned,
    /// A mapping that a person has accepted.
    Accepted,
}

impl Provenance {
    /// Whether at least a part of the value comes from a step result.
    pub fn comes_from_result(&self) -> bool {
        match self {
            Self::Literal | Self::Inferred | Self::Person | Self::Corrected { .. } => false,
            Self::Reference { .. } | Self::Wired { .. } => true,
            Self::Expression { inputs, .. } | Self::Text { inputs, .. } => {
                inputs.iter().any(|input| input.source != InputSource::Literal)
            }
            Self::Nested { parts } => parts.iter().any(|part| part.provenance.comes_from_result()),
            Self::Resolved { origin, .. } => origin.comes_from_result(),
        }
    }

    /// Whether at least a part of the value comes from this step, or from the inputs of the plan by their name.
    pub fn refers_to(&self, id: &str) -> bool {
        let is_input = |input: &EvaluationInput| matches!(&input.source, InputSource::Reference { step, .. } if step.as_str() == id);
        match self {
            Self::Literal | Self::Inferred | Self::Person | Self::Corrected { .. } => false,
            Self::Reference { step, .. } | Self::Wired { step, .. } => step.as_str() == id,
            Self::Expression { inputs, .. } | Self::Text { inputs, .. } => inputs.iter().any(is_input),
            Self::Nested { parts } => parts.iter().any(|part| part.provenance.refers_to(id)),
            Self::Resolved { origin, .. } => origin.refers_to(id),
        }
    }
}

/// A part of an array or an object, with its provenance.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NestedPart {
    /// The location in the parameters.
    #[serde(with = "crate::path_serde")]
    pub path: Path,
    /// The provenance of the part.
    pub provenance: Provenance,
}

/// A value used by an expression or inserted into a string.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EvaluationInput {
    /// The source of the value.
    pub source: InputSource,
    /// The value, [abridged](crate::abridge()) if it is large.
    #[serde(with = "reknit_protocol::exact")]
    pub value: Value,
}

/// The source of an [`EvaluationInput`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InputSource {
    /// A literal in the expression.
    Literal,
    /// A reference in the expression.
    Reference {
        /// The step whose result has the value.
        step: StepId,
        /// The path of the value in the body of the result.
        #[serde(with = "crate::path_serde")]
        path: Path,
    },
}
