//! Binds the parameters of a step to earlier results.

pub(crate) mod autowire;
pub(crate) mod related_names;
pub(crate) mod unfitted_parameters;

use reknit_protocol::{Object, StepId};
use reknit_salvage::{FitProblem, Schema};
use serde::{Deserialize, Serialize};

use crate::bind::autowire::autowire;
use crate::bind::unfitted_parameters::UnfittedParameters;
use crate::resolve::Resolver;
use crate::{Parameters, Provenance, StepResults, UnboundParameter, ValueChange};

/// The outcome of [`bind`].
#[derive(Debug, Clone, PartialEq)]
pub enum Binding {
    /// Every parameter has a value, and together they fit the schema.
    Bound(BoundParameters),
    /// Some parameters have no value, so the call must not be sent.
    Unbound {
        /// The parameters that have a value, not fitted to the schema.
        partial: BoundParameters,
        /// The parameters without a value, at least one.
        unbound: Vec<UnboundParameter>,
    },
    /// Every parameter has a value, but together they do not fit the schema: the tool would reject them.
    Misfit {
        /// The parameters, not fitted to the schema.
        bound: BoundParameters,
        problems: Vec<FitProblem>,
    },
}

/// Parameters with their provenance.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct BoundParameters {
    #[serde(with = "reknit_protocol::exact")]
    pub parameters: Object,
    /// The provenance of each top-level parameter, in order.
    pub provenance: Vec<(String, Provenance)>,
    pub changes: Vec<ValueChange>,
}

impl BoundParameters {
    pub fn provenance_of(&self, parameter: &str) -> Option<&Provenance> {
        self.provenance.iter().find(|(name, _)| name == parameter).map(|(_, provenance)| provenance)
    }
}

/// Resolves the parameters of a step and fits them to the schema of the tool.
///
/// A required parameter that the plan omits is wired from the results of `wire_from` if exactly one value of that name
/// fits the schema. `wire_from` should be the steps that this step depends on. An optional parameter is never wired: that
/// a result has a field of its name does not mean that the plan wants it. Parameters that the plan sets are never overridden.
pub fn bind(
    parameters: &Parameters,
    results: &dyn StepResults,
    wire_from: &[StepId],
    schema: Option<&Schema>,
) -> Binding {
    let mut resolver = Resolver::new(results);
    let mut unfitted = UnfittedParameters::resolve(&parameters.entries, &mut resolver);
    if let Some(schema) = schema {
        unfitted.decide_by_schema(&mut resolver, schema);
        autowire(&mut unfitted, parameters, results, wire_from, schema);
    }
    unfitted.changes.splice(0..0, resolver.changes);
    let unbound = std::mem::take(&mut unfitted.unbound);
    if !unbound.is_empty() {
        return Binding::Unbound { partial: unfitted.into_bound(), unbound };
    }
    let Some(schema) = schema else { return Binding::Bound(unfitted.into_bound()) };
    match unfitted.fit(schema) {
        Ok(bound) => Binding::Bound(bound),
        Err((bound, problems)) => Binding::Misfit { bound, problems },
    }
}
