//! What a run needs: a journal, tools, models, and rules.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::future::Future;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use reknit_journal::Journal;
use reknit_models::{ConfigError, Models, Target};
use reknit_protocol::shown_url;
use reknit_runtime::config::{Config, Origin};
use reknit_runtime::{Reknit, StartError};
use reknit_tools::Address;

use crate::cli::{AnswerBy, DriveArguments, JournalArguments, ModelArguments, WorkArguments};
use crate::config::warn_of_strangers;
use crate::failure::Failure;
use crate::find_model::with_a_model;
use crate::show::harmless;
use crate::telemetry::Telling;

/// What is looked for in the folder where the command is typed.
const CONFIG: &str = "reknit.toml";

/// The variable that names another file.
pub(crate) const CONFIG_VARIABLE: &str = "REKNIT_CONFIG";

/// Runs a command that waits for others.
pub(crate) fn block_on(command: impl Future<Output = Result<ExitCode, Failure>>) -> Result<ExitCode, Failure> {
    warn_of_strangers();
    // A run that waits has buffers that it never touches, and huge pages would make them real. Where the system cannot be
    // told so, runs only take more memory.
    #[cfg(target_os = "linux")]
    let _ = rustix::thread::disable_transparent_huge_pages(true);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|source| Failure::Start { what: "the threads", source: Box::new(source) })?;
    runtime.block_on(command)
}

/// Everything that a run needs, and who is told of it.
pub(crate) struct Work {
    pub(crate) reknit: Reknit,
    pub(crate) telling: Telling,
}

impl Work {
    /// Reads the configuration, opens the journal and asks the tools what they can do.
    pub(crate) async fn new(arguments: &WorkArguments, drive: &DriveArguments) -> Result<Self, Failure> {
        Self::with(configured(arguments)?, &arguments.files, drive).await
    }

    /// The same with a configuration that is made already. What is wrong with a tool is said, and the others are used.
    pub(crate) async fn with(
        config: Config,
        files: &JournalArguments,
        drive: &DriveArguments,
    ) -> Result<Self, Failure> {
        let mut config = with_a_model(with_answer(config, drive.answer)?).await;
        let telling = Telling::new(config.log)?;
        config.journal = Some(journal(&config, files)?);
        let reknit = Reknit::start(config).await?;
        warn(&reknit.problems);
        Ok(Self { reknit, telling })
    }
}

/// The configuration, with what was typed about tools and models.
pub(crate) fn configured(arguments: &WorkArguments) -> Result<Config, Failure> {
    let config = with_tools(config(arguments.files.config.as_deref())?, arguments)?;
    Ok(match model(&arguments.model)? {
        Some(target) => config.with_models(vec![target], &Origin::Flag("--model-url".to_owned())),
        None => config,
    })
}

/// The same with who was typed to write the answer.
pub(crate) fn with_answer(config: Config, answer: Option<AnswerBy>) -> Result<Config, Failure> {
    let word = match answer {
        Some(AnswerBy::Model) => "model",
        Some(AnswerBy::Template) => "template",
        Some(AnswerBy::Raw) => "raw",
        None => return Ok(config),
    };
    Ok(config.with("answer.by", word, Origin::Flag("--answer".to_owned()))?)
}

/// A variable of the environment. Empty is not set, whichever it is.
pub(crate) fn variable(name: &str) -> Option<OsString> {
    env::var_os(name).filter(|value| !value.is_empty())
}

/// The same as text. What is none becomes one with marks in it, which no setting takes: it is an error, and not as good as
/// unset.
pub(crate) fn environment(name: &str) -> Option<String> {
    variable(name).map(|value| value.to_string_lossy().into_owned())
}

/// Reads the configuration that was named, or the one in this folder, or none.
pub(crate) fn config(file: Option<&Path>) -> Result<Config, Failure> {
    let named = file.map(Path::to_owned).or_else(|| variable(CONFIG_VARIABLE).map(PathBuf::from));
    let path = named.clone().unwrap_or_else(|| PathBuf::from(CONFIG));
    match fs::read_to_string(&path) {
        Ok(text) => Ok(Config::read(&text, &path.display().to_string(), &environment)?),
        Err(error) if error.kind() == ErrorKind::NotFound && named.is_none() => {
            Ok(Config::from_environment(&environment)?)
        }
        Err(source) => {
            let input = crate::input::Input::File(path);
            Err(Failure::Input { input, source })
        }
    }
}

