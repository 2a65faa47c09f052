//! The commands: each file has the arguments of a command and its action.

mod agent;
mod ask;
mod callbacks;
mod chaos;
mod chat;
mod completions;
mod config;
mod demo;
mod doctor;
mod eval;
mod gate;
mod init;
mod keys;
#[cfg(feature = "serve")]
mod mcp;
mod models;
mod plan;
mod repair;
mod rules;
mod run;
mod runs;
#[cfg(feature = "serve")]
mod serve;
mod test;
#[cfg(feature = "serve")]
mod tokens;
mod tools;
mod trust;
#[cfg(feature = "restate")]
mod worker;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::output::Failure;
use crate::setup::block_on;

const EXAMPLES: &str = "\
Examples:
  reknit demo                           watch a run fail and repair itself, without an API key
  reknit init                           write a configuration, a plan and an agent that run at once
  reknit ask \"weather in Seoul?\"        let a model plan a request, and run the plan with your tools
  reknit run plan.yaml                  run a plan that you wrote
  reknit agent clerk.md \"order 7?\"      start an agent, which calls tools in turns and ends with a report
  reknit runs explain last              the last run in plain words
  reknit repair --explain answer.txt    read JSON from a model's answer, and list the repairs";

const ENVIRONMENT: &str = "

Environment:
  REKNIT_CONFIG      the configuration file
  REKNIT_JOURNAL     the journal file
  REKNIT_FIND_MODEL  `false`: do not search for a model when none is configured
  REKNIT_LOG         the log level on standard error: error, warn, info or debug
  NO_COLOR           turns off colours in the terminal

An option overrides a variable, and a variable overrides the configuration file. Every setting has a variable:
`reknit config reference` lists them all, and `reknit config show` prints the effective settings.";

/// The exit status of commands that drive a run, for their help.
const EXIT_STATUS: &str = "
Exit status: 0 complete, 1 failed, 2 not started, 3 partial, 4 impossible, 5 a limit was reached,
6 waiting for approval, 130 cancelled.";

/// Runs requests with tools and repairs what fails.
#[derive(Debug, Parser)]
#[command(name = "reknit", version, arg_required_else_help = true)]
#[command(after_help = EXAMPLES, after_long_help = EXAMPLES.to_owned() + ENVIRONMENT)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Write a configuration, a plan and an agent that run at once
    Init(init::InitArguments),
    /// Let a model plan a request, and run the plan with tools
    Ask(ask::AskArguments),
    /// Run a plan
    Run(run::RunPlanArguments),
    /// Start an agent, which calls tools in turns and ends with a report
    Agent(agent::AgentArguments),
    /// Talk with an agent: it calls tools, answers, and remembers what was said
    Chat(chat::ChatArguments),
    /// Check and draw plans
    #[command(subcommand)]
    Plan(plan::PlanCommand),
    /// Run recorded tests, and make a test of any run
    Test(test::TestArguments),
    /// Run a test, a plan or an agent with every fault at every step, and report what it does not mend
    Chaos(chaos::ChaosArguments),
    /// Drive the run of a case of `reknit chaos`, and be killed
    #[command(hide = true)]
    ChaosProcess {
        /// The file of the journal
        journal: PathBuf,
    },
    /// List, show, explain, compare, count, export, import, resume, retry, fork, cancel, approve, deny, settle, delete and prune runs
    #[command(subcommand)]
    Runs(runs::RunsCommand),
    /// List, test and accept rules: what earlier runs learned from the corrections of models
    #[command(subcommand, after_help = rules::DETAILS)]
    Rules(rules::RulesCommand),
    /// Run recorded runs through the rules about calls: what would a person be asked?
    #[command(subcommand)]
    Gate(gate::GateCommand),
    /// List, settle and forget business keys: which deeds are done or under way
    #[command(subcommand, after_help = keys::DETAILS)]
    Keys(keys::KeysCommand),
    /// Connect, list, show, find, call and check tools
    #[command(subcommand, after_help = tools::EXAMPLES)]
    Tools(tools::ToolsCommand),
    /// Offer the tools to an MCP client, such as an editor or an agent: every call mended, journalled and approved
    #[cfg(feature = "serve")]
    Mcp(mcp::McpArguments),
    /// Serve the HTTP API: start, follow and control runs, and mend calls of other programs
    #[cfg(feature = "serve")]
    Serve(serve::ServeArguments),
    /// Drive runs on this machine for a Restate server, together with other workers
    #[cfg(feature = "restate")]
    Worker(worker::WorkerArguments),
    /// Make, list and remove the tokens of `reknit serve`
    #[cfg(feature = "serve")]
    #[command(subcommand)]
    Tokens(tokens::TokensCommand),
    /// Receive the calls with which tools report the end of a long job
    #[command(subcommand, after_help = callbacks::DETAILS)]
    Callbacks(callbacks::CallbacksCommand),
    /// List the models, and where their API keys come from
    Models(models::ModelsArguments),
    /// Show settings
    #[command(subcommand)]
    Config(config::ConfigCommand),
    /// Check configuration, keys, models, tools, journal, disk and clock, and say what to type
    Doctor(doctor::DoctorArguments),
    /// Trust a configuration file in the current folder to decide where API keys are sent
    Trust(trust::TrustArguments),
    /// Watch a run fail and repair itself, with four local tools and without an API key
    Demo(demo::DemoArguments),
    /// Read JSON from a model's answer and repair it
    #[command(long_about = repair::ABOUT)]
    Repair(repair::RepairArguments),
    /// Evaluate an expression over a JSON document
    #[command(long_about = eval::ABOUT)]
    Eval(eval::EvalArguments),
    /// Print a completion script for a shell
    Completions(completions::CompletionsArguments),
}

