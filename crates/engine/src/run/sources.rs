//! The results of steps, as binding and models see them.

use reknit_bind::{Source, Sources};
use reknit_protocol::{Object, StepId, Value};

use super::state::{Stage, StepRun};
use crate::plan::Planned;

/// The most of one result that a model is shown, in bytes of its text.
const SHOWN: usize = 8_192;

/// The steps of a run as places where values come from.
pub(super) struct Results<'a> {
    pub(super) plan: &'a [Planned],
    pub(super) steps: &'a [StepRun],
}

impl Sources for Results<'_> {
    fn source(&self, step: &StepId) -> Source<'_> {
        let index = self.plan.iter().position(|planned| planned.id == *step);
        match index.and_then(|index| self.steps.get(index)).map(|step| &step.stage) {
            None => Source::Unknown,
            Some(Stage::Done(value)) => Source::Ready(value),
            Some(Stage::Failed { .. }) => Source::Failed,
            Some(Stage::Skipped { .. }) => Source::Skipped,
            Some(_) => Source::Pending,
        }
    }
}

impl Results<'_> {
    /// The results there are, by step, each cut to what a model can read.
    pub(super) fn shown(&self) -> String {
        let mut object = Object::new();
        for (planned, step) in self.plan.iter().zip(self.steps) {
            if let Stage::Done(value) = &step.stage {
                object.insert(planned.id.as_str(), bounded(value, SHOWN));
            }
        }
        Value::Object(object).to_pretty()
    }
}

/// The value, or the beginning of its text if it is too long.
pub(super) fn bounded(value: &Value, limit: usize) -> Value {
    let text = value.to_string();
    match text.get(..text.floor_char_boundary(limit)) {
        Some(start) if start.len() < text.len() => Value::from(format!("{start}… ({} bytes in all)", text.len())),
        _ => value.clone(),
    }
}
