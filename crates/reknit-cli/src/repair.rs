//! `reknit repair`: reads JSON from a model's answer.

mod jsonl;

use reknit_salvage::{Fix, FixKind, ReadOptions, ReadTextError, Reading, Schema, TextPosition, read, read_as};

use crate::cli::RepairArguments;
use crate::excerpt::Excerpt;
use crate::explain;
use crate::failure::Failure;
use crate::input::Input;
use crate::print::{print_data, print_message};
use crate::schema_file;

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
