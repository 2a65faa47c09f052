//! The names that the expressions of a step may refer to.

use reknit_expressions::StepIds;
use reknit_protocol::{Plan, Step, StepId};

use super::controls::Sources;
use crate::{ITEM, REPLY, RESULT};

/// Whether a step has a condition about its own result.
pub(super) fn reads_own_result(step: &Step) -> bool {
    ["until", "expect", "verify"].iter().any(|key| step.has_control(key))
}

/// The names, for steps without and with a loop. Lists that no step of the plan needs are empty.
pub(super) struct SourceNames {
    plain: Vec<StepId>,
    with_result: Vec<StepId>,
    with_reply: Vec<StepId>,
    with_item: Vec<StepId>,
    with_item_and_result: Vec<StepId>,
    with_item_and_reply: Vec<StepId>,
}

impl SourceNames {
    /// `sources` are the steps, and the inputs if there are any.
    pub(super) fn new(plan: &Plan, sources: Vec<StepId>) -> Self {
        let and = |names: &[&str], is_needed: bool| -> Vec<StepId> {
            let all = sources.iter().cloned().chain(names.iter().map(|name| StepId::from(*name)));
            if is_needed { all.collect() } else { Vec::new() }
        };
        let has = |is_loop: bool, check: fn(&Step) -> bool| {
            plan.steps.iter().any(|step| check(step) && step.has_foreach() == is_loop)
        };
        let verifies: fn(&Step) -> bool = |step| step.has_control("verify");
        Self {
            with_result: and(&[RESULT], has(false, reads_own_result)),
            with_reply: and(&[RESULT, REPLY], has(false, verifies)),
            with_item: and(&[ITEM], has(true, |_| true)),
            with_item_and_result: and(&[ITEM, RESULT], has(true, reads_own_result)),
            with_item_and_reply: and(&[ITEM, RESULT, REPLY], has(true, verifies)),
            plain: sources,
        }
    }

    /// The names, indexed once for all steps.
    pub(super) fn prepared(&self) -> PreparedNames<'_> {
        PreparedNames {
            plain: StepIds::new(&self.plain),
            with_result: StepIds::new(&self.with_result),
            with_reply: StepIds::new(&self.with_reply),
            with_item: StepIds::new(&self.with_item),
            with_item_and_result: StepIds::new(&self.with_item_and_result),
            with_item_and_reply: StepIds::new(&self.with_item_and_reply),
        }
    }
}

/// The names, indexed.
pub(super) struct PreparedNames<'n> {
    pub(super) plain: StepIds<'n>,
    with_result: StepIds<'n>,
    with_reply: StepIds<'n>,
    with_item: StepIds<'n>,
    with_item_and_result: StepIds<'n>,
    with_item_and_reply: StepIds<'n>,
}

impl PreparedNames<'_> {
    /// The names for the expressions of a step.
    pub(super) fn of(&self, step: &Step) -> Sources<'_> {
        let of_list = &self.plain;
        if step.has_foreach() {
            let (with_result, with_reply) = (&self.with_item_and_result, &self.with_item_and_reply);
            Sources { of_list, of_step: &self.with_item, with_result, with_reply }
        } else {
            Sources { of_list, of_step: &self.plain, with_result: &self.with_result, with_reply: &self.with_reply }
        }
    }
}
