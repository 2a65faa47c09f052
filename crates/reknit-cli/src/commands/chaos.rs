//! `reknit chaos`: runs a test, a plan or an agent with every fault at every step.

use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueHint};
use reknit_engine::{SessionStarted, Started};
use reknit_journal::{Durability, Journal, OpenError};
use reknit_plan::{PlanAuthor, correct_plan};
use reknit_protocol::{Capability, Plan, RunId, SideEffect, error_chain};
use reknit_recorded_tests::{
    ChaosError, ChaosReport, ChildProcesses, RecordOptions, RecordRunError, TestFile, drive_chaos_child,
    propose_expectations, record_run, recorded_overview, run_chaos_with,
};
use reknit_runtime::config::Config;
use reknit_runtime::{DriveOutcome, RunStart, Runtime};

use super::test::{folder_of, read_test};
use crate::output::{Failure, Input, escape_controls, print_data, print_message};
use crate::setup::plan_file::PlanRun;
use crate::setup::{
    AgentFile, SetupArguments, check_trust, config_with_arguments, entries, named, start_failure, unless_ended,
    warn_about_tools, with_detected_model, with_limits_of_models,
};

const DETAILS: &str = "\
Examples:
  reknit chaos tests/refund.yaml                   with the recorded answers of a test
  reknit chaos refund.yaml --input order=7         run a plan once with your tools, then with its answers
  reknit chaos clerk.md \"Where is order 7?\" --html report.html

The run is repeated with each fault at each of its calls and questions: timeouts, broken connections, 429 with a date, 503,
half bodies, errors inside a 200, wrong types, stale ids, slow answers, truncated and text-only answers of models, outages of
their provider, our own process killed and started again, and clock steps. Time is virtual. No fault reaches your tools: the
cases are run with the recorded answers. Each case is

  mended            the same status, results and effects as without the fault
  reported          the run says what is missing or uncertain
  open              a model would have to react to something that was never recorded
  wrong and silent  the run claims what is not true, or an effect took place twice
  cannot go on      no process can restore the run or drive it to its end, or the fault did not happen

