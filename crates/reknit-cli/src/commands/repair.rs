//! `reknit repair`: reads JSON from a model's answer.

mod explain;
mod jsonl;

use std::path::PathBuf;

use clap::{Args, ValueHint};
use reknit_salvage::{Fix, FixKind, ReadOptions, ReadTextError, Reading, Schema, TextPosition, read, read_as};

use crate::output::{Excerpt, Failure, Input, print_data, print_message};
use crate::setup::schema_file;

pub(super) const ABOUT: &str = "\
Read JSON from a model's answer and repair it.

The answer may have text or a code fence around the JSON, missing commas, quotes or brackets, literals of other languages,
comments, and more. With a schema, values are also converted without loss where their type is wrong: \"5\" becomes 5 where
the schema has a number. Valid JSON that fits the schema is printed unchanged; anything else as one line of JSON.";

const EXAMPLES: &str = "\
Examples:
  reknit repair answer.txt
  echo \"{'price': 12,}\" | reknit repair --explain
  reknit repair --schema order.schema.json answer.txt
  reknit repair --jsonl < requests.jsonl > answers.jsonl
";

const EXIT_STATUS: &str = "
Exit status: 0 read, with or without repairs; 1 not readable, or does not fit the schema; 2 bad usage.";

const DETAILS: &str = "
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
    too_complex   the request's schema could take too much work";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES.to_owned() + EXIT_STATUS, after_long_help = EXAMPLES.to_owned() + DETAILS)]
pub(crate) struct RepairArguments {
    /// The JSON Schema of the value
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    schema: Option<PathBuf>,
    /// Read one request per line, and print one answer per line
    #[arg(long)]
    jsonl: bool,
    /// Read a text that contains no JSON as a string, instead of refusing it
    #[arg(long, conflicts_with_all = ["jsonl", "schema"])]
    any: bool,
    /// List the repairs on standard error
    #[arg(long, conflicts_with = "jsonl")]
    explain: bool,
    /// The text to read; standard input if missing or `-`
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    file: Option<PathBuf>,
}

pub(crate) fn run(arguments: &RepairArguments) -> Result<(), Failure> {
    let input = Input::new(arguments.file.as_deref());
    let schema = arguments.schema.as_deref().map(schema_file::load).transpose()?;
    if arguments.jsonl {
        return jsonl::run(&input, schema);
    }
    let text = input.read_text()?;
    let reading = read_text(&text, schema.as_ref()).map_err(|source| {
        let excerpt = error_position(&source).map(|position| Excerpt::of(&text, position));
        Failure::Read { input: input.clone(), excerpt, source: Box::new(source) }
    })?;
    let is_text = reading.value.as_str().is_some() && reading.fixes.iter().any(is_quoted_text);
    if schema.is_none() && !arguments.any && is_text {
        return Err(Failure::NoJson { input });
    }
    print(&text, &reading)?;
    let mut messages = explain::warnings(&reading);
    if arguments.explain {
        messages.insert_str(0, &explain::fixes(&reading.fixes));
    }
    print_message(&messages);
    Ok(())
}

/// Whether a fix made a text of something that is no JSON: `I cannot help with that`.
fn is_quoted_text(fix: &Fix) -> bool {
    fix.path.is_root() && matches!(fix.kind, FixKind::BareText | FixKind::Emphasis)
}

fn read_text(text: &str, schema: Option<&Schema>) -> Result<Reading, ReadTextError> {
    match schema {
        Some(schema) => read_as(text, schema),
        None => read(text, &ReadOptions::default()),
    }
}

/// The position of the error in the text, if it has one.
fn error_position(error: &ReadTextError) -> Option<TextPosition> {
    match error {
        ReadTextError::Unreadable { position, .. } | ReadTextError::TooDeep { position, .. } => Some(*position),
        _ => None,
    }
}

/// Prints the value, or the text itself without any change if it needed no fix.
fn print(text: &str, reading: &Reading) -> Result<(), Failure> {
    if reading.fixes.is_empty() {
        return print_data(&format!("{}\n", text.trim_matches([' ', '\t', '\r', '\n'])));
    }
    print_data(&format!("{}\n", reading.value))
}
