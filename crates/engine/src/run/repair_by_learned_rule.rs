//! Repairing a call by rules that were learned in earlier runs, after code and before any model.

use std::collections::BTreeMap;
use std::sync::Arc;

use reknit_expressions::{Backing, BoundParameters, CorrectionOutcome, Provenance, replace_parameters};
use reknit_mend::{
    AcceptedBy, CallFault, FaultOrigin, FaultyCall, LearnedRule, MendEffect, PeoplePolicy, PriorResult, RuleChanges,
    RuleFix, RuleState, Rung, Verdict,
};
use reknit_plan::{PlannedStep, StepIndex};
use reknit_protocol::{SideEffect, StepId};
use serde::{Deserialize, Serialize};

use super::repair_by_model::changed_text;
use super::repair_by_rules::{facts_about, referenced};
use super::resolve_parameters::capability;
use super::state::Stage;
use super::step_events::{Approval, Correction};
use super::steps::StepRun;
use super::{Run, planned};
use crate::internal_error::Decided;
use crate::record::MendDetail;
use crate::synthesis::numbers_in_text;

/// The learned rule that changed the call of a step last.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct AppliedRule {
    pub(super) rule: String,
    /// The number of the correction that it made.
    pub(super) correction: u32,
}

impl Run {
    /// The learned rules of this run whose change a tool rejected, each with the error. They are not used again.
    pub fn rejected_rules(&self) -> &BTreeMap<String, String> {
        &self.state.rejected_rules
    }

    /// Changes the call as a learned rule says and sends it; returns whether it did.
    pub(super) fn repair_by_learned_rule(&mut self, index: StepIndex, fault: &Arc<CallFault>) -> Decided<bool> {
        let plan = Arc::clone(&self.plan);
        let (planned, step) = (planned(&plan, index)?, self.state.steps.get(index)?);
        let rules = self.usable_rules(planned, step, fault);
        if rules.is_empty() {
            return Ok(false);
        }
        let call = self.faulty_call(planned, step, fault)?;
        let fixes: Vec<RuleFix> = rules.iter().filter_map(|rule| rule.fix(&call)).collect();
        let Some(fix) = fixes.first() else { return Ok(false) };
        if let Some(other) = fixes.iter().find(|other| other.parameters != fix.parameters) {
            let words = format!("the rules {} and {} disagree", fix.rule, other.rule);
            return self.no_rule(index, words);
        }
        let bound = match self.bound_by_rule(planned, step, fix) {
            Ok(Some(bound)) => bound,
            Ok(None) => return Ok(false),
            Err(refused) => return self.no_rule(index, format!("rule {}: {refused}", fix.rule)),
        };
        let mut held = self.changes_for_person(index, planned, fault, &bound)?.reasons;
        held.extend(self.unapproved_values(index, planned, &bound)?);
        if !held.is_empty() && self.policy().people == PeoplePolicy::Nobody {
            let words = format!("rule {}: {}, and no person can be asked for approval", fix.rule, held.join("; "));
            return self.no_rule(index, words);
        }
        let step = self.state.steps.get_mut(index)?;
        let change = changed_text(&step.parameters, &bound.parameters);
        step.rules += 1;
        step.set_parameters(bound.parameters, bound.provenance);
        let formulas: Vec<String> = fix.changes.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        let formulas = if formulas.is_empty() { String::new() } else { format!(": {}", formulas.join(", ")) };
        let words = format!("{change}, by the learned rule {}{formulas}", fix.rule);
        let detail = MendDetail::ByLearnedRule { rule: fix.rule.clone() };
        self.add_mend(index, Rung::Rules, MendEffect::Applied, words.clone(), detail)?;
        let approval = if held.is_empty() { Approval::IfUnsafe } else { Approval::Required };
        let reason = [vec![words], held].concat().join("; ");
        self.send_corrected(index, Arc::clone(fault), Correction { change, reason, approval })?;
        let step = self.state.steps.get_mut(index)?;
        step.applied_rule = Some(Box::new(AppliedRule { rule: fix.rule.clone(), correction: step.correction }));
        Ok(true)
    }

    /// Notes that a tool rejects what a learned rule sent. An error about other parameters says nothing against the rule.
    pub(super) fn note_rejected_rule(&mut self, index: StepIndex, verdict: &Verdict) -> Decided {
        let Verdict::Correctable(fault) = verdict else { return Ok(()) };
        let plan = Arc::clone(&self.plan);
        let (planned, step) = (planned(&plan, index)?, self.state.steps.get(index)?);
        let Some(applied) = step.applied_rule.as_deref().filter(|applied| applied.correction == step.correction) else {
            return Ok(());
        };
        let Some(rule) = self.policy().rules.iter().find(|rule| rule.id == applied.rule) else { return Ok(()) };
        let call = self.faulty_call(planned, step, &Arc::new(fault.clone()))?;
        let is_about_rule = rule.error.matches(&call)
            || call.fields.is_empty()
            || call.fields.iter().any(|field| rule.named().any(|named| named == field));
        if !is_about_rule || fault.origin == FaultOrigin::Local {
            return Ok(());
        }
        let id = rule.id.clone();
        self.state.steps.get_mut(index)?.applied_rule = None;
        self.state.rejected_rules.insert(id.clone(), fault.to_string());
        let words = format!("the learned rule {id} is not used again: the tool rejected its change: {fault}");
        self.add_mend(index, Rung::Rules, MendEffect::NoHelp, words, MendDetail::RuleRejected { rule: id })
    }

    /// Records why no rule changed the call.
    fn no_rule(&mut self, index: StepIndex, description: String) -> Decided<bool> {
        self.add_mend(index, Rung::Rules, MendEffect::NoHelp, description, MendDetail::NoLearnedRule)?;
        Ok(false)
    }

    /// The accepted rules for the capability of a step that may change its call.
    fn usable_rules<'a>(&'a self, planned: &PlannedStep, step: &StepRun, fault: &CallFault) -> Vec<&'a LearnedRule> {
        let (policy, name) = (self.policy(), capability(planned));
        let is_off = policy.mending.rule_changes == RuleChanges::SpellingOnly || step.rules >= policy.mending.rules;
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
                && !self.state.rejected_rules.contains_key(&rule.id)
                // What the plan takes from a result is converted and never replaced.
                && taken.iter().all(|name| !rule.replaces(name))
        };
        policy.rules.iter().filter(is_usable).collect()
    }

    /// The parameters after the change of a rule, fitted to the schema. `None` if nothing changes; an error says why the change
    /// is refused.
    fn bound_by_rule(
        &self,
        planned: &PlannedStep,
        step: &StepRun,
        fix: &RuleFix,
    ) -> Result<Option<BoundParameters>, String> {
        let (schema, rung) = (planned.schema.as_deref(), Rung::Rules.as_str());
        if step.calls == 0 {
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
        // Only results of dependencies: otherwise the faster of two parallel steps would decide.
        let mut before = self.indices_before(planned);
        before.sort_unstable();
        let mut results = Vec::new();
        for at in before {
            if let Stage::Done(value) = self.state.steps.get(at)?.stage() {
                let planned = super::planned(&self.plan, at)?;
                let (step, capability): (StepId, _) = (planned.id.clone(), capability(planned));
                results.push(PriorResult { step, capability, value: value.get().clone() });
            }
        }
        Ok(FaultyCall {
            capability: capability(planned),
            parameters: step.parameters.clone(),
            fault: Arc::clone(fault),
            fields,
            schema: planned.schema.clone(),
            results,
            request: self.started.request.clone(),
            request_numbers: numbers_in_text::parse_numbers(&self.started.request),
        })
    }
}
