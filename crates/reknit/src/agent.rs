//! `reknit agent`: starts a session.

use std::process::ExitCode;
use std::sync::Arc;

use reknit_dialogue::TargetName;
use reknit_engine::{MACHINE_VERSION, Metadata, Policy, RequestDigest, SessionRules, SessionStarted, SubAgent};
use reknit_mend::MendingPolicy;
use reknit_plan::{Catalogue, CatalogueTool};
use reknit_protocol::RunId;
use reknit_runtime::agent::Agent;
use reknit_runtime::{RunStart, new_run_id};

use crate::agent_files::AgentFile;
use crate::cli::{AgentArguments, DriveArguments};
use crate::drive::drive;
use crate::failure::Failure;
use crate::input::Input;
use crate::repeated_start::continue_started;
use crate::setup::{MODEL_HINT, Setup, config_with_arguments};

/// Starts a session with an agent and drives it to its report.
pub(crate) async fn run(arguments: &AgentArguments) -> Result<ExitCode, Failure> {
    let metadata = arguments.metadata.parse()?;
    let mut config = config_with_arguments(&arguments.setup)?;
    let agent = AgentFile::read(&arguments.file, &config.session)?;
    for name in agent.last_targets() {
        config.use_limits_of_last_model(name);
    }
    // Whoever sets the time of an attempt does not want a model to be given up earlier because another one follows.
    if agent.agent.rules.llm_timeout_ms != SessionRules::default().llm_timeout_ms {
        let names: Vec<String> = config.models.iter().map(|model| model.name.to_string()).collect();
        for name in &names {
            config.use_limits_of_last_model(name);
        }
    }
    let defaults = AgentDefaults {
        mending: config.agent_mending.clone(),
        limits_model_calls: config.is_set("limits.model-calls"),
    };
    let input = match arguments.input.as_deref() {
        None | Some("-") => Input::Stdin.read_text()?,
        Some(input) => input.to_owned(),
    };
    if input.trim().is_empty() {
        return Err(Failure::usage(
            "the input of the agent is empty",
            "write the question or task after the agent file: `reknit agent FILE \"QUESTION\"`",
        ));
    }
    let drive_arguments = DriveArguments {
        answer: None,
        approval: arguments.approval.clone(),
        json: arguments.json,
        driver: arguments.driver,
        only_step: None,
    };
    let digest = RequestDigest::of_session(agent.texts(), input.trim(), &metadata);
    if let Some(code) = continue_started(&arguments.id, &digest, &arguments.setup, &drive_arguments).await? {
        return Ok(code);
    }
    let setup = Setup::with_config(config, &arguments.setup.files, &drive_arguments).await?;
    let mut started = started(&setup, &defaults, agent)?;
    (started.run, started.seed) = new_run_id();
    if let Some(run) = &arguments.id.run_id {
        started = started.with_id(run.clone());
    }
    input.trim().clone_into(&mut started.input);
    let started = RunStart::from(started.with_metadata(metadata)).with_request_digest(digest);
    drive(&setup, started, &drive_arguments).await
}

/// The first event of a session, without its id and input. It contains those of the agents that it may call.
fn started(setup: &Setup, defaults: &AgentDefaults, file: AgentFile) -> Result<SessionStarted, Failure> {
    let AgentFile { name, agent, agents, .. } = file;
    let sub_agent = |file: AgentFile| {
        let (name, description) = (file.name.clone(), file.agent.description.clone());
        Ok(SubAgent { name, description, session: started(setup, defaults, file)? })
    };
    Ok(SessionStarted {
        run: RunId::new(""),
        agent: name,
        input: String::new(),
        metadata: Metadata::default(),
        agents: agents.into_iter().map(sub_agent).collect::<Result<_, Failure>>()?,
        catalogue: catalogue(&setup.reknit.catalogue, agent.tools.as_deref())?,
        targets: targets(&setup.reknit.targets, agent.targets.as_deref())?,
        policy: Arc::new(policy(&setup.reknit.policy, defaults, &agent)),
        prompt: agent.prompt,
        rules: agent.rules,
        templates: Arc::clone(&setup.reknit.templates),
        words: Arc::new(setup.reknit.templates.session_texts()),
        seed: 0,
        trace_parent: None,
        machine_version: MACHINE_VERSION,
    })
}

/// What agents have instead of the settings of runs.
struct AgentDefaults {
    /// How calls are mended if the agent allows models: the switch for runs does not count.
    mending: MendingPolicy,
    /// Whether the configuration limits the model calls.
    limits_model_calls: bool,
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
fn targets(known: &[TargetName], wanted: Option<&[String]>) -> Result<Vec<TargetName>, Failure> {
    let all: Vec<&str> = known.iter().map(TargetName::as_str).collect();
    let found = match wanted {
        None => known.to_vec(),
        Some(names) => {
            let find = |name: &String| known.iter().find(|target| target.as_str() == name).cloned();
            names.iter().map(|name| find(name).ok_or_else(|| unknown("model", name, &all))).collect::<Result<_, _>>()?
        }
    };
    if found.is_empty() {
        return Err(Failure::usage("no model is configured", MODEL_HINT));
    }
    Ok(found)
}

/// The tools and single capabilities that the agent names.
fn catalogue(known: &Arc<Catalogue>, wanted: Option<&[String]>) -> Result<Arc<Catalogue>, Failure> {
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

fn unknown(kind: &str, name: &str, known: &[&str]) -> Failure {
    let hint =
        if known.is_empty() { "none is configured".to_owned() } else { format!("available: {}", known.join(", ")) };
    Failure::usage(format!("the agent uses the {kind} `{name}`, which does not exist"), hint)
}
