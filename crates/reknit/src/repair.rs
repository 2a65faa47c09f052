//! `reknit repair`.

use std::io::{self, BufReader, Write};

use reknit_salvage::{Place, ReadError, ReadOptions, Reading, Schema, read, read_as};

use crate::cli::RepairArguments;
use crate::excerpt::Excerpt;
use crate::explain;
use crate::failure::Failure;
use crate::input::Input;
use crate::jsonl;
use crate::schema_file;

pub(crate) fn run(arguments: &RepairArguments) -> Result<(), Failure> {
    let input = Input::new(arguments.file.as_deref());
    let schema = arguments.schema.as_deref().map(schema_file::load).transpose()?;
    if arguments.jsonl {
        let lines = BufReader::new(input.open()?);
        return jsonl::run(lines, &mut io::stdout().lock(), schema).map_err(|failure| failure.into_failure(input));
    }
    let text = input.read_text()?;
    let reading = read_text(&text, schema.as_ref()).map_err(|source| {
        let excerpt = place(&source).map(|place| Excerpt::of(&text, place));
        Failure::Read { input, excerpt, source: Box::new(source) }
    })?;
    print(&text, &reading).map_err(Failure::Write)?;
    let mut remarks = explain::caveats(&reading);
    if arguments.explain {
        remarks.insert_str(0, &explain::fixes(&reading.fixes));
    }
    // The answer is out; that its remarks cannot be seen does not take it back.
    let _ = io::stderr().write_all(remarks.as_bytes());
    Ok(())
}

/// Reads with or without a schema.
pub(crate) fn read_text(text: &str, schema: Option<&Schema>) -> Result<Reading, ReadError> {
    match schema {
        Some(schema) => read_as(text, schema),
        None => read(text, &ReadOptions::default()),
    }
}

/// Where the text is at fault, if that is one place.
pub(crate) fn place(error: &ReadError) -> Option<Place> {
    match error {
        ReadError::Unreadable { place, .. } | ReadError::TooDeep { place, .. } => Some(*place),
        ReadError::Empty { .. } | ReadError::Ambiguous { .. } | ReadError::Misfit(_) | ReadError::TooLarge { .. } => {
            None
        }
    }
}

/// Prints what was read: the text itself if nothing had to be mended, for not even a space of it may change then.
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
