//! Writing unambiguous dates as `format` asks for, in a value that fits.

use reknit_protocol::{Path, Value};

use crate::FixKind;
use crate::fix::FixList;
use crate::schema::{Formats, Schema, has_format, in_format, visit_formatted_texts, with_large_stack};

/// Writes each unambiguous date as the schema asks for and records it, if formats guide fitting. Texts that cannot be written
/// so stay as they are.
pub(super) fn rewrite_dates(value: &mut Value, schema: &Schema, fixes: &mut FixList) {
    if schema.formats() != Formats::Guide || !schema.states_formats() {
        return;
    }
    let changes = with_large_stack(schema.needs_large_stack(value), || find_changes(value, schema));
    for (path, written) in changes {
        if let Some(place) = value.at_mut(&path) {
            fixes.push(|| path.clone(), FixKind::DateSpelling, &place.to_string(), written.to_string());
            *place = written;
        }
    }
}

fn find_changes(value: &Value, schema: &Schema) -> Vec<(Path, Value)> {
    let mut changes: Vec<(Path, Value)> = Vec::new();
    visit_formatted_texts(schema, value, &mut |path, text, shape| {
        let format = shape.format.as_deref().unwrap_or_default();
        let written = || in_format(text.as_str()?, format).map(Value::from);
        if !has_format(text, format)
            && let Some(written) = written()
            && has_format(&written, format)
            && schema.accepts(shape, &written)
        {
            changes.push((path.clone(), written));
        }
    });
    changes
}
