//! The state of one step.

use std::collections::BTreeMap;
use std::sync::Arc;

use reknit_expressions::Provenance;
use reknit_mend::{CallFault, Fate, FaultOrigin, Mend, ModelRung, RepairState, ResendRule};
use reknit_model_api::Money;
use reknit_plan::{LoopItem, PlannedStep};
use reknit_protocol::{EffectKind, Object, SideEffect, StepId, Value, exact};
use serde::{Deserialize, Serialize};

use super::stage::Stage;
use crate::answer::StepApproval;
use crate::budget::Spent;
use crate::business_key::{KeyHolder, UncertainCall};
use crate::consult::Consultation;
use crate::effect::Effect;
use crate::internal_error::{Decided, InternalError};
use crate::result_handle::ResultHandle;
use crate::stored::is_default;

/// The state of one step.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct StepRun {
    /// Changed by [`Steps::set_stage`] only, which keeps the index consistent.
    pub(super) stage: Stage,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) item: Option<LoopItem>,
    /// What a step with `foreach` knows of its loop.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) looping: LoopRun,
    /// How the item goes on after a retry when it is released, if it does not start anew.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) reopened: Option<Box<Reopened>>,
    /// The parameters that were sent last or are sent next.
    #[serde(with = "exact")]
    pub(super) parameters: Object,
    pub(super) provenance: Vec<(String, Provenance)>,
    /// The parameters as they were written, or approved last, if they were changed since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) written: Option<Box<WrittenCall>>,
    /// When the step's time is over. Nothing that the step does starts or ends after that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) deadline_ms: Option<i64>,
    pub(super) attempts: Vec<Attempt>,
    pub(super) mends: Vec<Mend>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) counts: Counts,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) rungs: UsedRungs,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) approval: ApprovalState,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) session: SessionCost,
    /// The other call that the step waits for, because it has the same business key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) key_holder: Option<Box<KeyHolder>>,
    /// How the result differs from what its tool announces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) misfit: Option<String>,
    /// A model's numbers that were not accepted because no evidence supports them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) ungrounded: Vec<String>,
    /// Whether a second plan does in another way what the step was for.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) replaced: bool,
    /// How often the call was corrected; part of its idempotency key.
    pub(super) correction: u32,
    /// What was used before the run was retried, or before the last wait of a step with `until`: budgets count from here,
    /// ordinals go on.
    pub(super) before_retry: UsedBefore,
}

/// What a step with `foreach` knows of its loop.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct LoopRun {
    /// How many items the loop has, once it has begun.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) length: Option<u32>,
    /// The list of the loop, if it could be another one after a retry.
    #[serde(skip_serializing_if = "Option::is_none", with = "exact::option")]
    pub(super) list: Option<Value>,
    /// The digests of the calls of its items that were approved together.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) approved_items: BTreeMap<StepId, String>,
}

/// What a step has counted: the ordinals of its effects, and how often it may still do something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Counts {
    /// How many calls became due: the ordinal of the last call's effect.
    pub(super) calls: u32,
    /// How many of them were not made because the tool's circuit breaker was open.
    #[serde(skip_serializing_if = "is_default")]
    pub(super) skipped_calls: u32,
    /// How many of them were not made because of their business key.
    #[serde(skip_serializing_if = "is_default")]
    pub(super) unsent_for_key: u32,
    #[serde(skip_serializing_if = "is_default")]
    pub(super) resends: u32,
    /// How often a person was asked.
    #[serde(skip_serializing_if = "is_default")]
    pub(super) approvals: u32,
    /// How often the outcome of a call was checked.
    #[serde(skip_serializing_if = "is_default")]
    pub(super) checks: u32,
    /// How often the step waited for a job, and how many requests about jobs it made.
    #[serde(skip_serializing_if = "is_default")]
    pub(super) job_waits: u32,
    #[serde(skip_serializing_if = "is_default")]
    pub(super) job_requests: u32,
    /// How many results were asked for with `until`.
    #[serde(skip_serializing_if = "is_default")]
    pub(super) polls: u32,
    /// How many read calls were made to verify the step, and how often it waited before one.
    #[serde(skip_serializing_if = "is_default")]
    pub(super) verify_calls: u32,
    #[serde(skip_serializing_if = "is_default")]
    pub(super) verify_waits: u32,
}

