//! Plans and agents that a model calls: machines inside the session, each with a share of what is left to spend.

use std::sync::Arc;

use reknit_dialogue::Money;
use reknit_protocol::ScopeLevel;
use reknit_protocol::{Object, RunId, Value};
use serde::{Deserialize, Serialize};

use super::Session;
use super::calling::{Brought, call_name, call_scope};
use super::handing::plan_in;
use super::record::{ForcedReason, Record};
use super::report::{Report, ReportStatus};
use super::sorting::Callee;
use super::started::{ReportFormat, SessionStarted};
use super::state::Phase;
use super::toolbox::PLAN_TOOL;
use super::view::{ChildDoing, ChildView};
use crate::answer::{Answer, Outcome, Status};
use crate::budget::Spent;
use crate::effect::Effect;
use crate::event::{Event, Started, What};
use crate::machine::{Ending, Machine};
use crate::nest;
use crate::policy::{Limits, Policy};
use crate::synthesis::data;

/// A plan or an agent that is under way.
#[derive(Debug, Clone)]
pub(super) struct Child {
    /// Which call of the turn it is, from 0.
    pub(super) call: usize,
    pub(super) machine: Machine,
}

/// What became of a call that the run of the calls does not make.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Made {
    Waiting,
    UnderWay(Share),
    Over { text: String, is_error: bool },
}

/// What is set aside for a child: it is paid for when the child begins, and what is left of it comes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Share {
    tool_calls: u32,
    model_calls: u32,
    #[serde(default)]
    money: Money,
}

/// What became of a plan or an agent that was called.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChildReport {
    /// The turn in which it was called.
    pub turn: u32,
    /// Which call of the turn it was: `call-2`.
    pub call: String,
    /// What was called.
    pub name: String,
    /// How it ended: the status of a plan, the exit of an agent.
    pub status: String,
    /// Whether the call counts as done.
    pub done: bool,
    /// What it cost.
    pub spent: Spent,
    /// What it called in its turn.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<ChildReport>,
}

impl Session {
    /// The name that effects of a child begin with.
    fn child_scope(&self, call: usize) -> [ScopeLevel; 2] {
        [self.turn_scope(), call_scope(call)]
    }

    pub(super) fn child_effects(&self) -> Vec<Effect> {
        let effects = |child: &Child| {
            let scope = self.child_scope(child.call);
            child.machine.pending().into_iter().map(|effect| nest::outer(&scope, effect)).collect::<Vec<_>>()
        };
        self.children.iter().flat_map(effects).collect()
    }

    /// Takes in what concerns a child; says whether it did.
    pub(super) fn on_child(&mut self, at_ms: i64, what: &What) -> bool {
        let inner = |child: &Child| nest::inner(&self.child_scope(child.call), what);
        let Some((index, what)) = self.children.iter().enumerate().find_map(|(at, child)| Some((at, inner(child)?)))
        else {
            return false;
        };
        if let Some(child) = self.children.get_mut(index) {
            // The only events that are refused are beginnings.
            let _ = child.machine.apply(&Event { at_ms, what });
        }
        self.take_calls();
        true
    }

    pub(super) fn tell_children(&mut self, at_ms: i64, what: &What) {
        for child in &mut self.children {
            // The only events that are refused are beginnings.
            let _ = child.machine.apply(&Event { at_ms, what: what.clone() });
        }
    }

    /// Takes over what has ended, and begins what can begin.
    pub(super) fn move_children(&mut self) {
        self.end_children();
        let places = usize::try_from(self.started.policy.limits.calls_at_once).unwrap_or(usize::MAX).max(1);
        while self.children.len() < places {
            let Phase::Calling(calling) = &self.state.phase else { return };
            let waiting =
                calling.calls.iter().zip(&calling.made).position(|(call, made)| {
                    !matches!(call.callee, Callee::Capability { .. }) && *made == Made::Waiting
                });
            let Some(index) = waiting else { return };
            let made = match self.begin_child(index) {
                Ok(made) => made,
                Err(reason) => Made::Over { text: format!("(tool failed: {reason})"), is_error: true },
            };
            self.set_made(index, made);
            self.end_children();
        }
    }

    fn set_made(&mut self, index: usize, made: Made) {
        if let Phase::Calling(calling) = &mut self.state.phase
            && let Some(place) = calling.made.get_mut(index)
        {
            *place = made;
        }
    }

    fn begin_child(&mut self, index: usize) -> Result<Made, String> {
        let Phase::Calling(calling) = &self.state.phase else { return Err("nothing is called now".to_owned()) };
        let call = calling.calls.get(index).cloned().ok_or("there is no such call")?;
        if self.state.halt.is_some() || self.state.forced == Some(ForcedReason::UserStop) {
            return Err("it was not called: the session is to end".to_owned());
        }
        let what = match &call.callee {
            Callee::Stored => {
                let text = self.state.stored.read(&call.parameters, self.started.rules.result_bytes / 2)?;
                return Ok(Made::Over { text, is_error: false });
            }
            Callee::Plan => self.plan_of(&call.parameters)?,
            Callee::Agent(number) => self.agent_of(*number, &call.parameters)?,
            Callee::Capability { .. } => return Err("it is a tool, which the run of the calls calls".to_owned()),
        };
        let (what, share) = self.limited(what, index)?;
        let event = Event { at_ms: self.state.now_ms, what };
        let machine = Machine::begin_without(&event, &self.state.doubtful).map_err(|error| error.to_string())?;
        self.state.spent.tool_calls += share.tool_calls;
        self.state.spent.model_calls += share.model_calls;
        self.state.spent.reserved_cost = self.state.spent.reserved_cost.plus(share.money);
        self.children.push(Child { call: index, machine });
        Ok(Made::UnderWay(share))
    }

