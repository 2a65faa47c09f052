//! Repairing a call by rules from the facts that its error states, before any model is asked.

use std::sync::Arc;

use reknit_expressions::{CorrectionOutcome, Provenance, replace_parameters};
use reknit_mend::{
    AllowedChanges, CallFault, Fact, FaultOrigin, Mend, MendEffect, PeoplePolicy, RejectedCall, RuleChanges,
    RuleRepair, Rung, extract_facts, facts_as_lines, facts_from_problems, propose_sum, repair_by_rules,
};
use reknit_plan::{PlannedStep, StepIndex};
use reknit_protocol::{SideEffect, Value};

use super::call_repair::CallRepair;
use super::correction::{Correction, changed_text};
use super::knowledge::StepContext;
use super::planned;
use super::step_run::StepRun;
use crate::event::Started;
use crate::internal_error::Decided;
use crate::record::MendDetail;

impl CallRepair<'_> {
    /// Changes the call as the facts determine and sends it; returns whether it did.
    pub(super) fn repair_by_rules(&mut self, fault: &Arc<CallFault>) -> Decided<bool> {
        let (planned, step) = (self.planned()?, self.step()?);
        if self.known().may_have_happened(planned, step, fault) || step.rungs.facts >= self.policy().mending.facts {
            return Ok(false);
        }
        let facts = facts_about(planned, step, fault);
        let call = self.known().rejected_call(planned, step, fault, &facts)?;
        let Some(amendment) = self.known().rule_repair(planned, &call) else { return Ok(false) };
        if step.counts.calls == 0 && self.known().require_all(planned, &amendment.parameters).is_err() {
            return Ok(false);
        }
        let schema = planned.schema.as_deref();
        let corrected = replace_parameters(&step.parameters, amendment.parameters, schema, Rung::Facts.as_str());
        let refused = match corrected {
            Ok(CorrectionOutcome::Changed(bound)) if step.was_tried(&bound.parameters) => {
                "it was tried before".to_owned()
            }
            Ok(CorrectionOutcome::Changed(bound)) => {
                let held = self.known().judge().judge_change(self.index, planned, fault, &bound)?;
                // Nothing else can change an unsafe call, either.
                let is_unsafe = self.known().side_effect(planned) == SideEffect::Unsafe;
                if let Some(words) = self.known().judge().cannot_ask_about(&held.reasons).filter(|_| !is_unsafe) {
                    let words = format!("{}: {words}", amendment.description);
                    self.add_mend(Rung::Facts, MendEffect::NoHelp, words, MendDetail::ByRule)?;
                    return Ok(false);
                }
                let step = self.step_mut()?;
                let change = changed_text(&step.parameters, &bound.parameters);
                step.rungs.facts += 1;
                step.set_parameters(bound.parameters, bound.provenance);
                let words = amendment.description;
                self.add_mend(Rung::Facts, MendEffect::Applied, words.clone(), MendDetail::ByRule)?;
                self.send_corrected(Arc::clone(fault), Correction::new(change, &words, &held))?;
                return Ok(true);
            }
            Ok(CorrectionOutcome::Respelled(_) | CorrectionOutcome::Unchanged) => return Ok(false),
            Err(error) => error.to_string(),
        };
        let words = format!("{}: {refused}", amendment.description);
        self.add_mend(Rung::Facts, MendEffect::NoHelp, words, MendDetail::ByRule)?;
        Ok(false)
    }
}

impl Started {
    /// The repair by rules, which the gate may let a person decide.
    fn rule_repair(&self, planned: &PlannedStep, call: &RejectedCall<'_>) -> Option<RuleRepair> {
        if let Some(repair) = repair_by_rules(call.clone()) {
            return Some(repair);
        }
        let is_free = self.policy.mending.rule_changes == RuleChanges::BySideEffect;
        if !is_free || self.policy.people == PeoplePolicy::Nobody || self.side_effect(planned) == SideEffect::Read {
            return None;
        }
        // Any other change that is not sent at once is left to a model, and to a person only if there is no model.
        let all = || repair_by_rules(RejectedCall { allowed_changes: AllowedChanges::Any, ..call.clone() });
        propose_sum(call).or_else(|| self.targets.is_empty().then(all).flatten())
    }

