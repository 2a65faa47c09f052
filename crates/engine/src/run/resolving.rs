//! Parameters that the plan does not give: where they are looked for, and what is done with a model's answer.

use std::sync::Arc;

use reknit_bind::{Binding, Supplied, Unbound, bind, supply};
use reknit_protocol::{Object, StepId};

use super::Run;
use super::advising::{NoHelp, changed_text};
use super::sources::Results;
use crate::cut::cut;
use crate::fault::Fault;
use crate::mend::{Mend, MendEffect, Rung, read_values};
use crate::plan::Planned;

/// The most of why one parameter has no value, in bytes.
const REASON: usize = 400;

impl Run {
    /// The parameters of a step, from its plan and the results so far.
    pub(super) fn binding(&self, planned: &Planned) -> Binding {
        let results = Results { plan: &self.plan.steps, steps: &self.state.steps, asking: planned };
        bind(&planned.parameters, &results, &planned.needs, planned.schema.as_deref())
    }

    /// The parameters of a step that have no value. They follow from the plan and the results, so nobody keeps them.
    pub(super) fn missing(&self, planned: &Planned) -> Vec<Unbound> {
        match self.binding(planned) {
            Binding::Unbound { unbound, .. } => unbound,
            Binding::Bound(_) | Binding::Misfit { .. } => Vec::new(),
        }
    }

    /// A model has said where the missing values are.
    pub(super) fn on_resolution_text(&mut self, index: usize, fault: Fault, text: &str) {
        let plan = Arc::clone(&self.plan);
        let Some(planned) = plan.steps.get(index) else { return };
        let supplied = read_values(text).and_then(|answer| self.supplied(index, planned, &answer));
        let Supplied { bound, ignored } = match supplied {
            Ok(supplied) => supplied,
            Err(words) => return self.no_help(index, fault, Rung::Resolution, words, NoHelp::AskAgain),
        };
        let Some(step) = self.state.steps.get_mut(index) else { return };
        let mut words = format!("{}: found in what is known", changed_text(&step.parameters, &bound.parameters));
        if !ignored.is_empty() {
            words = format!("{words}; not asked for, and left as it is: {}", ignored.join(", "));
        }
        step.parameters = bound.parameters;
        step.provenance.extend(bound.provenance);
        step.mends.push(Mend { rung: Rung::Resolution, effect: MendEffect::Applied, words });
        self.send_resolved(index, fault);
    }

    fn supplied(&self, index: usize, planned: &Planned, answer: &Object) -> Result<Supplied, String> {
        let step = self.state.steps.get(index).ok_or("there is no such step")?;
        let missing = self.missing(planned);
        let names: Vec<&str> = missing.iter().map(|unbound| unbound.parameter.as_str()).collect();
        let steps: Vec<StepId> = self.plan.steps.iter().map(|planned| planned.id.clone()).collect();
        let results = Results { plan: &self.plan.steps, steps: &self.state.steps, asking: planned };
        supply(&step.parameters, answer, &names, &results, &steps, planned.schema.as_deref())
            .map_err(|error| format!("the answer is refused: {error}"))
    }
}

/// The parameters that somebody looks for: those that are missing, or else any that the tool declares.
pub(super) fn wanted<'a>(planned: &'a Planned, missing: &'a [Unbound]) -> Vec<&'a str> {
    if !missing.is_empty() {
        return missing.iter().map(|unbound| unbound.parameter.as_str()).collect();
    }
    let declared = planned.schema.as_ref().and_then(|schema| schema.source().get("properties")?.as_object());
    declared.into_iter().flat_map(Object::keys).collect()
}

/// The missing parameters, each with why it has no value.
pub(super) fn missing_text(missing: &[Unbound]) -> String {
    let line = |unbound: &Unbound| format!("- {}", cut(unbound.to_string(), REASON));
    missing.iter().map(line).collect::<Vec<_>>().join("\n")
}
