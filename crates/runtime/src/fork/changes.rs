//! What a fork changes in the start of its origin.

use std::sync::Arc;

use reknit_engine::{
    EngineKind, EventKind, ForkOrigin, ForkWrites, MACHINE_VERSION, Machine, Policy, SessionStarted, Started, Templates,
};
use reknit_model_api::TargetName;
use reknit_plan::{PlanAuthor, check, correct_plan, resolve_inputs};
use reknit_protocol::{EffectOwner, Object, Plan, RunId, Value};

use super::ForkError;
use super::prefix::Point;

/// What a fork changes. What is not set is as in the run that is forked.
#[derive(Debug, Clone, Default)]
pub struct ForkChanges {
    /// Parameters of the step at the point, by name.
    pub parameters: Vec<(String, Value)>,
    /// Inputs of the plan, by name.
    pub inputs: Object,
    /// The models, the preferred one first; also those of the agents that steps run.
    pub targets: Option<Vec<TargetName>>,
    /// The policy.
    pub policy: Option<Arc<Policy>>,
    /// The prompt templates.
    pub templates: Option<Arc<Templates>>,
    /// The agent of a session: its prompt, rules, tools, models and limits.
    pub agent: Option<Box<SessionStarted>>,
    /// What becomes of calls that do not only read.
    pub writes: ForkWrites,
}

impl ForkChanges {
    /// The first event of the fork. `before` is the state of the origin at the point.
    pub(super) fn apply(
        &self,
        first: &EventKind,
        before: &Machine,
        point: &Point,
        (run, fork): (RunId, ForkOrigin),
    ) -> Result<EventKind, ForkError> {
        match (first, before) {
            (EventKind::Started(started), Machine::Run(machine)) => {
                let mut started = Started { run, trace_parent: None, ..started.as_ref().clone() };
                self.change_plan(&mut started, machine.plan(), point)?;
                self.change_run(&mut started, &fork);
                started.fork = Some(fork);
                drive_here(&mut started.policy);
                started.machine_version = MACHINE_VERSION;
                check_plan(&started)?;
                Ok(EventKind::Started(Box::new(started)))
            }
            (EventKind::SessionStarted(started), _) => {
                if !self.parameters.is_empty() || !self.inputs.is_empty() {
                    let message =
                        "a session has neither parameters nor inputs that can be changed: its model writes the calls";
                    return Err(ForkError::Change(message.to_owned()));
                }
                let mut changed =
                    self.agent.as_ref().map_or_else(|| started.as_ref().clone(), |new| new.as_ref().clone());
                changed.run = run;
                changed.input.clone_from(&started.input);
                changed.attachments.clone_from(&started.attachments);
                changed.metadata = started.metadata.clone();
                changed.seed = started.seed;
                changed.trace_parent = None;
                changed.machine_version = MACHINE_VERSION;
                self.change_session(&mut changed, &fork);
                drive_here(&mut changed.policy);
                Ok(EventKind::SessionStarted(Box::new(changed)))
            }
            _ => Err(ForkError::Change("the first event of the run is unknown".to_owned())),
        }
    }

    fn change_run(&self, started: &mut Started, fork: &ForkOrigin) {
        if let Some(targets) = &self.targets {
            started.targets.clone_from(targets);
        }
        if let Some(policy) = &self.policy {
            started.policy = Arc::clone(policy);
        }
        if let Some(templates) = &self.templates {
            started.templates = Arc::clone(templates);
        }
        for agent in &mut started.agents {
            self.change_session(&mut agent.session, fork);
        }
    }

    /// The sessions of steps have the mark of the fork as well, so that they send no more than it does.
    fn change_session(&self, session: &mut SessionStarted, fork: &ForkOrigin) {
        if let Some(targets) = &self.targets {
            session.targets.clone_from(targets);
        }
        if let Some(policy) = self.policy.as_ref().filter(|_| self.agent.is_none()) {
            // The limits of a session follow from its agent file.
            let limits = session.policy.limits.clone();
            session.policy = Arc::new(Policy { limits, ..policy.as_ref().clone() });
        }
        if let Some(templates) = &self.templates {
            session.templates = Arc::clone(templates);
            session.words = Arc::new(templates.session_texts());
        }
        session.fork = Some(fork.clone());
        for agent in &mut session.agents {
            self.change_session(&mut agent.session, fork);
        }
    }

    /// Changes the inputs, and the parameters of the step at the point. The plan of a model is then part of the start: nobody asks
    /// for it again.
    fn change_plan(&self, started: &mut Started, plan: Option<&Plan>, point: &Point) -> Result<(), ForkError> {
        if self.agent.is_some() {
            return Err(ForkError::Change("only a session has an agent".to_owned()));
        }
        for (name, value) in &self.inputs {
            let known = started.plan.iter().flat_map(|plan| plan.inputs.iter().map(|(name, _)| name.as_str()));
            let known: Vec<&str> = known.collect();
            if !known.contains(&name) {
                let message = match known.as_slice() {
                    [] => format!("the run has no input `{name}`: its plan has no inputs"),
                    known => format!("the plan has no input `{name}`; it has {}", known.join(", ")),
                };
                return Err(ForkError::Change(message));
            }
            started.inputs.insert(name, value.clone());
        }
        if self.parameters.is_empty() {
            return Ok(());
        }
        let EffectOwner::Step(id) = &point.owner else {
            let message = format!("`{}` is not a step, so it has no parameters to set", point.name);
            return Err(ForkError::Change(message));
        };
        let mut plan = plan.cloned().ok_or_else(|| ForkError::Change("the run has no plan yet".to_owned()))?;
        // The items of a loop have the parameters of its step.
        let written = id.as_str().split('[').next().unwrap_or_default();
        let step = plan.steps.iter_mut().find(|step| step.step_id == *id || step.step_id.as_str() == written);
        let Some(step) = step else {
            return Err(ForkError::Change(format!("the plan has no step `{id}` whose parameters can be set")));
        };
        let mut parameters = step.parameters().cloned().unwrap_or_default();
        parameters.extend(self.parameters.iter().cloned());
        *step = step.clone().with_parameters(parameters);
        if started.plan.is_none() {
            started.plan_author = PlanAuthor::Model;
        }
        started.plan = Some(plan);
        Ok(())
    }
}

/// A fork is driven by the process that has the journal, also one of a run on a remote engine.
fn drive_here(policy: &mut Arc<Policy>) {
    if !policy.engine.is_embedded() {
        Arc::make_mut(policy).engine = EngineKind::Embedded;
    }
}

/// The problems of a plan, as a run would find them.
fn check_plan(started: &Started) -> Result<(), ForkError> {
    let Some(plan) = &started.plan else { return Ok(()) };
    let mut corrected = plan.clone();
    correct_plan(&mut corrected, &started.catalogue, started.plan_author);
    started.policy.effects.add_confirmations(&mut corrected);
    let problems = check(&corrected, &started.catalogue, started.plan_author).err().unwrap_or_default();
    let of_inputs = resolve_inputs(plan, &started.inputs).err().unwrap_or_default();
    let lines: Vec<String> = problems.iter().chain(&of_inputs).map(ToString::to_string).collect();
    if lines.is_empty() { Ok(()) } else { Err(ForkError::Plan(lines)) }
}
