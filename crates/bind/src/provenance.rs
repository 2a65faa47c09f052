//! Where a value comes from.

use reknit_protocol::{Path, StepId, Value};
use serde::{Deserialize, Serialize};

use crate::Exactness;

/// Where the value of a parameter comes from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Provenance {
    /// The plan says it.
    Literal,
    /// The plan refers to it.
    Reference {
        /// Whose result.
        step: StepId,
        /// The place in the body where it was found.
        #[serde(with = "crate::path_text")]
        path: Path,
    },
    /// It was calculated.
    Expression {
        /// The calculation.
        text: String,
        /// What went into it: literals and references, in the order they came up.
        inputs: Vec<Input>,
        /// Whether it was rounded.
        exact: Exactness,
    },
    /// A text that values were put into.
    Text {
        /// Those values.
        inputs: Vec<Input>,
        /// Whether one of them was rounded.
        exact: Exactness,
    },
    /// A list or an object with parts that come from elsewhere. What is not listed is literal.
    Nested {
        /// Those parts.
        parts: Vec<NestedPart>,
    },
    /// The plan left it out, and exactly one result had it.
    Wired {
        /// Whose result.
        step: StepId,
        /// The place in the body where it was found.
        #[serde(with = "crate::path_text")]
        path: Path,
    },
    /// The plan left it open, and it was found in the results.
    Resolved {
        /// Who said where it is.
        by: Finder,
        /// Where it comes from.
        origin: Box<Provenance>,
    },
    /// A model says it, and no result does.
    Inferred,
    /// It was corrected after a failure.
    Corrected {
        /// The rung that did it.
        rung: String,
        /// What speaks for the value.
        backing: Backing,
    },
}

/// What speaks for a value that was put in the place of another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Backing {
    /// Code took it from what was known.
    Known,
    /// A model wrote the number, and this calculation gives the same.
    Explained {
        /// The calculation, over results and what the request says.
        text: String,
    },
    /// A model wrote it, and nothing explains it.
    Inferred,
}

/// Who said where a value is that the plan left open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finder {
    /// A model.
    Model,
    /// An earlier run, in which it was found in the same way.
    Learned,
}

impl Provenance {
    /// Whether some of it comes from a result. What does not is only somebody's word.
    pub fn has_source(&self) -> bool {
        match self {
            Self::Literal | Self::Inferred | Self::Corrected { .. } => false,
            Self::Reference { .. } | Self::Wired { .. } => true,
            Self::Expression { inputs, .. } | Self::Text { inputs, .. } => {
                inputs.iter().any(|input| input.source != InputSource::Literal)
            }
            Self::Nested { parts } => parts.iter().any(|part| part.provenance.has_source()),
            Self::Resolved { origin, .. } => origin.has_source(),
        }
    }
}

/// A part of a list or an object, with where it comes from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NestedPart {
    /// Where in the parameters.
    #[serde(with = "crate::path_text")]
    pub path: Path,
    /// Where it comes from.
    pub provenance: Provenance,
}

/// A value that went into a calculation or a text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Input {
    /// Where it comes from.
    pub source: InputSource,
    /// The value; a large one in outline only, as [`project`](crate::project) gives it.
    #[serde(with = "reknit_protocol::exact")]
    pub value: Value,
}

/// Where an [`Input`] comes from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InputSource {
    /// The expression says it.
    Literal,
    /// The expression refers to it.
    Reference {
        /// Whose result.
        step: StepId,
        /// The place in the body where it was found.
        #[serde(with = "crate::path_text")]
        path: Path,
    },
}
