//! The arguments of `reknit repair`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

pub(super) const ABOUT: &str = "\
Read JSON from a model's answer and repair it.

The answer may have text or a code fence around the JSON, missing commas, quotes or brackets, literals of other languages,
comments, and more. With a schema, values are also converted without loss where their type is wrong: \"5\" becomes 5 where
the schema has a number. Valid JSON that fits the schema is printed unchanged; anything else as one line of JSON.";

macro_rules! examples {
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

pub(super) const EXAMPLES: &str = concat!(
    examples!(),
    "
Exit status: 0 read, with or without repairs; 1 not readable, or does not fit the schema; 2 bad usage."
);

pub(super) const DETAILS: &str = concat!(
    examples!(),
    "
Exit status:
  0  read, with or without repairs; with --jsonl: every line has an answer, even if it is an error
  1  the text cannot be read or contains no JSON, or its value does not fit the schema
  2  bad usage: an unknown option, a file that cannot be opened, a schema that is not valid, an output that cannot be written

A truncated text is closed and printed, with a warning on standard error. Ask the model again instead of using it.

Lines (--jsonl):
  A request is {\"id\"?, \"text\" | \"value\", \"schema\"?}: a text to read, or a value to fit to the schema.
  --schema applies to requests without a schema. A blank line has no answer.

  The answer is {\"id\"?, \"value\", \"fixes\", \"completeness\"?, \"expressions\"?}:
    fixes         the repairs: [{\"path\", \"kind\", \"before\", \"after\", \"penalty\", \"times\"?}]
    completeness  only if something is missing: \"truncated\" or \"elided\"
    expressions   only if there are any: the paths that hold an expression instead of a number

  or {\"id\"?, \"error\": {\"code\", \"message\", ...}}, after which the next line is read:
    empty         the text contains no JSON
    unreadable    the text cannot be read; with the line and column in the text
    ambiguous     two readings are equally likely; with both readings
    misfit        the value does not fit the schema; with the problems: [{\"path\", \"message\"}]
    too_deep      brackets are nested too deeply; with the line and column in the text
    too_large     the text or the line is too long
    bad_line      the line is not a request; with the line of the input, and the column if it is known
    bad_schema    the request's schema is not valid
    too_complex   the request's schema could take too much work"
);

#[derive(Debug, Args)]
pub(crate) struct RepairArguments {
    /// The JSON Schema of the value
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) schema: Option<PathBuf>,

    /// Read one request per line, and print one answer per line
    #[arg(long)]
    pub(crate) jsonl: bool,

    /// Read a text that contains no JSON as a string, instead of refusing it
    #[arg(long, conflicts_with_all = ["jsonl", "schema"])]
    pub(crate) any: bool,

    /// List the repairs on standard error
    #[arg(long, conflicts_with = "jsonl")]
    pub(crate) explain: bool,

    /// The text to read; standard input if missing or `-`
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) file: Option<PathBuf>,
}
