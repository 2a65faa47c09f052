//! Conditions on requests to a scripted model.

use std::fmt;
use std::sync::Arc;

use serde::Deserialize;

use super::ReceivedRequest;

type Test = Arc<dyn Fn(&ReceivedRequest) -> bool + Send + Sync>;

/// Matches the requests that fulfil every condition.
#[derive(Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RequestMatcher {
    purpose: Option<String>,
    says: Vec<String>,
    lacks: Vec<String>,
    nth: Option<usize>,
    last_role: Option<String>,
    #[serde(skip)]
    test: Option<Test>,
}

impl RequestMatcher {
    /// Matches every request.
    pub fn any() -> Self {
        Self::default()
    }

    /// Requires that the system message begins with the line `purpose: X`.
    #[must_use]
    pub fn purpose(mut self, purpose: impl Into<String>) -> Self {
        self.purpose = Some(purpose.into());
        self
    }

    /// Requires that some message contains this text.
    #[must_use]
    pub fn says(mut self, text: impl Into<String>) -> Self {
        self.says.push(text.into());
        self
    }

    /// Requires that no message contains this text.
    #[must_use]
    pub fn lacks(mut self, text: impl Into<String>) -> Self {
        self.lacks.push(text.into());
        self
    }

    /// Requires that it is the n-th request to the server, from 1.
    #[must_use]
    pub fn nth(mut self, nth: usize) -> Self {
        self.nth = Some(nth);
        self
    }

    /// Requires that the last message has this role: `user`, `assistant`.
    #[must_use]
    pub fn last_role(mut self, role: impl Into<String>) -> Self {
        self.last_role = Some(role.into());
        self
    }

    /// Requires that this test returns `true`.
    #[must_use]
    pub fn passes(mut self, test: impl Fn(&ReceivedRequest) -> bool + Send + Sync + 'static) -> Self {
        self.test = Some(Arc::new(test));
        self
    }

    pub(super) fn matches(&self, request: &ReceivedRequest) -> bool {
        let text = request.text();
        self.purpose.as_deref().is_none_or(|purpose| request.purpose() == Some(purpose))
            && self.says.iter().all(|part| text.contains(part))
            && !self.lacks.iter().any(|part| text.contains(part))
            && self.nth.is_none_or(|nth| request.nth == nth)
            && self
                .last_role
                .as_deref()
                .is_none_or(|role| request.messages.last().is_some_and(|last| last.role == role))
            && self.test.as_ref().is_none_or(|test| test(request))
    }
}

impl fmt::Debug for RequestMatcher {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("RequestMatcher")
            .field("purpose", &self.purpose)
            .field("says", &self.says)
            .field("lacks", &self.lacks)
            .field("nth", &self.nth)
            .field("last_role", &self.last_role)
            .finish_non_exhaustive()
    }
}
