//! Sets up what commands need: configuration, journal, tools and models.

mod agent_files;
mod arguments;
mod attach;
mod end_signals;
pub(crate) mod plan_file;
mod saved_run;
pub(crate) mod schema_file;
#[cfg(feature = "serve")]
mod server_setup;
mod telemetry;
#[cfg(feature = "serve")]
pub(crate) mod token_file;
mod trust;
mod unknown_variables;
mod used_models;

pub(crate) use agent_files::{AgentFile, named, start_failure};
pub(crate) use arguments::{
    AnswerBy, ApprovalArguments, AttachArguments, DriveArguments, FileArguments, MetadataArguments, ModelArguments,
    OutputArguments, RunArgument, RunIdArgument, SetupArguments,
};
pub(crate) use attach::read_attachments;
pub(crate) use end_signals::{EndSignal, EndSignals, unless_ended};
pub(crate) use plan_file::{agent_problem, read_agents};
pub(crate) use saved_run::{
    find_all_by_id, find_by_id, find_run, for_each_event, load_events, load_run, pruned_words, require_unchanged,
    stored_overview,
};
#[cfg(feature = "serve")]
pub(crate) use server_setup::named_agents;
#[cfg(feature = "mcp")]
pub(crate) use trust::check_tool_trust;
pub(crate) use trust::{
    TrustStore, canonical, check_listing_trust, check_model_trust, check_trust, is_trusted, trust_file, use_lines,
    uses_of,
};
pub(crate) use unknown_variables::warn_of_unknown_variables;
pub(crate) use used_models::{with_detected_model, with_limits_of_models, with_limits_of_runs};

use std::fs::{self, Permissions};
use std::future::Future;
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::ValueEnum;
use reknit_engine::Machine;
use reknit_journal::{Journal, Migration};
use reknit_models::{Models, Target, TargetError};
use reknit_plan::{Catalogue, CatalogueEntry, CatalogueTool};
use reknit_protocol::{Value, redact_url};
use reknit_runtime::config::{
    Config, ConfiguredTool, KEY_INSTEAD_OF_VARIABLE, SettingOrigin, is_key_instead_of_variable,
};
use reknit_runtime::{Runtime, StartError, operations};
use reknit_tools::{Address, Discovery, DiscoveryProblem, ListingStore, discover_all};

use crate::environment::{CONFIG_VARIABLE, os_variable, state_folder, user_folder, variable};
use crate::output::{Failure, Input, one_line, print_message, print_warning};
use telemetry::TelemetrySetup;

/// The folder with the last known capabilities of tools, in the state folder.
const CATALOGUE_FOLDER: &str = "reknit/catalogue";

/// How many problems of one tool are shown when a run starts.
const SHOWN_PROBLEMS: usize = 5;

pub(crate) const MODEL_HINT: &str =
    "name one with `--model-url http://127.0.0.1:8080/v1`, or add `[[models]]` to reknit.toml";

