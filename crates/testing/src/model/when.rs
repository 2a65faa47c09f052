//! Which requests a rule is for.

use std::fmt;
use std::sync::Arc;

use super::ModelRequest;

type Test = Arc<dyn Fn(&ModelRequest) -> bool + Send + Sync>;

/// Which requests a rule is for: all that fulfil every condition.
#[derive(Clone, Default)]
pub struct When {
    pub(super) purpose: Option<String>,
    pub(super) says: Vec<String>,
    pub(super) lacks: Vec<String>,
    pub(super) nth: Option<usize>,
    pub(super) last_role: Option<String>,
    pub(super) test: Option<Test>,
}

impl When {
    /// Every request.
    pub fn any() -> Self {
        Self::default()
    }

    /// The system message opens with the line `purpose: X`.
    #[must_use]
    pub fn purpose(mut self, purpose: impl Into<String>) -> Self {
        self.purpose = Some(purpose.into());
        self
    }

    /// Some message holds this text.
    #[must_use]
    pub fn says(mut self, text: impl Into<String>) -> Self {
        self.says.push(text.into());
        self
    }

    /// No message holds this text.
    #[must_use]
    pub fn lacks(mut self, text: impl Into<String>) -> Self {
        self.lacks.push(text.into());
        self
    }

    /// It is the n-th request of all, from 1.
    #[must_use]
    pub fn nth(mut self, nth: usize) -> Self {
        self.nth = Some(nth);
        self
    }

    /// The last message is by this role: `user`, `assistant`.
    #[must_use]
    pub fn last_role(mut self, role: impl Into<String>) -> Self {
        self.last_role = Some(role.into());
        self
    }

    /// This test passes.
    #[must_use]
    pub fn passes(mut self, test: impl Fn(&ModelRequest) -> bool + Send + Sync + 'static) -> Self {
        self.test = Some(Arc::new(test));
        self
    }

    pub(super) fn applies(&self, request: &ModelRequest) -> bool {
        let text = request.text();
        self.purpose.as_deref().is_none_or(|purpose| request.purpose() == Some(purpose))
            && self.says.iter().all(|words| text.contains(words))
            && !self.lacks.iter().any(|words| text.contains(words))
            && self.nth.is_none_or(|nth| request.nth == nth)
            && self
                .last_role
                .as_deref()
                .is_none_or(|role| request.messages.last().is_some_and(|last| last.role == role))
            && self.test.as_ref().is_none_or(|test| test(request))
    }
}

impl fmt::Debug for When {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("When")
            .field("purpose", &self.purpose)
            .field("says", &self.says)
            .field("lacks", &self.lacks)
            .field("nth", &self.nth)
            .field("last_role", &self.last_role)
            .finish_non_exhaustive()
    }
}
