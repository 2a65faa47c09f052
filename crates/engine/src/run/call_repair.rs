//! The call of a step with all that its parameters can be found and judged with.

use std::ops::{Deref, DerefMut};

use super::call_control::CallControl;
use super::knowledge::{Knowledge, PlanContext, StepContext};
use super::steps::LoopLists;

/// A step whose parameters are bound, judged and repaired. It does not know what follows from a result.
pub(super) struct CallRepair<'r> {
    pub(super) control: CallControl<'r>,
    pub(super) context: PlanContext<'r>,
    pub(super) loops: &'r mut LoopLists,
}

impl<'r> Deref for CallRepair<'r> {
    type Target = CallControl<'r>;

    fn deref(&self) -> &CallControl<'r> {
        &self.control
    }
}

impl<'r> DerefMut for CallRepair<'r> {
    fn deref_mut(&mut self) -> &mut CallControl<'r> {
        &mut self.control
    }
}

impl CallRepair<'_> {
    pub(super) fn known(&self) -> Knowledge<'_> {
        Knowledge {
            context: StepContext { context: self.context, steps: self.steps, loops: self.loops },
            account: self.account,
            ruled_out: self.ruled_out,
            clock: self.clock,
        }
    }
}
