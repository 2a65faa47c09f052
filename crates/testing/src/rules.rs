//! Rules in order: the first that applies and is not used up gives the reply.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::Reply;

/// A condition, how often or how long it may still apply, and what it gives.
#[derive(Debug, Clone)]
pub(crate) struct Rule<W> {
    pub(crate) when: W,
    pub(crate) left: Uses,
    pub(crate) reply: Reply,
}

/// How often or how long a rule may still apply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Uses {
    Always,
    Times(u32),
    /// For so long from the start of the server.
    For(Duration),
    /// Some requests, then not for some, then again.
    Flapping {
        on: u32,
        off: u32,
        seen: u32,
    },
    /// For some time, then not for some, then again, from the start of the server.
    FlappingFor {
        on: Duration,
        off: Duration,
    },
}

impl Uses {
    /// Uses it once, if it may be used.
    fn take(&mut self, running: Duration) -> bool {
        match self {
            Self::Always => true,
            Self::Times(0) => false,
            Self::Times(left) => {
                *left -= 1;
                true
            }
            Self::For(time) => running < *time,
            Self::Flapping { on, off, seen } => {
                let now = *seen;
                *seen = (now + 1) % on.saturating_add(*off).max(1);
                now < *on
            }
            Self::FlappingFor { on, off } => {
                let period = on.saturating_add(*off).as_millis().max(1);
                running.as_millis() % period < on.as_millis()
            }
        }
    }
}

#[derive(Debug)]
pub(crate) struct Rules<W> {
    rules: Mutex<Vec<Rule<W>>>,
    began: Instant,
}

impl<W> Rules<W> {
    pub(crate) fn new(rules: Vec<Rule<W>>) -> Self {
        Self { rules: Mutex::new(rules), began: Instant::now() }
    }

    /// How long the server has been running, by tokio's clock.
    pub(crate) fn running(&self) -> Duration {
        self.began.elapsed()
    }

    /// The reply of the first rule that applies; that rule has one use less.
    pub(crate) fn choose(&self, applies: impl Fn(&W) -> bool) -> Option<Reply> {
        let running = self.running();
        let mut rules = self.rules.lock().unwrap_or_else(PoisonError::into_inner);
        let rule =
            rules.iter_mut().find_map(|rule| (applies(&rule.when) && rule.left.take(running)).then_some(rule))?;
        Some(rule.reply.clone())
    }
}
