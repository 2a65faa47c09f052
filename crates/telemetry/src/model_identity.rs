//! Which model a target is.

use std::collections::BTreeMap;

use reknit_model_api::TargetName;

/// The provider and the model of a target, as standard telemetry names them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelIdentity {
    /// The provider.
    pub provider: String,
    /// The provider's name for the model.
    pub model: String,
}

/// The model of each target. A target that is missing is reported under its own name.
pub type ModelIdentities = BTreeMap<TargetName, ModelIdentity>;
