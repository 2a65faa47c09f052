//! Questions to a person about a call: before it is sent, after it was corrected, or after an unknown outcome; and one question for
//! all calls of a loop that need an approval.
//!
//! The calls of a loop are bound when it begins, and an approval is valid for exactly these: the loop keeps the digest of each. An item
//! whose call is another one when it is due, because it was mended or a result is another one after a retry, is asked about on its own.

use std::sync::Arc;

use reknit_expressions::{Binding, BoundParameters, CorrectionOutcome, Provenance, replace_parameters};
use reknit_mend::{CallFault, Mend, MendEffect, PeoplePolicy};
use reknit_plan::{LoopItem, PlannedStep, StepIndex};
use reknit_protocol::{CallTool, EffectId, EffectKind, Object, RunId, StepId, Value};

use super::call_control::CallControl;
use super::call_repair::CallRepair;
use super::correction::changed_text;
use super::knowledge::CallJudge;
use super::planned;
use super::stage::Stage;
use super::step_handle::StepHandle;
use super::step_machine::StepMachine;
use super::step_run::WrittenCall;
use crate::answer::StepApproval;
use crate::approval_rules::AskScope;
use crate::digest::digest_of;
use crate::effect::{AskPerson, ItemCall, Question};
use crate::event::{DecidedBy, Decision};
use crate::internal_error::{Decided, InternalError};
use crate::policy::LoopApprovals;
use crate::record::RunRecord;
use crate::stored::is_default;

impl StepHandle<'_> {
    /// Uses the parameters that a person wrote. Returns what changed.
    fn set_edited(&mut self, bound: BoundParameters) -> Decided<Option<String>> {
        let step = self.step_mut()?;
        let change = changed_text(&step.parameters, &bound.parameters);
        if change.is_empty() {
            return Ok(None);
        }
        // Another call than the one that was asked about, so it gets another key.
        step.number_correction();
        step.set_parameters(bound.parameters, bound.provenance);
        Ok(Some(change))
    }
}

impl CallControl<'_> {
    /// Asks a person. The hash binds the decision to exactly this question.
    pub(super) fn ask_person(&mut self, fault: Option<Arc<CallFault>>, question: Question) -> Decided {
        if self.policy().people == PeoplePolicy::Nobody {
            let cause = match &question {
                Question::SendCall { reason, .. }
                | Question::SendItems { reason, .. }
                | Question::SendCorrected { reason, .. }
                    if !reason.is_empty() =>
                {
                    reason.as_str()
                }
                _ => "only a person may decide this",
            };
            let reason = format!("{cause}, and no person can be asked for approval");
            self.step_mut()?.approval.withheld = true;
            return self.set_stage(Stage::Failed { reason, fault });
        }
        let planned = self.planned()?;
        let step = self.step_mut()?;
        step.counts.approvals += 1;
        let id = EffectId::of_step(&planned.id, EffectKind::Approval, step.counts.approvals);
        let provenance = step.provenance.clone();
        let (run, expires_ms) = (&self.started.run, self.clock.question_expires_ms());
        let ask = new_question(run, (id, planned.id.clone()), question, provenance, expires_ms);
        self.record(RunRecord::ApprovalRequested(Arc::clone(&ask)));
        self.set_stage(Stage::AwaitingApproval { ask, fault })
    }

    /// Asks a person about a call that a rule holds back.
    pub(super) fn ask_about_call(&mut self, reason: String) -> Decided {
        let call = Box::new(self.next_call()?);
        let similar =
            self.ruled_out.denied_like(self.planned()?, self.step()?).1.map(|denied| denied.parameters.to_string());
        let reason = match similar {
            Some(denied) => format!("{reason}; you denied a similar call in this session, with {denied}"),
            None => reason,
        };
        let is_change = |mend: &&Mend| mend.effect == MendEffect::Applied && mend.rung.changes_parameters();
        let mends = self.step()?.mends.iter().filter(is_change);
        let change = mends.map(|mend| mend.description.as_str()).collect::<Vec<_>>().join("; ");
        self.ask_person(None, Question::SendCall { call, reason, change })
    }
}

