//! Helpers for the tests.

use std::collections::BTreeMap;

use reknit_expressions::{
    Binding, BoundParameters, Evaluation, Expression, Parameters, StepResult, StepResults, UnboundParameter,
    UnboundReason, bind,
};
use reknit_protocol::{Object, StepId, Value};
use reknit_salvage::{FitProblem, Schema};

pub(crate) fn json(text: &str) -> Value {
    Value::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

pub(crate) fn object(text: &str) -> Object {
    json(text).as_object().unwrap_or_else(|| panic!("{text} is not an object")).clone()
}

pub(crate) fn schema(text: &str) -> Schema {
    Schema::compile(&json(text)).unwrap_or_else(|error| panic!("{text}: {error}"))
}

pub(crate) fn ids(names: &[&str]) -> Vec<StepId> {
    names.iter().map(|name| StepId::from(*name)).collect()
}

/// Step results, and steps without a result.
#[derive(Debug, Default)]
pub(crate) struct Results {
    ready: BTreeMap<StepId, Value>,
    announced: BTreeMap<StepId, Value>,
    failed: Vec<StepId>,
    skipped: Vec<StepId>,
    pending: Vec<StepId>,
}

impl Results {
    /// Creates results from an object with the bodies by step id.
    pub(crate) fn new(text: &str) -> Self {
        let ready = object(text).into_iter().map(|(id, body)| (StepId::from(id), body)).collect();
        Self { ready, ..Self::default() }
    }

    /// Announces a schema for the result of a step.
    pub(crate) fn announce(mut self, step: &str, schema: &str) -> Self {
        self.announced.insert(step.into(), json(schema));
        self
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

impl StepResults for Results {
    fn result_of(&self, step: &StepId) -> StepResult<'_> {
        if self.failed.contains(step) {
            return StepResult::Failed;
        }
        if self.skipped.contains(step) {
            return StepResult::Skipped;
        }
        if self.pending.contains(step) {
            return StepResult::Pending;
        }
        self.ready.result_of(step)
    }

    fn announced(&self, step: &StepId) -> Option<&Value> {
        self.announced.get(step)
    }
}

pub(crate) fn evaluate(text: &str, results: &Results) -> Result<Evaluation, UnboundReason> {
    let expression = Expression::parse(text, &results.ids()).unwrap_or_else(|error| panic!("{text}: {error}"));
    expression.evaluate(results)
}

/// The value of an expression as JSON, marked with `~` if it was rounded, or the reason why it has none.
pub(crate) fn evaluate_to_text(text: &str, results: &Results) -> String {
    match evaluate(text, results) {
        Ok(evaluation) if evaluation.exact == reknit_expressions::Exactness::Inexact => {
            format!("~{}", evaluation.value)
        }
        Ok(evaluation) => evaluation.value.to_string(),
        Err(reason) => reason.to_string(),
    }
}

/// Binds the parameters of a JSON object. All results may be wired from.
pub(crate) fn bind_json(parameters: &str, results: &Results, schema: Option<&Schema>) -> Binding {
    let ids = results.ids();
    let parameters =
        Parameters::parse(&object(parameters), &ids).unwrap_or_else(|error| panic!("{parameters}: {error}"));
    bind(&parameters, results, &ids, schema)
}

pub(crate) fn bound(binding: Binding) -> BoundParameters {
    match binding {
        Binding::Bound(bound) => bound,
        other => panic!("expected bound parameters, found {other:?}"),
    }
}

pub(crate) fn unbound(binding: Binding) -> Vec<UnboundParameter> {
    match binding {
        Binding::Unbound { unbound, .. } => unbound,
        other => panic!("expected unbound parameters, found {other:?}"),
    }
}

pub(crate) fn misfit(binding: Binding) -> Vec<FitProblem> {
    match binding {
        Binding::Misfit { problems, .. } => problems,
        other => panic!("expected a misfit, found {other:?}"),
    }
}

/// The messages of the reasons, one per line.
pub(crate) fn reasons(unbound: &[UnboundParameter]) -> String {
    unbound.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}
