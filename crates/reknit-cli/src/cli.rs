//! The commands and their arguments.

mod agent;
mod callbacks;
mod chaos;
mod chat;
mod config;
mod doctor;
mod eval;
mod init;
mod keys;
#[cfg(feature = "serve")]
mod mcp;
mod plan;
mod repair;
mod rules;
mod run_arguments;
mod runs;
#[cfg(feature = "serve")]
mod serve;
mod test;
mod tools;
mod trust;
#[cfg(feature = "restate")]
mod worker;

use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueHint};
use clap_complete::Shell;

pub(crate) use agent::AgentArguments;
pub(crate) use callbacks::CallbacksCommand;
pub(crate) use chaos::ChaosArguments;
pub(crate) use chat::ChatArguments;
pub(crate) use config::ConfigCommand;
pub(crate) use doctor::DoctorArguments;
pub(crate) use eval::EvalArguments;
pub(crate) use init::InitArguments;
pub(crate) use keys::KeysCommand;
#[cfg(feature = "serve")]
pub(crate) use mcp::McpArguments;
pub(crate) use plan::{DrawArguments, PlanCommand};
pub(crate) use repair::RepairArguments;
pub(crate) use rules::{RuleArguments, RuleSources, RulesCommand};
pub(crate) use run_arguments::{
    AnswerBy, ApprovalArguments, AttachArguments, DriveArguments, DriverKind, FileArguments, MetadataArguments,
    ModelArguments, ModelsArguments, OutputArguments, PlanOnlyArguments, ResultFormat, RunIdArgument, SetupArguments,
};
pub(crate) use runs::{
    ApproveArguments, ContinueArguments, DecideArguments, DeleteArguments, DenyArguments, ForkArguments, ListArguments,
    PruneArguments, ResumeArguments, RunArgument, RunsCommand, SettleArguments, StatsArguments,
};
#[cfg(feature = "serve")]
pub(crate) use serve::{ServeArguments, TokensCommand, money};
pub(crate) use test::{RecordArguments, RunTestsArguments, TestArguments, TestCommand};
#[cfg(feature = "mcp")]
pub(crate) use tools::SignInArguments;
pub(crate) use tools::{AcceptArguments, AddArguments, CallArguments, ToolsCommand};
pub(crate) use trust::TrustArguments;
#[cfg(feature = "restate")]
pub(crate) use worker::{EngineArgument, WorkerArguments};

macro_rules! examples {
    () => {
        "\
Examples:
  reknit demo                           watch a run fail and repair itself, without an API key
  reknit init                           write a configuration, a plan and an agent that run at once
  reknit ask \"weather in Seoul?\"        let a model plan a request, and run the plan with your tools
  reknit run plan.yaml                  run a plan that you wrote
  reknit plan check plan.yaml           list the problems of a plan without running it
  reknit agent clerk.md \"order 7?\"      start an agent, which calls tools in turns and ends with a report
  reknit chat                           talk with an agent
  reknit mcp                            offer your tools to an MCP client, with every call mended
  reknit runs list                      list runs, also those that can be resumed
  reknit runs explain last              the last run in plain words
  reknit doctor                         check models, tools and journal, and say what to type
  reknit repair --explain answer.txt    read JSON from a model's answer, and list the repairs"
    };
}

const EXAMPLES: &str = examples!();

const EXAMPLES_AND_ENVIRONMENT: &str = concat!(
    examples!(),
    "

Environment:
  REKNIT_CONFIG      the configuration file
  REKNIT_JOURNAL     the journal file
  REKNIT_FIND_MODEL  `false`: do not search for a model when none is configured
  REKNIT_LOG         the log level on standard error: error, warn, info or debug
  NO_COLOR           turns off colours in the terminal

An option overrides a variable, and a variable overrides the configuration file. Every setting has a variable:
`reknit config reference` lists them all, and `reknit config show` prints the effective settings."
);

