//! A run: from a request to an answer, as the fold of its events.
//!
//! ```text
//!   Started -> planning -> running -> answering -> ended
//!                 |           |           |
//!              AskModel   CallTool     AskModel        each step on its own:
//!                         Sleep                        waiting -> queued -> calling -> done
//!                         AskModel                                  ^         |
//!                         AskPerson                                 |         v
//!                                                        resting, advising, deciding -> failed
//! ```

mod advising;
mod choosing;
mod deadlines;
mod determining;
mod doubting;
mod ending;
mod gates;
pub(crate) mod glance;
mod nested;
mod planning;
mod progress;
mod resolving;
mod resuming;
mod scheduling;
mod sources;
pub(crate) mod state;
mod stepping;
mod steps;
mod view;

pub use state::RefusedPlan;
pub use view::{Progress, Shown, StepState, StepView};

use std::sync::Arc;

use reknit_protocol::{Plan, StepId, Value};

use crate::answer::Answer;
use crate::budget::{Exhausted, Spent};
use crate::effect::Effect;
use crate::event::{Event, MACHINE_VERSION, Started, What};
use crate::policy::Policy;
use crate::session::Doubtful;
use reknit_mend::Mend;
use reknit_plan::Catalogue;
use reknit_plan::{Author, Checked, PlanProblem, check, settle_inputs};
use state::{Phase, State, Stop};

/// A run. [`Run::apply`] takes in what happened, [`Run::pending`] says what is to be done; neither does anything else.
#[derive(Debug, Clone)]
pub struct Run {
    started: Arc<Started>,
    /// Follows from the plan in the state: parsed once, never written.
    plan: Arc<Checked>,
    /// What the plan was given; none if it asks for nothing.
    inputs: Option<Value>,
    state: State,
}

/// Why an event cannot be taken in. The run is as it was.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ApplyError {
    /// The first event must be the beginning.
    #[error("a run begins with `started`, not with `{0}`")]
    NotStarted(&'static str),
    /// A run begins only once.
    #[error("the run has begun already")]
    StartedTwice,
    /// The run was begun by another version of the machine.
    #[error("the run was begun by version {found} of the machine; this is version {expected}")]
    OtherMachine {
        /// The version that began it.
        found: u32,
        /// This version.
        expected: u32,
    },
    /// The schema of a session's report is none.
    #[error("the schema of the report cannot be used: {0}")]
    ReportSchema(String),
    /// A snapshot cannot be read.
    #[error("the snapshot of the run cannot be read: {0}")]
    Snapshot(String),
}

impl Run {
    /// Begins a run with its first event.
    pub fn begin(event: &Event) -> Result<Self, ApplyError> {
        Self::begin_without(event, &[])
    }

    /// The same without calls that must not be made: they may have happened before it began.
    pub(crate) fn begin_without(event: &Event, avoided: &[Doubtful]) -> Result<Self, ApplyError> {
        let What::Started(started) = &event.what else { return Err(ApplyError::NotStarted(event.what.name())) };
        let started = Arc::new(started.as_ref().clone());
        if started.machine_version != MACHINE_VERSION {
            return Err(ApplyError::OtherMachine { found: started.machine_version, expected: MACHINE_VERSION });
        }
        let mut run = Self { started, plan: Arc::default(), inputs: None, state: State::new(event.at_ms) };
        run.state.avoided = avoided.to_vec();
        match run.started.plan.clone() {
            Some(plan) => run.take_given_plan(plan),
            None => run.begin_planning(),
        }
        run.settle();
        Ok(run)
    }

    /// Takes in what happened. An answer that nobody waits for is counted and changes nothing else.
    pub fn apply(&mut self, event: &Event) -> Result<(), ApplyError> {
        self.state.events += 1;
        let last_ms = self.state.now_ms;
        self.state.now_ms = last_ms.max(event.at_ms);
        match &event.what {
            What::Started(_) | What::SessionStarted(_) => {
                self.state.events -= 1;
                return Err(ApplyError::StartedTwice);
            }
            What::Resumed => self.on_resumed(last_ms),
            // A run has no shorter way to its end than to leave what is not done.
            What::Cancelled | What::Stopped => self.stop(Stop::Cancelled),
            _ if matches!(self.state.phase, Phase::Ended(_)) => self.state.late += 1,
            What::Woke { effect } if self.state.clock.deadline_id() == *effect => {
                let limit = self.policy().limits.active_ms;
                self.stop(Stop::Exhausted(Exhausted::Time(limit)));
            }
            what => {
                self.prepare_question(what);
                let taken =
                    self.on_choosing(what) || self.on_planning(what) || self.on_step(what) || self.on_answering(what);
                if !taken {
                    self.state.late += 1;
                }
            }
        }
        self.settle();
        Ok(())
    }

    /// What is to be done now. An effect stays here until an event answers it; one that is under way and no longer here
    /// may be dropped.
    pub fn pending(&self) -> Vec<Effect> {
        let mut effects = Vec::new();
        match &self.state.phase {
            Phase::Ended(answer) => return vec![Effect::Finish(answer.clone())],
            Phase::Choosing { consultation }
            | Phase::Planning { consultation, .. }
            | Phase::Answering { consultation } => {
                effects.extend(consultation.effect());
            }
            Phase::Running => {
                let grace_ms = self.policy().limits.drain_ms;
                effects.extend(self.state.steps.acting().flat_map(|(_, step)| step.effects(grace_ms)));
            }
        }
        // What is ending already needs no second end; a deadline that stays due would come again and again.
        if !self.state.stop.as_ref().is_some_and(Stop::is_immediate) {
            effects.extend(self.state.clock.effect(self.policy().limits.active_ms));
        }
        effects
    }

