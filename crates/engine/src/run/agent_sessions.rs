//! Runs and sessions inside each other: a step may run an agent, and the tool calls of a turn are the steps of a run.
//!
//! Each call of an agent is a session of its own, with its own journal, which the driver starts or joins. The run knows the agents from
//! its first event, so a session never depends on a file that changed meanwhile. The id of the session follows from the run and the
//! step: whoever sends the call again joins the existing session.
//!
//! A run that makes the calls of a turn borrows the session's budget.

use std::sync::Arc;

use reknit_mend::{CallFault, Fate, Verdict, classify_reply};
use reknit_model_api::Money;
use reknit_plan::{AGENT_TOOL, CheckedPlan, PlannedStep};
use reknit_protocol::{CallTool, JobRequest, Object, RunId, StepId, ToolReply, Value, hex, truncate};

use super::call_control::CallControl;
use super::stage::Stage;
use super::state::{RuledOut, State, Stop};
use super::step_handle::StepHandle;
use super::step_run::StepRun;
use super::steps::Steps;
use super::{ApplyError, Run, planned};
use crate::answer::{Outcome, StepReport};
use crate::budget::{Exhausted, Spent};
use crate::business_key::{Avoided, UncertainCall};
use crate::digest::digest_of_texts;
use crate::effect::Effect;
use crate::event::{Event, Started};
use crate::internal_error::Decided;
use crate::record::Record;
use crate::report::{Report, ReportStatus};
use crate::session_start::SessionStarted;

/// The parameter of a step that runs an agent.
const TASK: &str = "task";

/// How much of a failed report the reason of the step shows, in bytes.
const MAX_REASON_BYTES: usize = 500;

/// The most characters of the id of a run that begins the ids of its sessions.
const MAX_PREFIX: usize = 100;

/// What the driver does for a call of an agent.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionCall {
    pub request: SessionRequest,
    /// When the time of the step is over, in milliseconds since 1970: the session is cancelled then.
    pub until_ms: Option<i64>,
}

/// What a call of an agent asks for.
#[derive(Debug, Clone, PartialEq)]
pub enum SessionRequest {
    /// Start this session, or join it if it was started before.
    Start(Box<SessionStarted>),
    /// Find out whether the session has ended, and go on with it if it can.
    Ask(RunId),
    Cancel(RunId),
}

impl Run {
    /// What a call of an agent asks for; `None` for a call of a tool.
    pub fn session_call(&self, call: &CallTool) -> Option<SessionCall> {
        let agent = self.started.agent(call)?;
        let step = self.state.steps.get(self.plan.index_of(call.step.as_str())?).ok()?;
        // The time in which it waited for a person does not count.
        let waited_ms = match step.stage() {
            Stage::AwaitingJob(wait) => self.state.now_ms.saturating_sub(wait.job.since_ms),
            _ => 0,
        };
        let until_ms = step.deadline_ms.map(|deadline| deadline.saturating_add(waited_ms));
        let request = match &call.job {
            Some(JobRequest::Ask(session)) => SessionRequest::Ask(RunId::new(session.as_str())),
            Some(JobRequest::Cancel(session)) => SessionRequest::Cancel(RunId::new(session.as_str())),
            None => {
                let task = call.parameters.get(TASK).and_then(Value::as_str).unwrap_or_default();
                let share = step.session.share;
                let mut policy = Arc::clone(&agent.policy);
                if share.is_some() {
                    Arc::make_mut(&mut policy).limits.money = share;
                }
                let started = SessionStarted {
                    input: task.trim().to_owned(),
                    metadata: self.started.metadata.clone(),
                    policy,
                    ..agent.clone()
                };
                let id = session_id(&self.started.run, call.step.as_str());
                SessionRequest::Start(Box::new(started.with_id(id)))
            }
        };
        Some(SessionCall { request, until_ms })
    }

    pub fn is_session_call(&self, call: &CallTool) -> bool {
        self.known().agent(call).is_some()
    }

    /// The sessions that steps have started and that may not have ended: nobody waits for them any more once the run has ended.
    pub fn abandoned_sessions(&self) -> Vec<RunId> {
        if self.started.agents.is_empty() {
            return Vec::new();
        }
        let steps = self.plan.steps.iter().zip(self.state.steps.iter());
        let open = steps.filter(|(_, step)| !matches!(step.stage(), Stage::Done(_) | Stage::Unconfirmed { .. }));
        open.filter_map(|(planned, step)| self.known().session(planned, step.sent())).collect()
    }

