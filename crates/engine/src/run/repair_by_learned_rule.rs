//! Repairing a call by rules that were learned in earlier runs, after code and before any model; and the lessons of this run, from
//! which rules are learned: failed calls, and the parameters with which they succeeded.

use std::collections::BTreeMap;
use std::sync::Arc;

use reknit_expressions::{
    Backing, Binding, BoundParameters, CorrectionOutcome, Provenance, Reference, ResolvedBy, StepIds,
    learnable_expression, replace_parameters,
};
use reknit_mend::{
    AcceptedBy, CallFault, FaultOrigin, FaultyCall, LearnedRule, Lesson, Mend, MendEffect, PriorResult, RuleChanges,
    RuleFix, RuleState, Rung, ValueOrigin, Verdict,
};
use reknit_plan::PlannedStep;
use reknit_protocol::{SideEffect, StepId};

use super::Run;
use super::call_repair::CallRepair;
use super::correction::{Correction, changed_text};
use super::knowledge::{Knowledge, Reports, StepContext};
use super::repair_by_rules::{facts_about, referenced};
use super::resolve_parameters::capability;
use super::resolve_parameters::unbound_message;
use super::stage::Stage;
use super::step_handle::StepHandle;
use super::step_run::{AppliedRule, Attempt, StepRun};
use crate::internal_error::Decided;
use crate::record::MendDetail;
use crate::synthesis::numbers_in_text;

impl Run {
    /// The learned rules of this run whose change a tool rejected, each with the error. They are not used again.
    pub fn rejected_rules(&self) -> &BTreeMap<String, String> {
        &self.state.ruled_out.rules
    }

    /// The corrections of this run that succeeded: rules are learned from them and judged by them.
    pub fn lessons(&self) -> Vec<Lesson> {
        let steps = self.plan.steps.iter().zip(self.state.steps.iter());
        let done = steps.filter(|(_, step)| matches!(step.stage(), Stage::Done(_)));
        // A state that the machine rules out is reported elsewhere, and teaches nothing.
        done.filter_map(|(planned, step)| self.known().reports().lesson_of(planned, step).ok().flatten()).collect()
    }

    /// Whether the run may have lessons: one of its calls was corrected, or a model found values for it.
    pub fn has_corrections(&self) -> bool {
        let is_taught = |mend: &Mend| is_correction(mend) || mend.rung == Rung::Resolution;
        self.state.steps.iter().any(|step| step.mends.iter().any(is_taught))
    }
}

impl StepHandle<'_> {
    /// Records why no rule changed the call.
    fn no_rule(&mut self, description: String) -> Decided<bool> {
        self.add_mend(Rung::Rules, MendEffect::NoHelp, description, MendDetail::NoLearnedRule)?;
        Ok(false)
    }
}

impl CallRepair<'_> {
    /// Changes the call as a learned rule says and sends it; returns whether it did.
    pub(super) fn repair_by_learned_rule(&mut self, fault: &Arc<CallFault>) -> Decided<bool> {
        let (planned, step) = (self.planned()?, self.step()?);
        let rules = self.known().usable_rules(planned, step, fault);
        if rules.is_empty() {
            return Ok(false);
        }
        let call = self.known().faulty_call(planned, step, fault)?;
        let fixes: Vec<RuleFix> = rules.iter().filter_map(|rule| rule.fix(&call)).collect();
        let Some(fix) = fixes.first() else { return Ok(false) };
        if let Some(other) = fixes.iter().find(|other| other.parameters != fix.parameters) {
            let words = format!("the rules {} and {} disagree", fix.rule, other.rule);
            return self.no_rule(words);
        }
        let bound = match self.known().bound_by_rule(planned, step, fix) {
            Ok(Some(bound)) => bound,
            Ok(None) => return Ok(false),
            Err(refused) => return self.no_rule(format!("rule {}: {refused}", fix.rule)),
        };
        let held = self.known().judge().judge_change(self.index, planned, fault, &bound)?;
        if let Some(words) = self.known().judge().cannot_ask_about(&held.reasons) {
            return self.no_rule(format!("rule {}: {words}", fix.rule));
        }
        let step = self.step_mut()?;
        let change = changed_text(&step.parameters, &bound.parameters);
        step.rungs.rules += 1;
        step.set_parameters(bound.parameters, bound.provenance);
        let formulas: Vec<String> = fix.changes.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        let formulas = if formulas.is_empty() { String::new() } else { format!(": {}", formulas.join(", ")) };
        let words = format!("{change}, by the learned rule {}{formulas}", fix.rule);
        let detail = MendDetail::ByLearnedRule { rule: fix.rule.clone() };
        self.add_mend(Rung::Rules, MendEffect::Applied, words.clone(), detail)?;
        self.send_corrected(Arc::clone(fault), Correction::new(change, &words, &held))?;
        let step = self.step_mut()?;
        step.rungs.applied_rule = Some(Box::new(AppliedRule { rule: fix.rule.clone(), correction: step.correction }));
        Ok(true)
    }

    /// Notes that a tool rejects what a learned rule sent. An error about other parameters says nothing against the rule.
    pub(super) fn note_rejected_rule(&mut self, verdict: &Verdict) -> Decided {
        let Verdict::Correctable(fault) = verdict else { return Ok(()) };
        let (planned, step) = (self.planned()?, self.step()?);
        let Some(applied) = step.rungs.applied_rule.as_deref().filter(|applied| applied.correction == step.correction)
        else {
            return Ok(());
        };
        let Some(rule) = self.policy().rules.iter().find(|rule| rule.id == applied.rule) else { return Ok(()) };
        let call = self.known().faulty_call(planned, step, &Arc::new(fault.clone()))?;
        let is_about_rule = rule.error.matches(&call)
            || call.fields.is_empty()
            || call.fields.iter().any(|field| rule.named().any(|named| named == field));
        if !is_about_rule || fault.origin == FaultOrigin::Local {
            return Ok(());
        }
        let id = rule.id.clone();
        self.step_mut()?.rungs.applied_rule = None;
        self.ruled_out.rules.insert(id.clone(), fault.to_string());
        let words = format!("the learned rule {id} is not used again: the tool rejected its change: {fault}");
        self.add_mend(Rung::Rules, MendEffect::NoHelp, words, MendDetail::RuleRejected { rule: id })
    }
}

