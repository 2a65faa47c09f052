//! `reknit agent`: starts a session.

use std::process::ExitCode;

use reknit_engine::RequestDigest;
use reknit_runtime::RunStart;

use crate::agent_files::AgentFile;
use crate::agent_start::{named, start_failure, with_limits_of_models};
use crate::attach::{read_attachments, require_reader};
use crate::cli::{AgentArguments, DriveArguments};
use crate::drive::drive;
use crate::failure::Failure;
use crate::input::Input;
use crate::repeated_start::continue_started;
use crate::setup::{Setup, config_with_arguments};

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