/// Runs an async command on a new runtime.
pub(crate) fn block_on(command: impl Future<Output = Result<ExitCode, Failure>>) -> Result<ExitCode, Failure> {
    warn_of_unknown_variables();
    // Waiting runs hold buffers that they never touch, and huge pages would back them with real memory. If this fails, runs
    // only take more memory.
    #[cfg(target_os = "linux")]
    let _ = rustix::thread::disable_transparent_huge_pages(true);
    if let Err(error) = reknit_tools::adopt_orphans() {
        print_warning(&format!("a program that leaves its process group may outlive its call: {error}"));
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(Failure::start("the async runtime"))?;
    let result = runtime.block_on(command);
    drop(runtime);
    reknit_tools::end_orphans();
    result
}

/// A started [`Runtime`] and the telemetry of its runs.
pub(crate) struct Setup {
    pub(crate) reknit: Runtime,
    /// The models that `reknit` asks.
    pub(crate) models: Vec<Target>,
    pub(crate) telemetry: TelemetrySetup,
    /// Whether somebody has set who writes answers.
    pub(crate) sets_answers: bool,
}

impl Setup {
    /// Reads the configuration, opens the journal and fetches the capabilities of the tools.
    pub(crate) async fn new(arguments: &SetupArguments, drive: &DriveArguments) -> Result<Self, Failure> {
        Self::with_config(config_with_arguments(arguments)?, &arguments.files, drive).await
    }

    /// The same with a configuration that was read already. Prints a warning for each tool that cannot be used, and goes on
    /// without it.
    pub(crate) async fn with_config(
        config: Config,
        files: &FileArguments,
        drive: &DriveArguments,
    ) -> Result<Self, Failure> {
        let config =
            with_choice(with_answer_author(config, drive.answer)?, "approvals.ask", "--ask", drive.approval.ask)?;
        Self::start(config, files).await
    }

    /// Starts with the journal that the configuration, an option or a variable names.
    pub(crate) async fn start(mut config: Config, files: &FileArguments) -> Result<Self, Failure> {
        config.journal = Some(journal_path(&config, files)?).filter(|path| !is_in_memory(path));
        if config.journal.is_none() {
            print_message("note: the journal is in memory: what happens now is forgotten when this process ends\n");
        }
        Self::start_with_journal(config, files).await
    }

    /// Starts with the journal that the configuration names, or with one in memory.
    pub(crate) async fn start_with_journal(config: Config, files: &FileArguments) -> Result<Self, Failure> {
        check_trust(&config, files.config.as_deref())?;
        let config = with_detected_model(config).await;
        let telemetry = TelemetrySetup::new(config.log)?;
        let (models, sets_answers) = (config.models.clone(), config.is_configured("answer.by"));
        let reknit = unless_ended(Box::pin(Runtime::start(with_catalogue_folder(config)))).await??;
        print_migration(&reknit.journal);
        warn_about_tools(&reknit.problems, &reknit.notes);
        Ok(Self { reknit, models, telemetry, sets_answers })
    }

    /// Fails if no tool is available.
    pub(crate) fn require_tools(&self) -> Result<(), Failure> {
        if !self.reknit.catalogue.tools.is_empty() {
            return Ok(());
        }
        Err(Failure::usage(
            "no tool is available",
            "name one with `--tool NAME=URL`, or add `[[tools]]` to reknit.toml; `reknit demo --serve` starts four",
        ))
    }

    /// What is needed to continue a run. Fails if a tool or a model is missing.
    pub(crate) async fn to_continue(
        saved: &Machine,
        arguments: &SetupArguments,
        drive: &DriveArguments,
    ) -> Result<Self, Failure> {
        let config = with_limits_of_runs(config_with_arguments(arguments)?, [saved]);
        let setup = Self::with_config(config, &arguments.files, drive).await?;
        operations::check_requirements(&setup.reknit, saved)?;
        Ok(setup)
    }
}

/// Reads the configuration and adds the tools and the model of the command line.
pub(crate) fn config_with_arguments(arguments: &SetupArguments) -> Result<Config, Failure> {
    let config = read_config(arguments.files.config.as_deref())?;
    with_model(with_tools(config, arguments)?, &arguments.model)
}

pub(crate) fn with_answer_author(config: Config, answer: Option<AnswerBy>) -> Result<Config, Failure> {
    with_choice(config, "answer.by", "--answer", answer)
}

/// Applies an option whose values are those of a setting.
fn with_choice(config: Config, setting: &str, flag: &str, choice: Option<impl ValueEnum>) -> Result<Config, Failure> {
    match choice.and_then(|choice| choice.to_possible_value()) {
        Some(word) => Ok(config.with(setting, word.get_name(), SettingOrigin::Flag(flag.to_owned()))?),
        None => Ok(config),
    }
}

/// The default configuration file, in the current folder.
pub(crate) const DEFAULT_CONFIG: &str = "reknit.toml";

pub(crate) const MAX_CONFIG_BYTES: usize = 1 << 20;

/// The configuration file that a person names: with `--config`, whose value is `file`, or with the variable.
pub(crate) fn named_config(file: Option<&Path>) -> Option<PathBuf> {
    file.map(Path::to_owned).or_else(|| os_variable(CONFIG_VARIABLE).map(PathBuf::from))
}

/// The configuration file in the current folder, if no person names one.
pub(crate) fn found_config(file: Option<&Path>) -> Option<PathBuf> {
    let found = PathBuf::from(DEFAULT_CONFIG);
    (named_config(file).is_none() && found.exists()).then_some(found)
}

/// A text in quotes: the quotes and escapes of JSON are those of TOML.
pub(crate) fn toml_text(text: &str) -> String {
    Value::from(text).to_string()
}

/// Who can read a file that is replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileReaders {
    Owner,
    /// Whoever could read it before, or can read any new file.
    AsBefore,
}

