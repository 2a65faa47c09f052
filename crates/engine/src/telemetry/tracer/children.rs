//! Plans and agents that a session has called.

use super::Tracer;
use crate::event::What;
use crate::machine::Machine;
use crate::nest;
use crate::session::Session;

impl Tracer {
    /// Tells of each as of a machine of its own, whose spans are in that of the turn.
    pub(super) fn look_at_children(&mut self, session: &Session, what: Option<&What>, at_ms: i64) {
        for (name, machine) in session.told_children() {
            let inner = what.and_then(|what| match what.effect() {
                Some(_) => nest::inner(&scope_of(name), what),
                None => Some(what.clone()),
            });
            let mut child = self.children.remove(name).unwrap_or_else(|| self.begin_child(name, machine, at_ms));
            // Also if it was about something else: time that is over for the session is over for all in it.
            child.look(machine, &machine.pending(), inner.as_ref(), at_ms);
            self.told.append(&mut child.told);
            if machine.ending().is_none() {
                self.children.insert(name.to_owned(), child);
            }
        }
    }

    fn begin_child(&self, name: &str, machine: &Machine, at_ms: i64) -> Self {
        let above = self.context.span(&self.above_steps());
        let mut child = Self { module: self.module, ..Self::new(self.context.within(name, above)) };
        child.begin(machine, at_ms);
        child
    }

    /// Whether a child wants an effect, and tells of it.
    pub(super) fn is_of_child(&self, effect: &str) -> bool {
        let is_in = |name: &String| effect.strip_prefix(name.as_str()).is_some_and(|rest| rest.starts_with('/'));
        self.children.keys().any(is_in)
    }
}

fn scope_of(name: &str) -> Vec<reknit_protocol::ScopeLevel> {
    format!("{name}/run/deadline/1")
        .parse::<reknit_protocol::EffectId>()
        .map(|id| id.scope().to_vec())
        .unwrap_or_default()
}
