//! What can be typed about plans.

use std::path::PathBuf;

use clap::{Subcommand, ValueHint};

use super::WorkArguments;

macro_rules! plan_check_examples {
    () => {
        "\
Examples:
  reknit plan check plan.yaml
  reknit tools check --json > tools.json && reknit plan check plan.yaml --tools tools.json
  cat answer.txt | reknit plan check --json -

Exit status: 0 it can run, 1 something is wrong with it, 2 bad usage."
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
      tool: stock-tool/get_stock_quote        or only the capability, where one tool has it
      with: {symbol: TSLA}
    - id: convert
      tool: convert_currency
      do: turn the dollars into won           what the step is for
      with: {amount: \"{{inputs.shares * quote.current_price}}\", from: USD, to: KRW}
      after: quote                            one id or a list; what is read from is known anyway
  outputs:
    won: convert.converted                    an expression over steps and inputs

Tools (--tools):
  {\"stock-tool\": [{\"name\": \"get_stock_quote\", \"schema\": {...}, \"output_summary\": {...}}], ...}
  For each tool what it answers to GET /api/capabilities; `schema` is the JSON Schema of the parameters.

JSON (--json):
  {\"ok\", \"checked\", \"steps\", \"repairs\", \"fixes\", \"problems\": [{\"code\", \"step\"?, \"path\", \"message\", \"hint\"?}]}
    checked  \"tools\", or \"structure\" if no tools are known
    repairs  what a model's words had to be repaired in
    fixes    names that were put right: [{\"step\", \"of\", \"before\", \"after\"}]
    code     not_a_plan, with \"line\" and \"column\" where they are known, or a word that never changes: cycle, bad_value, ..."
);

#[derive(Debug, Subcommand)]
pub(crate) enum PlanCommand {
    /// Tell everything that is wrong with a plan, without running it
    #[command(after_help = PLAN_CHECK_EXAMPLES, after_long_help = PLAN_CHECK_DETAILS)]
    Check {
        /// The plan, as YAML, JSON or a model's words; standard input if it is `-`
        #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
        file: PathBuf,
        /// A list of tools as JSON, in place of asking those that are configured
        #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "tool")]
        tools: Option<PathBuf>,
        /// Print JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        work: WorkArguments,
    },
}
