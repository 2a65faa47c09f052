//! One question to a person for all calls of a loop that need an approval.
//!
//! The calls are bound when the loop begins, and an approval is valid for exactly these: the loop keeps the digest of each. An item whose
//! call is another one when it is due, because it was mended or a result is another one after a retry, is asked about on its own.

use std::sync::Arc;

use reknit_expressions::Binding;
use reknit_plan::{LoopItem, PlannedStep, StepIndex};
use reknit_protocol::{Object, StepId, Value};

use super::{Run, planned};
use crate::approval_rules::AskScope;
use crate::digest::digest_of;
use crate::effect::{ItemCall, Question};
use crate::internal_error::Decided;
use crate::policy::LoopApprovals;
use crate::stored::is_default;

/// How many digits of the digest of a call a loop keeps.
const KEPT_DIGITS: usize = 32;

impl Run {
    /// Asks about the calls of a loop that begins, if several of its items need an approval. Returns whether it did.
    pub(super) fn ask_about_items(&mut self, index: StepIndex, of_loop: &PlannedStep, length: usize) -> Decided<bool> {
        let approvals = &self.policy().approvals;
        let may_ask = of_loop.controls.approve || !is_default(approvals);
        let is_over = self.state.steps.get(index)?.has_item_approvals() || self.state.steps.items(index).count() > 0;
        if self.policy().loop_approvals == LoopApprovals::Items
            // The whole plan is approved, and its calls with it.
            || approvals.ask == AskScope::Plan
            || !may_ask
            || of_loop.computed
            || is_over
            || self.state.stop.is_some()
        {
            return Ok(false);
        }
        let mut reasons: Vec<String> = Vec::new();
        let mut calls = Vec::new();
        for position in 0..length {
            let item = item_step(of_loop, LoopItem { of: index, position });
            if let Some((parameters, reason)) = self.held_item(&item) {
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
            side_effect: self.side_effect(of_loop),
            calls,
            reason: reasons.join("; "),
        };
        self.ask_person(index, None, question)?;
        Ok(true)
    }

    /// The parameters of the call of an item that needs an approval, and why. `None` if it needs none, is skipped by its condition, or
    /// cannot be bound yet: then it is asked about when it is due.
    fn held_item(&self, item: &PlannedStep) -> Option<(Object, String)> {
        if let Some(condition) = item.condition()
            && !matches!(condition.evaluate(&self.results(Some(item))), Ok(evaluation) if evaluation.value == Value::Bool(true))
        {
            return None;
        }
        let Binding::Bound(bound) = self.binding(item) else { return None };
        let call = self.call_of(item, &bound.parameters);
        let reasons = self.reasons_to_ask(item, &call);
        (!reasons.is_empty()).then(|| (bound.parameters, reasons.join("; ")))
    }

    /// Approves the calls of a loop, and begins it.
    pub(super) fn approve_items(&mut self, index: StepIndex, calls: &[ItemCall]) -> Decided {
        let plan = Arc::clone(&self.plan);
        let of_loop = planned(&plan, index)?;
        let digests = calls.iter().map(|call| (call.step.clone(), self.item_digest(of_loop, call))).collect();
        self.state.steps.get_mut(index)?.approved_items = digests;
        self.begin_loop(index, of_loop)
    }

    /// Whether the call of an item is one that was approved with its loop.
    pub(super) fn is_approved_item(&self, index: StepIndex, item: &PlannedStep) -> Decided<bool> {
        let Some(LoopItem { of, .. }) = item.item else { return Ok(false) };
        let of_loop = self.state.steps.get(of)?;
        let step = self.state.steps.get(index)?;
        if step.correction != 0 || !of_loop.has_item_approvals() {
            return Ok(false);
        }
        let call = ItemCall { step: item.id.clone(), parameters: step.parameters.clone() };
        Ok(of_loop.approved_items.get(&item.id) == Some(&self.item_digest(item, &call)))
    }

    fn item_digest(&self, planned: &PlannedStep, call: &ItemCall) -> String {
        let (run, parameters) = (self.started.run.as_str(), call.parameters.to_string());
        let mut digest = digest_of(&(run, &call.step, &planned.tool, &planned.capability, parameters));
        digest.truncate(KEPT_DIGITS);
        digest
    }
}

/// The step of an item before it is added to the plan.
fn item_step(of_loop: &PlannedStep, item: LoopItem) -> PlannedStep {
    let id = StepId::new(format!("{}[{}]", of_loop.id, item.position));
    PlannedStep { id, item: Some(item), ..of_loop.clone() }
}
