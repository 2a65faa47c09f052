//! Plans and agents that a model calls: machines nested in the session, each with a share of the remaining budget.

use std::collections::BTreeMap;
use std::sync::Arc;

use reknit_plan::PlanAuthor;
use reknit_protocol::{EffectId, Object, RunId, ScopeLevel, Value};

use super::call::{
    BudgetShare, Call, Callee, ChildState, ToolOutput, approved_calls, call_name, call_scope, changes_text, in_doubt,
};
use super::state::{CallLog, ChildActivity, ChildView, Phase};
use super::toolbox::{PLAN_TOOL, read_plan_call};
use super::{Ending, Machine, Session};
use crate::answer::{Answer, Outcome, Status};
use crate::budget::Spent;
use crate::business_key::{Avoided, UncertainCall};
use crate::effect::Effect;
use crate::event::{Event, EventKind, Started};
use crate::guard::Earlier;
use crate::policy::{Limits, Policy};
use crate::record::SessionRecord;
use crate::report::{ChildReport, FinalTurnReason, Report, ReportStatus};
use crate::result_handle::response_data;
use crate::session_start::{ReportFormat, SessionStarted};

/// A running plan or agent.
#[derive(Debug, Clone)]
pub(super) struct Child {
    /// The index of its call in the turn.
    pub(super) call: usize,
    pub(super) machine: Machine,
}

impl Session {
    /// The scope of a child's effects.
    fn child_scope(&self, call: usize) -> [ScopeLevel; 2] {
        [self.turn_scope(), call_scope(call)]
    }

    pub(super) fn child_effects(&self) -> Vec<Effect> {
        let effects = |child: &Child| {
            let scope = self.child_scope(child.call);
            child.machine.pending().into_iter().map(|effect| effect.nested_in(&scope)).collect::<Vec<_>>()
        };
        self.children.iter().flat_map(effects).collect()
    }

    /// Handles the outcome of an effect of a child; returns whether the event was one.
    pub(super) fn on_child_event(&mut self, at_ms: i64, kind: &EventKind) -> bool {
        let inner = |child: &Child| kind.for_scope(&self.child_scope(child.call));
        let Some((index, kind)) = self.children.iter().enumerate().find_map(|(at, child)| Some((at, inner(child)?)))
        else {
            return false;
        };
        self.apply_to_child(index, &Event { at_ms, kind });
        self.advance_calls();
        true
    }

    /// Whether the session waits for the reply to a call, or for the end of a job that the call has started.
    pub fn awaits_call(&self, call: &EffectId) -> bool {
        let own = call.within(&[self.turn_scope()]);
        let by_calls = self.call_run.iter().zip(&own).any(|(run, call)| run.awaits_call(call));
        let by_child = |child: &Child| {
            let own = call.within(&self.child_scope(child.call));
            own.is_some_and(|call| child.machine.awaits_call(&call))
        };
        by_calls || self.children.iter().any(by_child)
    }

    fn apply_to_child(&mut self, index: usize, event: &Event) {
        let Some(child) = self.children.get_mut(index) else {
            return self.end_on_internal_error(&format!("there is no child machine {index}"));
        };
        let call = child.call;
        match child.machine.apply(event) {
            Ok(records) => self.record_nested(&self.child_scope(call), records),
            Err(error) => self.end_on_internal_error(&format!("a child machine rejected an event: {error}")),
        }
    }

    pub(super) fn apply_to_children(&mut self, at_ms: i64, kind: &EventKind) {
        for index in 0..self.children.len() {
            self.apply_to_child(index, &Event { at_ms, kind: kind.clone() });
        }
    }

    /// Takes the results of children that have ended, and starts as many as may run at once.
    pub(super) fn advance_children(&mut self) {
        self.end_children();
        let max_running = usize::try_from(self.started.policy.limits.calls_at_once).unwrap_or(usize::MAX).max(1);
        while self.children.len() < max_running {
            // An internal error may have ended the session.
            let Phase::Calling(calling) = &self.state.phase else { return };
            let waiting = calling.calls.iter().zip(&calling.child_states).position(|(call, state)| {
                !matches!(call.callee, Callee::Capability { .. } | Callee::SameTurn(_))
                    && *state == ChildState::NotStarted
            });
            let Some((index, call)) = waiting.and_then(|index| Some((index, calling.calls.get(index)?.clone()))) else {
                return;
            };
            let state = match self.begin_child(index, &call) {
                Ok(state) => state,
                Err(reason) => ChildState::Ended(ToolOutput::failure(&reason)),
            };
            self.set_child_state(index, state);
            self.end_children();
        }
    }

