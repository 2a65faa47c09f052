//! How much a calculation may do.

use reknit_protocol::Value;

use super::{Halt, Outcome};
use crate::Fault;

/// Units of work: parts evaluated, items visited, bytes of text made. More than any honest calculation needs, and done
/// in well under a second.
const LIMIT: usize = 4_000_000;

/// What is left of the work that is allowed.
#[derive(Debug)]
pub(crate) struct Work {
    left: usize,
}

impl Work {
    pub(crate) fn new() -> Self {
        Self { left: LIMIT }
    }

    pub(crate) fn spend(&mut self, units: usize) -> Outcome<()> {
        self.left = self.left.checked_sub(units).ok_or(Halt::Fault(Fault::TooMuchWork))?;
        Ok(())
    }

    /// Copies a value.
    pub(crate) fn copy(&mut self, value: &Value) -> Outcome<Value> {
        self.weigh(value)?;
        Ok(value.clone())
    }

    fn weigh(&mut self, value: &Value) -> Outcome<()> {
        self.spend(1)?;
        match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
            Value::String(text) => self.spend(text.len()),
            Value::Array(items) => items.iter().try_for_each(|item| self.weigh(item)),
            Value::Object(object) => object.iter().try_for_each(|(key, value)| {
                self.spend(1 + key.len())?;
                self.weigh(value)
            }),
        }
    }
}
