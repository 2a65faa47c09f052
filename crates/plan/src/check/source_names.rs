//! The names that the expressions of a step may refer to.

use reknit_expressions::StepIds;
use reknit_protocol::{Plan, Step, StepId};

use super::controls::Sources;
use crate::{ITEM, REPLY, RESULT};

/// Whether a step has a condition about its own result.
pub(super) fn reads_own_result(step: &Step) -> bool {
    ["until", "expect", "verify"].iter().any(|key| step.has_control(key))
}

/// For steps without and with a loop: the names for the step itself, with its result, and with the reply to its `verify`.
pub(super) type SourceLists<T> = [[T; 3]; 2];

/// The names in a plan. `sources` are the steps, and the inputs if there are any. Lists that no step needs are empty.
pub(super) fn source_lists(plan: &Plan, sources: &[StepId]) -> SourceLists<Vec<StepId>> {
    [false, true].map(|is_loop| {
        let has = |check: fn(&Step) -> bool| plan.steps.iter().any(|step| check(step) && step.has_foreach() == is_loop);
        let lists = [
            (&[][..], !is_loop || has(|_| true)),
            (&[RESULT], has(reads_own_result)),
            (&[RESULT, REPLY], has(|step| step.has_control("verify"))),
        ];
        lists.map(|(names, is_needed)| {
            let names = is_loop.then_some(ITEM).into_iter().chain(names.iter().copied());
            let all = sources.iter().cloned().chain(names.map(StepId::from));
            if is_needed { all.collect() } else { Vec::new() }
        })
    })
}

/// The names for the expressions of a step.
pub(super) fn sources_of<'n>(lists: &'n SourceLists<StepIds<'n>>, step: &Step) -> Sources<'n> {
    let [plain, in_loop] = lists;
    let [of_list, ..] = plain;
    let [of_step, with_result, with_reply] = if step.has_foreach() { in_loop } else { plain };
    Sources { of_list, of_step, with_result, with_reply }
}