    /// The state as text, for a driver that works in segments.
    pub fn snapshot(&self) -> Result<String, ApplyError> {
        serde_json::to_string(&(self.started.as_ref(), &self.state))
            .map_err(|error| ApplyError::Snapshot(error.to_string()))
    }

    /// The run that [`Run::snapshot`] wrote down.
    pub fn restore(text: &str) -> Result<Self, ApplyError> {
        let (started, state): (Started, State) =
            serde_json::from_str(text).map_err(|error| ApplyError::Snapshot(error.to_string()))?;
        if started.machine_version != MACHINE_VERSION {
            return Err(ApplyError::OtherMachine { found: started.machine_version, expected: MACHINE_VERSION });
        }
        let mut run = Self { started: Arc::new(started), plan: Arc::default(), inputs: None, state };
        if let Some(plan) = run.state.plan.clone() {
            // It was checked before it was taken: a plan that fails now is not the plan of this run.
            run.prepare(&plan).map_err(|problems| {
                let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
                ApplyError::Snapshot(problems.join("; "))
            })?;
            run.state.steps.index(&run.plan);
        }
        Ok(run)
    }

    /// How it began.
    pub fn started(&self) -> &Started {
        &self.started
    }

    /// How many events were taken in, the first included.
    pub fn event_count(&self) -> u64 {
        self.state.events
    }

    /// The answer, once the run has ended.
    pub fn answer(&self) -> Option<&Answer> {
        match &self.state.phase {
            Phase::Ended(answer) => Some(answer),
            _ => None,
        }
    }

    /// Whether nothing but a person's decision can take it on.
    pub fn is_waiting_for_person(&self) -> bool {
        matches!(self.state.phase, Phase::Running) && self.state.steps.wait_for_person()
    }

    /// What it has spent so far.
    pub fn spent(&self) -> Spent {
        let mut spent = self.state.spent.clone();
        spent.active_ms = self.state.clock.active_ms(self.state.now_ms);
        spent
    }

    /// How many answers came that nobody waited for.
    pub fn late(&self) -> u32 {
        self.state.late
    }

    /// How far it is.
    pub fn progress(&self) -> Progress {
        match &self.state.phase {
            Phase::Choosing { .. } => Progress::Choosing,
            Phase::Planning { attempt, .. } => Progress::Planning { attempt: *attempt },
            Phase::Running => Progress::Running,
            Phase::Answering { .. } => Progress::Answering,
            Phase::Ended(_) => Progress::Ended,
        }
    }

    /// Until when no model is asked, if the plan or the answer waits for one that is at its limit or rests.
    pub fn model_wait_ms(&self) -> Option<i64> {
        match &self.state.phase {
            Phase::Choosing { consultation }
            | Phase::Planning { consultation, .. }
            | Phase::Answering { consultation } => consultation.waits_until_ms(),
            Phase::Running | Phase::Ended(_) => None,
        }
    }

    /// When the last event happened, in milliseconds since 1970.
    pub fn now_ms(&self) -> i64 {
        self.state.now_ms
    }

    /// How the words of a model had to be repaired to become the plan.
    pub fn plan_repairs(&self) -> &[String] {
        &self.state.plan_repairs
    }

    /// The tries at a plan that could not be used, in order.
    pub fn refused_plans(&self) -> &[RefusedPlan] {
        &self.state.refused_plans
    }

    /// Which tools the planner was shown, if there were too many for all of them.
    pub fn shown(&self) -> Option<Shown<'_>> {
        let choice = self.state.choice.as_ref()?;
        let instead = choice.instead.as_deref();
        Some(Shown { capabilities: &choice.shown, instead, saved_tokens: choice.saved_tokens })
    }

    /// The steps as a person wants to see them.
    pub fn steps(&self) -> Vec<StepView> {
        view::steps(self)
    }

    /// What was done about the failures of each step.
    pub(crate) fn mends(&self) -> impl Iterator<Item = (&StepId, &[Mend])> {
        self.plan.steps.iter().zip(self.state.steps.iter()).map(|(planned, step)| (&planned.id, step.mends.as_slice()))
    }

    /// Makes what follows from a plan and is never written, or tells all that is wrong with it.
    fn prepare(&mut self, plan: &Plan) -> Result<(), Vec<PlanProblem>> {
        let checked = check(plan, self.catalogue(), self.author());
        let inputs = settle_inputs(plan, &self.started.inputs);
        match (checked, inputs) {
            (Ok(checked), Ok(inputs)) => {
                self.plan = Arc::new(checked);
                self.inputs = (!plan.inputs.is_empty()).then(|| Value::Object(inputs));
                Ok(())
            }
            (checked, inputs) => Err(checked.err().into_iter().chain(inputs.err()).flatten().collect()),
        }
    }

    /// Who wrote the plan: one that the run began with is a person's, any other a model's.
    fn author(&self) -> Author {
        if self.started.plan.is_some() { Author::Person } else { Author::Model }
    }

    fn policy(&self) -> &Policy {
        &self.started.policy
    }

    fn catalogue(&self) -> &Catalogue {
        &self.started.catalogue
    }

    /// Does all that follows without anything new happening: starts what can start, skips what cannot, ends what is over.
    fn settle(&mut self) {
        self.schedule();
        self.end_if_over();
        let active = !matches!(self.state.phase, Phase::Ended(_)) && !self.is_waiting_for_person();
        let now_ms = self.state.now_ms;
        self.state.clock.set_active(active, now_ms);
    }
}
