//! A build without HTTP, which no tool can call back.

use reknit_protocol::{EffectId, RunId};

/// Makes callback URLs. There are none without the feature `http`.
#[derive(Debug)]
pub enum NoCallbacks {}

impl NoCallbacks {
    /// The URL that ends the job of a call.
    pub fn url_for(&self, _run: &RunId, _call: &EffectId, _now_ms: i64) -> String {
        match *self {}
    }
}
