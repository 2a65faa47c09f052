//! Conditions on calls to a scripted tool.

use std::fmt;
use std::sync::Arc;

use reknit_protocol::Value;

use super::RecordedCall;

type Test = Arc<dyn Fn(&RecordedCall) -> bool + Send + Sync>;

/// Matches the calls of a capability that fulfil every condition.
#[derive(Clone, Default)]
pub struct CallMatcher {
    parameters: Vec<(String, Value)>,
    nth: Option<usize>,
    test: Option<Test>,
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
        self.test = Some(Arc::new(test));
        self
    }

    pub(super) fn matches(&self, call: &RecordedCall) -> bool {
        self.parameters.iter().all(|(name, value)| call.parameters.get(name) == Some(value))
            && self.nth.is_none_or(|nth| call.nth == nth)
            && self.test.as_ref().is_none_or(|test| test(call))
    }
}

impl fmt::Debug for CallMatcher {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("CallMatcher")
            .field("parameters", &self.parameters)
            .field("nth", &self.nth)
            .finish_non_exhaustive()
    }
}
