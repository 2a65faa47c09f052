//! The start of a session with an agent.

use std::collections::BTreeSet;
use std::sync::Arc;

use reknit_engine::{MACHINE_VERSION, Metadata, Policy, ReportFormat, SessionStarted, Started, SubAgent};
use reknit_model_api::TargetName;
use reknit_plan::{AgentAnnouncement, AgentToolError, Catalogue, CatalogueTool};
use reknit_protocol::{Plan, RunId};

use crate::agent::Agent;
use crate::assembly::{AgentDefaults, Runtime, new_run_id};

/// An agent with its name, and the agents that it may call.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedAgent {
    /// The name.
    pub name: String,
    pub agent: Agent,
    /// The agents that it may call. They count instead of the files that [`Agent::agents`] names.
    pub agents: Vec<NamedAgent>,
}

impl NamedAgent {
    /// The agent as a plan sees it whose steps run it.
    pub fn announcement(&self) -> AgentAnnouncement {
        let report_type = if self.agent.rules.report.format == ReportFormat::Json { "object" } else { "string" };
        AgentAnnouncement { name: self.name.clone(), description: self.agent.description.clone(), report_type }
    }
}

/// Why a session with an agent cannot start.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AgentStartError {
    #[error("no model is configured")]
    NoModel,
    #[error("the agent uses the {kind} `{name}`, which does not exist")]
    Unknown {
        /// What it should be: a model, a tool or a capability.
        kind: &'static str,
        name: String,
        known: Vec<String>,
    },
    /// Steps of a plan cannot run agents.
    #[error(transparent)]
    Plan(#[from] AgentToolError),
}

impl Runtime {
    /// The start of a session with an agent, with a new id. It contains those of the agents that it may call.
    pub fn session_started(&self, agent: NamedAgent, input: &str) -> Result<SessionStarted, AgentStartError> {
        let mut started = self.nested_session(agent)?;
        (started.run, started.seed) = new_run_id();
        input.trim().clone_into(&mut started.input);
        Ok(started)
    }

    /// The start of a run of a plan whose steps run these agents, with a new id. [`Runtime::started`] is for a plan without any.
    pub fn started_with_agents(
        &self,
        request: &str,
        plan: Plan,
        agents: Vec<NamedAgent>,
    ) -> Result<Started, AgentStartError> {
        let started = self.started(request, Some(plan));
        let catalogue = started.catalogue.with_agents(agents.iter().map(NamedAgent::announcement))?;
        let agents = agents.into_iter().map(|agent| self.sub_agent(agent)).collect::<Result<_, AgentStartError>>()?;
        Ok(Started { catalogue: Arc::new(catalogue), agents, ..started })
    }

    fn sub_agent(&self, named: NamedAgent) -> Result<SubAgent, AgentStartError> {
        let (name, description) = (named.name.clone(), named.agent.description.clone());
        Ok(SubAgent { name, description, session: self.nested_session(named)? })
    }

    fn nested_session(&self, named: NamedAgent) -> Result<SessionStarted, AgentStartError> {
        let NamedAgent { name, agent, agents } = named;
        let known = self.current_catalogue();
        // An agent that names a tool which is not there cannot be started.
        let problems = if agent.tools.is_none() { self.current_problems() } else { Vec::new() };
        let unavailable: BTreeSet<String> =
            problems.into_iter().map(|problem| problem.tool).filter(|tool| known.tool(tool).is_none()).collect();
        Ok(SessionStarted {
            run: RunId::new(""),
            agent: name,
            input: String::new(),
            attachments: Vec::new(),
            metadata: Metadata::default(),
            agents: agents.into_iter().map(|agent| self.sub_agent(agent)).collect::<Result<_, AgentStartError>>()?,
            catalogue: catalogue(&known, agent.tools.as_deref())?,
            unavailable: unavailable.into_iter().collect(),
            targets: targets(&self.targets, agent.targets.as_deref())?,
            policy: Arc::new(policy(&self.policy_with_rules(), &self.agent_defaults, &agent)),
            prompt: agent.prompt,
            rules: agent.rules,
            templates: Arc::clone(&self.templates),
            words: Arc::new(self.templates.session_texts()),
            seed: 0,
            trace_parent: None,
            fork: None,
            machine_version: MACHINE_VERSION,
        })
    }
}

fn policy(policy: &Policy, defaults: &AgentDefaults, agent: &Agent) -> Policy {
    let (mut policy, own) = (policy.clone(), agent.limits);
    policy.mending = defaults.mending.clone();
    let limits = &mut policy.limits;
    if !defaults.limits_model_calls {
        // Turns and attempts limit a session; the default for runs is left for the repair of its calls.
        let asked = agent.rules.max_turns.saturating_mul(agent.rules.max_retries);
        limits.model_calls = limits.model_calls.saturating_add(asked);
    }
    limits.tool_calls = own.tool_calls.unwrap_or(limits.tool_calls);
    limits.model_calls = own.model_calls.unwrap_or(limits.model_calls);
    limits.calls_at_once = own.calls_at_once.unwrap_or(limits.calls_at_once);
    policy
}

/// The models that the agent names, in its order.
fn targets(known: &[TargetName], wanted: Option<&[String]>) -> Result<Vec<TargetName>, AgentStartError> {
    let all: Vec<&str> = known.iter().map(TargetName::as_str).collect();
    let found = match wanted {
        None => known.to_vec(),
        Some(names) => {
            let find = |name: &String| known.iter().find(|target| target.as_str() == name).cloned();
            names.iter().map(|name| find(name).ok_or_else(|| unknown("model", name, &all))).collect::<Result<_, _>>()?
        }
    };
    if found.is_empty() { Err(AgentStartError::NoModel) } else { Ok(found) }
}

/// The tools and single capabilities that the agent names.
fn catalogue(known: &Arc<Catalogue>, wanted: Option<&[String]>) -> Result<Arc<Catalogue>, AgentStartError> {
    let Some(names) = wanted else { return Ok(Arc::clone(known)) };
    let all: Vec<&str> = known.tools.iter().map(|tool| tool.name.as_str()).collect();
    let mut tools: Vec<CatalogueTool> = Vec::new();
    for name in names {
        let (agent, capability) = name.split_once('/').map_or((name.as_str(), None), |(a, c)| (a, Some(c)));
        let tool = known.tool(agent).ok_or_else(|| unknown("tool", name, &all))?;
        let entries = match capability {
            None => tool.capabilities.clone(),
            Some(capability) => {
                let names: Vec<&str> = tool.capabilities.iter().map(|entry| entry.capability.name.as_str()).collect();
                let entry = tool.entry(capability).ok_or_else(|| unknown("capability", name, &names))?;
                vec![entry.clone()]
            }
        };
        match tools.iter_mut().find(|tool| tool.name.as_str() == agent) {
            None => tools.push(CatalogueTool { capabilities: entries, ..tool.clone() }),
            Some(tool) => {
                let new = entries.into_iter().filter(|entry| !tool.capabilities.contains(entry)).collect::<Vec<_>>();
                tool.capabilities.extend(new);
            }
        }
    }
    Ok(Arc::new(Catalogue { tools }))
}

fn unknown(kind: &'static str, name: &str, known: &[&str]) -> AgentStartError {
    let known = known.iter().map(|name| (*name).to_owned()).collect();
    AgentStartError::Unknown { kind, name: name.to_owned(), known }
}
