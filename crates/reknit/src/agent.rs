//! `reknit agent`: a session begins.

use std::process::ExitCode;
use std::sync::Arc;

use reknit_dialogue::TargetName;
use reknit_engine::{MACHINE_VERSION, Policy, SessionStarted, SubAgent, Words};
use reknit_plan::{Catalogue, Tool};
use reknit_protocol::RunId;
use reknit_runtime::agent::Agent;
use uuid::Uuid;

use crate::agent_files::AgentFile;
use crate::cli::{AgentArguments, DriveArguments};
use crate::drive::drive;
use crate::failure::Failure;
use crate::input::Input;
use crate::work::{Work, configured};

/// Begins a session with an agent and drives it to its report.
pub(crate) async fn run(arguments: &AgentArguments) -> Result<ExitCode, Failure> {
    let mut config = configured(&arguments.work)?;
    let agent = AgentFile::read(&arguments.file, &config.session)?;
    for name in agent.last_targets() {
        config.ask_last(name);
    }
    let input = match arguments.input.as_deref() {
        None | Some("-") => Input::Stdin.read_text()?,
        Some(input) => input.to_owned(),
    };
    if input.trim().is_empty() {
        return Err(usage("the agent is asked nothing", "write what you want behind its name"));
    }
    let drive_as = DriveArguments { answer: None, json: arguments.json, driver: arguments.driver };
    let work = Work::with(config, &arguments.work.files, &drive_as).await?;
    let id = Uuid::now_v7();
    let (high, low) = id.as_u64_pair();
    let mut started = started(&work, agent)?;
    // Its id is the only thing in it that is left to chance.
    (started.run, started.seed) = (RunId::new(id.to_string()), high ^ low);
    input.trim().clone_into(&mut started.input);
    drive(&work, started, &drive_as).await
}

/// The first event of a session, but for its name and what it is asked; those of the agents that it may call are in it.
fn started(work: &Work, file: AgentFile) -> Result<SessionStarted, Failure> {
    let AgentFile { name, agent, agents } = file;
    let sub_agent = |file: AgentFile| {
        let (name, description) = (file.name.clone(), file.agent.description.clone());
        Ok(SubAgent { name, description, session: started(work, file)? })
    };
    Ok(SessionStarted {
        run: RunId::new(""),
        agent: name,
        input: String::new(),
        agents: agents.into_iter().map(sub_agent).collect::<Result<_, Failure>>()?,
        catalogue: catalogue(&work.reknit.catalogue, agent.tools.as_deref())?,
        targets: targets(&work.reknit.targets, agent.targets.as_deref())?,
        policy: Arc::new(policy(&work.reknit.policy, &agent)),
        prompt: agent.prompt,
        rules: agent.rules,
        templates: Arc::clone(&work.reknit.templates),
        words: Arc::new(Words::default()),
        seed: 0,
        trace_parent: None,
        machine_version: MACHINE_VERSION,
    })
}

fn policy(policy: &Policy, agent: &Agent) -> Policy {
    let (mut policy, own) = (policy.clone(), agent.limits);
    let limits = &mut policy.limits;
    limits.tool_calls = own.tool_calls.unwrap_or(limits.tool_calls);
    limits.model_calls = own.model_calls.unwrap_or(limits.model_calls);
    limits.active_ms = own.active_ms.unwrap_or(limits.active_ms);
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
            let missing = || unknown("model", names.iter().find(|name| find(name).is_none()), &all);
            names.iter().map(find).collect::<Option<_>>().ok_or_else(missing)?
        }
    };
    if found.is_empty() {
        let hint = "name one: `--model-url http://127.0.0.1:8080/v1`, or `[[models]]` in reknit.toml";
        return Err(usage("there is no model to ask", hint));
    }
    Ok(found)
}

/// The tools that the agent names, whole or one capability at a time.
fn catalogue(known: &Arc<Catalogue>, wanted: Option<&[String]>) -> Result<Arc<Catalogue>, Failure> {
    let Some(names) = wanted else { return Ok(Arc::clone(known)) };
    let all: Vec<&str> = known.tools.iter().map(|tool| tool.name.as_str()).collect();
    let mut tools: Vec<Tool> = Vec::new();
    for name in names {
        let (agent, capability) = name.split_once('/').map_or((name.as_str(), None), |(a, c)| (a, Some(c)));
        let tool = known.tool(agent).ok_or_else(|| unknown("tool", Some(name), &all))?;
        let entries = match capability {
            None => tool.capabilities.clone(),
            Some(capability) => {
                let names: Vec<&str> = tool.capabilities.iter().map(|entry| entry.capability.name.as_str()).collect();
                let entry = tool.entry(capability).ok_or_else(|| unknown("capability", Some(name), &names))?;
                vec![entry.clone()]
            }
        };
        match tools.iter_mut().find(|tool| tool.name.as_str() == agent) {
            None => tools.push(Tool { capabilities: entries, ..tool.clone() }),
            Some(tool) => {
                let new = entries.into_iter().filter(|entry| !tool.capabilities.contains(entry)).collect::<Vec<_>>();
                tool.capabilities.extend(new);
            }
        }
    }
    Ok(Arc::new(Catalogue { tools }))
}

fn unknown(kind: &str, name: Option<&String>, known: &[&str]) -> Failure {
    let name = name.map(String::as_str).unwrap_or_default();
    let there =
        if known.is_empty() { "there is none at all".to_owned() } else { format!("there is: {}", known.join(", ")) };
    usage(&format!("the agent wants the {kind} `{name}`, which there is not"), &there)
}

fn usage(what: &str, hint: &str) -> Failure {
    Failure::Usage { what: what.to_owned(), hint: Some(hint.to_owned()) }
}
