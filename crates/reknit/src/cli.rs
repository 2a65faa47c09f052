//! What can be typed.

mod agent;
mod config;
mod eval;
mod plan;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
use clap_complete::Shell;

pub(crate) use agent::AgentArguments;
pub(crate) use config::ConfigCommand;
pub(crate) use eval::EvalArguments;
pub(crate) use plan::PlanCommand;

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
    #[command(long_about = REPAIR, after_help = REPAIR_EXAMPLES, after_long_help = REPAIR_DETAILS)]
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
pub(crate) enum RunsCommand {
    /// What has run, newest first
    List {
        /// At most so many
        #[arg(long, value_name = "N", default_value_t = 20)]
        limit: u32,
        /// However many there are
        #[arg(long, conflicts_with = "limit")]
        all: bool,
        /// Print JSON, one run per line
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        journal: JournalArguments,
    },
    /// What became of a run: each step, its parameters and where they come from, each attempt
    Show {
        #[command(flatten)]
        run: WhichRun,
        /// Only this step
        #[arg(long, value_name = "STEP", conflicts_with_all = ["events", "llm", "json"])]
        step: Option<String>,
        /// List the events of the journal
        #[arg(long)]
        events: bool,
        /// Print what models were asked and what they answered, word for word, if the run may show it
        #[arg(long, conflicts_with = "events")]
        llm: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        journal: JournalArguments,
    },
    /// Go on with a run that was stopped
    Resume {
        #[command(flatten)]
        run: WhichRun,
        #[command(flatten)]
        work: WorkArguments,
        #[command(flatten)]
        drive: DriveArguments,
    },
    /// End a run; what is under way may still answer
    Cancel {
        #[command(flatten)]
        run: WhichRun,
        #[command(flatten)]
        work: WorkArguments,
        #[command(flatten)]
        drive: DriveArguments,
    },
    /// Allow what a run waits for
    Approve {
        #[command(flatten)]
        run: WhichRun,
        /// Only this step
        #[arg(value_name = "STEP")]
        step: Option<String>,
        #[command(flatten)]
        journal: JournalArguments,
    },
    /// Refuse what a run waits for
    #[command(visible_alias = "reject")]
    Deny {
        #[command(flatten)]
        run: WhichRun,
        /// Only this step
        #[arg(value_name = "STEP")]
        step: Option<String>,
        #[command(flatten)]
        journal: JournalArguments,
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

#[derive(Debug, Args)]
pub(crate) struct WhichRun {
    /// The id, the beginning of it, or `last`
    #[arg(value_name = "RUN")]
    pub(crate) run: String,
}

#[derive(Debug, Args)]
pub(crate) struct JournalArguments {
    /// The journal; the default is reknit/journal.db in your data folder
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) journal: Option<PathBuf>,

    /// The configuration; the default is reknit.toml in this folder
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) config: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct WorkArguments {
    #[command(flatten)]
    pub(crate) files: JournalArguments,

    /// A tool, in addition to those of the configuration
    #[arg(long = "tool", id = "tool", value_name = "NAME=URL")]
    pub(crate) tools: Vec<String>,

    #[command(flatten)]
    pub(crate) model: ModelArguments,
}

#[derive(Debug, Args)]
pub(crate) struct ModelsArguments {
    /// The configuration; the default is reknit.toml in this folder
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) config: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) model: ModelArguments,
}

#[derive(Debug, Args)]
pub(crate) struct ModelArguments {
    #[arg(long = "model-url", value_name = "URL", value_hint = ValueHint::Url)]
    #[arg(help = "A server that speaks the OpenAI protocol, in place of the configured models")]
    pub(crate) url: Option<String>,

    /// The model to ask there
    #[arg(long = "model", value_name = "NAME", requires = "url", default_value = "default")]
    pub(crate) name: String,

