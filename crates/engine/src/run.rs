//! A run: from a request to an answer, as the fold of its events.
//!
//! ```text
//!   Started -> selecting -> planning -> running -> answering -> ended
//!                 |            |           |           |
//!              AskModel     AskModel    CallTool    AskModel      each step on its own:
//!                                       Sleep                     waiting -> queued -> calling -> done
//!                                       AskModel                                ^         |
//!                                       AskPerson                               |         v
//!                                                           backing off, consulting, awaiting approval -> failed
//! ```

mod agent_sessions;
mod approve_call;
mod approve_plan;
mod await_job;
mod call_control;
mod call_repair;
mod confirm_result;
mod consultations;
mod correction;
mod dropped_filters;
mod evidence;
mod finish;
mod judge_call;
mod knowledge;
mod loops;
pub(crate) mod parameter_leaves;
pub(crate) mod placeholders;
mod repair_by_learned_rule;
mod repair_by_model;
mod repair_by_rules;
mod replaced_call;
mod replan;
mod request_plan;
mod resolve_parameters;
mod retry;
mod run_clock;
mod schedule;
mod sources;
mod stage;
pub(crate) mod state;
mod status;
mod step_events;
mod step_handle;
mod step_machine;
mod step_run;
mod steps;
mod ungrounded_numbers;
mod unsent_calls;
mod verify_result;
mod view;
mod written_value;

pub use agent_sessions::{SessionCall, SessionRequest, session_reply};
pub use state::RejectedPlan;
pub use view::{Progress, StepState, StepView};

use std::sync::Arc;

use reknit_plan::{
    Catalogue, CheckedPlan, PlanProblem, PlannedStep, StepIndex, check, check_tolerantly, resolve_inputs,
};
use reknit_protocol::{Object, Plan, Value};

use crate::answer::Answer;
use crate::budget::{Exhausted, Spent};
use crate::business_key::Avoided;
use crate::effect::Effect;
use crate::event::{Event, EventKind, MACHINE_VERSION, REPLAYED_VERSIONS, Started};
use crate::internal_error::{Decided, InternalError};
use crate::policy::Policy;
use crate::record::{Record, RecordKind, RunRecord};
use crate::result_handle::LoadedResults;
pub(crate) use sources::with_metadata;
use state::{Phase, PlanApproval, State, Stop};
use step_machine::ResultSchemas;
use steps::LoopLists;

/// The state machine of one run. [`Run::apply`] takes in an event, [`Run::pending`] lists the effects that are due; neither
/// performs I/O.
#[derive(Debug, Clone)]
pub struct Run {
    started: Arc<Started>,
    /// The request as models see it: with the metadata that the policy shows them.
    shown_request: String,
    /// The checked plan. It follows from the plan in the state and is not part of a snapshot.
    plan: Arc<CheckedPlan>,
    /// The inputs of the plan; `None` if the plan declares none.
    inputs: Option<Value>,
    state: State,
    /// The decisions made for the event that is being applied.
    records: Vec<Record>,
    /// The steps whose results arrived since results were last released.
    fresh_results: Vec<StepIndex>,
    loaded_results: LoadedResults,
    loops: LoopLists,
    result_schemas: ResultSchemas,
}

/// Why an event was refused. The run is unchanged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ApplyError {
    /// The first event must be `started`.
    #[error("the first event of a run must be `started`, not `{0}`")]
    NotStarted(&'static str),
    /// `started` can only be the first event.
    #[error("the run has already started")]
    StartedTwice,
    /// Another version of the state machine wrote the event.
    #[error("the run was started by version {found} of the state machine; this build has version {expected}")]
    OtherMachine { found: u32, expected: u32 },
    /// The schema for a session's report cannot be compiled.
    #[error("the schema of the report cannot be used: {0}")]
    ReportSchema(String),
    /// A snapshot cannot be read.
    #[error("the snapshot of the run cannot be read: {0}")]
    Snapshot(String),
}

impl From<serde_json::Error> for ApplyError {
    fn from(error: serde_json::Error) -> Self {
        Self::Snapshot(error.to_string())
    }
}

/// Refuses a machine that another version of the state machine started, unless its events can be replayed.
pub(crate) fn check_version(found: u32) -> Result<(), ApplyError> {
    match found {
        MACHINE_VERSION => Ok(()),
        found if REPLAYED_VERSIONS.contains(&found) => Ok(()),
        found => Err(ApplyError::OtherMachine { found, expected: MACHINE_VERSION }),
    }
}

impl Run {
    /// Starts a run with its first event.
    pub fn begin(event: &Event) -> Result<(Self, Vec<Record>), ApplyError> {
        Self::begin_without(event, &Avoided::default())
    }