    /// The part of the cost of the run that the sessions of its steps have spent.
    pub fn sessions_cost(&self) -> Money {
        let spent = self.state.steps.iter().filter_map(|step| step.session.spent.as_deref());
        spent.fold(Money::default(), |sum, spent| sum.plus(spent.cost))
    }

    /// Starts with steps that need no checks: they are calls, and cannot refer to other steps. A call with a reason in
    /// `refused` is not made; nor is a call in `avoided`.
    pub(crate) fn start_nested(
        (started, plan): (Arc<Started>, Arc<CheckedPlan>),
        at_ms: i64,
        budget: &mut Spent,
        refused: &[Option<String>],
        avoided: &Avoided,
    ) -> (Self, Vec<Record>) {
        let state = State { steps: Steps::new(&plan), ..State::new(at_ms) }.without(avoided);
        let mut run = Self::new(started, plan, state);
        run.with_budget(budget, |run| {
            let decided = run.refuse(refused).and_then(|()| run.advance());
            run.end_if_internal_error(decided);
        });
        let records = std::mem::take(&mut run.records);
        (run, records)
    }

    fn refuse(&mut self, refused: &[Option<String>]) -> Decided {
        let plan = Arc::clone(&self.plan);
        for (index, reason) in plan.indices().zip(refused) {
            if let Some(reason) = reason {
                self.at(index).record_start(planned(&plan, index)?);
                self.at(index).set_stage(Stage::Failed { reason: reason.clone(), fault: None })?;
            }
        }
        Ok(())
    }

    /// Applies an event, paying from the session's budget.
    pub(crate) fn apply_nested(&mut self, event: &Event, budget: &mut Spent) -> Result<Vec<Record>, ApplyError> {
        self.with_budget(budget, |run| run.apply(event))
    }

    /// Lends the session's budget to the run for the duration of `act`.
    fn with_budget<T>(&mut self, budget: &mut Spent, act: impl FnOnce(&mut Self) -> T) -> T {
        std::mem::swap(&mut self.state.account.spent, budget);
        let result = act(self);
        std::mem::swap(&mut self.state.account.spent, budget);
        result
    }

    /// The run with a state from a snapshot.
    pub(crate) fn restore_nested(started: Arc<Started>, plan: Arc<CheckedPlan>, mut state: State) -> Self {
        state.steps.index(&plan);
        Self::new(started, plan, state)
    }

    /// The state, for the snapshot of the session.
    pub(crate) fn state(&self) -> &State {
        &self.state
    }

    /// The effects that are due, without the deadline: the session has its own.
    pub(crate) fn pending_nested(&self) -> Vec<Effect> {
        let deadline = self.state.clock.deadline_id();
        self.pending().into_iter().filter(|effect| effect.id() != Some(&deadline)).collect()
    }

    /// Whether a budget ran out.
    pub(crate) fn ran_out(&self) -> bool {
        matches!(self.state.account.stop, Some(Stop::Exhausted(_)))
    }

    /// For each step, whether it failed or is unconfirmed, but may have changed something. A repeated call would have another
    /// idempotency key.
    pub(crate) fn uncertain_steps(&self) -> Vec<bool> {
        let unknown = |outcome: &Outcome| {
            matches!(outcome, Outcome::Failed { fate: Fate::Unknown, .. } | Outcome::Unconfirmed { .. })
        };
        let steps = self.known().steps_in_order().zip(self.known().reports().step_reports());
        steps.map(|((planned, _), report)| unknown(&report.outcome) && !self.known().is_harmless(planned)).collect()
    }

    /// What reads left out although the request states it.
    pub(crate) fn lost_filters(&self) -> Vec<String> {
        self.known().reports().lost_filters()
    }

    /// The outcome of each step so far, with the steps that were left out of the plan at the end.
    pub(crate) fn step_reports(&self) -> Vec<StepReport> {
        self.known().reports().step_reports()
    }

    /// The calls that a person denied in this run.
    pub(crate) fn denied_calls(&self) -> Vec<UncertainCall> {
        self.state.ruled_out.newly_denied.clone()
    }

    /// The parameters of each step as they were sent last.
    pub(crate) fn sent_parameters(&self) -> Vec<Object> {
        self.known().steps_in_order().map(|(_, step)| step.parameters.clone()).collect()
    }

