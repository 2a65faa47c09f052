//! A schema from a file.

use std::path::Path;

use reknit_protocol::Value;
use reknit_salvage::{Place, Schema};

use crate::excerpt::Excerpt;
use crate::failure::{BadSchema, Failure};
use crate::input::Input;

/// Reads a schema strictly: one that had to be mended might mean something else.
pub(crate) fn load(path: &Path) -> Result<Schema, Failure> {
    let failure = |excerpt, source| Failure::Schema { path: path.to_owned(), excerpt, source: Box::new(source) };
    let text = Input::File(path.to_owned()).read_text().map_err(|error| match error {
        Failure::TooLong { limit, .. } => failure(None, BadSchema::TooLong { limit }),
        Failure::NotText { source, .. } => failure(None, BadSchema::NotText(source)),
        other => other,
    })?;
    let value = Value::parse(&text).map_err(|error| {
        let excerpt = Excerpt::of(&text, Place::of(&text, error.offset));
        failure(Some(excerpt), BadSchema::NotJson(error))
    })?;
    Schema::compile(&value).map_err(|error| failure(None, BadSchema::NotASchema(error)))
}
