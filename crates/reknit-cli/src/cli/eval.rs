//! The arguments of `reknit eval`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

#[derive(Debug, Args)]
pub(crate) struct EvalArguments {
    /// The expression, with or without `{{ }}` around it
    #[arg(value_name = "EXPRESSION", allow_hyphen_values = true)]
    pub(crate) expression: String,

    /// The JSON document to evaluate it over; `-` reads standard input
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) with: Option<PathBuf>,

    /// Print the value and its inputs as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

pub(super) const ABOUT: &str = "\
Evaluate an expression as plans write it between {{ and }}.

The keys of the document take the place of the step ids in a plan: with {\"quote\": {\"price\": 468.285}}, write
`quote.price`. `it` is the whole document: `it[0]`, `len(it)`. A key named `it` takes precedence.";

macro_rules! examples {
    () => {
        "\
Examples:
  reknit eval '3 * 19.99'
  reknit eval '100 * quote.price' --with results.json
  curl -s https://example.org/orders | reknit eval 'sum(pluck(it, \"price\"))' --with -
  reknit eval 'first(shop.items).name ?? \"none\"' --with results.json
  reknit eval 'date_diff(\"09:00\", \"14:00\", \"hours\")'
"
    };
}

pub(super) const EXAMPLES: &str = concat!(
    examples!(),
    "
Exit status: 0 printed a value; 1 there is no value, or the expression or document is not valid; 2 bad usage."
);

pub(super) const DETAILS: &str = concat!(
    examples!(),
    "
The language:
  values      5, 1.50, \"text\", 'text', true, false, null, [1, 2]
  references  a.b, a[0].b, a.0.b, a[\"odd key\"], [\"odd id\"].b; one `response`, `data` or `result` may be left out
  operators   + - * / %, == != < <= > >=, in, not in, and, or, not, and `a ?? b`: b if a is missing or null
  functions   if sum len min max avg round abs join first last unique sort_by pluck lower upper trim split replace
              contains starts_with ends_with date_add date_diff to_number to_string
  for items   filter map any all group_by sum_by: `filter(orders, item.total > 5)`, `map(orders, o => o.total * 2)`

  Numbers are decimals with 34 digits. Subtraction needs a space before the minus: `a-b` is a name. Arithmetic converts a
  string to a number only if the whole string is one number. A note on standard error reports rounding and conversions.

With --json: {\"value\", \"inputs\", \"exact\", \"changes\"}
  inputs   the values it was computed from: [{\"source\": \"literal\" | {\"reference\": {\"step\", \"path\"}}, \"value\"}]
  exact    \"exact\", or \"inexact\" if something was rounded
  changes  strings converted to numbers: [{\"path\", \"kind\", \"before\", \"after\"}]

Exit status:
  0  printed a value
  1  there is no value, or the expression or document is not valid
  2  bad usage: an unknown option, a file that cannot be opened, an output that cannot be written"
);
