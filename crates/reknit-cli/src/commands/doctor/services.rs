//! Keys, models and tools.

use std::path::Path;

use reknit_runtime::config::{Config, KeySource};

use super::finding::{Area, Finding};
use crate::commands::models::{ModelCheck, check_models};
use crate::output::{count, one_line, shell_word};
use crate::setup::discover_tools;

/// Where the key of each model comes from.
pub(super) fn keys(config: &Config) -> Vec<Finding> {
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

pub(super) async fn models(config: &Config) -> Vec<Finding> {
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

pub(super) async fn tools(config: &Config, file: Option<&Path>) -> Vec<Finding> {
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