    /// How the plan in a call begins.
    fn plan_of(&self, parameters: &Object) -> Result<What, String> {
        let plan = plan_in(parameters, &self.known.toolbox, &self.started.input)?;
        let catalogue = Arc::clone(&self.known.open);
        Ok(What::Started(Box::new(Started { plan: Some(plan), catalogue, ..self.known.calls.clone() })))
    }

    /// How the agent of a call begins.
    fn agent_of(&self, number: usize, parameters: &Object) -> Result<What, String> {
        let agent = self.started.agents.get(number).ok_or("there is no such agent")?;
        let input = match parameters.get("input") {
            Some(Value::String(text)) => text.trim().to_owned(),
            Some(Value::Null) | None if parameters.is_empty() => String::new(),
            Some(other) => other.to_string(),
            None => Value::Object(parameters.clone()).to_string(),
        };
        if input.is_empty() {
            return Err("`input` is missing: say what the agent is asked".to_owned());
        }
        Ok(What::SessionStarted(Box::new(SessionStarted { input, ..agent.session.clone() })))
    }

    /// Gives a child its name and its share: no more than it wants, and no more than falls to it of what is left.
    fn limited(&self, what: What, index: usize) -> Result<(What, Share), String> {
        let run = RunId::new(format!("{}/{}/{}", self.started.run, self.turn_scope(), call_name(index)));
        let left = self.share();
        match what {
            What::Started(started) => {
                let (policy, share) = within(&started.policy, &left);
                Ok((What::Started(Box::new(Started { run, policy, ..*started })), share))
            }
            What::SessionStarted(started) => {
                let (policy, share) = within(&started.policy, &left);
                if share.model_calls == 0 {
                    return Err("nothing is left to spend on it".to_owned());
                }
                Ok((What::SessionStarted(Box::new(SessionStarted { run, policy, ..*started })), share))
            }
            other => Err(format!("`{}` is no beginning", other.name())),
        }
    }

    /// What falls to each of those that have not begun, the calls of tools among them. One question is kept for the report.
    fn share(&self) -> Limits {
        let Phase::Calling(calling) = &self.state.phase else { return self.started.policy.limits.clone() };
        let waits = |(call, made): &(&super::sorting::Call, &Made)| match call.callee {
            Callee::Plan | Callee::Agent(_) => **made == Made::Waiting,
            Callee::Capability { .. } | Callee::Stored => false,
        };
        let waiting = calling.calls.iter().zip(&calling.made).filter(waits).count();
        let calls = usize::from(self.calls.as_ref().is_some_and(|run| run.answer().is_none()));
        let parts = u32::try_from(waiting + calls).unwrap_or(u32::MAX).max(1);
        let (limits, spent) = (&self.started.policy.limits, &self.state.spent);
        Limits {
            tool_calls: limits.tool_calls.saturating_sub(spent.tool_calls) / parts,
            model_calls: limits.model_calls.saturating_sub(spent.model_calls).saturating_sub(1) / parts,
            money: limits.money.map(|money| spent.left_of(money).part(parts)),
            active_ms: limits.active_ms.saturating_sub(self.state.clock.active_ms(self.state.now_ms)),
            ..limits.clone()
        }
    }

    /// What was spent, with what children have really spent in the place of their shares.
    pub(super) fn without_shares(&self) -> Spent {
        let mut spent = self.state.spent.clone();
        let Phase::Calling(calling) = &self.state.phase else { return spent };
        for child in &self.children {
            if let Some(Made::UnderWay(share)) = calling.made.get(child.call) {
                settle(&mut spent, *share, &child.machine.spent());
            }
        }
        spent
    }

    fn end_children(&mut self) {
        while let Some(at) = self.children.iter().position(|child| child.machine.ending().is_some()) {
            let child = self.children.remove(at);
            let Phase::Calling(calling) = &self.state.phase else { return };
            let Some((call, Made::UnderWay(share))) = calling.calls.get(child.call).zip(calling.made.get(child.call))
            else {
                return;
            };
            let (name, share) = (call.asked.name.clone(), *share);
            settle(&mut self.state.spent, share, &child.machine.spent());
            let (brought, status, children) = match child.machine.ending() {
                Some(Ending::Answer(answer)) => (plan_outcome(answer), answer.status.as_str(), Vec::new()),
                Some(Ending::Report(report)) => (agent_outcome(report), report.exit.as_str(), report.children.clone()),
                None => return,
            };
            let (done, spent) = (!brought.is_error, child.machine.spent());
            let (turn, call, status) = (self.state.turn, call_name(child.call), status.to_owned());
            let report = ChildReport { turn, call, name, status, done, spent, children };
            self.state.children.push(report.clone());
            self.state.records.push(Record::Child(Box::new(report)));
            self.doubt(child.machine.doubtful());
            self.set_made(child.call, Made::Over { text: brought.text, is_error: brought.is_error });
            self.ended_children.push(child);
        }
    }

