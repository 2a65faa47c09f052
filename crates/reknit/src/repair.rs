//! `reknit repair`: reads JSON from a model's answer.

mod jsonl;

use std::io::{self, BufReader, Write};

use reknit_salvage::{ReadOptions, ReadTextError, Reading, Schema, TextPosition, read, read_as};

use crate::cli::RepairArguments;
use crate::excerpt::Excerpt;
use crate::explain;
use crate::failure::Failure;
use crate::input::Input;
use crate::schema_file;

pub(crate) fn run(arguments: &RepairArguments) -> Result<(), Failure> {
    let input = Input::new(arguments.file.as_deref());
    let schema = arguments.schema.as_deref().map(schema_file::load).transpose()?;
    if arguments.jsonl {
        let lines = BufReader::new(input.open()?);
        return jsonl::run(lines, &mut io::stdout().lock(), schema).map_err(|error| error.into_failure(input));
    }
    let text = input.read_text()?;
    let reading = read_text(&text, schema.as_ref()).map_err(|source| {
        let excerpt = error_position(&source).map(|position| Excerpt::of(&text, position));
        Failure::Read { input, excerpt, source: Box::new(source) }
    })?;
    print(&text, &reading).map_err(Failure::Write)?;
    let mut messages = explain::warnings(&reading);
    if arguments.explain {
        messages.insert_str(0, &explain::fixes(&reading.fixes));
    }
    // The value is printed already, so a closed standard error is not a failure.
    let _ = io::stderr().write_all(messages.as_bytes());
    Ok(())
}

/// Reads with or without a schema.
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
        ReadTextError::Empty { .. }
        | ReadTextError::Ambiguous { .. }
        | ReadTextError::DoesNotFit(_)
        | ReadTextError::TooLarge { .. } => None,
    }
}

/// Prints the value, or the text itself without any change if it needed no fix.
fn print(text: &str, reading: &Reading) -> io::Result<()> {
    let mut output = io::stdout().lock();
    if reading.fixes.is_empty() {
        output.write_all(text.trim_matches([' ', '\t', '\r', '\n']).as_bytes())?;
        output.write_all(b"\n")?;
    } else {
        writeln!(output, "{}", reading.value)?;
    }
    output.flush()
}
