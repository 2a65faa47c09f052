//! The arguments of `reknit plan`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};

use super::{FileArguments, SetupArguments};

macro_rules! plan_check_examples {
    () => {
        "\
Examples:
  reknit plan check plan.yaml
  reknit tools check --json > tools.json && reknit plan check plan.yaml --tools tools.json
  cat answer.txt | reknit plan check --json -

Exit status: 0 the plan is valid, 1 the plan has problems, 2 bad usage."
    };
}

const PLAN_CHECK_EXAMPLES: &str = plan_check_examples!();

const PLAN_CHECK_DETAILS: &str = concat!(
    plan_check_examples!(),
    "

A plan:
  request: What are my shares worth in won?
  inputs:
    shares: 100                               a default, or {type, default, description}
  steps:
    - id: quote
      tool: stock-tool/get_stock_quote        or only the capability, if one tool has it
      with: {symbol: TSLA}
    - id: convert
      tool: convert_currency
      do: turn the dollars into won           the purpose of the step
      with: {amount: \"{{inputs.shares * quote.current_price}}\", from: USD, to: KRW}
      after: quote                            one id or a list; references are added by themselves
  outputs:
    won: convert.converted                    an expression over steps and inputs

Tools (--tools):
  {\"stock-tool\": [{\"name\": \"get_stock_quote\", \"schema\": {...}, \"output_summary\": {...}}], ...}
  For each tool the body of its answer to GET /api/capabilities; `schema` is the JSON Schema of the parameters.

JSON (--json):
  {\"ok\", \"checked\", \"steps\", \"repairs\", \"fixes\", \"problems\": [{\"code\", \"step\"?, \"path\", \"message\", \"hint\"?}]}
    checked  \"tools\", or \"structure\" if no tools are known
    repairs  the repairs of the JSON of a model's answer
    fixes    names that were corrected: [{\"step\", \"of\", \"before\", \"after\"}]
    code     not_a_plan, with \"line\" and \"column\" if they are known, or another stable code: cycle, bad_value, ..."
);

#[derive(Debug, Subcommand)]
pub(crate) enum PlanCommand {
    /// List all problems of a plan, without running it
    #[command(after_help = PLAN_CHECK_EXAMPLES, after_long_help = PLAN_CHECK_DETAILS)]
    Check {
        /// The plan as YAML, JSON or a model's answer; `-` reads standard input
        #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
        file: PathBuf,
        /// A JSON file with tools, used instead of the configured ones
        #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "tool")]
        tools: Option<PathBuf>,
        /// Print JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        setup: SetupArguments,
    },
    /// Draw the steps of a plan or of a run, and which step needs which
    #[command(after_help = DRAW_EXAMPLES)]
    Draw(DrawArguments),
}

#[derive(Debug, Args)]
pub(crate) struct DrawArguments {
    /// A plan file, `-` for standard input, the id of a run or its first characters, or `last`
    #[arg(value_name = "PLAN|RUN", value_hint = ValueHint::FilePath)]
    pub(crate) what: String,
    /// Print an SVG document
    #[arg(long)]
    pub(crate) svg: bool,
    #[command(flatten)]
    pub(crate) files: FileArguments,
}

const DRAW_EXAMPLES: &str = "\
Examples:
  reknit plan draw plan.yaml
  reknit plan draw last --svg > run.svg

A line for each step, after those that it needs. A lane leads from a step down to each step that needs it:

  ○    price  shop/price
  │ ○  stock  shop/stock
  │ │
  └─○  order  shop/order

Marks: ○ planned, ✓ done, ✗ failed, - skipped, > running, · waiting.";