impl StepContext<'_> {
    /// The parameters after the change of a rule, fitted to the schema. `None` if nothing changes; an error says why the change
    /// is refused.
    fn bound_by_rule(
        &self,
        planned: &PlannedStep,
        step: &StepRun,
        fix: &RuleFix,
    ) -> Result<Option<BoundParameters>, String> {
        let (schema, rung) = (planned.schema.as_deref(), Rung::Rules.as_str());
        if step.counts.calls == 0 {
            self.require_all(planned, &fix.parameters)?;
        }
        let corrected = replace_parameters(&step.parameters, fix.parameters.clone(), schema, rung);
        let mut bound = match corrected.map_err(|error| error.to_string())? {
            CorrectionOutcome::Changed(bound) => bound,
            CorrectionOutcome::Respelled(_) | CorrectionOutcome::Unchanged => return Ok(None),
        };
        if step.was_tried(&bound.parameters) {
            return Err("it was tried before".to_owned());
        }
        for (name, origin) in &mut bound.provenance {
            if let Some((_, text)) = fix.changes.iter().find(|(changed, _)| changed == name) {
                let backing = Backing::Rule { rule: fix.rule.clone(), text: text.clone() };
                *origin = Provenance::Corrected { rung: rung.to_owned(), backing };
            }
        }
        Ok(Some(bound))
    }

    /// A failed call with everything that rules may use.
    pub(super) fn faulty_call(
        &self,
        planned: &PlannedStep,
        step: &StepRun,
        fault: &Arc<CallFault>,
    ) -> Decided<FaultyCall> {
        let facts = facts_about(planned, step, fault);
        let fields = self.rejected_call(planned, step, fault, &facts)?.referred_parameters();
        let results = self.dependency_results(planned)?.into_iter().map(|(step, value)| PriorResult {
            step: step.id.clone(),
            capability: capability(step),
            value: value.clone(),
        });
        Ok(FaultyCall {
            capability: capability(planned),
            parameters: step.parameters.clone(),
            fault: Arc::clone(fault),
            fields,
            schema: planned.schema.clone(),
            results: results.collect(),
            request: self.started.request.clone(),
            request_numbers: numbers_in_text::parse_numbers(&self.started.request),
        })
    }
}

impl<'a> Knowledge<'a> {
    /// The accepted rules for the capability of a step that may change its call.
    fn usable_rules(self, planned: &PlannedStep, step: &StepRun, fault: &CallFault) -> Vec<&'a LearnedRule> {
        let (policy, name) = (self.policy(), capability(planned));
        let is_off =
            policy.mending.rule_changes == RuleChanges::SpellingOnly || step.rungs.rules >= policy.mending.rules;
        let is_final = fault.rules_out_retry() && !fault.is_type_error();
        if is_off || is_final || self.may_have_happened(planned, step, fault) {
            return Vec::new();
        }
        let is_read = self.side_effect(planned) == SideEffect::Read;
        let taken = referenced(planned, step);
        let is_usable = |rule: &&LearnedRule| {
            rule.capability == name
                && rule.state == RuleState::Accepted
                && (is_read || rule.accepted_by == Some(AcceptedBy::Person))
                && !self.ruled_out.rules.contains_key(&rule.id)
                // What the plan takes from a result is converted and never replaced.
                && taken.iter().all(|name| !rule.replaces(name))
        };
        policy.rules.iter().filter(is_usable).collect()
    }
}

impl Reports<'_> {
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
        let as_failed = StepRun { parameters: failed.parameters, ..StepRun::default() };
        let model_calls = step.rungs.resolution_asked + step.rungs.feedback_asked + step.rungs.context_asked;
        Ok(Some(Lesson {
            place: format!("{}/{}", self.known.started.run, planned.id),
            call: self.known.faulty_call(planned, &as_failed, &fault)?,
            corrected: accepted.parameters.clone(),
            rung,
            side_effect: self.known.side_effect(planned),
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
        let ids: Vec<StepId> = self.known.plan.written_steps().iter().map(|planned| planned.id.clone()).collect();
        if found.iter().all(|origin| learnable_expression(origin, &ids).is_some()) {
            return None;
        }
        let Binding::Unbound { partial, unbound } = self.known.binding(planned) else { return None };
        let fault = Arc::new(CallFault::local(unbound_message(&unbound)));
        Some(Attempt { parameters: partial.parameters, fault: Some(fault), correction: 0 })
    }

    /// The expressions with which new values were explained.
    fn origins_of(&self, step: &StepRun) -> Vec<ValueOrigin> {
        let ids: Vec<StepId> = self.known.plan.written_steps().iter().map(|planned| planned.id.clone()).collect();
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