impl CallRepair<'_> {
    /// Asks about the calls of a loop that begins, if several of its items need an approval. Returns whether it did.
    pub(super) fn ask_about_items(&mut self, of_loop: &PlannedStep, length: usize) -> Decided<bool> {
        let approvals = &self.policy().approvals;
        let may_ask = of_loop.controls.approve || !is_default(approvals);
        let is_over = self.step()?.has_item_approvals() || !self.steps.items(self.index).indices.is_empty();
        if self.policy().loop_approvals == LoopApprovals::Items
            // The whole plan is approved, and its calls with it.
            || approvals.ask == AskScope::Plan
            || !may_ask
            || of_loop.computed
            || is_over
            || self.account.stop.is_some()
        {
            return Ok(false);
        }
        let mut reasons: Vec<String> = Vec::new();
        let mut calls = Vec::new();
        for position in 0..length {
            let item = item_step(of_loop, LoopItem { of: self.index, position });
            if let Some((parameters, reason)) = self.known().judge().held_item(&item) {
                if !reasons.contains(&reason) {
                    reasons.push(reason);
                }
                calls.push(ItemCall { step: item.id, parameters });
            }
        }
        if calls.len() < 2 {
            return Ok(false);
        }
        let question = Question::SendItems {
            tool: of_loop.tool.clone(),
            capability: of_loop.capability.clone(),
            side_effect: self.known().side_effect(of_loop),
            calls,
            reason: reasons.join("; "),
        };
        self.ask_person(None, question)?;
        Ok(true)
    }
}

impl StepMachine<'_> {
    pub(super) fn on_decision(&mut self, decision: Decision, by: DecidedBy, expired: bool) -> Decided {
        let Stage::AwaitingApproval { ask, fault } = self.step()?.stage() else {
            return Err(InternalError::new("a decision about a step that awaits none"));
        };
        let (ask, fault) = (Arc::clone(ask), fault.clone());
        let edited = match &decision {
            Decision::Edit { parameters } => {
                match self.known().judge().edited_parameters(self.index, &ask.question, parameters)? {
                    Ok(bound) => Some(bound),
                    Err(reason) => {
                        self.record(RunRecord::EditRefused { id: ask.id.clone(), reason });
                        return Ok(());
                    }
                }
            }
            _ => None,
        };
        self.record(RunRecord::ApprovalDecided { id: ask.id.clone(), decision: decision.clone(), by, expired });
        // The time that a person takes does not count for the step.
        let asked_ms = ask.expires_ms.saturating_sub_unsigned(self.context.started.policy.limits.person_ms);
        let waited_ms = self.clock.now_ms.saturating_sub(asked_ms);
        self.step_mut()?.extend_deadline(waited_ms);
        match decision {
            Decision::Approve => self.approve(&ask.question, by, None),
            Decision::Edit { .. } => {
                let change = edited.map(|bound| self.set_edited(bound)).transpose()?;
                self.approve(&ask.question, by, change.flatten())
            }
            Decision::Deny { reason } => {
                let planned = self.planned()?;
                let step = self.step_mut()?;
                step.approval.withheld = true;
                if !expired && matches!(ask.question, Question::SendCall { .. } | Question::SendCorrected { .. }) {
                    let call = step.as_call(planned);
                    self.ruled_out.newly_denied.push(call);
                }
                let denied = match reason.filter(|_| !expired) {
                    _ if expired => "the time to approve it ran out".to_owned(),
                    Some(reason) => format!("it was not approved: {reason}"),
                    None => "it was not approved".to_owned(),
                };
                let refusal = match ask.question {
                    Question::SendCall { .. } | Question::RunPlan { .. } => "the call is not sent",
                    Question::SendItems { .. } => "none of its calls is sent",
                    Question::SendAgain { .. } => "the call may have taken effect; it is not sent again",
                    Question::SendCorrected { .. } => "the corrected call is not sent",
                };
                self.set_stage(Stage::Failed { reason: format!("{refusal}, because {denied}"), fault })
            }
            Decision::Happened { result } => {
                self.settle_as_happened(result, "a person said that the call took effect".to_owned())
            }
            Decision::DidNotHappen => {
                let words = "a person said that the call did not take effect; it is sent again".to_owned();
                self.settle_as_not_happened(words)
            }
            Decision::Check => {
                let fault = fault.ok_or_else(|| InternalError::new("a check of a call that was not made"))?;
                self.start_check(fault, None)
            }
        }
    }

    /// Sends the call that a person has approved.
    fn approve(&mut self, question: &Question, by: DecidedBy, change: Option<String>) -> Decided {
        if let Question::SendItems { calls, reason, .. } = question {
            let report = StepApproval { by, reason: reason.clone(), change: None };
            self.step_mut()?.approval.reports.push(report);
            return self.approve_items(calls);
        }
        let approved = self.known().judge().call_digest(self.index)?;
        let reason = match question {
            Question::SendCall { reason, .. } => Some(reason.clone()),
            Question::SendCorrected { reason, .. } if change.is_some() || by != DecidedBy::Person => {
                Some(reason.clone())
            }
            Question::SendCorrected { .. }
            | Question::SendAgain { .. }
            | Question::SendItems { .. }
            | Question::RunPlan { .. } => None,
        };
        let step = self.step_mut()?;
        step.approval.approved = Some(approved);
        step.written = Some(Box::new(WrittenCall { parameters: step.parameters.clone(), provenance: None }));
        step.approval.reports.extend(reason.map(|reason| StepApproval { by, reason, change }));
        self.set_stage(Stage::Queued)
    }

    /// Approves the calls of a loop, and begins it.
    pub(super) fn approve_items(&mut self, calls: &[ItemCall]) -> Decided {
        let of_loop = self.planned()?;
        let digests =
            calls.iter().map(|call| (call.step.clone(), self.known().judge().item_digest(of_loop, call))).collect();
        self.step_mut()?.looping.approved_items = digests;
        self.begin_loop(of_loop)
    }
}