    fn set_child_state(&mut self, index: usize, new: ChildState) {
        let state = match &mut self.state.phase {
            Phase::Calling(calling) => calling.child_states.get_mut(index),
            _ => None,
        };
        match state {
            Some(state) => *state = new,
            None => self.end_on_internal_error(&format!("the turn has no call {index}")),
        }
    }

    /// Starts a plan or an agent, or reads a stored result. Fails with the reason for the model.
    fn begin_child(&mut self, index: usize, call: &Call) -> Result<ChildState, String> {
        if self.state.ending.abort_reason.is_some()
            || self.state.ending.final_turn_reason == Some(FinalTurnReason::UserStop)
        {
            return Err("it was not called: the session is to end".to_owned());
        }
        let (kind, share, earlier) = match &call.callee {
            Callee::StoredResult => {
                let text = self.state.stored_results.read(&call.parameters, self.started.rules.result_bytes / 2)?;
                return Ok(ChildState::Ended(ToolOutput::success(text)));
            }
            Callee::EarlierResult(at) => {
                return Ok(ChildState::Ended(self.earlier_result(*at, &call.for_history.name)?));
            }
            Callee::Plan => {
                let (kind, share) = self.plan_start(index, &call.parameters)?;
                let earlier = self.earlier_for_plan(&kind);
                (kind, share, earlier)
            }
            Callee::Agent(number) => {
                let (kind, share) = self.agent_start(index, *number, &call.parameters)?;
                (kind, share, self.earlier_for_agent())
            }
            Callee::Capability { .. } | Callee::SameTurn(_) => {
                return Err("it is a step of the run for the calls".to_owned());
            }
        };
        let event = Event { at_ms: self.state.now_ms, kind };
        let started = Machine::begin_without(&event, &self.avoided(earlier));
        let (machine, records) = started.map_err(|error| error.to_string())?;
        self.record_nested(&self.child_scope(index), records);
        self.state.account.spent.tool_calls += share.tool_calls;
        self.state.account.spent.model_calls += share.model_calls;
        self.state.account.spent.reserved_cost = self.state.account.spent.reserved_cost.plus(share.money);
        self.children.push(Child { call: index, machine });
        Ok(ChildState::Running(share))
    }

    /// The first event of the plan in a call, and its share of the budget.
    fn plan_start(&self, index: usize, parameters: &Object) -> Result<(EventKind, BudgetShare), String> {
        let language = self.started.policy.planning.language;
        let plan = Some(read_plan_call(parameters, &self.setup.toolbox, self.input(), language)?);
        let catalogue = Arc::clone(&self.setup.public_catalogue);
        let calls = &self.setup.calls_started;
        let (policy, share) = limit_policy(&calls.policy, &self.budget_share());
        let (run, plan_author) = (self.child_run_id(index), PlanAuthor::Model);
        let request = self.input().to_owned();
        let started = Started { run, request, plan, plan_author, catalogue, policy, ..calls.clone() };
        Ok((EventKind::Started(Box::new(started)), share))
    }

    /// The first event of the agent that is called, and its share of the budget.
    fn agent_start(
        &self,
        index: usize,
        number: usize,
        parameters: &Object,
    ) -> Result<(EventKind, BudgetShare), String> {
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
        let left = self.budget_share();
        let (policy, share) = limit_policy(&agent.session.policy, &left);
        if share.model_calls == 0 {
            return Err("nothing is left to spend on it".to_owned());
        }
        let (run, metadata) = (self.child_run_id(index), self.started.metadata.clone());
        let mut started = SessionStarted { run, input, metadata, policy, ..agent.session.clone() };
        started.rules.max_time_ms = smaller(started.rules.max_time_ms, left.active_ms);
        Ok((EventKind::SessionStarted(Box::new(started)), share))
    }

    fn child_run_id(&self, index: usize) -> RunId {
        RunId::new(format!("{}/{}/{}", self.started.run, self.turn_scope(), call_name(index)))
    }

    /// The equal share of the remaining budget for each plan or agent that has not started, and for the tool calls. One
    /// model call is reserved for the report.
    fn budget_share(&self) -> Limits {
        let Phase::Calling(calling) = &self.state.phase else { return self.started.policy.limits.clone() };
        let is_waiting = |(call, state): &(&Call, &ChildState)| match call.callee {
            Callee::Plan | Callee::Agent(_) => **state == ChildState::NotStarted,
            Callee::Capability { .. } | Callee::StoredResult | Callee::EarlierResult(_) | Callee::SameTurn(_) => false,
        };
        let waiting = calling.calls.iter().zip(&calling.child_states).filter(is_waiting).count();
        let calls = usize::from(self.call_run.as_ref().is_some_and(|run| run.answer().is_none()));
        let parts = u32::try_from(waiting + calls).unwrap_or(u32::MAX).max(1);
        let (limits, spent) = (&self.started.policy.limits, &self.state.account.spent);
        Limits {
            tool_calls: limits.tool_calls.saturating_sub(spent.tool_calls) / parts,
            model_calls: limits.model_calls.saturating_sub(spent.model_calls).saturating_sub(1) / parts,
            money: limits.cost().map(|money| spent.left_of(money).divided_by(parts)),
            active_ms: self.time_limit_ms().map(|ms| ms.saturating_sub(self.state.clock.active_ms(self.state.now_ms))),
            ..limits.clone()
        }
    }

