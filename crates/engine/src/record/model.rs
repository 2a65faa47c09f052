//! Questions to models, of either machine.

use std::sync::Arc;

use reknit_model_api::{ModelAnswer, ModelFailure, ModelRequest, Purpose, TargetName};
use reknit_protocol::EffectId;

/// A question to a model, and what became of it.
#[derive(Debug, Clone, PartialEq)]
pub enum ModelRecord {
    /// A model target was chosen and is asked.
    Asked(ModelQuestion),
    /// A model answered. The text may still turn out to be unusable for its purpose.
    Answered {
        /// The id of the effect that asked the question.
        id: EffectId,
        answer: Arc<ModelAnswer>,
        /// Why the answer counts as a failure, if it does: it has no text, or a session rejected it.
        failure: Option<ModelFailure>,
    },
    /// A model did not answer.
    Failed {
        /// The id of the effect that asked the question.
        id: EffectId,
        failure: ModelFailure,
    },
    /// A model target was skipped because its circuit breaker is open or it is at its rate limit.
    Skipped {
        /// The id of the effect that asked the question.
        id: EffectId,
        /// When the target can be asked again, in milliseconds since 1970.
        until_ms: i64,
    },
}

/// One question to one model target.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelQuestion {
    pub id: EffectId,
    pub target: TargetName,
    pub purpose: Purpose,
    /// The number of the attempt: of the plan for a plan, of the question for anything else.
    pub attempt: u32,
    pub request: Arc<ModelRequest>,
}

impl ModelRecord {
    /// The effect that asked the question.
    pub(super) fn effect(&self) -> &EffectId {
        match self {
            Self::Asked(question) => &question.id,
            Self::Answered { id, .. } | Self::Failed { id, .. } | Self::Skipped { id, .. } => id,
        }
    }
}
