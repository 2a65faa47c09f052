//! A run inside a session: its steps are calls that a model has made, and what it spends is the session's.

use std::sync::Arc;

use super::Run;
use super::state::{Phase, Stage, State, Stop};
use super::steps::{StepRun, Steps};
use crate::answer::Outcome;
use crate::budget::Spent;
use crate::effect::Effect;
use crate::event::Started;
use crate::session::Doubtful;
use reknit_mend::Fate;
use reknit_plan::{Checked, Planned};

impl Run {
    /// Begins with steps that nobody needs to check: they are calls, not words that could refer to something.
    /// Those that are refused, with the reason, are not made; nor, however they are spelt, are those that may have happened
    /// before.
    pub(crate) fn within(
        started: Arc<Started>,
        plan: Arc<Checked>,
        at_ms: i64,
        spent: Spent,
        refused: &[Option<String>],
        avoided: &[Doubtful],
    ) -> Self {
        let mut state = State::new(at_ms);
        state.avoided = avoided.to_vec();
        state.steps = Steps::new(&plan);
        for (index, reason) in refused.iter().enumerate() {
            if let Some(reason) = reason {
                state.steps.set_stage(index, Stage::Failed { reason: reason.clone(), fault: None });
            }
        }
        state.phase = Phase::Running;
        state.spent = spent;
        let mut run = Self { started, plan, inputs: None, state };
        run.settle();
        run
    }

    /// Goes on from a state that was written down.
    pub(crate) fn restored_within(started: Arc<Started>, plan: Arc<Checked>, mut state: State) -> Self {
        state.steps.index(&plan);
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

    /// Which of its steps may have changed something although they failed. A repeated call of them would have another key.
    pub(crate) fn is_doubtful(&self) -> Vec<bool> {
        let unknown = |outcome: &Outcome| matches!(outcome, Outcome::Failed { fate: Fate::Unknown, .. });
        let steps = self.plan.steps.iter().zip(self.reports());
        steps.map(|(planned, report)| unknown(&report.outcome) && !self.is_harmless(planned)).collect()
    }

    /// Whether the call that a step would make next is one that must not be made.
    pub(super) fn is_avoided(&self, index: usize) -> bool {
        let (Some(planned), Some(step)) = (self.plan.steps.get(index), self.state.steps.get(index)) else {
            return false;
        };
        self.state.avoided.iter().any(|call| {
            call.agent == planned.agent && call.capability == planned.capability && call.parameters == step.parameters
        })
    }

    /// The same as calls, with the parameters that were sent last.
    pub(crate) fn doubtful(&self) -> Vec<Doubtful> {
        let steps = self.plan.steps.iter().zip(self.state.steps.iter()).zip(self.is_doubtful());
        let deed = |((planned, step), doubtful): ((&Planned, &StepRun), bool)| {
            doubtful.then(|| Doubtful {
                agent: planned.agent.clone(),
                capability: planned.capability.clone(),
                parameters: step.parameters.clone(),
            })
        };
        steps.filter_map(deed).collect()
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
