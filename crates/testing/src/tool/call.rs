//! What a scripted tool was asked.

use reknit_protocol::{CapabilityName, Object, Value};

/// One call as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// What was called.
    pub capability: CapabilityName,
    /// Which call of this capability it is, from 1.
    pub nth: usize,
    /// The body, digits as written.
    pub body: String,
    /// The body as JSON; null if it is none.
    pub parameters: Value,
    /// The header `Idempotency-Key`.
    pub idempotency_key: Option<String>,
    /// The header `traceparent`.
    pub traceparent: Option<String>,
    /// Whether this capability was called before under the same key.
    pub is_repeat: bool,
}

impl Call {
    /// What is written to a file about it.
    pub(super) fn to_line(&self, tool: &str) -> String {
        let mut line = Object::from([
            ("tool", tool.into()),
            ("capability", self.capability.as_str().into()),
            ("nth", self.nth.into()),
            ("parameters", self.parameters.clone()),
        ]);
        if let Some(key) = &self.idempotency_key {
            line.insert("idempotency_key", key.as_str());
        }
        line.to_string()
    }
}