/// Writes the whole file or nothing.
pub(crate) fn replace_file(path: &Path, text: &str, readers: FileReaders) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mode = if readers == FileReaders::Owner { 0o600 } else { 0o666 };
    let mut new = tempfile::Builder::new().permissions(Permissions::from_mode(mode)).tempfile_in(folder)?;
    new.write_all(text.as_bytes())?;
    new.as_file().sync_all()?;
    if let (FileReaders::AsBefore, Ok(before)) = (readers, fs::metadata(path)) {
        new.as_file().set_permissions(before.permissions())?;
    }
    new.persist(path)?;
    Ok(())
}

/// Reads the configuration file: the given one, that of `REKNIT_CONFIG`, or `reknit.toml` if it exists.
pub(crate) fn read_config(file: Option<&Path>) -> Result<Config, Failure> {
    let named = named_config(file);
    let path = named.clone().unwrap_or_else(|| PathBuf::from(DEFAULT_CONFIG));
    match Input::File(path.clone()).read_regular_up_to(MAX_CONFIG_BYTES) {
        Ok(text) => Ok(Config::read(&text, &path.display().to_string(), &variable)?),
        Err(Failure::Input { source, .. }) if source.kind() == ErrorKind::NotFound && named.is_none() => {
            Ok(Config::from_environment(&variable)?)
        }
        Err(failure) => Err(failure),
    }
}

/// Opens the journal of the arguments, the configuration or the default.
pub(crate) fn open_journal(files: &FileArguments) -> Result<Journal, Failure> {
    let config = read_config(files.config.as_deref())?;
    let path = journal_path(&config, files)?;
    if is_in_memory(&path) {
        let message = "a journal in memory belongs to the process that drives its runs";
        return Err(Failure::usage(message, "name the file of another journal with `--journal FILE`"));
    }
    let journal = Journal::open(&path, config.durability).map_err(|error| Failure::Open(Box::new(error)))?;
    print_migration(&journal);
    Ok(journal)
}

/// Says that the journal of an older build was upgraded, and where its copy is.
fn print_migration(journal: &Journal) {
    if let Some(Migration { from, to, backup }) = journal.migration() {
        print_message(&format!(
            "note: upgraded the journal from format {from} to {to}; a copy of what it was is at `{}`\n",
            backup.display()
        ));
    }
}

/// Whether a path stands for a journal in memory, as it does for `SQLite`.
fn is_in_memory(path: &Path) -> bool {
    path == Path::new(":memory:")
}

/// The path of the journal: from the command line, the configuration, or the default.
pub(crate) fn journal_path(config: &Config, files: &FileArguments) -> Result<PathBuf, Failure> {
    match files.journal.as_ref().or(config.journal.as_ref()) {
        Some(path) => Ok(path.clone()),
        None => default_journal_path(),
    }
}

/// `reknit/journal.db` in the data folder of the user. Fails if the environment names no data folder.
pub(crate) fn default_journal_path() -> Result<PathBuf, Failure> {
    user_folder("XDG_DATA_HOME", ".local/share").map(|folder| folder.join("reknit/journal.db")).ok_or_else(|| {
        Failure::usage(
            "no folder for the journal: neither XDG_DATA_HOME nor HOME is an absolute path",
            "name a file: `--journal FILE`",
        )
    })
}

/// Adds the tools of the command line. A tool of the same name in the configuration is replaced.
pub(crate) fn with_tools(config: Config, arguments: &SetupArguments) -> Result<Config, Failure> {
    arguments.tools.iter().try_fold(config, |config, text| {
        Ok(config.with_tool(ConfiguredTool::service(tool_argument(text)?), SettingOrigin::Flag("--tool".to_owned())))
    })
}

/// Parses `NAME=URL`.
fn tool_argument(text: &str) -> Result<Address, Failure> {
    let usage = |message: String| Failure::usage(message, "write `--tool weather=http://127.0.0.1:8085`");
    let (name, url) = text.split_once('=').ok_or_else(|| usage(format!("`--tool {}` has no `=`", redact_url(text))))?;
    // The `=` may be part of a URL that has no name before it.
    if name.trim().is_empty() || name.contains("://") {
        return Err(usage(format!("`--tool {}` has no name before the `=`", redact_url(text))));
    }
    Address::parse(name, url).map_err(|error| usage(error.to_string()))
}

