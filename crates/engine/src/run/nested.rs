//! A run inside a session: its steps are calls that a model has made, and what it spends is the session's.

use std::sync::Arc;

use super::Run;
use super::state::{Phase, State, StepRun, Stop};
use crate::budget::Spent;
use crate::effect::Effect;
use crate::event::Started;
use crate::plan::Checked;

impl Run {
    /// Begins with steps that nobody needs to check: they are calls, not words that could refer to something.
    pub(crate) fn within(started: Arc<Started>, plan: Arc<Checked>, at_ms: i64, spent: Spent) -> Self {
        let mut state = State::new(at_ms);
        state.steps = plan.steps.iter().map(|_| StepRun::default()).collect();
        state.phase = Phase::Running;
        state.spent = spent;
        let mut run = Self { started, plan, inputs: None, state };
        run.settle();
        run
    }

    /// Goes on from a state that was written down.
    pub(crate) fn restored_within(started: Arc<Started>, plan: Arc<Checked>, state: State) -> Self {
        Self { started, plan, inputs: None, state }
    }

    /// All that follows from events alone.
    pub(crate) fn state(&self) -> &State {
        &self.state
    }

    /// Everything due but its deadline: time is the session's.
    pub(crate) fn pending_within(&self) -> Vec<Effect> {
        let deadline = self.state.clock.deadline_id();
        self.pending().into_iter().filter(|effect| effect.id() != Some(&deadline)).collect()
    }

    /// Whether something was left undone because a budget ran out.
    pub(crate) fn ran_out(&self) -> bool {
        matches!(self.state.stop, Some(Stop::Exhausted(_)))
    }

    /// The budget is shared: it is handed in before anything is spent, and taken back afterwards.
    pub(crate) fn set_spent(&mut self, spent: Spent) {
        self.state.spent = spent;
    }

    /// What was spent, as it was handed in.
    pub(crate) fn raw_spent(&self) -> &Spent {
        &self.state.spent
    }
}
