//! Reads a schema file.

use std::path::Path;

use reknit_protocol::Value;
use reknit_salvage::{Schema, TextPosition};

use crate::output::{BadSchema, Excerpt, Failure, Input};

/// Reads a schema as strict JSON. A repaired schema might mean something else.
pub(crate) fn load(path: &Path) -> Result<Schema, Failure> {
    let failure = |excerpt, source| Failure::Schema { path: path.to_owned(), excerpt, source: Box::new(source) };
    let text = Input::File(path.to_owned()).read_text().map_err(|error| match error {
        Failure::TooLong { limit, .. } => failure(None, BadSchema::TooLong { limit }),
        Failure::NotUtf8 { source, .. } => failure(None, BadSchema::NotUtf8(source)),
        other => other,
    })?;
    let value = Value::parse(&text).map_err(|error| {
        let excerpt = Excerpt::of(&text, TextPosition::at_offset(&text, error.offset));
        failure(Some(excerpt), BadSchema::NotJson(error))
    })?;
    Schema::compile(&value).map_err(|error| failure(None, BadSchema::NotASchema(error)))
}
