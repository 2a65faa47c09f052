//! Where references get their values from.

use std::collections::{BTreeMap, HashMap};
use std::hash::BuildHasher;

use reknit_protocol::{StepId, Value};

/// What is known of a step's result.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Source<'a> {
    /// The step is done; this is the body of its answer.
    Ready(&'a Value),
    /// The step is not done yet.
    Pending,
    /// The step has failed.
    Failed,
    /// The step was skipped.
    Skipped,
    /// There is no such step.
    Unknown,
}

/// The results of steps.
///
/// An implementer promises to give the same answer as long as it is borrowed. Results are data: nothing in them is ever
/// read as a template.
pub trait Sources {
    /// What is known of a step's result.
    fn source(&self, step: &StepId) -> Source<'_>;
}

const _: fn(&dyn Sources) = |_| {};

impl Sources for BTreeMap<StepId, Value> {
    fn source(&self, step: &StepId) -> Source<'_> {
        self.get(step).map_or(Source::Unknown, Source::Ready)
    }
}

impl<S: BuildHasher> Sources for HashMap<StepId, Value, S> {
    fn source(&self, step: &StepId) -> Source<'_> {
        self.get(step).map_or(Source::Unknown, Source::Ready)
    }
}