    /// The calls that failed but may have taken effect, with the parameters that were sent last.
    pub(crate) fn uncertain_calls(&self) -> Vec<UncertainCall> {
        let steps = self.known().steps_in_order().zip(self.uncertain_steps());
        let call =
            |((planned, step), uncertain): ((&PlannedStep, &StepRun), bool)| uncertain.then(|| step.as_call(planned));
        steps.filter_map(call).collect()
    }
}

impl StepHandle<'_> {
    /// How many sessions may still start, with that of this step. A loop counts with the items that have not started.
    fn waiting_sessions(&self) -> Decided<u32> {
        let mut waiting = 0_u32;
        for other in self.plan.indices() {
            let (planned, step) = (planned(self.plan, other)?, self.steps.get(other)?);
            let is_agent = planned.tool.as_str() == AGENT_TOOL;
            let is_over = step.session.share.is_some()
                || matches!(
                    step.stage(),
                    Stage::Done(_) | Stage::Failed { .. } | Stage::Skipped { .. } | Stage::SkippedByCondition { .. }
                );
            if !is_agent || is_over && other != self.index {
                continue;
            }
            let more = match (planned.foreach(), step.looping.length) {
                (Some(_), Some(items)) => {
                    items.saturating_sub(u32::try_from(self.steps.items(other).indices.len()).unwrap_or(items))
                }
                _ => 1,
            };
            waiting = waiting.saturating_add(more);
        }
        Ok(waiting.max(1))
    }
}

impl CallControl<'_> {
    /// Reserves the part of the cost limit that the session of a step may spend: an equal part of what is left for each session
    /// that waits, so that all of them together stay within the limit.
    pub(super) fn reserve_for_session(&mut self) -> Decided<Result<(), Exhausted>> {
        let Some(limit) = self.policy().limits.cost() else { return Ok(Ok(())) };
        if !self.started.runs_agent(self.planned()?) || self.step()?.session.share.is_some() {
            return Ok(Ok(()));
        }
        let left = self.account.spent.left_of(limit);
        let share = left.divided_by(self.waiting_sessions()?);
        if share.is_zero() {
            return Ok(Err(Exhausted::Money { limit, left, most: share }));
        }
        self.account.spent.reserved_cost = self.account.spent.reserved_cost.plus(share);
        self.step_mut()?.session.share = Some(share);
        Ok(Ok(()))
    }

    /// Adds what a session has spent to what the run spent, once for each session. Its cost counts towards the cost limit of the run;
    /// its calls have limits of their own.
    pub(super) fn settle_session(&mut self, reply: &ToolReply) -> Decided {
        if !self.started.runs_agent(self.planned()?) {
            return Ok(());
        }
        let told = reply.body.to_value().get("spent").and_then(|spent| serde_json::from_str(&spent.to_string()).ok());
        let Some(now): Option<Spent> = told else { return Ok(()) };
        let step = self.step_mut()?;
        let share = step.session.share.take().unwrap_or_default();
        let before = step.session.spent.replace(Box::new(now.clone())).map(|before| *before).unwrap_or_default();
        let more = now.since(&before);
        self.account.spent.reserved_cost = self.account.spent.reserved_cost.minus(share);
        self.account.spent.cost = self.account.spent.cost.plus(more.cost);
        self.account.sessions.add(&Spent {
            cost: Money::default(),
            reserved_cost: Money::default(),
            active_ms: 0,
            ..more
        });
        Ok(())
    }
}

impl Started {
    /// The session of a step that runs an agent, if it was started.
    pub(super) fn session(&self, planned: &PlannedStep, calls: u32) -> Option<RunId> {
        (calls > 0 && self.runs_agent(planned)).then(|| session_id(&self.run, planned.id.as_str()))
    }

    fn runs_agent(&self, planned: &PlannedStep) -> bool {
        !self.agents.is_empty() && planned.tool.as_str() == AGENT_TOOL && planned.foreach().is_none()
    }

    fn agent(&self, call: &CallTool) -> Option<&SessionStarted> {
        let is_agent = call.tool.as_str() == AGENT_TOOL;
        let mut agents = self.agents.iter().filter(|_| is_agent);
        agents.find(|agent| agent.name == call.capability.as_str()).map(|agent| &agent.session)
    }

