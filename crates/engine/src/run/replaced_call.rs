//! A call of a plan that another plan replaces.

use reknit_protocol::spelling::are_alike;
use reknit_protocol::{CapabilityName, Object, Step, Value, exact};
use serde::{Deserialize, Serialize};

/// A call of a plan that another plan replaces.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct ReplacedCall {
    capability: CapabilityName,
    #[serde(with = "exact")]
    parameters: Object,
}

impl ReplacedCall {
    /// `None` for a step without parameters: nothing of it can be left out.
    pub(super) fn of(step: &Step) -> Option<Self> {
        let parameters = step.parameters().filter(|parameters| !parameters.is_empty())?;
        Some(Self { capability: step.capability()?.into(), parameters: parameters.clone() })
    }

    /// What a step leaves out of this call, if it is the same call with less: one with other parameters may ask for the same in
    /// another way.
    pub(super) fn left_out_by(&self, step: &Step) -> Option<impl Iterator<Item = (&str, &Value)>> {
        let own = step.parameters()?;
        let has_value = |value: &Value| self.parameters.values().any(|known| known == value);
        let has_name = |name: &str| self.parameters.keys().any(|known| are_alike(known, name));
        let is_less = if step.capability() == Some(self.capability.as_str()) {
            own.keys().all(has_name) && (own.is_empty() || own.values().any(has_value))
        } else {
            !own.is_empty() && own.values().all(has_value)
        };
        let is_left_out = |name: &str, value: &Value| {
            !own.iter().any(|(known, kept)| are_alike(known, name) || value.as_bool().is_none() && kept == value)
        };
        is_less.then(|| self.parameters.iter().filter(move |(name, value)| is_left_out(name, value)))
    }
}