JSON (--json):
  {\"status\", \"effects\", \"kills\": \"tasks\" | \"process\", \"counts\", \"cases\": [{\"effect\", \"of\", \"fault\", \"verdict\", \"status\", \"reason\"?, \"duplicates\"?,
   \"extra_calls\", \"extra_questions\", \"extra_ms\", \"extra_cost\"}]}

Exit status: 0 no case is wrong and silent or cannot go on, 1 there is one, 2 not started, or the run fails without a fault.";

#[derive(Debug, Args)]
#[command(after_help = DETAILS)]
pub(crate) struct ChaosArguments {
    /// A test, a plan or an agent
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    file: PathBuf,
    /// The question to an agent
    #[arg(value_name = "QUESTION")]
    question: Option<String>,
    /// A value for an input of a plan; overrides its default
    #[arg(long = "input", value_name = "NAME=VALUE")]
    inputs: Vec<String>,
    /// Chooses jitter, waits and the fields that are damaged
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    seed: u64,
    /// Also call tools that change something, in the one run of a plan or an agent with your tools
    #[arg(long)]
    allow_writes: bool,
    /// Kill processes of their own with SIGKILL, with a journal in a file and in real time, instead of all tasks of the driver at once
    #[arg(long)]
    kill_processes: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Also write the report as a page
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    html: Option<PathBuf>,
    #[command(flatten)]
    setup: SetupArguments,
}

const MAX_BYTES: usize = 64 << 20;

pub(crate) async fn run(arguments: &ChaosArguments) -> Result<ExitCode, Failure> {
    let path = &arguments.file;
    let text = Input::File(path.clone()).read_regular_up_to(MAX_BYTES)?;
    let file = if path.extension().is_some_and(|end| end == "md") {
        record_agent(arguments).await?
    } else if text.lines().any(|line| line.starts_with("expect:")) {
        reject_live_arguments(arguments)?;
        read_test(path).map_err(|problems| Failure::Plan { problems, hint: Some("mend the test".to_owned()) })?.1
    } else {
        record_plan(arguments).await?
    };
    let processes = if arguments.kill_processes { Some(JournalFolder::new()?) } else { None };
    let report = report(&file, folder_of(path), arguments.seed, processes.as_ref()).await?;
    if let Some(html) = &arguments.html {
        let page = report.to_html(&format!("Faults at every step of {}", path.display()));
        std::fs::write(html, page).map_err(Failure::cannot_write(html))?;
    }
    let text = if arguments.json { format!("{}\n", report.to_value()) } else { escape_controls(&report.table()) };
    print_data(&text)?;
    Ok(if report.failures().is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// A folder for the journals of processes that are killed. It is removed in the end.
struct JournalFolder(PathBuf);

impl JournalFolder {
    fn new() -> Result<Self, Failure> {
        let path = std::env::temp_dir().join(format!("reknit-chaos-{}", std::process::id()));
        std::fs::create_dir(&path).map_err(Failure::start("the folder for journals"))?;
        Ok(Self(path))
    }

    fn processes(&self) -> Result<ChildProcesses, Failure> {
        Ok(ChildProcesses {
            program: std::env::current_exe().map_err(Failure::start("another process"))?,
            arguments: vec!["chaos-process".to_owned()],
            folder: self.0.clone(),
            open: |path| open_child_journal(path).map_err(|error| error_chain(&error)),
        })
    }
}

impl Drop for JournalFolder {
    fn drop(&mut self) {
        // What cannot be removed is removed with the other temporary files of the system.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn open_child_journal(path: &Path) -> Result<Journal, OpenError> {
    Journal::open(path, Durability::Normal)
}

/// The process that is killed: it drives a run as the process says that has started it.
pub(crate) fn drive_child(journal: &Path) -> Result<ExitCode, Failure> {
    let journal = open_child_journal(journal).map_err(|error| Failure::Open(Box::new(error)))?;
    let driven = drive_chaos_child(&journal, BufReader::new(std::io::stdin()), std::io::stdout());
    driven.map(|()| ExitCode::SUCCESS).map_err(Failure::message)
}

/// The cases run in threads of their own, so that a signal still ends the command.
async fn report(
    file: &TestFile,
    folder: &Path,
    seed: u64,
    processes: Option<&JournalFolder>,
) -> Result<ChaosReport, Failure> {
    let (file, folder) = (file.clone(), folder.to_owned());
    let processes = processes.map(JournalFolder::processes).transpose()?;
    let work = tokio::task::spawn_blocking(move || run_chaos_with(&file, &folder, seed, processes.as_ref()));
    match unless_ended(work).await? {
        Ok(Ok(report)) => Ok(report),
        Ok(Err(ChaosError::Start(error))) => Err(Failure::Plan { problems: error.0, hint: None }),
        Ok(Err(error)) => {
            Err(Failure::usage(error.to_string(), "faults are compared with a run that succeeds: mend it first"))
        }
        Err(error) => Err(Failure::message(error.to_string())),
    }
}

fn reject_live_arguments(arguments: &ChaosArguments) -> Result<(), Failure> {
    if arguments.question.is_some() || !arguments.inputs.is_empty() || arguments.allow_writes {
        let hint = "edit the test instead";
        return Err(Failure::usage("a test has its own question and inputs, and calls no tools", hint));
    }
    Ok(())
}

/// Runs a plan once with the configured tools, and records it.
async fn record_plan(arguments: &ChaosArguments) -> Result<TestFile, Failure> {
    if arguments.question.is_some() {
        let hint = "give inputs of a plan with `--input NAME=VALUE`";
        return Err(Failure::usage("only an agent is asked a question", hint));
    }
    let input = Input::File(arguments.file.clone());
    let PlanRun { file, inputs, request, agents, config } = PlanRun::load(&input, &arguments.inputs, &arguments.setup)?;
    let reknit = start(config, arguments).await?;
    let agents = agents.into_iter().map(named).collect();
    let started = reknit.started_with_agents(&request, file.plan.clone(), agents).map_err(start_failure)?;
    if !arguments.allow_writes {
        reject_writes(&writes_of_plan(&file.plan, &started))?;
    }
    drive(&reknit, Started { inputs, ..started }.into()).await
}

/// Asks an agent once with the configured tools and models, and records it.
async fn record_agent(arguments: &ChaosArguments) -> Result<TestFile, Failure> {
    let Some(question) = arguments.question.as_deref().filter(|question| !question.trim().is_empty()) else {
        let hint = "write it after the file: `reknit chaos clerk.md \"Where is order 7?\"`";
        return Err(Failure::usage("an agent needs a question", hint));
    };
    let config = config_with_arguments(&arguments.setup)?;
    let agent = AgentFile::read(&arguments.file, &config.session)?;
    let reknit = start(with_limits_of_models(config, &agent), arguments).await?;
    let started = reknit.session_started(named(agent), question).map_err(start_failure)?;
    if !arguments.allow_writes {
        reject_writes(&writes_of_session(&started))?;
    }
    drive(&reknit, started.into()).await
}

/// Starts with a journal in memory.
async fn start(config: Config, arguments: &ChaosArguments) -> Result<Runtime, Failure> {
    check_trust(&config, arguments.setup.files.config.as_deref())?;
    let mut config = with_detected_model(config).await;
    config.journal = None;
    let reknit = unless_ended(Box::pin(Runtime::start(config))).await??;
    warn_about_tools(&reknit.problems, &reknit.notes);
    Ok(reknit)
}

/// Drives a run to its end, and records it.
async fn drive(reknit: &Runtime, start: RunStart) -> Result<TestFile, Failure> {
    let run: RunId = start.run().clone();
    print_message("running once with your tools\n");
    let outcome = unless_ended(reknit.driver().start(start)).await??;
    if outcome == DriveOutcome::Waiting {
        let hint = "approve it in a run of its own, and record that: `reknit test record RUN -o FILE`";
        return Err(Failure::usage("the run waits for the approval of a call", hint));
    }
    let options = RecordOptions { with_model_texts: true, ..RecordOptions::default() };
    let failure = |error: RecordRunError| Failure::message(error_chain(&error));
    let mut file = record_run(&reknit.journal, &run, &options).await.map_err(failure)?;
    let overview = recorded_overview(&reknit.journal, &run).await.map_err(failure)?;
    let here = Path::new("");
    let differences = propose_expectations(&mut file, here, &overview)
        .map_err(|error| Failure::Plan { problems: error.0, hint: None })?;
    for difference in differences {
        print_message(&escape_controls(&format!("note: the recorded run differs: {difference}\n")));
    }
    Ok(file)
}

/// The capabilities that the steps of a plan call and that do not only read.
fn writes_of_plan(plan: &Plan, started: &Started) -> Vec<String> {
    let mut plan = plan.clone();
    correct_plan(&mut plan, &started.catalogue, PlanAuthor::Person);
    let calls = plan.steps.iter().filter(|step| !step.is_computed() && step.agent_file().is_none());
    let write = calls.filter_map(|step| {
        let class = started.policy.effects.class_of_step(step, &started.catalogue)?;
        (class != SideEffect::Read).then(|| format!("{}/{}", step.tool, step.capability().unwrap_or_default()))
    });
    write.chain(started.agents.iter().flat_map(|agent| writes_of_session(&agent.session))).collect()
}

/// The capabilities that an agent, or one that it may call, can use and that do not only read.
fn writes_of_session(session: &SessionStarted) -> Vec<String> {
    let write = entries(&session.catalogue).filter(|(tool, entry)| {
        let Capability { name, effect, .. } = &entry.capability;
        session.policy.effects.class(tool.name.as_str(), name.as_str(), *effect) != SideEffect::Read
    });
    let own = write.map(|(tool, entry)| tool.key(entry));
    own.chain(session.agents.iter().flat_map(|agent| writes_of_session(&agent.session))).collect()
}

fn reject_writes(names: &[String]) -> Result<(), Failure> {
    let Some(first) = names.first() else { return Ok(()) };
    let more = if names.len() > 1 { format!(" and {} more", names.len() - 1) } else { String::new() };
    Err(Failure::usage(
        format!("`{first}`{more} may change something, and would be called"),
        "name a recorded test instead (`reknit test record`), use tools that are test doubles, or add `--allow-writes`",
    ))
}