/// Opens the journal.
pub(crate) fn open(config: &Config, files: &JournalArguments) -> Result<Journal, Failure> {
    let path = journal(config, files)?;
    Journal::open(&path, config.durability).map_err(|error| Failure::Open(Box::new(error)))
}

/// The journal that was named, by the command line or the configuration, or the usual one.
fn journal(config: &Config, files: &JournalArguments) -> Result<PathBuf, Failure> {
    match files.journal.as_ref().or(config.journal.as_ref()) {
        Some(path) => Ok(path.clone()),
        None => usual_journal(),
    }
}

pub(crate) fn usual_journal() -> Result<PathBuf, Failure> {
    // From another folder, a path that is not absolute would lead to another journal.
    let folder = |name| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let folder = folder("XDG_DATA_HOME").or_else(|| folder("HOME").map(|home| home.join(".local/share")));
    folder.map(|folder| folder.join("reknit/journal.db")).ok_or_else(|| Failure::Usage {
        what: "there is no place for the journal: neither XDG_DATA_HOME nor HOME names a folder".to_owned(),
        hint: Some("name one: `--journal FILE`".to_owned()),
    })
}

/// The configuration with the tools that were typed. What is typed beats what is written in the file.
pub(crate) fn with_tools(config: Config, arguments: &WorkArguments) -> Result<Config, Failure> {
    arguments
        .tools
        .iter()
        .try_fold(config, |config, text| Ok(config.with_tool(tool(text)?, Origin::Flag("--tool".to_owned()))))
}

fn tool(text: &str) -> Result<Address, Failure> {
    let usage =
        |what: String| Failure::Usage { what, hint: Some("write `--tool weather=http://127.0.0.1:8085`".to_owned()) };
    let (name, url) = text.split_once('=').ok_or_else(|| usage(format!("`--tool {}` has no `=`", shown_url(text))))?;
    // An address with a `=` of its own, and no name in front of it.
    if name.trim().is_empty() || name.contains("://") {
        return Err(usage(format!("`--tool {}` has no name before its `=`", shown_url(text))));
    }
    Address::parse(name, url).map_err(|error| usage(error.to_string()))
}

/// The model of the command line, if it names one.
pub(crate) fn model(arguments: &ModelArguments) -> Result<Option<Target>, Failure> {
    let Some(url) = &arguments.url else { return Ok(None) };
    let mut target = Target::new("model", url, &arguments.name);
    if let Some(variable) = &arguments.key_env {
        let key = environment(variable).ok_or_else(|| Failure::Usage {
            what: format!("the environment has no variable `{variable}`"),
            hint: Some(format!("set it: `export {variable}=...`")),
        })?;
        target.key = Some(key.into());
    }
    Ok(Some(target))
}

/// Checks the models, before anything begins.
pub(crate) fn usable(targets: Vec<Target>) -> Result<Models, Failure> {
    Ok(Models::new(targets).map_err(StartError::Models)?)
}

impl From<StartError> for Failure {
    fn from(error: StartError) -> Self {
        match error {
            StartError::Config(error) => error.into(),
            StartError::Journal(error) => Self::Open(Box::new(error)),
            StartError::Client(source) => Self::Start { what: "the HTTP client", source: Box::new(source) },
            StartError::Models(error) => {
                let hint = match &error {
                    ConfigError::BaseUrl { .. } => Some("write an address like `http://127.0.0.1:8080/v1`"),
                    ConfigError::NoModel { .. } => {
                        Some("name it: `model = \"NAME\"` in reknit.toml, or `--model NAME`")
                    }
                    ConfigError::Key { .. } => Some("see what is in the variable or the file that holds it"),
                    ConfigError::Duplicate { .. } | ConfigError::ZeroLimit { .. } | ConfigError::Client { .. } => None,
                };
                Self::Usage { what: format!("a model cannot be used: {error}"), hint: hint.map(str::to_owned) }
            }
        }
    }
}

/// Says what is wrong with tools.
pub(crate) fn warn(problems: &[reknit_tools::Problem]) {
    for problem in problems {
        // Who cannot be told reads the same in what becomes of the run.
        let _ = writeln!(std::io::stderr(), "warning: {}", harmless(&problem.to_string()));
    }
}