    /// The budget spent, with the actual spending of running children instead of their shares.
    pub(super) fn spent_with_children(&self) -> Spent {
        let mut spent = self.state.account.spent.clone();
        let Phase::Calling(calling) = &self.state.phase else { return spent };
        for child in &self.children {
            if let Some(ChildState::Running(share)) = calling.child_states.get(child.call) {
                replace_share(&mut spent, *share, &child.machine.spent());
            }
        }
        spent
    }

    fn end_children(&mut self) {
        while let Some(at) = self.children.iter().position(|child| child.machine.ending().is_some()) {
            let child = self.children.remove(at);
            let calling = match &self.state.phase {
                Phase::Calling(calling) => calling.calls.get(child.call).zip(calling.child_states.get(child.call)),
                _ => None,
            };
            let Some((call, ChildState::Running(share))) = calling else {
                return self.end_on_internal_error("a child machine ended that was not running");
            };
            let (name, share) = (call.for_history.name.clone(), *share);
            replace_share(&mut self.state.account.spent, share, &child.machine.spent());
            let (turn, call) = (self.state.current.number, call_name(child.call));
            let (mut mended, mut children) = (Vec::new(), Vec::new());
            let (output, status) = match child.machine.ending() {
                Some(Ending::Answer(answer)) => {
                    for step in &answer.steps {
                        let tool = self.setup.toolbox.name_of(step).to_owned();
                        self.keep_mends(&format!("{call}/{}", step.step), &tool, step);
                        self.state.calls.approved.extend(approved_calls(step));
                    }
                    self.count_changes(&answer.steps);
                    self.state.calls.facts.add_plan(&name, answer);
                    (plan_output(answer), answer.status.as_str())
                }
                Some(Ending::Report(report)) => {
                    (mended, children) = (report.mended.clone(), report.children.clone());
                    self.state.calls.approved.extend(report.approved.iter().cloned());
                    self.state.calls.facts.add_agent(&name, report);
                    self.add_changes_of(&child.machine);
                    let output = agent_output(report);
                    (ToolOutput { note: verdict_note(report), ..output }, report.exit.as_str())
                }
                None => return self.end_on_internal_error("a child machine that ended has no result"),
            };
            let (done, spent, status) = (!output.is_error, child.machine.spent(), status.to_owned());
            let report = ChildReport { turn, call, name, status, done, spent, mended, children };
            self.state.children.push(report.clone());
            self.record(SessionRecord::ChildEnded(Box::new(report)));
            let uncertain = child.machine.uncertain_calls();
            let new = uncertain.iter().filter(|call| !self.state.calls.uncertain.contains(call));
            let in_doubt: Vec<String> =
                new.map(|call| in_doubt(&call.tool, &call.capability, &call.parameters)).collect();
            self.state.calls.in_doubt.extend(in_doubt);
            self.add_uncertain_calls(uncertain);
            self.add_denied_calls(child.machine.denied_calls());
            self.set_child_state(child.call, ChildState::Ended(output));
        }
    }

    /// Sets what the session must not do, because of what happened before it started.
    pub(crate) fn avoid(&mut self, avoided: &Avoided) {
        self.state.calls.uncertain.clone_from(&avoided.calls);
        self.state.calls.denied.clone_from(&avoided.denied);
        self.state.calls.rejected_rules.clone_from(&avoided.rules);
        self.state.calls.earlier.clone_from(&avoided.earlier);
    }

    /// What the machines in this session must not do.
    pub(super) fn avoided(&self, earlier: Earlier) -> Avoided {
        let CallLog { uncertain: calls, denied, rejected_rules: rules, .. } = &self.state.calls;
        Avoided { calls: calls.clone(), denied: denied.clone(), rules: rules.clone(), earlier }
    }

    /// The learned rules whose change a tool rejected, each with the error. They are not used again.
    pub fn rejected_rules(&self) -> &BTreeMap<String, String> {
        &self.state.calls.rejected_rules
    }

    /// Adds uncertain calls without duplicates: a child also returns those it was given.
    pub(super) fn add_uncertain_calls(&mut self, calls: impl IntoIterator<Item = UncertainCall>) {
        for call in calls {
            if !self.state.calls.uncertain.contains(&call) {
                self.state.calls.uncertain.push(call);
            }
        }
    }