    /// Starts a run that must not do what is known to be wrong.
    pub(crate) fn begin_without(event: &Event, avoided: &Avoided) -> Result<(Self, Vec<Record>), ApplyError> {
        let EventKind::Started(started) = &event.kind else { return Err(ApplyError::NotStarted(event.kind.name())) };
        check_version(started.machine_version)?;
        let mut state = State::new(event.at_ms).without(avoided);
        state.begin_after(&started.earlier);
        let mut run = Self::new(Arc::new(started.as_ref().clone()), Arc::default(), state);
        let (request, has_plan) = (run.started.request.clone(), run.started.plan.is_some());
        let metadata = run.started.metadata.clone();
        run.record(RunRecord::Started { request, has_plan, metadata });
        let decided = match run.started.plan.clone() {
            Some(plan) => run.accept_given_plan(plan),
            None => run.begin_planning(),
        };
        let decided = decided.and_then(|()| run.advance());
        run.end_if_internal_error(decided);
        let records = std::mem::take(&mut run.records);
        Ok((run, records))
    }

    fn new(started: Arc<Started>, plan: Arc<CheckedPlan>, state: State) -> Self {
        let shown_request = with_metadata(&started.request, &started.metadata, &started.policy);
        let (fresh_results, loaded_results) = (Vec::new(), LoadedResults::default());
        Self {
            started,
            shown_request,
            plan,
            inputs: None,
            state,
            records: Vec::new(),
            fresh_results,
            loaded_results,
            loops: LoopLists::default(),
            result_schemas: ResultSchemas::default(),
        }
    }

    /// Applies an event and returns what was decided. An outcome that the run does not wait for changes nothing but a
    /// counter.
    pub fn apply(&mut self, event: &Event) -> Result<Vec<Record>, ApplyError> {
        if matches!(event.kind, EventKind::Started(_) | EventKind::SessionStarted(_)) {
            return Err(ApplyError::StartedTwice);
        }
        self.state.events += 1;
        let last_ms = self.state.now_ms;
        self.state.now_ms = last_ms.max(event.at_ms);
        let decided = self.decide(&event.kind, last_ms).and_then(|()| self.advance());
        self.end_if_internal_error(decided);
        Ok(std::mem::take(&mut self.records))
    }

    fn decide(&mut self, kind: &EventKind, last_ms: i64) -> Decided {
        match kind {
            EventKind::Resumed => self.on_resumed(last_ms)?,
            EventKind::BudgetChanged { budget } => Arc::make_mut(&mut self.started).set_budget(*budget),
            EventKind::Retried if self.can_be_retried() => self.on_retried()?,
            // A run has no early end other than to skip the remaining steps.
            EventKind::Cancelled | EventKind::Stopped => self.stop(&Stop::Cancelled)?,
            _ if matches!(self.state.phase, Phase::Ended(_)) => self.on_late_outcome(kind),
            EventKind::Woke { effect } if self.state.clock.deadline_id() == *effect => {
                let limit = self.policy().limits.active_ms.unwrap_or_default();
                self.stop(&Stop::Exhausted(Exhausted::Time(limit)))?;
            }
            kind if self.on_consultation(kind)? || self.on_plan_decision(kind)? || self.on_step_event(kind)? => {}
            kind => self.on_late_outcome(kind),
        }
        Ok(())
    }

    fn on_late_outcome(&mut self, kind: &EventKind) {
        self.state.late += 1;
        if let Some(id) = kind.effect().cloned() {
            self.record(RunRecord::LateOutcome(id));
        }
    }

    /// The effects that are due. An effect stays due until an event reports its outcome; the driver drops an effect in
    /// progress that is no longer due.
    pub fn pending(&self) -> Vec<Effect> {
        let mut effects: Vec<Effect> = match &self.state.phase {
            Phase::Ended(answer) => return vec![Effect::Finish(answer.clone())],
            Phase::Running => {
                let grace_ms = self.policy().limits.drain_ms;
                let of_plan = self.state.planning.approval.effects().into_iter().flatten();
                of_plan.chain(self.state.steps.acting().flat_map(|step| step.effects(grace_ms))).collect()
            }
            phase => phase.question().and_then(|(_, question)| question.effect()).into_iter().collect(),
        };
        // A run that is ending needs no second end: a deadline that stays due would fire again and again.
        if !self.state.account.stop.as_ref().is_some_and(Stop::is_immediate) {
            effects.extend(self.policy().limits.active_ms.and_then(|limit_ms| self.state.clock.effect(limit_ms)));
        }
        effects
    }

    /// The state as text.
    pub fn snapshot(&self) -> Result<String, ApplyError> {
        Ok(serde_json::to_string(&(self.started.as_ref(), &self.state))?)
    }

