//! A call that a scripted tool has received, and conditions on calls.

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::Arc;

use reknit_protocol::{CapabilityName, Object, Value};

use crate::rules::Test;

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

/// Matches the calls of a capability that fulfil every condition.
#[derive(Debug, Clone, Default)]
pub struct CallMatcher {
    parameters: Vec<(String, Value)>,
    nth: Option<usize>,
    test: Option<Test<RecordedCall>>,
}

impl CallMatcher {
    /// Matches every call.
    pub fn any() -> Self {
        Self::default()
    }

    /// Requires that a parameter has this value. Numbers are compared by value.
    #[must_use]
    pub fn parameter(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.parameters.push((name.into(), value.into()));
        self
    }

    /// Requires that it is the n-th call of the capability, from 1.
    #[must_use]
    pub fn nth(mut self, nth: usize) -> Self {
        self.nth = Some(nth);
        self
    }

    /// Requires that this test returns `true`.
    #[must_use]
    pub fn passes(mut self, test: impl Fn(&RecordedCall) -> bool + Send + Sync + 'static) -> Self {
        self.test = Some(Test(Arc::new(test)));
        self
    }

    pub(super) fn matches(&self, call: &RecordedCall) -> bool {
        self.parameters.iter().all(|(name, value)| call.parameters.get(name) == Some(value))
            && self.nth.is_none_or(|nth| call.nth == nth)
            && self.test.as_ref().is_none_or(|test| (test.0)(call))
    }
}
