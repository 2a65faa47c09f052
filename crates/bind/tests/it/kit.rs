//! What the tests have in common.

use std::collections::BTreeMap;

use reknit_bind::{Binding, Bound, Evaluated, Expression, Parameters, Reason, Source, Sources, Unbound, bind};
use reknit_protocol::{Object, StepId, Value};
use reknit_salvage::{Problem, Schema};

pub(crate) fn json(text: &str) -> Value {
    Value::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

pub(crate) fn object(text: &str) -> Object {
    json(text).as_object().unwrap_or_else(|| panic!("{text}: no object")).clone()
}

pub(crate) fn schema(text: &str) -> Schema {
    Schema::compile(&json(text)).unwrap_or_else(|error| panic!("{text}: {error}"))
}

pub(crate) fn ids(names: &[&str]) -> Vec<StepId> {
    names.iter().map(|name| StepId::from(*name)).collect()
}

/// Results of steps, and steps without one.
#[derive(Debug, Default)]
pub(crate) struct Results {
    ready: BTreeMap<StepId, Value>,
    failed: Vec<StepId>,
    skipped: Vec<StepId>,
    pending: Vec<StepId>,
}

impl Results {
    /// From an object whose keys are the ids.
    pub(crate) fn new(text: &str) -> Self {
        let ready = object(text).into_iter().map(|(id, body)| (StepId::from(id), body)).collect();
        Self { ready, ..Self::default() }
    }

    pub(crate) fn failed(mut self, step: &str) -> Self {
        self.failed.push(step.into());
        self
    }

    pub(crate) fn skipped(mut self, step: &str) -> Self {
        self.skipped.push(step.into());
        self
    }

    pub(crate) fn pending(mut self, step: &str) -> Self {
        self.pending.push(step.into());
        self
    }

    pub(crate) fn ids(&self) -> Vec<StepId> {
        let all = self.ready.keys().chain(&self.failed).chain(&self.skipped).chain(&self.pending);
        all.cloned().collect()
    }
}

impl Sources for Results {
    fn source(&self, step: &StepId) -> Source<'_> {
        if self.failed.contains(step) {
            return Source::Failed;
        }
        if self.skipped.contains(step) {
            return Source::Skipped;
        }
        if self.pending.contains(step) {
            return Source::Pending;
        }
        self.ready.source(step)
    }
}

pub(crate) fn evaluate(text: &str, results: &Results) -> Result<Evaluated, Reason> {
    let expression = Expression::parse(text, &results.ids()).unwrap_or_else(|error| panic!("{text}: {error}"));
    expression.evaluate(results)
}

/// The value of an expression as JSON, or what went wrong; rounded ones are marked with `~`.
pub(crate) fn shown(text: &str, results: &Results) -> String {
    match evaluate(text, results) {
        Ok(evaluated) if evaluated.exact == reknit_bind::Exactness::Inexact => format!("~{}", evaluated.value),
        Ok(evaluated) => evaluated.value.to_string(),
        Err(reason) => reason.to_string(),
    }
}

/// Binds parameters with all results to wire from.
pub(crate) fn bound_to(parameters: &str, results: &Results, schema: Option<&Schema>) -> Binding {
    let ids = results.ids();
    let parameters =
        Parameters::parse(&object(parameters), &ids).unwrap_or_else(|error| panic!("{parameters}: {error}"));
    bind(&parameters, results, &ids, schema)
}

pub(crate) fn bound(binding: Binding) -> Bound {
    match binding {
        Binding::Bound(bound) => bound,
        other => panic!("it should be bound: {other:?}"),
    }
}

pub(crate) fn unbound(binding: Binding) -> Vec<Unbound> {
    match binding {
        Binding::Unbound { unbound, .. } => unbound,
        other => panic!("it should be unbound: {other:?}"),
    }
}

pub(crate) fn misfit(binding: Binding) -> Vec<Problem> {
    match binding {
        Binding::Misfit { problems, .. } => problems,
        other => panic!("it should not fit: {other:?}"),
    }
}

/// The reasons as people read them.
pub(crate) fn reasons(unbound: &[Unbound]) -> String {
    unbound.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}