    /// Calls that it must not make: they may have happened before it began.
    pub(crate) fn avoid(&mut self, calls: &[super::sorting::Doubtful]) {
        self.state.doubtful = calls.to_vec();
    }

    /// Notes calls that may have happened, each once: a child brings back those it was told of, too.
    pub(super) fn doubt(&mut self, calls: impl IntoIterator<Item = super::sorting::Doubtful>) {
        for call in calls {
            if !self.state.doubtful.contains(&call) {
                self.state.doubtful.push(call);
            }
        }
    }

    /// Calls that failed and may have happened all the same.
    pub(crate) fn doubtful(&self) -> Vec<super::sorting::Doubtful> {
        self.state.doubtful.clone()
    }

    pub(super) fn children_view(&self) -> Vec<ChildView> {
        let view = |child: &Child| {
            let doing = match &child.machine {
                Machine::Run(run) => ChildDoing::Plan(run.steps()),
                Machine::Session(session) => ChildDoing::Agent(Box::new(session.view())),
            };
            let name = match &child.machine {
                Machine::Run(_) => PLAN_TOOL.to_owned(),
                Machine::Session(session) => session.started().agent.clone(),
            };
            ChildView { call: call_name(child.call), name, doing }
        };
        self.children.iter().map(view).collect()
    }
}

/// The rules of a child with limits that lie within others, and what has to be set aside for it.
fn within(policy: &Policy, left: &Limits) -> (Arc<Policy>, Share) {
    let mut policy = policy.clone();
    let limits = &mut policy.limits;
    limits.tool_calls = limits.tool_calls.min(left.tool_calls);
    limits.model_calls = limits.model_calls.min(left.model_calls);
    limits.active_ms = limits.active_ms.min(left.active_ms);
    limits.money = match (limits.money, left.money) {
        (Some(own), Some(left)) => Some(own.min(left)),
        (own, left) => own.or(left),
    };
    let money = limits.money.filter(|_| left.money.is_some()).unwrap_or_default();
    let share = Share { tool_calls: limits.tool_calls, model_calls: limits.model_calls, money };
    (Arc::new(policy), share)
}

/// Gives back what was set aside, and pays what was spent.
fn settle(spent: &mut Spent, share: Share, real: &Spent) {
    spent.tool_calls = spent.tool_calls.saturating_sub(share.tool_calls).saturating_add(real.tool_calls);
    spent.model_calls = spent.model_calls.saturating_sub(share.model_calls).saturating_add(real.model_calls);
    spent.input_tokens = spent.input_tokens.saturating_add(real.input_tokens);
    spent.output_tokens = spent.output_tokens.saturating_add(real.output_tokens);
    spent.wasted_tokens = spent.wasted_tokens.saturating_add(real.wasted_tokens);
    spent.reserved_cost = spent.reserved_cost.minus(share.money).plus(real.reserved_cost);
    spent.cost = spent.cost.plus(real.cost);
    spent.estimated_cost = spent.estimated_cost.plus(real.estimated_cost);
    spent.unpriced_calls = spent.unpriced_calls.saturating_add(real.unpriced_calls);
}

/// What a plan has brought, step by step.
fn plan_outcome(answer: &Answer) -> Brought {
    if answer.steps.is_empty() {
        return Brought { text: format!("(tool failed: {})", answer.text), is_error: true };
    }
    let step = |outcome: &Outcome| match outcome {
        Outcome::Done(value) => ("result", data(value)),
        Outcome::Failed { reason, .. } => ("failed", Value::from(reason.as_str())),
        Outcome::Skipped { reason } => ("skipped", Value::from(reason.as_str())),
    };
    let mut steps = Object::new();
    for report in &answer.steps {
        steps.insert(report.step.as_str(), Value::Object(Object::from([step(&report.outcome)])));
    }
    let mut told = Object::from([("status", Value::from(answer.status.as_str())), ("steps", Value::Object(steps))]);
    if !answer.outputs.is_empty() {
        told.insert("outputs", Value::Object(answer.outputs.clone()));
    }
    if let Some(reason) = &answer.reason {
        told.insert("reason", reason.as_str());
    }
    let is_error = !matches!(answer.status, Status::Complete | Status::Partial);
    Brought { text: Value::Object(told).to_string(), is_error }
}

/// What an agent has brought: its report. One that says itself that it failed is a failed call; one that no model wrote says so.
fn agent_outcome(report: &Report) -> Brought {
    let content = match (&report.content_json, report.format) {
        (Some(value), ReportFormat::Json) => value.to_string(),
        _ => report.content.clone(),
    };
    let failed = report.status == ReportStatus::Failure;
    let text = if failed { format!("(agent failed: {content})") } else { content };
    Brought { text, is_error: failed }
}