/// How often each rung was used, and what it left behind.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct UsedRungs {
    pub(super) facts: u32,
    pub(super) rules: u32,
    pub(super) feedback: u32,
    pub(super) context: u32,
    /// How often a model was asked on each rung: the ordinal of the last question's effect.
    pub(super) resolution_asked: u32,
    pub(super) feedback_asked: u32,
    pub(super) context_asked: u32,
    /// Whether a model that looked at an error of this step said that the same call can work later.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) said_transient: bool,
    /// The learned rule that changed the call last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) applied_rule: Option<Box<AppliedRule>>,
}

/// What people decided about the calls of a step.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct ApprovalState {
    /// The digest of the call that was approved last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) approved: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) reports: Vec<StepApproval>,
    /// Whether a person decided against its call, or nobody could be asked about it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) withheld: bool,
}

/// What the session of a step's agent costs.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct SessionCost {
    /// The part of the cost limit that is reserved for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) share: Option<Money>,
    /// What it has spent, as far as it was told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) spent: Option<Box<Spent>>,
}

/// What a step had used when its budgets began to count anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct UsedBefore {
    pub(super) resends: u32,
    pub(super) resolutions: u32,
    /// The highest number that a correction had.
    pub(super) corrections: u32,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) polls: u32,
}

/// One attempt of a step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Attempt {
    #[serde(with = "exact")]
    pub(super) parameters: Object,
    /// The failure; `None` for a success.
    pub(super) fault: Option<Arc<CallFault>>,
    /// How often the call had been corrected.
    pub(super) correction: u32,
}

impl StepRun {
    pub(super) fn stage(&self) -> &Stage {
        &self.stage
    }

    /// Whether calls of the items of its loop were approved together.
    pub(super) fn has_item_approvals(&self) -> bool {
        !self.looping.approved_items.is_empty()
    }

    /// The question to a model about this step.
    pub(super) fn consultation_mut(&mut self) -> Option<&mut Consultation> {
        match &mut self.stage {
            Stage::Consulting { consultation, .. } => Some(consultation.as_mut()),
            _ => None,
        }
    }

    /// The failure that a model is asked about.
    pub(super) fn fault_in_question(&self) -> Decided<Arc<CallFault>> {
        match &self.stage {
            Stage::Consulting { fault, .. } => Ok(Arc::clone(fault)),
            _ => Err(InternalError::new("no model is asked about the step")),
        }
    }

    /// Keeps the ordinal of the last question, so that the next one on this rung gets another.
    pub(super) fn note_asked(&mut self) {
        let Stage::Consulting { rung, consultation, .. } = &self.stage else { return };
        let (rung, asked) = (*rung, consultation.asked());
        *self.asked_mut(rung) = asked;
    }

    /// How often a model was asked on a rung.
    pub(super) fn asked_mut(&mut self, rung: ModelRung) -> &mut u32 {
        match rung {
            ModelRung::Resolution => &mut self.rungs.resolution_asked,
            ModelRung::Feedback => &mut self.rungs.feedback_asked,
            ModelRung::Context => &mut self.rungs.context_asked,
        }
    }

    /// How often a rung was used. Resolution is used at most once, and this is asked only after it was used.
    pub(super) fn uses(&self, rung: ModelRung) -> u32 {
        match rung {
            ModelRung::Resolution => 1,
            ModelRung::Feedback => self.rungs.feedback,
            ModelRung::Context => self.rungs.context,
        }
    }

    /// Adds an attempt with the current parameters.
    pub(super) fn add_attempt(&mut self, fault: Option<Arc<CallFault>>) {
        self.attempts.push(Attempt { parameters: self.parameters.clone(), fault, correction: self.correction });
    }

    /// The failure of the last attempt.
    pub(super) fn last_fault(&self) -> Option<&Arc<CallFault>> {
        self.attempts.last().and_then(|attempt| attempt.fault.as_ref())
    }

