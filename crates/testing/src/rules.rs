//! Rules in order: the first that applies and is not used up gives the reply.

use std::sync::{Mutex, PoisonError};

use crate::Reply;

/// A condition, how often it may still apply, and what it gives.
#[derive(Debug, Clone)]
pub(crate) struct Rule<W> {
    pub(crate) when: W,
    pub(crate) left: Uses,
    pub(crate) reply: Reply,
}

/// How often a rule may still apply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Uses {
    Always,
    Times(u32),
}

#[derive(Debug)]
pub(crate) struct Rules<W>(Mutex<Vec<Rule<W>>>);

impl<W> Rules<W> {
    pub(crate) fn new(rules: Vec<Rule<W>>) -> Self {
        Self(Mutex::new(rules))
    }

    /// The reply of the first rule that applies; that rule has one use less.
    pub(crate) fn choose(&self, applies: impl Fn(&W) -> bool) -> Option<Reply> {
        let mut rules = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let rule = rules.iter_mut().find(|rule| rule.left != Uses::Times(0) && applies(&rule.when))?;
        if let Uses::Times(left) = &mut rule.left {
            *left -= 1;
        }
        Some(rule.reply.clone())
    }
}
