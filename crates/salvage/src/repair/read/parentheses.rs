//! Parentheses: tuples, and single values in parentheses.

use reknit_protocol::Value;

use super::parser::Parser;
use crate::fix::FixKind;

impl Parser<'_> {
    /// Whether the parenthesis here opens a tuple that is the whole text, and not a remark: `(1, 2)`, but not `(see below)`.
    pub(super) fn is_whole_tuple(&self) -> bool {
        let inside = self.rest().trim_start_matches(['(', ' ', '\t', '\n', '\r']);
        let at = self.text.len() - inside.len();
        self.text.trim_end().ends_with(')') && self.starts_value(at)
    }

    /// The value of closed parentheses: an array, or the only item if no comma follows it.
    pub(super) fn close_parentheses(&mut self, mut items: Vec<Value>) -> Value {
        let inside = self.text.get(..self.pos).unwrap_or_default().trim_end_matches([')', ' ', '\t', '\n', '\r']);
        if items.len() == 1
            && !inside.ends_with(',')
            && let Some(only) = items.pop()
        {
            self.record(FixKind::Parentheses, "(", "");
            return only;
        }
        self.record(FixKind::Tuple, "(", "[");
        Value::Array(items)
    }
}
