//! `reknit doctor`: checks configuration, keys, models, tools, journal, disk and clock, and says what to type.

mod finding;
mod machine;
mod services;

use std::process::ExitCode;

use clap::Args;
use reknit_protocol::{Object, Value};

use crate::output::{Failure, count, output_columns, print_data};
use crate::setup::{
    SetupArguments, check_trust, found_config, named_config, read_config, with_detected_model, with_model, with_tools,
};
use finding::{Area, Finding, page};

#[derive(Debug, Args)]
#[command(after_help = DETAILS)]
pub(crate) struct DoctorArguments {
    /// Ask neither models nor tools
    #[arg(long)]
    offline: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    setup: SetupArguments,
}

const DETAILS: &str = "\
Each model is sent a short question, and each tool is asked for its capabilities. Nothing is changed.

JSON (--json):
  {\"ok\", \"findings\": [{\"area\", \"level\", \"message\", \"command\"?}]}
    area   configuration, keys, models, tools, journal, disk or clock
    level  ok, note or problem

Exit status: 0 nothing has to be done, 1 there are problems, 2 bad usage.";

/// Checks everything, and prints what it found. The exit status is 1 if something has to be done.
pub(crate) async fn run(arguments: &DoctorArguments) -> Result<ExitCode, Failure> {
    let findings = find(arguments).await;
    let is_well = findings.iter().all(|finding| !finding.is_problem());
    let text = if arguments.json {
        let list: Value = findings.iter().map(|finding| Value::Object(finding.to_object())).collect();
        Value::Object(Object::from([("ok", Value::Bool(is_well)), ("findings", list)])).to_string() + "\n"
    } else {
        page(&findings, output_columns())
    };
    print_data(&text)?;
    Ok(if is_well { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

async fn find(arguments: &DoctorArguments) -> Vec<Finding> {
    let file = arguments.setup.files.config.as_deref();
    let config = read_config(file)
        .and_then(|config| with_tools(config, &arguments.setup))
        .and_then(|config| with_model(config, &arguments.setup.model));
    let mut findings = Vec::new();
    let config = match config {
        Ok(config) => config,
        Err(failure) => {
            findings.push(Finding::of_failure(Area::Configuration, &failure, "reknit config reference"));
            // What does not depend on the configuration can be checked nevertheless.
            findings.push(machine::clock(jiff::Timestamp::now().as_millisecond(), None));
            return findings;
        }
    };
    let place = match named_config(file).or_else(|| found_config(file)) {
        Some(path) => format!("`{}`", path.display()),
        None => "no file; every setting has its default".to_owned(),
    };
    let sources = format!("{}, {}", count(config.tools.len(), "tool"), count(config.models.len(), "model"));
    findings.push(Finding::ok(Area::Configuration, format!("{place}: {sources}")));
    let is_trusted = match check_trust(&config, file) {
        Ok(()) => true,
        Err(failure) => {
            findings.push(Finding::of_failure(Area::Configuration, &failure, "reknit trust"));
            false
        }
    };
    let config = with_detected_model(config).await;
    findings.extend(services::keys(&config));
    // A file that nobody trusts does not decide where keys are sent.
    if is_trusted && !arguments.offline {
        findings.extend(services::models(&config).await);
        findings.extend(services::tools(&config, file).await);
    }
    findings.extend(machine::journal_disk_and_clock(&config, &arguments.setup.files).await);
    findings
}
