//! A tool call that may be sent. Every call effect of a machine is made here.

use std::ops::Deref;
use std::sync::Arc;

use reknit_protocol::CallTool;
use serde::{Deserialize, Serialize};

use crate::effect::Effect;
use crate::gate::Pass;

/// A tool call that may be sent. Only [`admit`] makes one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct AdmittedCall(Arc<CallTool>);

/// Admits a call that passed the gate: its effect may become due.
pub(crate) fn admit(call: CallTool, _: Pass) -> AdmittedCall {
    AdmittedCall(Arc::new(call))
}

impl AdmittedCall {
    pub(crate) fn effect(&self) -> Effect {
        Effect::CallTool(self.share())
    }

    /// The call, for records.
    pub(crate) fn share(&self) -> Arc<CallTool> {
        Arc::clone(&self.0)
    }
}

impl Deref for AdmittedCall {
    type Target = CallTool;

    fn deref(&self) -> &CallTool {
        &self.0
    }
}