    /// Whether any call of a step may have changed something already. Such a call is not corrected and sent under another
    /// key, not even after a later attempt was rejected.
    pub(super) fn may_have_happened(&self, planned: &PlannedStep, step: &StepRun, fault: &CallFault) -> bool {
        step.may_have_happened(self.side_effect(planned), Some(fault))
    }
}

impl<'a> StepContext<'a> {
    /// Whether an error speaks of the parameters that were sent.
    pub(super) fn is_about_input(&self, index: StepIndex, fault: &CallFault) -> Decided<bool> {
        let (planned, step) = (planned(self.plan, index)?, self.steps.get(index)?);
        let facts = facts_about(planned, step, fault);
        let case = self.rejected_call(planned, step, fault, &facts)?;
        Ok(facts.iter().any(|fact| case.fact_applies(fact)))
    }

    /// Why a call is given up if there is no model: a rule's change was refused, a model could have helped, or nothing can.
    pub(super) fn reason_without_model(&self, index: StepIndex, fault: &CallFault) -> Decided<String> {
        let (planned, step) = (planned(self.plan, index)?, self.steps.get(index)?);
        let is_refusal = |mend: &&Mend| mend.rung == Rung::Facts && mend.effect == MendEffect::NoHelp;
        if let Some(refused) = step.mends.iter().rev().find(is_refusal) {
            return Ok(refused.description.clone());
        }
        let facts = facts_about(planned, step, fault);
        let is_referred = !self.rejected_call(planned, step, fault, &facts)?.referred_parameters().is_empty();
        let can_help = fault.origin == FaultOrigin::Local || is_referred;
        let reason = if can_help {
            "there is no model to ask"
        } else {
            "the error refers to no parameter that could be changed"
        };
        Ok(reason.to_owned())
    }

    /// The facts that an error states, one per line, for a model. Parameters without the format that the schema states are added:
    /// they may be the cause, although they were sent.
    pub(super) fn facts_shown(&self, index: StepIndex, fault: &CallFault) -> Decided<String> {
        let (planned, step) = (planned(self.plan, index)?, self.steps.get(index)?);
        let mut facts = facts_about(planned, step, fault);
        if let Some(schema) = planned.schema.as_ref().filter(|_| fault.origin != FaultOrigin::Local) {
            let problems = schema.format_problems(&Value::Object(step.parameters.clone()));
            let mut formats = facts_from_problems(&problems);
            formats.retain(|format| facts.iter().all(|fact| fact.field != format.field));
            facts.extend(formats);
        }
        Ok(facts_as_lines(&facts))
    }

    pub(super) fn rejected_call(
        self,
        planned: &'a PlannedStep,
        step: &'a StepRun,
        fault: &'a CallFault,
        facts: &'a [Fact],
    ) -> Decided<RejectedCall<'a>> {
        Ok(RejectedCall {
            parameters: step.parameters.clone(),
            schema: planned.schema.as_deref(),
            facts,
            message: &fault.message,
            referenced: referenced(planned, step),
            allowed_changes: match (self.policy().mending.rule_changes, self.side_effect(planned)) {
                (RuleChanges::SpellingOnly, _) => AllowedChanges::SpellingOnly,
                // A person approves every change of an unsafe call.
                (RuleChanges::BySideEffect, SideEffect::Read | SideEffect::Unsafe) => AllowedChanges::Any,
                (RuleChanges::BySideEffect, _) => AllowedChanges::WithEvidence,
            },
            request: [self.request, &planned.instruction],
            results: self.dependency_results(planned)?.into_iter().map(|(step, value)| (&step.id, value)).collect(),
        })
    }
}

/// The facts about a failure: from the error, or from the schema if nothing was sent.
pub(super) fn facts_about(planned: &PlannedStep, step: &StepRun, fault: &CallFault) -> Vec<Fact> {
    match (fault.origin, &planned.schema) {
        (FaultOrigin::Local, Some(schema)) => {
            facts_from_problems(&schema.problems(&Value::Object(step.parameters.clone())))
        }
        // The message is our own and states no facts of a tool.
        (FaultOrigin::Local, None) => Vec::new(),
        _ => extract_facts(fault),
    }
}

/// The parameters that the plan takes from results, those without a value included.
pub(super) fn referenced(planned: &PlannedStep, step: &StepRun) -> Vec<String> {
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