    /// What a reply to a call of a step means. A session is judged by its report.
    pub(super) fn verdict_of(&self, planned: &PlannedStep, reply: &ToolReply, now_ms: i64) -> Verdict {
        if !self.runs_agent(planned) {
            return classify_reply(reply, self.reply_context(planned, now_ms));
        }
        let mut body = reply.body.to_value();
        if let Some(failure) = body.get("failure").and_then(Value::as_str) {
            let session = session_id(&self.run, planned.id.as_str());
            let failure = truncate(failure.to_owned(), MAX_REASON_BYTES);
            return Verdict::Permanent(CallFault::failed_session(format!("{failure} (session {session})")));
        }
        // What it spent is part of what the run spent, and nothing that a step needs.
        if let Value::Object(result) = &mut body {
            result.remove("spent");
        }
        Verdict::Success(body)
    }
}

impl RuledOut {
    /// Whether the next call of a step must not be made.
    pub(super) fn avoids(&self, planned: &PlannedStep, step: &StepRun) -> bool {
        self.avoided.iter().any(|call| {
            call.tool == planned.tool && call.capability == planned.capability && call.parameters == step.parameters
        })
    }

    /// The same call as the next one of a step, among those that a person denied; else one of the same tool with other parameters.
    pub(super) fn denied_like(&self, planned: &PlannedStep, step: &StepRun) -> (bool, Option<&UncertainCall>) {
        if self.denied.is_empty() {
            return (false, None);
        }
        let call = step.as_call(planned);
        let is_like = |denied: &&UncertainCall| (&denied.tool, &denied.capability) == (&call.tool, &call.capability);
        let mut like = self.denied.iter().rev().filter(is_like);
        (like.clone().any(|denied| denied.parameters == call.parameters), like.next())
    }
}

/// What a step that ran an agent has as its result.
pub(super) struct AgentReply<'a> {
    step: &'a StepId,
    reply: Arc<Value>,
}

impl<'a> AgentReply<'a> {
    /// The reply of a step that is done and ran an agent.
    pub(super) fn of(report: &'a StepReport) -> Option<Self> {
        report.session.as_ref()?;
        let Outcome::Done(result) = &report.outcome else { return None };
        Some(Self { step: &report.step, reply: result.load() })
    }

    pub(super) fn is_success(&self) -> bool {
        let status = self.reply.get("status").and_then(Value::as_str);
        status.is_none_or(|status| status == ReportStatus::Success.as_str())
    }

    /// What the agent did not do and what is in doubt, one sentence each.
    pub(super) fn shortcomings(&self) -> Vec<String> {
        let lines = self.reply.get(SHORTCOMINGS).and_then(Value::as_array).unwrap_or_default();
        let lines: Vec<&str> = lines.iter().filter_map(Value::as_str).collect();
        let step = self.step;
        match lines.as_slice() {
            [] if self.is_success() => Vec::new(),
            [] => vec![format!("the agent of {step} did not do everything")],
            lines => lines.iter().map(|line| format!("the agent of {step}: {line}")).collect(),
        }
    }
}

/// What the body of a reply calls the shortcomings of a report.
const SHORTCOMINGS: &str = "shortcomings";

/// The body of the reply to a call of an agent, from its report.
pub fn session_reply(session: &RunId, report: &Report) -> Value {
    let content = report.content_json.clone().unwrap_or_else(|| Value::from(report.content.as_str()));
    let spent = serde_json::to_string(&report.spent).ok().and_then(|text| Value::parse(&text).ok());
    let mut body = Object::from([
        ("report", content),
        ("status", Value::from(report.status.as_str())),
        ("session", Value::from(session.as_str())),
        ("spent", spent.unwrap_or_default()),
    ]);
    let failure = match report.status {
        _ if !report.is_answer() => Some(format!("the agent wrote no report: {}", report.content)),
        ReportStatus::Failure => Some(format!("the agent reports a failure: {}", report.content)),
        ReportStatus::Success | ReportStatus::Partial => None,
    };
    body.extend(failure.map(|failure| ("failure".to_owned(), Value::from(failure))));
    let shortcomings = report.shortcomings.sentences();
    if !shortcomings.is_empty() {
        body.insert(SHORTCOMINGS, shortcomings.into_iter().map(Value::from).collect::<Value>());
    }
    Value::Object(body)
}

/// The id of the session that a step starts.
fn session_id(run: &RunId, step: &str) -> RunId {
    let hash = hex(&digest_of_texts(&["session", run.as_str(), step]));
    let short = hash.get(..16).unwrap_or(&hash);
    if run.as_str().len() <= MAX_PREFIX {
        RunId::new(format!("{run}.{short}"))
    } else {
        RunId::new(format!("session-{}", hash.get(..32).unwrap_or(&hash)))
    }
}
