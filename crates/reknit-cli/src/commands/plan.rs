//! `reknit plan`: checks and draws plans.

mod check;

use std::path::Path;
use std::process::ExitCode;

use clap::{Args, Subcommand, ValueHint};
use reknit_engine::{Overview, explain};
use reknit_plan::{StepGraph, plan_graph};

use crate::output::{Failure, Input, graph_lines, output_columns, print_data, print_message};
use crate::setup::{FileArguments, find_run, open_journal, plan_file};

#[derive(Debug, Subcommand)]
pub(crate) enum PlanCommand {
    /// List all problems of a plan, without running it
    Check(check::CheckArguments),
    /// Draw the steps of a plan or of a run, and which step needs which
    Draw(DrawArguments),
}

pub(crate) async fn run(command: PlanCommand) -> Result<ExitCode, Failure> {
    match command {
        PlanCommand::Check(arguments) => check::run(&arguments).await,
        PlanCommand::Draw(arguments) => draw(&arguments).await,
    }
}

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct DrawArguments {
    /// A plan file, `-` for standard input, the id of a run or its first characters, or `last`
    #[arg(value_name = "PLAN|RUN", value_hint = ValueHint::FilePath)]
    what: String,
    /// Print an SVG document
    #[arg(long)]
    svg: bool,
    #[command(flatten)]
    files: FileArguments,
}

const EXAMPLES: &str = "\
Examples:
  reknit plan draw plan.yaml
  reknit plan draw last --svg > run.svg

A line for each step, after those that it needs. A lane leads from a step down to each step that needs it:

  ○    price  shop/price
  │ ○  stock  shop/stock
  │ │
  └─○  order  shop/order

Marks: ○ planned, ✓ done, ✗ failed, - skipped, > running, · waiting.";

async fn draw(arguments: &DrawArguments) -> Result<ExitCode, Failure> {
    let path = Path::new(&arguments.what);
    let graph = if arguments.what == "-" || path.is_file() { of_plan(path)? } else { of_run(arguments).await? };
    if arguments.svg {
        return print_data(&graph.to_svg()).map(|()| ExitCode::SUCCESS);
    }
    for line in graph_lines(&graph, output_columns()) {
        print_data(&format!("{line}\n"))?;
    }
    if graph.steps().len() == 0 {
        print_message("there are no steps to draw\n");
    }
    Ok(ExitCode::SUCCESS)
}

fn of_plan(path: &Path) -> Result<StepGraph, Failure> {
    let file = plan_file::load(&Input::new(Some(path)))?;
    plan_graph(&file.plan).map_err(|problems| Failure::Plan { problems: file.lines(&problems), hint: None })
}

async fn of_run(arguments: &DrawArguments) -> Result<StepGraph, Failure> {
    let name = &arguments.what;
    if name.contains(['/', '.']) {
        return Err(Failure::usage(format!("there is no file `{name}`"), "name a plan file, a run, or `last`"));
    }
    let journal = open_journal(&arguments.files)?;
    let run = find_run(&journal, name).await?;
    match reknit_runtime::run_overview(&journal, &run).await? {
        Overview::Session(_) => Err(Failure::usage(
            format!("run `{run}` is a session, which has no plan"),
            format!("see its turns with `reknit runs explain {run}`"),
        )),
        overview => Ok(explain(&overview, "").graph),
    }
}
