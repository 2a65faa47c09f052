//! A call that a scripted tool has received.

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::Path;

use reknit_protocol::{CapabilityName, Object, Value};

/// A call that a scripted tool has received.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedCall {
    /// The name of the capability.
    pub capability: CapabilityName,
    /// The number of the call among those of this capability, from 1.
    pub nth: usize,
    /// The body as it was sent.
    pub body: String,
    /// The body as JSON; null if it is not JSON.
    pub parameters: Value,
    /// The header `Idempotency-Key`.
    pub idempotency_key: Option<String>,
    /// The header `traceparent`.
    pub traceparent: Option<String>,
    /// Whether the capability was called before under the same idempotency key.
    pub is_repeat: bool,
}

impl RecordedCall {
    /// Appends a line about this call to the file of [`ScriptedTool::record_to`](super::ScriptedTool::record_to). Opens the
    /// file for each line and writes the line at once, so that several tools can share a file.
    pub(super) fn append_to(&self, path: &Path, tool: &str) -> io::Result<()> {
        let mut line = Object::from([
            ("tool", tool.into()),
            ("capability", self.capability.as_str().into()),
            ("nth", self.nth.into()),
            ("parameters", self.parameters.clone()),
        ]);
        if let Some(key) = &self.idempotency_key {
            line.insert("idempotency_key", key.as_str());
        }
        let mut file = OpenOptions::new().create(true).append(true).open(path)?;
        file.write_all(format!("{line}\n").as_bytes())
    }
}