    pub(super) fn repair_state(&self, fault: &CallFault, planned: &PlannedStep, class: SideEffect) -> RepairState {
        RepairState {
            resends: self.counts.resends,
            feedback: self.rungs.feedback,
            context: self.rungs.context,
            independent: planned.dependencies.is_empty(),
            about_input: false,
            may_have_happened: self.may_have_happened(class, Some(fault)),
            changes_need_approval: class == SideEffect::Unsafe,
            said_transient: self.rungs.said_transient,
            // A call that was never sent has not used up the approval that a person gave for it.
            resend_rule: match (class, fault.fate) {
                (_, Fate::Rejected | Fate::Unknown)
                    if class.needs_approval_to_resend() && self.may_have_happened(class, Some(fault)) =>
                {
                    ResendRule::NeedsApproval
                }
                _ => ResendRule::Allowed,
            },
            similar_failures: 0,
            repeats_last_failure: self.last_fault().is_some_and(|last| last.same_as(fault)),
        }
    }

    /// Whether this failure or an earlier one leaves open if the call changed something. A later rejection does not prove that
    /// an earlier attempt had no effect, except for a call whose process ended before it read the answer: the same call
    /// under the same key gets that answer again.
    pub(super) fn may_have_happened(&self, class: SideEffect, fault: Option<&CallFault>) -> bool {
        if class == SideEffect::Read {
            return false;
        }
        let earlier = self.attempts.iter().filter_map(|attempt| Some((&attempt.parameters, attempt.fault.as_deref()?)));
        let faults: Vec<(&Object, &CallFault)> = earlier.chain(fault.map(|fault| (&self.parameters, fault))).collect();
        faults.iter().enumerate().any(|(at, (parameters, fault))| {
            let is_answered = || {
                fault.origin == FaultOrigin::Interrupted
                    && faults.iter().skip(at + 1).any(|(sent, later)| sent == parameters && answers(class, later))
            };
            fault.fate == Fate::Unknown && !is_answered()
        })
    }

    /// A person or a check found that no call so far took effect.
    pub(super) fn note_not_happened(&mut self) {
        let faults = self.attempts.iter_mut().filter_map(|attempt| attempt.fault.as_mut());
        for fault in faults.filter(|fault| fault.fate == Fate::Unknown) {
            Arc::make_mut(fault).fate = Fate::Rejected;
        }
    }

    /// Gives the step the budgets of a new one. Its ordinals and its attempts stay: they tell what was done.
    pub(super) fn renew_budgets(&mut self) {
        // An approval does not outlive a retry.
        self.looping.approved_items.clear();
        // What an earlier attempt had reserved for its session is released together with the limits.
        self.session.share = None;
        self.renew_resends();
        self.before_retry.polls += std::mem::take(&mut self.counts.polls);
        self.before_retry.resolutions = self.rungs.resolution_asked;
        (self.rungs.facts, self.rungs.rules, self.rungs.feedback, self.rungs.context) = (0, 0, 0, 0);
        self.approval.approved = None;
        self.key_holder = None;
        self.deadline_ms = None;
        self.ungrounded.clear();
    }

    /// The next call may be sent again as often as the first one.
    pub(super) fn renew_resends(&mut self) {
        self.before_retry.resends += std::mem::take(&mut self.counts.resends);
        self.rungs.said_transient = false;
    }

    /// The parameters were bound again after a retry. The call that was sent last keeps its key, and another call gets a key
    /// that no call had. Nothing that was sent before took effect, or the parameters would not be bound again.
    pub(super) fn number_bound_again(&mut self) {
        if self.counts.calls == 0 {
            return;
        }
        let is_sent =
            |attempt: &&Attempt| attempt.fault.as_ref().is_none_or(|fault| fault.origin != FaultOrigin::Local);
        self.before_retry.corrections = self.before_retry.corrections.max(self.correction);
        match self.attempts.iter().rev().find(is_sent) {
            Some(last) if last.parameters == self.parameters => self.correction = last.correction,
            _ => self.number_correction(),
        }
    }

