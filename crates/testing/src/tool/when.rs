//! Which calls a rule is for.

use std::fmt;
use std::sync::Arc;

use reknit_protocol::Value;

use super::Call;

type Test = Arc<dyn Fn(&Call) -> bool + Send + Sync>;

/// Which calls of a capability a rule is for: all that fulfil every condition.
#[derive(Clone, Default)]
pub struct When {
    parameters: Vec<(String, Value)>,
    nth: Option<usize>,
    test: Option<Test>,
}

impl When {
    /// Every call.
    pub fn any() -> Self {
        Self::default()
    }

    /// This parameter has this value, however a number is spelt.
    #[must_use]
    pub fn parameter(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.parameters.push((name.into(), value.into()));
        self
    }

    /// It is the n-th call of the capability, from 1.
    #[must_use]
    pub fn nth(mut self, nth: usize) -> Self {
        self.nth = Some(nth);
        self
    }

    /// This test passes.
    #[must_use]
    pub fn passes(mut self, test: impl Fn(&Call) -> bool + Send + Sync + 'static) -> Self {
        self.test = Some(Arc::new(test));
        self
    }

    pub(super) fn applies(&self, call: &Call) -> bool {
        self.parameters.iter().all(|(name, value)| call.parameters.get(name) == Some(value))
            && self.nth.is_none_or(|nth| call.nth == nth)
            && self.test.as_ref().is_none_or(|test| test(call))
    }
}

impl fmt::Debug for When {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("When").field("parameters", &self.parameters).field("nth", &self.nth).finish_non_exhaustive()
    }
}
