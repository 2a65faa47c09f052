//! The lessons of a run: failed calls, and the parameters with which they succeeded.

use std::sync::Arc;

use reknit_expressions::{Backing, Binding, Provenance, Reference, ResolvedBy, StepIds, learnable_expression};
use reknit_mend::{CallFault, Lesson, Mend, MendEffect, Rung, ValueOrigin};
use reknit_plan::PlannedStep;
use reknit_protocol::StepId;

use super::Run;
use super::schedule::unbound_message;
use super::state::Stage;
use super::steps::{Attempt, StepRun};
use crate::internal_error::Decided;

impl Run {
    /// The corrections of this run that succeeded: rules are learned from them and judged by them.
    pub fn lessons(&self) -> Vec<Lesson> {
        let steps = self.plan.steps.iter().zip(self.state.steps.iter());
        let done = steps.filter(|(_, step)| matches!(step.stage(), Stage::Done(_)));
        // A state that the machine rules out is reported elsewhere, and teaches nothing.
        done.filter_map(|(planned, step)| self.lesson_of(planned, step).ok().flatten()).collect()
    }

    /// Whether the run may have lessons: one of its calls was corrected, or a model found values for it.
    pub fn has_corrections(&self) -> bool {
        let is_taught = |mend: &Mend| is_correction(mend) || mend.rung == Rung::Resolution;
        self.state.steps.iter().any(|step| step.mends.iter().any(is_taught))
    }

    fn lesson_of(&self, planned: &PlannedStep, step: &StepRun) -> Decided<Option<Lesson>> {
        let Some(success) = step.attempts.iter().position(|attempt| attempt.fault.is_none()) else { return Ok(None) };
        let Some((before, [accepted, ..])) = step.attempts.split_at_checked(success) else { return Ok(None) };
        let corrections: Vec<Rung> =
            step.mends.iter().filter(|mend| is_correction(mend)).map(|mend| mend.rung).collect();
        let (failed, rung) = if accepted.correction == 0 {
            match self.unbound_call(planned, step) {
                Some(failed) => (failed, Rung::Resolution),
                None => return Ok(None),
            }
        } else {
            // Also a person numbers corrections; then nobody knows which rung made which.
            let (count, Some(rung)) = (accepted.correction as usize, corrections.last().copied()) else {
                return Ok(None);
            };
            if count != corrections.len() || step.before_retry.corrections > 0 {
                return Ok(None);
            }
            let by_models = corrections.iter().rev().take_while(|rung| is_of_model(**rung)).count();
            let kept = count - by_models.max(1);
            let failed =
                before.iter().rev().find(|attempt| attempt.correction as usize == kept && attempt.fault.is_some());
            match failed {
                Some(failed) => (failed.clone(), rung),
                None => return Ok(None),
            }
        };
        let Some(fault) = failed.fault else { return Ok(None) };
        if failed.parameters == accepted.parameters {
            return Ok(None);
        }
        let mut as_failed = StepRun::default();
        as_failed.parameters = failed.parameters;
        let model_calls = step.resolution_asked + step.feedback_asked + step.context_asked;
        Ok(Some(Lesson {
            place: format!("{}/{}", self.started.run, planned.id),
            call: self.faulty_call(planned, &as_failed, &fault)?,
            corrected: accepted.parameters.clone(),
            rung,
            side_effect: self.side_effect(planned),
            origins: self.origins_of(step),
            model_calls,
        }))
    }

    /// The call as it was before a model found its missing values.
    fn unbound_call(&self, planned: &PlannedStep, step: &StepRun) -> Option<Attempt> {
        let is_found = |origin: &Provenance| {
            matches!(origin, Provenance::Inferred | Provenance::Resolved { by: ResolvedBy::Model, .. })
        };
        let found: Vec<&Provenance> =
            step.provenance.iter().map(|(_, origin)| origin).filter(|origin| is_found(origin)).collect();
        // Where a value is in a result, is stored as a mapping.
        let ids: Vec<StepId> = self.plan.written_steps().iter().map(|planned| planned.id.clone()).collect();
        if found.iter().all(|origin| learnable_expression(origin, &ids).is_some()) {
            return None;
        }
        let Binding::Unbound { partial, unbound } = self.binding(planned) else { return None };
        let fault = Arc::new(CallFault::local(unbound_message(&unbound)));
        Some(Attempt { parameters: partial.parameters, fault: Some(fault), correction: 0 })
    }

    /// The expressions with which new values were explained.
    fn origins_of(&self, step: &StepRun) -> Vec<ValueOrigin> {
        let ids: Vec<StepId> = self.plan.written_steps().iter().map(|planned| planned.id.clone()).collect();
        let ids = StepIds::new(&ids);
        let origins = step.provenance.iter().filter_map(|(parameter, origin)| {
            Some(ValueOrigin { parameter: parameter.clone(), expression: expression_of(origin, &ids)? })
        });
        origins.collect()
    }
}

fn expression_of(origin: &Provenance, ids: &StepIds<'_>) -> Option<String> {
    match origin {
        Provenance::Expression { text, .. } | Provenance::Corrected { backing: Backing::Explained { text }, .. } => {
            Some(text.clone())
        }
        Provenance::Reference { step, path } => Some(Reference::new(step.clone(), path.clone(), ids).to_string()),
        Provenance::Resolved { origin, .. } => expression_of(origin, ids),
        _ => None,
    }
}

/// Whether a mend gave a call other parameters, and so another number.
fn is_correction(mend: &Mend) -> bool {
    let is_rung = matches!(mend.rung, Rung::Facts | Rung::Rules | Rung::Feedback | Rung::Context);
    is_rung && mend.effect == MendEffect::Applied
}

fn is_of_model(rung: Rung) -> bool {
    matches!(rung, Rung::Feedback | Rung::Context)
}
