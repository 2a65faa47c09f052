//! `reknit models`: who would be asked, and whether they answer.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;

use reknit_dialogue::{Answer, ErrorClass, Failure as ModelFailure, Message, Request, TargetName};
use reknit_models::{Models, Target};
use reknit_protocol::shown_url;
use reknit_runtime::config::{Config, KeySource, Origin};
use tokio::task::JoinSet;

use crate::cli::ModelsArguments;
use crate::failure::Failure;
use crate::find_model::with_a_model;
use crate::show::{harmless, one_line, width};
use crate::work::{config, model, usable};

/// How much of a failure the table shows, in columns.
const WORDS: usize = 120;
/// The least that every provider takes.
const TOKENS: u32 = 16;
/// Who needs longer for one word is of no use.
const PATIENCE_MS: u64 = 30_000;

/// Lists the models and where their keys are.
pub(crate) async fn list(arguments: &ModelsArguments) -> Result<ExitCode, Failure> {
    let config = configured(arguments).await?;
    usable(config.models.clone())?;
    let mut rows = vec![["NAME", "PROVIDER", "MODEL", "KEY"].map(str::to_owned)];
    for target in &config.models {
        let key = key(target, config.keys.get(&target.name));
        rows.push([target.name.to_string(), target.provider.to_string(), target.model.clone(), key]);
    }
    print(&rows)?;
    Ok(ExitCode::SUCCESS)
}

/// Asks each model one tiny question. Ends with 1 if one does not answer.
pub(crate) async fn check(arguments: &ModelsArguments) -> Result<ExitCode, Failure> {
    let config = configured(arguments).await?;
    let mut answers = ask_all(usable(config.models.clone())?, &config).await;
    let mut rows = vec![["NAME", "MODEL", "RESULT"].map(str::to_owned)];
    let mut hints = Vec::new();
    for target in &config.models {
        let (result, hint) = match config.keys.get(&target.name) {
            Some(KeySource::UnsetVariable(variable)) => {
                (format!("not asked: {variable} is not set"), Some(format!("set it: `export {variable}=...`")))
            }
            Some(KeySource::UnusableFile { path, problem }) => {
                (format!("not asked: its key is not in `{path}`: {problem}"), None)
            }
            source => match answers.remove(&target.name) {
                Some(Ok(answer)) => (answered(&answer), None),
                Some(Err(failure)) => (one_line(&failure.to_string(), WORDS), Some(hint(target, source, &failure))),
                None => ("not asked: the question broke down".to_owned(), None),
            },
        };
        if !result.starts_with("answered") {
            hints.push(hint.map(|hint| format!("hint: {}: {hint}", target.name)));
        }
        rows.push([target.name.to_string(), target.model.clone(), result]);
    }
    print(&rows)?;
    for hint in hints.iter().flatten() {
        // What went wrong stands in the table already.
        let _ = writeln!(io::stderr(), "{hint}");
    }
    Ok(if hints.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

async fn configured(arguments: &ModelsArguments) -> Result<Config, Failure> {
    let mut config = config(arguments.config.as_deref())?;
    if let Some(target) = model(&arguments.model)? {
        config = config.with_models(vec![target], &Origin::Flag("--model-url".to_owned()));
    }
    let config = with_a_model(config).await;
    if config.models.is_empty() {
        return Err(Failure::Usage {
            what: "there is no model to ask".to_owned(),
            hint: Some("name one: `--model-url http://127.0.0.1:8080/v1`, or `[[models]]` in reknit.toml".to_owned()),
        });
    }
    Ok(config)
}

/// Asks all at once whose keys are there: one that is slow does not keep the others waiting.
async fn ask_all(models: Models, config: &Config) -> BTreeMap<TargetName, Result<Answer, ModelFailure>> {
    let question = vec![Message::user("Reply with the word ok.")];
    let request = Request { temperature: None, max_ms: Some(PATIENCE_MS), ..Request::new(question, TOKENS) };
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

fn answered(answer: &Answer) -> String {
    let ms = answer.timings.map_or(0, |timings| timings.total_ms);
    let tokens = answer.usage.input_tokens.saturating_add(answer.usage.output_tokens);
    format!("answered in {ms} ms, {tokens} tokens")
}

/// Where the key is, never the key itself.
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

/// What a person can do about it.
fn hint(target: &Target, source: Option<&KeySource>, failure: &ModelFailure) -> String {
    let url = shown_url(&target.base_url);
    match failure.class {
        ErrorClass::AuthError => match source {
            Some(KeySource::Variable(place) | KeySource::File(place)) => {
                format!("see whether the key in `{place}` is right")
            }
            _ => "it may need a key: `key-env = \"VARIABLE\"` in reknit.toml".to_owned(),
        },
        ErrorClass::QuotaExceeded => "look at the account of the provider".to_owned(),
        ErrorClass::RateLimit => "try again later, or name a second model".to_owned(),
        ErrorClass::NetworkError | ErrorClass::Timeout => format!("see whether a server runs at {url}"),
        ErrorClass::ModelError if failure.status == Some(404) => {
            format!("see whether {url} is right, and whether there is a model `{}`", target.model)
        }
        ErrorClass::ModelError | ErrorClass::ContextLength | ErrorClass::ContentFilter => {
            format!("see what `{}` takes", target.model)
        }
        ErrorClass::InvalidResponse => format!("see whether {} is spoken at {url}", target.provider),
    }
}

/// Columns as wide as their widest entry.
fn print<const N: usize>(rows: &[[String; N]]) -> Result<(), Failure> {
    // Servers name their models.
    let rows: Vec<[String; N]> = rows.iter().map(|row| row.each_ref().map(|cell| harmless(cell))).collect();
    let widths: Vec<usize> = (0..N)
        .map(|column| rows.iter().filter_map(|row| row.get(column)).map(|cell| width(cell)).max().unwrap_or(0))
        .collect();
    let mut out = io::stdout().lock();
    for row in &rows {
        let cells = row.iter().zip(&widths).map(|(cell, columns)| {
            let padding = columns.saturating_sub(width(cell));
            format!("{cell}{}", " ".repeat(padding))
        });
        writeln!(out, "{}", cells.collect::<Vec<_>>().join("  ").trim_end()).map_err(Failure::Write)?;
    }
    Ok(())
}