    pub(super) fn add_denied_calls(&mut self, calls: impl IntoIterator<Item = UncertainCall>) {
        for call in calls {
            if !self.state.calls.denied.contains(&call) {
                self.state.calls.denied.push(call);
            }
        }
    }

    pub(crate) fn denied_calls(&self) -> Vec<UncertainCall> {
        self.state.calls.denied.clone()
    }

    pub(crate) fn uncertain_calls(&self) -> Vec<UncertainCall> {
        self.state.calls.uncertain.clone()
    }

    pub(super) fn child_views(&self) -> Vec<ChildView> {
        let view = |child: &Child| {
            let (name, doing) = match &child.machine {
                Machine::Run(run) => (PLAN_TOOL.to_owned(), ChildActivity::Plan(run.steps())),
                Machine::Session(session) => {
                    (session.started().agent.clone(), ChildActivity::Agent(Box::new(session.view())))
                }
            };
            ChildView { call: call_name(child.call), name, doing }
        };
        self.children.iter().map(view).collect()
    }
}

/// The policy of a child with its limits capped, and the resulting share: at most what the child may spend by itself.
fn limit_policy(policy: &Policy, left: &Limits) -> (Arc<Policy>, BudgetShare) {
    let mut policy = policy.clone();
    let limits = &mut policy.limits;
    limits.tool_calls = limits.tool_calls.min(left.tool_calls);
    limits.model_calls = limits.model_calls.min(left.model_calls);
    limits.active_ms = smaller(limits.active_ms, left.active_ms);
    limits.money = smaller(limits.cost(), left.money);
    let money = limits.money.filter(|_| left.money.is_some()).unwrap_or_default();
    let share = BudgetShare { tool_calls: limits.tool_calls, model_calls: limits.model_calls, money };
    (Arc::new(policy), share)
}

/// The smaller of two limits; `None` is no limit.
fn smaller<T: Ord>(one: Option<T>, other: Option<T>) -> Option<T> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

fn replace_share(spent: &mut Spent, share: BudgetShare, actual: &Spent) {
    let BudgetShare { tool_calls, model_calls, money } = share;
    *spent = spent.since(&Spent { tool_calls, model_calls, reserved_cost: money, ..Spent::default() });
    spent.add(&Spent { active_ms: 0, ..actual.clone() });
}

/// The output of a plan: the outcome of each step.
fn plan_output(answer: &Answer) -> ToolOutput {
    if answer.steps.is_empty() {
        return ToolOutput::failure(&answer.text);
    }
    let step = |outcome: &Outcome| match outcome {
        Outcome::Done(value) => ("result", response_data(&value.load())),
        Outcome::Failed { reason, .. } => ("failed", Value::from(reason.as_str())),
        Outcome::Unconfirmed { reason, .. } => {
            ("unconfirmed", Value::from(format!("the call was made, but it is not confirmed: {reason}")))
        }
        Outcome::Skipped { reason } => ("skipped", Value::from(reason.as_str())),
    };
    let mut steps = Object::new();
    for report in &answer.steps {
        let mut outcome = Object::from([step(&report.outcome)]);
        if let Some(changes) = changes_text(&report.mends) {
            outcome.insert("changed_before_it_was_sent", changes);
        }
        steps.insert(report.step.as_str(), Value::Object(outcome));
    }
    let mut output = Object::from([("status", Value::from(answer.status.as_str())), ("steps", Value::Object(steps))]);
    if !answer.outputs.is_empty() {
        output.insert("outputs", Value::Object(answer.outputs.clone()));
    }
    if let Some(reason) = &answer.reason {
        output.insert("reason", reason.as_str());
    }
    let is_error = !matches!(answer.status, Status::Complete | Status::Partial);
    ToolOutput { text: Value::Object(output).to_string(), is_error, note: None }
}

/// What the model that called an agent is told about a report that is no success or has doubts.
fn verdict_note(report: &Report) -> Option<String> {
    let facts = report.shortcomings.sentences().join("; ");
    match (report.status, facts.as_str()) {
        (ReportStatus::Success | ReportStatus::Failure, "") => None,
        (status, "") => Some(format!("(the status of this report is {})", status.as_str())),
        (status, facts) => Some(format!("(the status of this report is {}: {facts})", status.as_str())),
    }
}

/// The output of an agent: its report. A report with status `failure` is a failed call.
fn agent_output(report: &Report) -> ToolOutput {
    let content = match (&report.content_json, report.format) {
        (Some(value), ReportFormat::Json) => value.to_string(),
        _ => report.content.clone(),
    };
    let failed = report.status == ReportStatus::Failure;
    let text = if failed { format!("(agent failed: {content})") } else { content };
    ToolOutput { text, is_error: failed, note: None }
}