/// Uses the model of the command line, if it names one, instead of the configured models.
pub(crate) fn with_model(config: Config, arguments: &ModelArguments) -> Result<Config, Failure> {
    let Some(url) = &arguments.url else { return Ok(config) };
    let mut target = Target::new("model", url, &arguments.name);
    if let Some(name) = &arguments.key_env {
        let key = variable(name).ok_or_else(|| unset_key_variable(name))?;
        target.key = Some(key.into());
    }
    Ok(config.with_models(vec![target], &SettingOrigin::Flag("--model-url".to_owned())))
}

/// The variable of `--model-key-env` is not set. A key in its place is not shown.
fn unset_key_variable(name: &str) -> Failure {
    if is_key_instead_of_variable(name) {
        let message = "`--model-key-env` takes the name of an environment variable";
        return Failure::usage(message, format!("check what is written: {KEY_INSTEAD_OF_VARIABLE}"));
    }
    Failure::usage(format!("the environment variable `{name}` is not set"), format!("set it: `export {name}=...`"))
}

/// Asks the configured tools for their capabilities. `file` is that of `--config`.
pub(crate) async fn discover_tools(config: &Config, file: Option<&Path>) -> Result<Discovery, Failure> {
    check_listing_trust(config, file)?;
    let store = listing_store(config);
    let (sources, providers) = config.open_sources()?;
    unless_ended(discover_all(&sources, &providers, &store)).await
}

/// Where the capabilities of tools and their pinned definitions are kept: as configured, or in the state folder.
pub(crate) fn listing_store(config: &Config) -> ListingStore {
    with_catalogue_folder(config.clone()).listing_store()
}

fn with_catalogue_folder(mut config: Config) -> Config {
    config.catalogue_folder = config.catalogue_folder.or_else(|| Some(state_folder()?.join(CATALOGUE_FOLDER)));
    config
}

/// All capabilities of a catalogue, each with its tool.
pub(crate) fn entries(catalogue: &Catalogue) -> impl Iterator<Item = (&CatalogueTool, &CatalogueEntry)> {
    catalogue.tools.iter().flat_map(|tool| tool.capabilities.iter().map(move |entry| (tool, entry)))
}

/// Builds the clients of the models. Fails if one of them is not configured correctly.
pub(crate) fn build_models(targets: Vec<Target>) -> Result<Models, Failure> {
    Ok(Models::new(targets).map_err(StartError::Models)?)
}

impl From<StartError> for Failure {
    fn from(error: StartError) -> Self {
        match error {
            StartError::Config(error) => error.into(),
            StartError::Journal(error) => Self::Open(Box::new(error)),
            StartError::Models(error) => {
                let hint = match &error {
                    TargetError::BaseUrl { .. } => Some("write an address like `http://127.0.0.1:8080/v1`"),
                    TargetError::NoModel { .. } => {
                        Some("name it: `model = \"NAME\"` in reknit.toml, or `--model NAME`")
                    }
                    TargetError::Header { .. } => Some("check `headers` of the model in reknit.toml"),
                    TargetError::Key { .. } => Some("check the value of the variable or the file that holds the key"),
                    // The message of the others says what to do.
                    _ => None,
                };
                Self::Usage { message: error.to_string(), hint: hint.map(str::to_owned) }
            }
            error => Self::message(error.to_string()),
        }
    }
}

/// Prints a warning for each tool that cannot be used. An API description may have hundreds of problems: only the first ones
/// of each tool are shown.
pub(crate) fn warn_about_tools(problems: &[DiscoveryProblem], notes: &[DiscoveryProblem]) {
    let note: fn(&str) = |text| print_message(&format!("note: {text}\n"));
    for (print, list) in [(print_warning as fn(&str), problems), (note, notes)] {
        for of_tool in list.chunk_by(|one, next| one.tool == next.tool) {
            for problem in of_tool.iter().take(SHOWN_PROBLEMS) {
                print(&one_line(&problem.to_string(), usize::MAX));
            }
            if let Some(rest @ 1..) = of_tool.len().checked_sub(SHOWN_PROBLEMS) {
                print(&format!("{rest} more like this; `reknit tools check` lists all"));
            }
        }
    }
}