    /// The call has other parameters, and so a key that no call had.
    pub(super) fn number_correction(&mut self) {
        self.correction = self.correction.max(self.before_retry.corrections) + 1;
    }

    /// The call as it is compared with others.
    pub(super) fn as_call(&self, planned: &PlannedStep) -> UncertainCall {
        let (tool, capability) = (planned.tool.clone(), planned.capability.clone());
        UncertainCall { tool, capability, parameters: self.parameters.clone() }
    }

    /// How many calls were made.
    pub(super) fn sent(&self) -> u32 {
        self.counts.calls.saturating_sub(self.counts.skipped_calls).saturating_sub(self.counts.unsent_for_key)
    }

    /// Whether the same parameters were rejected before.
    pub(super) fn was_tried(&self, parameters: &Object) -> bool {
        self.attempts.iter().any(|attempt| attempt.parameters == *parameters)
    }

    /// Whether the same parameters, with their numbers spelled in the same way, were rejected before.
    pub(super) fn was_tried_as_spelled(&self, parameters: &Object) -> bool {
        let text = parameters.to_string();
        self.attempts.iter().any(|attempt| attempt.parameters.to_string() == text)
    }

    /// Replaces the parameters, and the origins of those that changed.
    pub(super) fn set_parameters(&mut self, parameters: Object, provenance: Vec<(String, Provenance)>) {
        if self.written.is_none() {
            let (parameters, provenance) = (self.parameters.clone(), Some(self.provenance.clone()));
            self.written = Some(Box::new(WrittenCall { parameters, provenance }));
        }
        self.provenance.retain(|(name, _)| {
            parameters.contains_key(name) && !provenance.iter().any(|(changed, _)| changed == name)
        });
        self.provenance.extend(provenance);
        self.parameters = parameters;
    }

    /// The effects that are due for this step.
    pub(super) fn effects(&self, grace_ms: u64) -> Vec<Effect> {
        match &self.stage {
            Stage::Calling(call) | Stage::Checking { call, .. } => vec![call.effect()],
            Stage::Stopping(call) => vec![Effect::Abort { effect: call.id.clone(), grace_ms }],
            Stage::BackingOff { id, until_ms, .. } => vec![Effect::Sleep { id: id.clone(), until_ms: *until_ms }],
            Stage::Consulting { consultation, .. } => consultation.effect().into_iter().collect(),
            Stage::AwaitingJob(wait) => vec![wait.effect()],
            Stage::Verifying(verification) => verification.effect().into_iter().collect(),
            Stage::AwaitingApproval { ask, .. } => vec![
                Effect::AskPerson(Arc::clone(ask)),
                Effect::Sleep { id: ask.id.with_kind(EffectKind::ApprovalExpiry), until_ms: ask.expires_ms },
            ],
            _ => Vec::new(),
        }
    }
}

/// The parameters of a step before they were changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct WrittenCall {
    #[serde(with = "exact")]
    pub(super) parameters: Object,
    /// Their provenance; `None` if a person approved them.
    pub(super) provenance: Option<Vec<(String, Provenance)>>,
}

/// The learned rule that changed the call of a step last.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct AppliedRule {
    pub(super) rule: String,
    /// The number of the correction that it made.
    pub(super) correction: u32,
}

/// How a failed, unconfirmed or skipped step goes on, if it does not start again with its parameters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Reopened {
    /// Its call may have taken effect, and may be sent again: unchanged, under the same key.
    SendAgain,
    /// Its call may have taken effect, and only a check or a person may decide that it is sent again.
    AskAboutOutcome(Arc<CallFault>),
    /// Its call was made, and whether it had the wished effect is asked again.
    Verify(ResultHandle),
}

/// Whether the failure of a call tells what became of the same call before it.
fn answers(class: SideEffect, fault: &CallFault) -> bool {
    fault.refuses_the_call()
        && !fault.denies_access()
        && match class {
            SideEffect::Read | SideEffect::Keyed => true,
            SideEffect::Idempotent => !fault.may_follow_from_same_call(),
            SideEffect::Undeclared | SideEffect::Unknown | SideEffect::Unsafe => false,
        }
}
