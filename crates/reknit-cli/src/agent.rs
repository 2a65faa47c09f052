//! `reknit agent`: starts a session.

use std::path::PathBuf;
use std::process::ExitCode;

use reknit_engine::{RequestDigest, SessionRules};
use reknit_runtime::config::Config;
use reknit_runtime::{AgentStartError, NamedAgent, RunStart};

use crate::agent_files::AgentFile;
use crate::attach::{read_attachments, require_reader};
use crate::cli::{AgentArguments, DriveArguments};
use crate::drive::drive;
use crate::failure::Failure;
use crate::input::Input;
use crate::repeated_start::continue_started;
use crate::setup::{MODEL_HINT, Setup, config_with_arguments};

/// Starts a session with an agent and drives it to its report.
pub(crate) async fn run(arguments: &AgentArguments) -> Result<ExitCode, Failure> {
    let metadata = arguments.metadata.parse()?;
    let config = config_with_arguments(&arguments.setup)?;
    let agent = AgentFile::read(&arguments.file, &config.session)?;
    let config = with_limits_of_models(config, &agent);
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
        output: arguments.output.clone(),
        driver: arguments.driver,
        only_step: None,
    };
    let attachments = read_attachments(&arguments.attach)?;
    let digest = RequestDigest::of_session(agent.texts(), input.trim(), &metadata).with_attachments(&attachments);
    if let Some(code) = continue_started(&arguments.id, &digest, &arguments.setup, &drive_arguments).await? {
        return Ok(code);
    }
    let setup = Setup::with_config(config, &arguments.setup.files, &drive_arguments).await?;
    let mut started = setup.reknit.session_started(named(agent), &input).map_err(start_failure)?;
    require_reader(&attachments, &started.targets, &setup.models)?;
    started = started.with_attachments(attachments);
    if let Some(run) = &arguments.id.run_id {
        started = started.with_id(run.clone());
    }
    let started = RunStart::from(started.with_metadata(metadata)).with_request_digest(digest);
    drive(&setup, started, &drive_arguments).await
}

/// The configuration for an agent: its last model is waited for longest.
pub(crate) fn with_limits_of_models(mut config: Config, agent: &AgentFile) -> Config {
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
    config
}

pub(crate) fn named(file: AgentFile) -> NamedAgent {
    let AgentFile { name, agent, agents, .. } = file;
    NamedAgent { name, agent, agents: agents.into_iter().map(named).collect() }
}

/// The agents of these files, for servers that offer them.
pub(crate) fn named_agents(paths: &[PathBuf], setup: &Setup) -> Result<Vec<NamedAgent>, Failure> {
    paths.iter().map(|path| AgentFile::read(path, &setup.reknit.session).map(named)).collect()
}

pub(crate) fn start_failure(error: AgentStartError) -> Failure {
    let message = error.to_string();
    match error {
        AgentStartError::NoModel => Failure::usage(message, MODEL_HINT),
        AgentStartError::Unknown { known, .. } if known.is_empty() => Failure::usage(message, "none is configured"),
        AgentStartError::Unknown { known, .. } => Failure::usage(message, format!("available: {}", known.join(", "))),
        _ => Failure::Usage { message, hint: None },
    }
}
