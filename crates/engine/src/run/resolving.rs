//! Parameters that the plan does not give: where they are looked for, and what is done with a model's answer.

use std::collections::HashSet;
use std::sync::Arc;

use reknit_bind::{
    Binding, Finder, Known, Mapping, Optional, Provenance, Supplied, Unbound, bind_as_learned, lesson, supply,
};
use reknit_protocol::{Object, SideEffect, StepId};

use super::Run;
use super::advising::{NoHelp, changed_text};
use super::state::Stage;
use super::steps::StepRun;
use reknit_mend::Fault;
use reknit_mend::Learning;
use reknit_mend::{Mend, MendEffect, Rung, read_values};
use reknit_plan::Planned;
use reknit_protocol::truncate;

/// The most of why one parameter has no value, in bytes.
const REASON: usize = 400;

impl Run {
    /// The parameters of a step, from its plan and the results so far.
    pub(super) fn binding(&self, planned: &Planned) -> Binding {
        let results = self.results(Some(planned));
        let known = self.known(planned);
        let optional = match self.class(planned) {
            SideEffect::Read => Optional::Wired,
            SideEffect::Idempotent | SideEffect::Keyed | SideEffect::Undeclared | SideEffect::Unsafe => Optional::Left,
        };
        bind_as_learned(&planned.parameters, &results, &planned.needs, planned.schema.as_deref(), optional, &known)
    }

    /// The mappings that may hold for a step, with the steps before it whose results they are about.
    fn known<'a>(&'a self, planned: &'a Planned) -> Vec<Known<'a>> {
        let name = capability(planned);
        let mappings = self.started.mappings.iter().filter(|mapping| mapping.consumer == name);
        let mappings: Vec<&Mapping> = mappings.filter(|_| self.policy().mending.learning == Learning::On).collect();
        if mappings.is_empty() {
            return Vec::new();
        }
        let before = self.before(planned);
        let pairs = mappings.iter().flat_map(|mapping| before.iter().map(move |step| (*mapping, *step)));
        let fitting = pairs.filter(|(mapping, step)| mapping.producer == capability(step));
        let known = |(mapping, step): (&'a Mapping, &'a Planned)| Known {
            parameter: &mapping.parameter,
            step: &step.id,
            expression: &mapping.expression,
        };
        fitting.map(known).collect()
    }

    /// The steps that a step needs, and those that they need.
    pub(super) fn before<'a>(&'a self, planned: &'a Planned) -> Vec<&'a Planned> {
        self.places_before(planned).iter().filter_map(|at| self.plan.steps.get(*at)).collect()
    }

    /// The places of those steps in the plan, the nearest first.
    pub(super) fn places_before(&self, planned: &Planned) -> Vec<usize> {
        let mut places: Vec<usize> = planned.needs_at.clone();
        let mut seen: HashSet<usize> = places.iter().copied().collect();
        let mut next = 0;
        while let Some(step) = places.get(next).and_then(|at| self.plan.steps.get(*at)) {
            places.extend(step.needs_at.iter().filter(|at| seen.insert(**at)));
            next += 1;
        }
        places
    }

    /// Where models found values for calls that then worked: what later runs can do without asking.
    pub fn learned(&self) -> Vec<Mapping> {
        if self.policy().mending.learning == Learning::Off {
            return Vec::new();
        }
        let steps: Vec<StepId> = self.plan.steps.iter().map(|planned| planned.id.clone()).collect();
        let mut learned = Vec::new();
        for (planned, step) in self.plan.steps.iter().zip(self.state.steps.iter()) {
            let found = step.provenance.iter().filter(|_| matches!(step.stage(), Stage::Done(_)));
            // What the plan asked for in words of its own says nothing about what another plan leaves out.
            for (parameter, provenance) in found.filter(|(name, _)| planned.parameters.get(name).is_none()) {
                let Some((producer, expression)) = lesson(provenance, &steps) else { continue };
                let producer = self.plan.step(producer.as_str()).map(capability);
                let (consumer, parameter) = (capability(planned), parameter.clone());
                learned.extend(producer.map(|producer| Mapping { producer, consumer, parameter, expression }));
            }
        }
        learned
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
        if let Some(words) = self.doubt(index, planned, &fault, &bound) {
            return self.no_help(index, fault, Rung::Resolution, words, NoHelp::AskAgain);
        }
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
        let (results, sources) = (self.results(Some(planned)), self.source_ids());
        let supplied = supply(&step.parameters, answer, &names, &results, &sources, planned.schema.as_deref())
            .map_err(|error| format!("the answer is refused: {error}"))?;
        self.refuse_lost(planned, &supplied.bound.parameters)?;
        Ok(supplied)
    }

    /// Every parameter that the plan gives must have its value before the first call, the optional ones too: an order
    /// without its limit is another order.
    pub(super) fn refuse_lost(&self, planned: &Planned, parameters: &Object) -> Result<(), String> {
        let missing = self.missing(planned);
        let lost: Vec<&str> = missing.iter().map(|unbound| unbound.parameter.as_str()).collect();
        let lost: Vec<&str> = lost.into_iter().filter(|name| !parameters.contains_key(name)).collect();
        if lost.is_empty() { Ok(()) } else { Err(format!("the answer has no value for {}", lost.join(", "))) }
    }
}

/// A capability as mappings name it.
fn capability(planned: &Planned) -> String {
    format!("{}/{}", planned.agent, planned.capability)
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
    let line = |unbound: &Unbound| format!("- {}", truncate(unbound.to_string(), REASON));
    missing.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Records which values were found as in an earlier run.
pub(super) fn note_learned(step: &mut StepRun) {
    let learned =
        step.provenance.iter().filter(|(_, origin)| matches!(origin, Provenance::Resolved { by: Finder::Learned, .. }));
    let names: Vec<&str> = learned.map(|(name, _)| name.as_str()).collect();
    if !names.is_empty() {
        let words = format!("{}: found as in an earlier run", names.join(", "));
        step.mends.push(Mend { rung: Rung::Resolution, effect: MendEffect::Applied, words });
    }
}
