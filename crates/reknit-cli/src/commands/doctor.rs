//! `reknit doctor`: checks configuration, keys, models, tools, journal, disk and clock, and says what to type.

mod finding;
mod machine;

use std::path::Path;
use std::process::ExitCode;

use clap::Args;
use finding::{Area, Finding, page};
use reknit_protocol::{Object, Value};
use reknit_runtime::config::{Config, KeySource};

use crate::commands::models::{ModelCheck, check_models};
use crate::output::{Failure, count, one_line, output_columns, print_data, shell_word};
use crate::setup::{
    SetupArguments, check_trust, discover_tools, found_config, named_config, read_config, with_detected_model,
    with_model, with_tools,
};

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
    findings.extend(check_keys(&config));
    // A file that nobody trusts does not decide where keys are sent.
    if is_trusted && !arguments.offline {
        findings.extend(check_each_model(&config).await);
        findings.extend(check_tools(&config, file).await);
    }
    findings.extend(machine::journal_disk_and_clock(&config, &arguments.setup.files).await);
    findings
}

/// Where the key of each model comes from.
fn check_keys(config: &Config) -> Vec<Finding> {
    let finding = |target: &reknit_models::Target| match config.keys.get(&target.name) {
        Some(KeySource::UnsetVariable(variable)) => Finding::problem(
            Area::Keys,
            format!("the key of model `{}` is missing: {variable} is not set", target.name),
            format!("export {variable}=..."),
        ),
        Some(KeySource::UnusableFile { path, problem }) => Finding::problem(
            Area::Keys,
            format!("the key of model `{}` cannot be read from `{path}`: {problem}", target.name),
            format!("ls -l {}", shell_word(path)),
        ),
        Some(KeySource::Variable(variable)) => {
            Finding::ok(Area::Keys, format!("model `{}`: from {variable}", target.name))
        }
        Some(KeySource::File(path)) => Finding::ok(Area::Keys, format!("model `{}`: from `{path}`", target.name)),
        Some(KeySource::None) | None => {
            Finding::ok(Area::Keys, format!("model `{}` is used without a key", target.name))
        }
    };
    config.models.iter().map(finding).collect()
}

async fn check_each_model(config: &Config) -> Vec<Finding> {
    if config.models.is_empty() {
        let message = "no model is configured, and none was found; only plans that you write can run";
        return vec![Finding::note(Area::Models, message, "reknit models --help")];
    }
    let checks = match check_models(config).await {
        Ok(checks) => checks,
        Err(failure) => return vec![Finding::of_failure(Area::Models, &failure, "reknit models")],
    };
    let finding = |ModelCheck { name, result, hint, is_answered }: ModelCheck| match hint {
        _ if is_answered => Finding::ok(Area::Models, format!("`{name}` {result}")),
        Some(hint) => Finding::problem(Area::Models, format!("`{name}`: {result} ({hint})"), "reknit models check"),
        None => Finding::problem(Area::Models, format!("`{name}`: {result}"), "reknit models check"),
    };
    checks.into_iter().map(finding).collect()
}

async fn check_tools(config: &Config, file: Option<&Path>) -> Vec<Finding> {
    if config.tools.is_empty() && config.discovery.registry().is_none() {
        let message = "no tool is configured, so no call can be made";
        return vec![Finding::problem(Area::Tools, message, "reknit tools add URL")];
    }
    let found = match discover_tools(config, file).await {
        Ok(found) => found,
        Err(failure) => return vec![Finding::of_failure(Area::Tools, &failure, "reknit tools check")],
    };
    let usable = found.catalogue.tools.iter().map(|tool| {
        Finding::ok(Area::Tools, format!("`{}`: {}", tool.name, count(tool.capabilities.len(), "capability")))
    });
    let problem = |problem: &reknit_tools::DiscoveryProblem| {
        Finding::problem(Area::Tools, one_line(&problem.to_string(), usize::MAX), "reknit tools check")
    };
    usable.chain(found.problems.iter().map(problem)).collect()
}
