//! Whether arguments fit their schema, and if not, what a caller can do about it.
//!
//! The schema comes from a Rust type, so only the words that such schemas use are known here: types, fields, lists,
//! references, alternatives, listed values and simple bounds. What else a type demands, serde says when it reads.

mod bounds;
mod misfit;
mod walk;

use reknit_protocol::{ToolError, Value};

use walk::Walk;

/// A few times what the largest body holds.
const MAX_COPIES: usize = 2_000_000;

/// Checks the arguments. Whole numbers that are spelt with a point (`5.0`) where the schema wants an integer are
/// respelt, because JSON Schema and serde disagree about them.
///
/// Returns the first thing that is wrong, with all of them under `details.problems` if there are several.
pub(crate) fn check(schema: &Value, arguments: &mut Value) -> Option<ToolError> {
    check_within(MAX_COPIES, schema, arguments)
}

fn check_within(copies: usize, schema: &Value, arguments: &mut Value) -> Option<ToolError> {
    let mut walk = Walk::new(schema, copies);
    walk.visit_root(arguments);
    misfit::report(schema, &walk.finish())
}

#[cfg(test)]
mod tests;
