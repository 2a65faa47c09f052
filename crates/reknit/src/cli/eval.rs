//! What can be typed after `reknit eval`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

#[derive(Debug, Args)]
pub(crate) struct EvalArguments {
    /// The expression, with or without `{{ }}` around it
    #[arg(value_name = "EXPRESSION", allow_hyphen_values = true)]
    pub(crate) expression: String,

    /// The JSON document to evaluate it over; standard input if it is `-`
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) with: Option<PathBuf>,

    /// Print the value with what went into it, as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

pub(super) const ABOUT: &str = "\
Evaluate an expression, as plans have it between {{ and }}.

The keys of the document are what the ids of steps are in a plan: with {\"quote\": {\"price\": 468.285}}, write
`quote.price`. The document itself is `it`, whatever it is: `it[0]`, `len(it)`. A key of that name goes first.";

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
Exit status: 0 there is a value; 1 there is none, or the expression or the document cannot be read; 2 bad usage."
);

pub(super) const DETAILS: &str = concat!(
    examples!(),
    "
The language:
  values      5, 1.50, \"text\", 'text', true, false, null
  references  a.b, a[0].b, a.0.b, a[\"odd key\"], [\"odd id\"].b; one `response`, `data` or `result` may be left out
  operators   + - * / %, == != < <= > >=, and `a ?? b`: the first that is there and not null
  functions   if sum len min max avg round abs join first last unique sort_by pluck lower upper trim split replace
              date_add date_diff to_number to_string

  Numbers are decimals of 34 digits. A minus that subtracts needs a space before it: `a-b` is a name. A text is taken for
  a number in arithmetic only if it is exactly one. What was rounded, or taken for a number, is said on standard error.

With --json: {\"value\", \"inputs\", \"exact\", \"changes\"}
  inputs   what went into the value: [{\"source\": \"literal\" | {\"reference\": {\"step\", \"path\"}}, \"value\"}]
  exact    \"exact\", or \"inexact\" if something was rounded
  changes  texts taken for numbers: [{\"path\", \"kind\", \"before\", \"after\"}]

Exit status:
  0  there is a value
  1  there is none, or the expression or the document cannot be read
  2  bad usage: an unknown option, a file that cannot be opened, an output that cannot be written"
);
