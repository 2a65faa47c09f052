//! What can be typed behind `reknit repair`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

pub(super) const ABOUT: &str = "\
Read JSON from a model's answer and mend what is broken.

The answer may have text around the JSON, or a fence; missing commas, quotes or brackets; literals of other languages,
comments, and more. With a schema the value is also changed to fit, where nothing is lost: \"5\" becomes 5 where a number
is wanted. Text that is valid JSON, and fits, is printed as it is; anything else is printed as one line of JSON.";

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
Exit status: 0 read, with or without repairs; 1 unreadable, or it does not fit the schema; 2 bad usage."
);

pub(super) const DETAILS: &str = concat!(
    examples!(),
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
