//! What can be typed.

mod agent;
mod config;
mod eval;
mod plan;
mod repair;
mod runs;
mod work;

use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueHint};
use clap_complete::Shell;

pub(crate) use agent::AgentArguments;
pub(crate) use config::ConfigCommand;
pub(crate) use eval::EvalArguments;
pub(crate) use plan::PlanCommand;
pub(crate) use repair::RepairArguments;
pub(crate) use runs::RunsCommand;
pub(crate) use work::{
    AnswerBy, DriveArguments, DriverKind, JournalArguments, ModelArguments, ModelsArguments, WorkArguments,
};

macro_rules! examples {
    () => {
        "\
Examples:
  reknit demo                           see a run break and be mended, without a key
  reknit ask \"weather in Seoul?\"        plan a request with a model and run it over your tools
  reknit run plan.yaml                  run a plan that is written already
  reknit plan check plan.yaml           what is wrong with a plan, before anything runs
  reknit agent clerk.md \"order 7?\"      ask an agent, which calls tools in turns and reports
  reknit runs list                      what has run, and what can be resumed
  reknit repair --explain answer.txt    read JSON from a model's answer, and say what was mended"
    };
}

macro_rules! environment {
    () => {
        "\
Environment:
  REKNIT_CONFIG      the configuration file
  REKNIT_JOURNAL     the journal file
  REKNIT_FIND_MODEL  whether a model is looked for when none is named
  REKNIT_LOG         how much is written about runs to standard error: error, warn, info or debug
  NO_COLOR           no colour in the terminal

An option beats a variable, and a variable beats the configuration. Every setting of the configuration has a variable:
`reknit config reference` names them all, and `reknit config show` says what counts."
    };
}

const EXAMPLES: &str = examples!();

const MODELS_DETAILS: &str = "\
Without a model in the configuration or on the command line one is looked for: by the first of these keys that is set,
OPENAI_API_KEY, ANTHROPIC_API_KEY, GEMINI_API_KEY, GOOGLE_API_KEY, GROQ_API_KEY, DEEPSEEK_API_KEY, XAI_API_KEY,
TOGETHER_API_KEY, OPENROUTER_API_KEY; else on this machine, on the usual ports of Ollama (11434), llama.cpp (8080),
LM Studio (1234) and vLLM (8000). REKNIT_FIND_MODEL=false turns that off.";

/// Runs a request over tools and mends what breaks.
#[derive(Debug, Parser)]
#[command(name = "reknit", version, arg_required_else_help = true)]
#[command(after_help = EXAMPLES, after_long_help = concat!(examples!(), "\n\n", environment!()))]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Plan a request with a model and run it over tools
    #[command(after_help = ASK_EXAMPLES)]
    Ask {
        /// What you want, in your words
        request: String,
        #[command(flatten)]
        work: WorkArguments,
        #[command(flatten)]
        drive: DriveArguments,
    },
    /// Run a plan
    #[command(after_help = RUN_EXAMPLES)]
    Run {
        /// The plan, as YAML, JSON or a model's words; standard input if it is `-`
        #[arg(value_name = "PLAN", value_hint = ValueHint::FilePath)]
        plan: PathBuf,
        /// A value for an input of the plan, in place of its default
        #[arg(long = "input", value_name = "NAME=VALUE")]
        inputs: Vec<String>,
        #[command(flatten)]
        work: WorkArguments,
        #[command(flatten)]
        drive: DriveArguments,
    },
    /// Ask an agent, which works in turns and ends with a report
    Agent(AgentArguments),
    /// Look at plans
    #[command(subcommand)]
    Plan(PlanCommand),
    /// List, show, resume, cancel and decide runs
    #[command(subcommand)]
    Runs(RunsCommand),
    /// Look at the tools
    #[command(subcommand)]
    Tools(ToolsCommand),
    /// List the models that are asked, and where their keys are
    #[command(args_conflicts_with_subcommands = true, after_help = MODELS_DETAILS)]
    Models {
        #[command(subcommand)]
        command: Option<ModelsCommand>,
        #[command(flatten)]
        models: ModelsArguments,
    },
    /// Look at the settings
    #[command(subcommand)]
    Config(ConfigCommand),
    /// See a run break and be mended: four tools on loopback, no key needed
    #[command(after_help = DEMO_EXAMPLES)]
    Demo {
        /// Ask the configured models instead of the scripted one
        #[arg(long)]
        live: bool,
        /// Only start the four tools, and say how to use them
        #[arg(long, conflicts_with = "live")]
        serve: bool,
        #[command(flatten)]
        work: WorkArguments,
        #[command(flatten)]
        drive: DriveArguments,
    },
    /// Read JSON from a model's answer and mend what is broken
    #[command(long_about = repair::ABOUT, after_help = repair::EXAMPLES, after_long_help = repair::DETAILS)]
    Repair(RepairArguments),
    /// Evaluate an expression over a JSON document
    #[command(long_about = eval::ABOUT, after_help = eval::EXAMPLES, after_long_help = eval::DETAILS)]
    Eval(EvalArguments),
    /// Print a completion script for a shell
    #[command(after_help = COMPLETIONS_EXAMPLES)]
    Completions {
        /// The shell
        shell: Shell,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum ToolsCommand {
    /// Ask each tool what it can do, and list what does not say what it does to the world
    Check {
        /// Print what they can do as JSON, for `reknit plan check --tools`
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        work: WorkArguments,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum ModelsCommand {
    /// Ask each model one tiny question, and say how that went
    Check {
        #[command(flatten)]
        models: ModelsArguments,
    },
}

macro_rules! exit_status {
    () => {
        "
Exit status: 0 complete, 1 failed, 2 bad usage, 3 partial, 4 impossible, 5 a limit was reached,
6 waiting for a person, 130 cancelled."
    };
}

const ASK_EXAMPLES: &str = concat!(
    "\
Examples:
  reknit ask \"How much is 100 EUR in won?\"
  reknit ask --tool weather=http://127.0.0.1:8085 --model-url http://127.0.0.1:8080/v1 \"Weather in Seoul?\"
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

Exit status: 0 the story ended as it should; otherwise, and with `--live`, as that of `reknit ask`.";

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