impl Command {
    pub(crate) fn run(self) -> Result<ExitCode, Failure> {
        match self {
            Self::Repair(arguments) => repair::run(&arguments).map(|()| ExitCode::SUCCESS),
            Self::Eval(arguments) => eval::run(&arguments).map(|()| ExitCode::SUCCESS),
            Self::Completions(arguments) => completions::run(&arguments).map(|()| ExitCode::SUCCESS),
            Self::Ask(arguments) => block_on(ask::run(&arguments)),
            Self::Init(arguments) => block_on(init::run(&arguments)),
            Self::Chat(arguments) => block_on(chat::run(&arguments)),
            Self::Agent(arguments) => block_on(agent::run(&arguments)),
            Self::Run(arguments) => block_on(run::run(&arguments)),
            Self::Test(arguments) => test::run(&arguments),
            Self::Chaos(arguments) => block_on(chaos::run(&arguments)),
            Self::ChaosProcess { journal } => chaos::drive_child(&journal),
            Self::Runs(command) => block_on(runs::run(command)),
            Self::Gate(command) => block_on(gate::run(command)),
            Self::Keys(command) => block_on(keys::run(command)),
            Self::Rules(command) => block_on(rules::run(command)),
            Self::Models(arguments) => block_on(models::run(&arguments)),
            Self::Plan(command) => block_on(plan::run(command)),
            Self::Callbacks(command) => block_on(callbacks::run(&command)),
            #[cfg(feature = "serve")]
            Self::Mcp(arguments) => block_on(mcp::run(&arguments)),
            #[cfg(feature = "serve")]
            Self::Serve(arguments) => block_on(serve::run(&arguments)),
            #[cfg(feature = "restate")]
            Self::Worker(arguments) => block_on(worker::run(&arguments)),
            #[cfg(feature = "serve")]
            Self::Tokens(command) => tokens::run(&command),
            Self::Tools(command) => block_on(tools::run(command)),
            Self::Config(command) => config::run(&command),
            Self::Doctor(arguments) => block_on(doctor::run(&arguments)),
            Self::Trust(arguments) => trust::run(&arguments),
            Self::Demo(arguments) => block_on(demo::run(&arguments)),
        }
    }
}

#[test]
fn the_arguments_do_not_contradict_each_other() {
    use clap::CommandFactory;
    Cli::command().debug_assert();
}