    /// The run that [`Run::snapshot`] wrote.
    pub fn restore(text: &str) -> Result<Self, ApplyError> {
        let (started, state): (Started, State) = serde_json::from_str(text)?;
        check_version(started.machine_version)?;
        let mut run = Self::new(Arc::new(started), Arc::default(), state);
        if let Some(plan) = run.state.planning.plan.clone() {
            // The plan passed these checks before: one that fails now is not the plan of this run.
            run.prepare_again(&plan).map_err(|problems| ApplyError::Snapshot(joined(&problems)))?;
            run.restore_items()?;
            run.state.steps.index(&run.plan);
            run.restore_lists()?;
        }
        Ok(run)
    }

    /// The first event.
    pub fn started(&self) -> &Started {
        &self.started
    }

    /// The number of events applied, the first included.
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

    /// Whether the run can only go on after a person's decision.
    pub fn is_waiting_for_person(&self) -> bool {
        let asks_about_plan = matches!(self.state.planning.approval, PlanApproval::Asking(_));
        matches!(self.state.phase, Phase::Running) && (asks_about_plan || self.state.steps.ready().waits_for_person())
    }

    /// Whether the run can only go on after a person's decision, the end of a job or the wait of an `until`. Such time is not
    /// active.
    pub fn is_idle(&self) -> bool {
        let waits = matches!(self.state.phase, Phase::Running) && self.state.steps.ready().waits_for_others();
        waits || self.is_waiting_for_person()
    }

    pub fn spent(&self) -> Spent {
        let mut spent = self.state.account.spent.clone();
        spent.active_ms = self.state.clock.active_ms(self.state.now_ms);
        spent.add(&self.state.account.spent_before);
        spent.add(&self.state.account.sessions);
        spent
    }

    /// The number of outcomes that arrived too late to matter.
    pub fn late(&self) -> u32 {
        self.state.late
    }

    /// The time of the last event, in milliseconds since 1970.
    pub fn now_ms(&self) -> i64 {
        self.state.now_ms
    }

    /// The plan, once there is one: that of the start, or the one that a model wrote.
    pub fn plan(&self) -> Option<&Plan> {
        self.state.planning.plan.as_ref()
    }

    /// The repairs that turned a model's text into the plan.
    pub fn plan_repairs(&self) -> &[String] {
        &self.state.planning.repairs
    }

    /// The rejected plans, in order.
    pub fn rejected_plans(&self) -> &[RejectedPlan] {
        &self.state.planning.rejected
    }

    fn record(&mut self, record: impl Into<RecordKind>) {
        self.records.push(Record::new(record));
    }

    /// Checks a plan and keeps what follows from it, or returns every problem.
    fn prepare(&mut self, plan: &Plan) -> Result<(), Vec<PlanProblem>> {
        let checked = check(plan, self.catalogue(), self.known().author());
        let read_calls = self.known().read_call_problems(plan);
        let inputs = resolve_inputs(plan, &self.started.inputs);
        match (checked, inputs) {
            (Ok(checked), Ok(inputs)) if read_calls.is_empty() => {
                self.plan = Arc::new(checked);
                self.set_inputs(plan, inputs);
                Ok(())
            }
            (checked, inputs) => {
                let problems = checked.err().into_iter().chain(Some(read_calls)).chain(inputs.err());
                Err(problems.flatten().collect())
            }
        }
    }

    /// Keeps what follows from the plan of a snapshot, which may have been accepted with values that do not fit.
    fn prepare_again(&mut self, plan: &Plan) -> Result<(), Vec<PlanProblem>> {
        self.plan = Arc::new(
            check_tolerantly(plan, self.catalogue(), self.known().author(), |step| self.known().only_reads(step))?
                .checked,
        );
        self.set_inputs(plan, resolve_inputs(plan, &self.started.inputs)?);
        Ok(())
    }

    fn set_inputs(&mut self, plan: &Plan, inputs: Object) {
        self.inputs = (!plan.inputs.is_empty()).then(|| Value::Object(inputs));
    }

    fn policy(&self) -> &Policy {
        &self.started.policy
    }

    fn catalogue(&self) -> &Catalogue {
        &self.started.catalogue
    }

    /// Decides what follows without a new event: starts and skips steps, ends a run that is over.
    fn advance(&mut self) -> Decided {
        self.schedule()?;
        self.finish_if_over()?;
        let active = !matches!(self.state.phase, Phase::Ended(_)) && !self.is_idle();
        let now_ms = self.state.now_ms;
        self.state.clock.set_active(active, now_ms);
        Ok(())
    }
}

/// The step of a plan at an index that came from that plan.
fn planned(plan: &CheckedPlan, index: StepIndex) -> Decided<&PlannedStep> {
    plan.get(index).ok_or_else(|| InternalError::new(format!("the plan has no step at index {index:?}")))
}

/// The problems of a plan, in one line.
fn joined(problems: &[PlanProblem]) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}
