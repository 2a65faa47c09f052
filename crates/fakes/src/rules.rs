//! Rules in order: the first that matches and is active gives the reply.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

use crate::Reply;

/// The reply to the requests that a matcher accepts, and when the rule is active.
#[derive(Debug, Clone)]
pub(crate) struct Rule<M> {
    pub(crate) matcher: M,
    pub(crate) active: Active,
    pub(crate) reply: Reply,
}

/// When a rule is active. Times count from the start of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Active {
    Always,
    /// For this many more requests.
    Times(u32),
    For(Duration),
    /// For `on` requests, then not for `off`, and so on.
    Flapping {
        on: u32,
        off: u32,
        seen: u32,
    },
    /// For the time `on`, then not for the time `off`, and so on.
    FlappingFor {
        on: Duration,
        off: Duration,
    },
}

impl Active {
    /// Whether the rule is active now. If it is, this counts as one use.
    fn use_once(&mut self, uptime: Duration) -> bool {
        match self {
            Self::Always => true,
            Self::Times(0) => false,
            Self::Times(left) => {
                *left -= 1;
                true
            }
            Self::For(time) => uptime < *time,
            Self::Flapping { on, off, seen } => {
                let now = *seen;
                *seen = (now + 1) % on.saturating_add(*off).max(1);
                now < *on
            }
            Self::FlappingFor { on, off } => {
                let period = on.saturating_add(*off).as_millis().max(1);
                uptime.as_millis() % period < on.as_millis()
            }
        }
    }
}

#[derive(Debug)]
pub(crate) struct Rules<M> {
    rules: Mutex<Vec<Rule<M>>>,
    started: Instant,
}

impl<M> Rules<M> {
    pub(crate) fn new(rules: Vec<Rule<M>>) -> Self {
        Self { rules: Mutex::new(rules), started: Instant::now() }
    }

    /// How long the server has been running, by tokio's clock.
    pub(crate) fn uptime(&self) -> Duration {
        self.started.elapsed()
    }

    /// The reply of the first active rule whose matcher `matches` accepts.
    pub(crate) fn choose(&self, matches: impl Fn(&M) -> bool) -> Option<Reply> {
        let uptime = self.uptime();
        let mut rules = self.rules.lock();
        rules.iter_mut().find_map(|Rule { matcher, active, reply }| {
            (matches(matcher) && active.use_once(uptime)).then(|| reply.clone())
        })
    }
}

/// A condition that a test writes as a function.
#[derive(Clone)]
pub(crate) struct Test<T>(pub(crate) Arc<dyn Fn(&T) -> bool + Send + Sync>);

impl<T> fmt::Debug for Test<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a function")
    }
}