/// A question to a person, which expires.
pub(super) fn new_question(
    run: &RunId,
    (id, step): (EffectId, StepId),
    question: Question,
    provenance: Vec<(String, Provenance)>,
    expires_ms: i64,
) -> Arc<AskPerson> {
    let hash = digest_of(&(run.as_str(), &question));
    Arc::new(AskPerson { id, step, question, provenance, hash, expires_ms })
}

impl CallJudge<'_> {
    /// The rules for which a person is asked about the next call of a step; `None` if it may be sent. A call that was approved
    /// is not asked about again while neither its parameters nor the number of its corrections change.
    pub(super) fn rule_to_ask(&self, index: StepIndex) -> Decided<Option<String>> {
        let planned = planned(self.known.plan, index)?;
        if is_default(&self.known.policy().approvals) && !planned.controls.approve {
            return Ok(None);
        }
        let call = self.known.call_of(planned, &self.known.steps.get(index)?.parameters);
        let reasons = self.reasons_to_ask(planned, &call);
        let is_held = !reasons.is_empty() && !self.is_approved(index)? && !self.is_in_approved_plan(index)?;
        Ok(is_held.then(|| reasons.join("; ")))
    }

    /// Whether a person approved exactly the next call of a step.
    pub(super) fn is_approved(&self, index: StepIndex) -> Decided<bool> {
        let approved = self.known.steps.get(index)?.approval.approved.as_ref();
        let is_own = || Ok(approved == Some(&self.call_digest(index)?));
        Ok(approved.is_some() && is_own()? || self.is_approved_item(index, planned(self.known.plan, index)?)?)
    }

    /// Why a person approves a call of a step, one reason for each rule.
    pub(super) fn reasons_to_ask(&self, planned: &PlannedStep, call: &CallTool) -> Vec<String> {
        let mut reasons = self.known.policy().approvals.reasons_to_ask(call);
        if planned.controls.approve {
            reasons.insert(0, "the plan asks for approval of this step".to_owned());
        }
        reasons
    }

    /// What an approval is valid for: the run, the step, the number of corrections, the capability and the parameters.
    fn call_digest(&self, index: StepIndex) -> Decided<String> {
        let (planned, step) = (planned(self.known.plan, index)?, self.known.steps.get(index)?);
        let (run, parameters) = (self.known.started.run.as_str(), step.parameters.to_string());
        Ok(digest_of(&(run, &planned.id, step.correction, &planned.tool, &planned.capability, parameters)))
    }

    /// Why values that only a person may decide are not sent, if nobody can be asked.
    pub(super) fn cannot_ask_about(&self, held: &[String]) -> Option<String> {
        let is_stuck = !held.is_empty() && self.known.policy().people == PeoplePolicy::Nobody;
        is_stuck.then(|| format!("{}, and no person can be asked for approval", held.join("; ")))
    }

    /// Whether a decision is an answer to the question. Only a call that may have taken effect can be settled.
    pub(super) fn can_answer(&self, index: StepIndex, question: &Question, decision: &Decision) -> Decided<bool> {
        Ok(match (question, decision) {
            (Question::SendAgain { .. }, Decision::Check) => {
                self.known.started.check_of(planned(self.known.plan, index)?).is_some()
            }
            (Question::SendCall { .. } | Question::SendCorrected { .. } | Question::SendItems { .. }, decision) => {
                !decision.settles_outcome()
            }
            // It is not a question about a step.
            (Question::RunPlan { .. }, _) => false,
            (Question::SendAgain { .. }, _) => true,
        })
    }

    /// The parameters that a person wrote, fitted to the schema, or why the call cannot be sent with them.
    fn edited_parameters(
        &self,
        index: StepIndex,
        question: &Question,
        parameters: &Object,
    ) -> Decided<Result<BoundParameters, String>> {
        if matches!(question, Question::SendItems { .. }) {
            return Ok(Err("the calls of a loop are approved or denied together, and not changed".to_owned()));
        }
        if matches!(question, Question::SendAgain { .. }) {
            return Ok(Err("the call may have taken effect, so it is not changed".to_owned()));
        }
        let (planned, step) = (planned(self.known.plan, index)?, self.known.steps.get(index)?);
        let replaced = replace_parameters(&step.parameters, parameters.clone(), planned.schema.as_deref(), "person");
        Ok(match replaced {
            Ok(CorrectionOutcome::Changed(mut bound) | CorrectionOutcome::Respelled(mut bound)) => {
                bound.provenance.iter_mut().for_each(|(_, origin)| *origin = Provenance::Person);
                Ok(bound)
            }
            Ok(CorrectionOutcome::Unchanged) => {
                Ok(BoundParameters { parameters: step.parameters.clone(), ..BoundParameters::default() })
            }
            Err(error) => Err(error.to_string()),
        })
    }

    /// The parameters of the call of an item that needs an approval, and why. `None` if it needs none, is skipped by its condition, or
    /// cannot be bound yet: then it is asked about when it is due.
    fn held_item(&self, item: &PlannedStep) -> Option<(Object, String)> {
        if let Some(condition) = item.condition()
            && !matches!(condition.evaluate(&self.known.results(Some(item))), Ok(evaluation) if evaluation.value == Value::Bool(true))
        {
            return None;
        }
        let Binding::Bound(bound) = self.known.binding(item) else { return None };
        let call = self.known.call_of(item, &bound.parameters);
        let reasons = self.reasons_to_ask(item, &call);
        (!reasons.is_empty()).then(|| (bound.parameters, reasons.join("; ")))
    }

    /// Whether the call of an item is one that was approved with its loop.
    pub(super) fn is_approved_item(&self, index: StepIndex, item: &PlannedStep) -> Decided<bool> {
        let Some(LoopItem { of, .. }) = item.item else { return Ok(false) };
        let of_loop = self.known.steps.get(of)?;
        let step = self.known.steps.get(index)?;
        if step.correction != 0 || !of_loop.has_item_approvals() {
            return Ok(false);
        }
        let call = ItemCall { step: item.id.clone(), parameters: step.parameters.clone() };
        Ok(of_loop.looping.approved_items.get(&item.id) == Some(&self.item_digest(item, &call)))
    }

    fn item_digest(&self, planned: &PlannedStep, call: &ItemCall) -> String {
        let (run, parameters) = (self.known.started.run.as_str(), call.parameters.to_string());
        let mut digest = digest_of(&(run, &call.step, &planned.tool, &planned.capability, parameters));
        digest.truncate(KEPT_DIGITS);
        digest
    }
}

/// How many digits of the digest of a call a loop keeps.
const KEPT_DIGITS: usize = 32;

/// The step of an item before it is added to the plan.
fn item_step(of_loop: &PlannedStep, item: LoopItem) -> PlannedStep {
    let id = StepId::new(format!("{}[{}]", of_loop.id, item.position));
    PlannedStep { id, item: Some(item), ..of_loop.clone() }
}
