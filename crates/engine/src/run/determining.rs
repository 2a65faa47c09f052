//! Mending a call by what its error states, before any model is asked.

use std::sync::Arc;

use reknit_bind::{Corrected, Provenance, correct_to};
use reknit_protocol::{SideEffect, StepId, Value};

use super::Run;
use super::state::Stage;
use super::steps::StepRun;
use reknit_mend::{Case, Caution, amend, facts_of_problems};
use reknit_mend::{Fact, as_lines, facts};
use reknit_mend::{Fate, Fault, Origin};
use reknit_mend::{Mend, MendEffect, Rung};
use reknit_plan::Planned;

impl Run {
    /// Changes the call as the facts determine and sends it; says whether it did.
    pub(super) fn mend_by_facts(&mut self, index: usize, fault: &Fault) -> bool {
        let plan = Arc::clone(&self.plan);
        let (Some(planned), Some(step)) = (plan.steps.get(index), self.state.steps.get(index)) else { return false };
        if self.may_have_happened(planned, step, fault) || step.facts >= self.policy().mending.facts {
            return false;
        }
        let facts = stated(planned, step, fault);
        let Some(amendment) = amend(self.case(planned, step, fault, &facts)) else { return false };
        if step.calls == 0 && self.refuse_lost(planned, &amendment.parameters).is_err() {
            return false;
        }
        let schema = planned.schema.as_deref();
        let corrected = correct_to(&step.parameters, amendment.parameters, schema, Rung::Facts.as_str());
        let refused = match corrected {
            Ok(Corrected::Changed(bound)) if step.was_tried(&bound.parameters) => "it was tried before".to_owned(),
            Ok(Corrected::Changed(bound)) => {
                let Some(step) = self.state.steps.get_mut(index) else { return false };
                step.facts += 1;
                step.parameters = bound.parameters;
                step.provenance.retain(|(name, _)| step.parameters.contains_key(name));
                for (name, origin) in bound.provenance {
                    step.provenance.retain(|(known, _)| *known != name);
                    step.provenance.push((name, origin));
                }
                let words = amendment.words;
                step.mends.push(Mend { rung: Rung::Facts, effect: MendEffect::Applied, words: words.clone() });
                self.send_corrected(index, fault.clone(), words);
                return true;
            }
            Ok(Corrected::Unchanged) => return false,
            Err(error) => error.to_string(),
        };
        if let Some(step) = self.state.steps.get_mut(index) {
            let words = format!("{}: {refused}", amendment.words);
            step.mends.push(Mend { rung: Rung::Facts, effect: MendEffect::NoHelp, words });
        }
        false
    }

    /// Whether any call of a step may have changed something already: then it is not changed and sent under another key, not
    /// even after a later call was refused.
    pub(super) fn may_have_happened(&self, planned: &Planned, step: &StepRun, fault: &Fault) -> bool {
        let earlier = step.attempts.iter().filter_map(|attempt| attempt.fault.as_ref());
        !self.is_harmless(planned) && earlier.chain([fault]).any(|fault| fault.fate == Fate::Unknown)
    }

    /// Whether an error says something about what was sent.
    pub(super) fn is_about_input(&self, index: usize, fault: &Fault) -> bool {
        let (Some(planned), Some(step)) = (self.plan.steps.get(index), self.state.steps.get(index)) else {
            return false;
        };
        let facts = stated(planned, step, fault);
        let case = self.case(planned, step, fault, &facts);
        facts.iter().any(|fact| case.concerns(fact))
    }

    /// What the error of a step states, for a model.
    pub(super) fn facts_shown(&self, index: usize, fault: &Fault) -> String {
        let (Some(planned), Some(step)) = (self.plan.steps.get(index), self.state.steps.get(index)) else {
            return String::new();
        };
        as_lines(&stated(planned, step, fault))
    }

    fn case<'a>(&'a self, planned: &'a Planned, step: &'a StepRun, fault: &'a Fault, facts: &'a [Fact]) -> Case<'a> {
        // Only what the step waits for: of two steps at once the faster one would decide.
        let mut before = self.places_before(planned);
        before.sort_unstable();
        let steps = before.iter().filter_map(|at| Some((self.plan.steps.get(*at)?, self.state.steps.get(*at)?)));
        let results: Vec<(&StepId, &Value)> = steps
            .filter_map(|(planned, step)| match step.stage() {
                Stage::Done(value) => Some((&planned.id, value)),
                _ => None,
            })
            .collect();
        Case {
            parameters: step.parameters.clone(),
            schema: planned.schema.as_deref(),
            facts,
            message: &fault.message,
            referenced: referenced(planned, step),
            caution: match self.class(planned) {
                // A person looks at every change of an unsafe call.
                SideEffect::Read | SideEffect::Unsafe => Caution::Usual,
                SideEffect::Idempotent | SideEffect::Keyed | SideEffect::Undeclared => Caution::OnlySpelling,
            },
            request: [&self.started.request, &planned.instruction],
            results,
        }
    }
}

/// What is known to be wrong: by the error, or by the schema where nothing was sent.
fn stated(planned: &Planned, step: &StepRun, fault: &Fault) -> Vec<Fact> {
    match (fault.origin, &planned.schema) {
        (Origin::Local, Some(schema)) => facts_of_problems(&schema.problems(&Value::Object(step.parameters.clone()))),
        // The words are our own, and nobody's facts.
        (Origin::Local, None) => Vec::new(),
        _ => facts(fault),
    }
}

/// The parameters that the plan takes from results, also those that could not be had.
fn referenced(planned: &Planned, step: &StepRun) -> Vec<String> {
    let lost = planned.parameters.names().filter(|name| !step.parameters.contains_key(name)).map(str::to_owned);
    let taken = step.provenance.iter().filter(|(_, origin)| {
        matches!(
            origin,
            Provenance::Reference { .. }
                | Provenance::Expression { .. }
                | Provenance::Text { .. }
                | Provenance::Nested { .. }
                | Provenance::Wired { .. }
        )
    });
    lost.chain(taken.map(|(name, _)| name.clone())).collect()
}
