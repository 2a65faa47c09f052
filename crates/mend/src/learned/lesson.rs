//! A correction that succeeded, from which a rule can be learned and by which rules are judged.

use reknit_protocol::{Object, SideEffect};

use super::FaultyCall;
use crate::Rung;

/// A failed call, and the parameters with which it succeeded.
#[derive(Debug, Clone)]
pub struct Lesson {
    /// Where it happened, as `run/step`.
    pub place: String,
    /// The failed call.
    pub call: FaultyCall,
    /// The parameters that the tool accepted.
    pub corrected: Object,
    /// The rung that corrected the call.
    pub rung: Rung,
    /// The side effect of the capability.
    pub side_effect: SideEffect,
    /// Where the model says that new values come from.
    pub origins: Vec<ValueOrigin>,
    /// How many model calls the correction needed.
    pub model_calls: u32,
}

/// The expression with which a model, or code after it, explained a new value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValueOrigin {
    /// The parameter.
    pub parameter: String,
    /// The expression over the steps of the run.
    pub expression: String,
}

impl Lesson {
    /// The parameters whose values are new, in the order of the call.
    pub(super) fn changed(&self) -> Vec<&str> {
        let is_new = |name: &&str| self.call.parameters.get(name) != self.corrected.get(name);
        self.corrected.keys().filter(is_new).collect()
    }

    /// The parameters that were left out.
    pub(super) fn removed(&self) -> Vec<&str> {
        self.call.parameters.keys().filter(|name| !self.corrected.contains_key(name)).collect()
    }

    /// Whether a model made the correction.
    pub fn is_by_model(&self) -> bool {
        matches!(self.rung, Rung::Resolution | Rung::Feedback | Rung::Context)
    }
}
