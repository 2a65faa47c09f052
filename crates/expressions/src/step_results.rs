//! The results of steps, which references read.

use std::collections::{BTreeMap, HashMap};
use std::hash::BuildHasher;

use reknit_protocol::{StepId, Value};

/// The result of a step, or why there is none.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum StepResult<'a> {
    /// The step is done; this is the body of its result.
    Ready(&'a Value),
    Pending,
    Failed,
    Skipped,
    /// The step was skipped because of its condition: `??` takes the other operand.
    SkippedByCondition,
    /// The step failed, and the plan goes on without its result: `??` takes the other operand.
    FailureAllowed,
    Unknown,
    /// The name is that of an optional value, and there is none: `??` takes the other operand.
    Absent,
}

/// The results of the steps of a plan.
///
/// An implementation must return the same result for a step as long as it is borrowed.
pub trait StepResults {
    fn result_of(&self, step: &StepId) -> StepResult<'_>;

    /// The JSON Schema that the tool of a step announces for its result, without the envelope around it.
    fn announced(&self, _step: &StepId) -> Option<&Value> {
        None
    }
}

const _: fn(&dyn StepResults) = |_| {};

impl StepResults for BTreeMap<StepId, Value> {
    fn result_of(&self, step: &StepId) -> StepResult<'_> {
        self.get(step).map_or(StepResult::Unknown, StepResult::Ready)
    }
}

impl<S: BuildHasher> StepResults for HashMap<StepId, Value, S> {
    fn result_of(&self, step: &StepId) -> StepResult<'_> {
        self.get(step).map_or(StepResult::Unknown, StepResult::Ready)
    }
}
