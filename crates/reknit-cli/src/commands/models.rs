//! `reknit models`: lists the models and checks whether they answer.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::{Args, Subcommand, ValueHint};
use reknit_model_api::{ErrorClass, Message, ModelAnswer, ModelFailure, ModelRequest, TargetName};
use reknit_models::{Models, Target};
use reknit_protocol::redact_url;
use reknit_runtime::config::{Config, KeySource};
use tokio::task::JoinSet;

use crate::output::{Failure, one_line, print_data, print_message, table};
use crate::setup::{
    MODEL_HINT, ModelArguments, build_models, check_model_trust, read_config, with_detected_model, with_model,
};

const DETAILS: &str = "\
If neither the configuration nor the command line names a model, Reknit uses the first API key that is set: OPENAI_API_KEY,
ANTHROPIC_API_KEY, GEMINI_API_KEY, GOOGLE_API_KEY, GROQ_API_KEY, DEEPSEEK_API_KEY, XAI_API_KEY, TOGETHER_API_KEY or
OPENROUTER_API_KEY. Without a key it looks for a server on this machine, on the default ports of Ollama (11434), llama.cpp
(8080), LM Studio (1234) and vLLM (8000). REKNIT_FIND_MODEL=false turns this off.";

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, after_help = DETAILS)]
pub(crate) struct ModelsArguments {
    #[command(subcommand)]
    command: Option<ModelsCommand>,
    #[command(flatten)]
    sources: ModelSources,
}

#[derive(Debug, Subcommand)]
enum ModelsCommand {
    /// Send each model a short question, and print whether it answers
    Check {
        #[command(flatten)]
        sources: ModelSources,
    },
}

#[derive(Debug, Args)]
struct ModelSources {
    /// The configuration file [default: reknit.toml in the current folder]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    config: Option<PathBuf>,
    #[command(flatten)]
    model: ModelArguments,
}

const ERROR_COLUMNS: usize = 120;
/// The lowest token limit that every provider accepts.
const MAX_ANSWER_TOKENS: u32 = 16;
/// The time limit of the short question.
const TIMEOUT_MS: u64 = 30_000;

pub(crate) async fn run(arguments: &ModelsArguments) -> Result<ExitCode, Failure> {
    match &arguments.command {
        None => list(&arguments.sources).await,
        Some(ModelsCommand::Check { sources }) => check(sources).await,
    }
}

/// Lists the models and where their API keys come from.
async fn list(arguments: &ModelSources) -> Result<ExitCode, Failure> {
    let config = config_with_model(arguments).await?;
    build_models(config.models.clone())?;
    let mut rows = vec![["NAME", "PROVIDER", "MODEL", "KEY"].map(str::to_owned)];
    for target in &config.models {
        let key = key(target, config.keys.get(&target.name));
        rows.push([target.name.to_string(), target.provider.to_string(), target.model.clone(), key]);
    }
    print_data(&table(&rows, None)).map(|()| ExitCode::SUCCESS)
}