    /// The variable of the environment that holds its key
    #[arg(long = "model-key-env", value_name = "VARIABLE", requires = "url")]
    pub(crate) key_env: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct DriveArguments {
    /// Who writes the answer
    #[arg(long, value_name = "WHO")]
    pub(crate) answer: Option<AnswerBy>,

    /// Print the whole answer as JSON
    #[arg(long)]
    pub(crate) json: bool,

    /// How the run is driven: `segments` keeps nothing in memory between two events
    #[arg(long, value_name = "DRIVER", default_value = "steady", hide = true)]
    pub(crate) driver: DriverKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AnswerBy {
    /// A model, from the results
    Model,
    /// Code: what was done, mended and left out, one line each
    Template,
    /// Nobody: the results as JSON
    Raw,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DriverKind {
    Steady,
    Segments,
}

#[derive(Debug, Args)]
pub(crate) struct RepairArguments {
    /// The JSON Schema that the value must fit
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) schema: Option<PathBuf>,

    /// Read one request per line, and answer each on a line
    #[arg(long)]
    pub(crate) jsonl: bool,

    /// Say on standard error what was mended
    #[arg(long, conflicts_with = "jsonl")]
    pub(crate) explain: bool,

    /// The text to read; standard input if it is missing or `-`
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) file: Option<PathBuf>,
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

const DEMO_EXAMPLES: &str = concat!(
    "\
Examples:
  reknit demo
  reknit demo --live --model-url http://127.0.0.1:8080/v1
  reknit demo --serve
",
    exit_status!()
);

const REPAIR: &str = "\
Read JSON from a model's answer and mend what is broken.

The answer may have text around the JSON, or a fence; missing commas, quotes or brackets; literals of other languages,
comments, and more. With a schema the value is also changed to fit, where nothing is lost: \"5\" becomes 5 where a number
is wanted. Text that is valid JSON, and fits, is printed as it is; anything else is printed as one line of JSON.";

macro_rules! repair_examples {
    () => {
        "\
Examples:
  reknit repair answer.txt
  echo \"{'price': 12,}\" | reknit repair --explain
  reknit repair --schema order.schema.json answer.txt
  reknit repair --jsonl < requests.jsonl > answers.jsonl
"
    };
}

const REPAIR_EXAMPLES: &str = concat!(
    repair_examples!(),
    "
Exit status: 0 read, with or without repairs; 1 unreadable, or it does not fit the schema; 2 bad usage."
);

const REPAIR_DETAILS: &str = concat!(
    repair_examples!(),
    "
Exit status:
  0  read, with or without repairs; with --jsonl: every line has its answer, even if it is an error
  1  the text cannot be read, or its value does not fit the schema
  2  bad usage: an unknown option, a file that cannot be opened, a schema that is none, an output that cannot be written

A text that was cut is closed and printed, with a warning on standard error: do not act on it, ask again.

Lines (--jsonl):
  A request is {\"id\"?, \"text\" | \"value\", \"schema\"?}: a text to read, or a value that only has to fit.
  --schema is for the requests without one. A blank line gets no answer.

  The answer is {\"id\"?, \"value\", \"fixes\", \"completeness\"?, \"expressions\"?}:
    fixes         what was mended: [{\"path\", \"kind\", \"before\", \"after\", \"penalty\", \"times\"?}]
    completeness  only if something is missing: \"truncated\" or \"elided\"
    expressions   only if there are any: the paths where an expression stands for a number

  or {\"id\"?, \"error\": {\"code\", \"message\", ...}}, after which the next line is read:
    empty         there is no JSON in the text
    unreadable    no reading makes sense; with the line and column in the text
    ambiguous     two readings are equally likely; with both readings
    misfit        the value does not fit the schema; with the problems: [{\"path\", \"message\"}]
    too_deep      brackets are nested too deep; with the line and column in the text
    too_large     the text or the line is too long
    bad_line      the line is no request; with the line of the input, and the column if it is known
    bad_schema    the request's schema is not valid"
);

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