const MODELS_DETAILS: &str = "\
If neither the configuration nor the command line names a model, Reknit uses the first API key that is set: OPENAI_API_KEY,
ANTHROPIC_API_KEY, GEMINI_API_KEY, GOOGLE_API_KEY, GROQ_API_KEY, DEEPSEEK_API_KEY, XAI_API_KEY, TOGETHER_API_KEY or
OPENROUTER_API_KEY. Without a key it looks for a server on this machine, on the default ports of Ollama (11434), llama.cpp
(8080), LM Studio (1234) and vLLM (8000). REKNIT_FIND_MODEL=false turns this off.";

/// Runs requests with tools and repairs what fails.
#[derive(Debug, Parser)]
#[command(name = "reknit", version, arg_required_else_help = true)]
#[command(after_help = EXAMPLES, after_long_help = EXAMPLES_AND_ENVIRONMENT)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Write a configuration, a plan and an agent that run at once
    #[command(after_help = init::EXAMPLES)]
    Init(InitArguments),
    /// Let a model plan a request, and run the plan with tools
    #[command(after_help = ASK_EXAMPLES)]
    Ask {
        /// The request, in plain language
        request: String,
        #[command(flatten)]
        attach: AttachArguments,
        #[command(flatten)]
        plan: PlanOnlyArguments,
        #[command(flatten)]
        id: RunIdArgument,
        #[command(flatten)]
        metadata: MetadataArguments,
        #[command(flatten)]
        setup: SetupArguments,
        #[command(flatten)]
        drive: DriveArguments,
    },
    /// Run a plan
    #[command(after_help = RUN_EXAMPLES)]
    Run {
        /// The plan as YAML, JSON or a model's answer; `-` reads standard input
        #[arg(value_name = "PLAN", value_hint = ValueHint::FilePath)]
        plan: PathBuf,
        /// A value for an input of the plan; overrides its default
        #[arg(long = "input", value_name = "NAME=VALUE")]
        inputs: Vec<String>,
        #[command(flatten)]
        id: RunIdArgument,
        #[command(flatten)]
        metadata: MetadataArguments,
        #[command(flatten)]
        setup: SetupArguments,
        #[command(flatten)]
        drive: DriveArguments,
    },
    /// Start an agent, which calls tools in turns and ends with a report
    Agent(AgentArguments),
    /// Talk with an agent: it calls tools, answers, and remembers what was said
    #[command(after_help = chat::DETAILS)]
    Chat(ChatArguments),
    /// Check and draw plans
    #[command(subcommand)]
    Plan(PlanCommand),
    /// Run recorded tests, and make a test of any run
    #[command(args_conflicts_with_subcommands = true, after_help = test::DETAILS)]
    Test(TestArguments),
    /// Run a test, a plan or an agent with every fault at every step, and report what it does not mend
    #[command(after_help = chaos::DETAILS)]
    Chaos(ChaosArguments),
    /// Drive the run of a case of `reknit chaos`, and be killed
    #[command(hide = true)]
    ChaosProcess {
        /// The file of the journal
        journal: PathBuf,
    },
    /// List, show, explain, compare, count, export, import, resume, retry, fork, cancel, approve, deny, settle, delete and prune runs
    #[command(subcommand)]
    Runs(RunsCommand),
    /// List, test and accept rules: what earlier runs learned from the corrections of models
    #[command(subcommand, after_help = rules::DETAILS)]
    Rules(RulesCommand),
    /// List, settle and forget business keys: which deeds are done or under way
    #[command(subcommand, after_help = keys::DETAILS)]
    Keys(KeysCommand),
    /// Connect, list, show, find, call and check tools
    #[command(subcommand, after_help = tools::EXAMPLES)]
    Tools(ToolsCommand),
    /// Offer the tools to an MCP client, such as an editor or an agent: every call mended, journalled and approved
    #[cfg(feature = "serve")]
    #[command(after_help = mcp::DETAILS)]
    Mcp(McpArguments),
    /// Serve the HTTP API: start, follow and control runs, and mend calls of other programs
    #[cfg(feature = "serve")]
    #[command(after_help = serve::DETAILS)]
    Serve(ServeArguments),
    /// Drive runs on this machine for a Restate server, together with other workers
    #[cfg(feature = "restate")]
    #[command(after_help = worker::DETAILS)]
    Worker(WorkerArguments),
    /// Make, list and remove the tokens of `reknit serve`
    #[cfg(feature = "serve")]
    #[command(subcommand)]
    Tokens(TokensCommand),
    /// Receive the calls with which tools report the end of a long job
    #[command(subcommand, after_help = callbacks::DETAILS)]
    Callbacks(CallbacksCommand),
    /// List the models, and where their API keys come from
    #[command(args_conflicts_with_subcommands = true, after_help = MODELS_DETAILS)]
    Models {
        #[command(subcommand)]
        command: Option<ModelsCommand>,
        #[command(flatten)]
        models: ModelsArguments,
    },
    /// Show settings
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Check configuration, keys, models, tools, journal, disk and clock, and say what to type
    #[command(after_help = doctor::DETAILS)]
    Doctor(DoctorArguments),
    /// Trust a configuration file in the current folder to decide where API keys are sent
    #[command(after_help = trust::EXAMPLES)]
    Trust(TrustArguments),
    /// Watch a run fail and repair itself, with four local tools and without an API key
    #[command(after_help = DEMO_EXAMPLES)]
    Demo {
        /// Use the configured models instead of the scripted one
        #[arg(long)]
        live: bool,
        /// Only start the four tools, and print how to use them
        #[arg(long, conflicts_with = "live")]
        serve: bool,
        /// Only answer one call of a tool, such as `geocode`: its parameters are read from standard input
        #[arg(long, value_name = "CAPABILITY", conflicts_with_all = ["live", "serve"])]
        call: Option<String>,
        #[command(flatten)]
        id: RunIdArgument,
        #[command(flatten)]
        setup: SetupArguments,
        #[command(flatten)]
        drive: DriveArguments,
    },
    /// Read JSON from a model's answer and repair it
    #[command(long_about = repair::ABOUT, after_help = repair::EXAMPLES, after_long_help = repair::DETAILS)]
    Repair(RepairArguments),
    /// Evaluate an expression over a JSON document
    #[command(long_about = eval::ABOUT, after_help = eval::EXAMPLES, after_long_help = eval::DETAILS)]
    Eval(EvalArguments),
    /// Print a completion script for a shell
    #[command(after_help = COMPLETIONS_EXAMPLES)]
    Completions {
        /// The shell to complete for
        shell: Shell,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum ModelsCommand {
    /// Send each model a short question, and print whether it answers
    Check {
        #[command(flatten)]
        models: ModelsArguments,
    },
}

macro_rules! exit_status {
    () => {
        "
Exit status: 0 complete, 1 failed, 2 not started, 3 partial, 4 impossible, 5 a limit was reached,
6 waiting for approval, 130 cancelled."
    };
}

const ASK_EXAMPLES: &str = concat!(
    "\
Examples:
  reknit ask \"How much is 100 EUR in won?\"
  reknit ask --attach invoice.pdf \"Pay this invoice.\"
  reknit ask --tool weather=http://127.0.0.1:8085 --model-url http://127.0.0.1:8080/v1 \"Weather in Seoul?\"
  reknit ask --plan-only -o plan.yaml \"How much is 100 EUR in won?\" && reknit run plan.yaml
",
    exit_status!()
);

const RUN_EXAMPLES: &str = concat!(
    "\
Examples:
  reknit run plan.yaml --input shares=200
  reknit run --tool weather=http://127.0.0.1:8085 --answer template plan.json
  cat plan.json | reknit run --json -
",
    exit_status!()
);

const DEMO_EXAMPLES: &str = "\
Examples:
  reknit demo
  reknit demo --live --model-url http://127.0.0.1:8080/v1
  reknit demo --serve

Exit status: 0 the demo ended as expected; otherwise, and with `--live`, that of `reknit ask`.";

const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  reknit completions bash > ~/.local/share/bash-completion/completions/reknit
  reknit completions zsh > ~/.zfunc/_reknit
  reknit completions fish > ~/.config/fish/completions/reknit.fish";

#[test]
fn the_arguments_do_not_contradict_each_other() {
    use clap::CommandFactory;
    Cli::command().debug_assert();
}