/// Sends each model a short question. The exit status is 1 if one does not answer.
async fn check(arguments: &ModelSources) -> Result<ExitCode, Failure> {
    let config = config_with_model(arguments).await?;
    check_model_trust(&config, arguments.config.as_deref())?;
    let checks = check_models(&config).await?;
    let mut rows = vec![["NAME", "MODEL", "RESULT"].map(str::to_owned)];
    for (target, check) in config.models.iter().zip(&checks) {
        rows.push([check.name.to_string(), target.model.clone(), check.result.clone()]);
    }
    print_data(&table(&rows, None))?;
    for ModelCheck { name, hint, .. } in &checks {
        if let Some(hint) = hint {
            print_message(&format!("hint: {name}: {hint}\n"));
        }
    }
    let all_answered = checks.iter().all(|check| check.is_answered);
    Ok(if all_answered { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

pub(crate) struct ModelCheck {
    pub(crate) name: TargetName,
    pub(crate) is_answered: bool,
    /// How long the answer took, or why there is none.
    pub(crate) result: String,
    pub(crate) hint: Option<String>,
}

pub(crate) async fn check_models(config: &Config) -> Result<Vec<ModelCheck>, Failure> {
    let mut answers = ask_all(build_models(config.models.clone())?, config).await;
    let check = |target: &Target| {
        let (is_answered, result, hint) = match config.keys.get(&target.name) {
            Some(KeySource::UnsetVariable(variable)) => {
                (false, format!("not asked: {variable} is not set"), Some(format!("set it: `export {variable}=...`")))
            }
            Some(KeySource::UnusableFile { path, problem }) => {
                (false, format!("not asked: cannot read the key from `{path}`: {problem}"), None)
            }
            source => match answers.remove(&target.name) {
                Some(Ok(answer)) => (true, answered(&answer), None),
                Some(Err(failure)) => {
                    (false, one_line(&failure.to_string(), ERROR_COLUMNS), Some(hint(target, source, &failure)))
                }
                None => (false, "not asked: the check was aborted".to_owned(), None),
            },
        };
        ModelCheck { name: target.name.clone(), is_answered, result, hint }
    };
    Ok(config.models.iter().map(check).collect())
}

async fn config_with_model(arguments: &ModelSources) -> Result<Config, Failure> {
    let config = with_model(read_config(arguments.config.as_deref())?, &arguments.model)?;
    let config = with_detected_model(config).await;
    if config.models.is_empty() {
        return Err(Failure::usage("no model is configured", MODEL_HINT));
    }
    Ok(config)
}

/// Asks all at once whose keys are there: one that is slow does not keep the others waiting.
async fn ask_all(models: Models, config: &Config) -> BTreeMap<TargetName, Result<ModelAnswer, ModelFailure>> {
    let question = vec![Message::user("Reply with the word ok.")];
    let request = ModelRequest {
        temperature: None,
        timeout_ms: Some(TIMEOUT_MS),
        ..ModelRequest::new(question, MAX_ANSWER_TOKENS)
    };
    let (models, request) = (Arc::new(models), Arc::new(request));
    let mut asking = JoinSet::new();
    for target in &config.models {
        let missing =
            matches!(config.keys.get(&target.name), Some(KeySource::UnsetVariable(_) | KeySource::UnusableFile { .. }));
        if !missing {
            let (models, request, name) = (Arc::clone(&models), Arc::clone(&request), target.name.clone());
            asking.spawn(async move { (name.clone(), models.ask(&name, &request, &mut |_| {}).await) });
        }
    }
    let mut answers = BTreeMap::new();
    while let Some(asked) = asking.join_next().await {
        // One that broke down has no answer, and is shown so.
        answers.extend(asked.ok());
    }
    answers
}

fn answered(answer: &ModelAnswer) -> String {
    let ms = answer.timings.map_or(0, |timings| timings.total_ms);
    let tokens = answer.usage.input_tokens.saturating_add(answer.usage.output_tokens);
    format!("answered in {ms} ms, {tokens} tokens")
}

/// Where the key comes from, never the key itself.
fn key(target: &Target, source: Option<&KeySource>) -> String {
    match source {
        Some(KeySource::Variable(variable)) => variable.clone(),
        Some(KeySource::File(path)) => path.clone(),
        Some(KeySource::UnsetVariable(variable)) => format!("{variable} (not set)"),
        Some(KeySource::UnusableFile { path, problem }) => format!("{path} ({problem})"),
        Some(KeySource::None) | None if target.key.is_some() => "found".to_owned(),
        Some(KeySource::None) | None => "none".to_owned(),
    }
}

fn hint(target: &Target, source: Option<&KeySource>, failure: &ModelFailure) -> String {
    let url = redact_url(&target.base_url);
    match failure.class {
        ErrorClass::AuthError => match source {
            Some(KeySource::Variable(place) | KeySource::File(place)) => {
                format!("check the key in `{place}`")
            }
            _ => "if it needs a key, set `key-env = \"VARIABLE\"` in reknit.toml".to_owned(),
        },
        ErrorClass::QuotaExceeded => "check your account with the provider".to_owned(),
        ErrorClass::RateLimit => "try again later, or name a second model".to_owned(),
        ErrorClass::NetworkError | ErrorClass::Timeout => format!("check that a server runs at {url}"),
        ErrorClass::ModelError if failure.status == Some(404) => {
            format!("check the URL {url} and the model name `{}`", target.model)
        }
        ErrorClass::ModelError | ErrorClass::ContextLength | ErrorClass::ContentFilter => {
            format!("check which requests `{}` accepts", target.model)
        }
        ErrorClass::InvalidResponse => {
            format!("check that the server at {url} speaks the {} protocol", target.provider)
        }
    }
}
