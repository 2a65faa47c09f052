//! From a step's parameters and the results so far to what is sent.

use reknit_protocol::{Object, StepId};
use reknit_salvage::{Problem, Schema};
use serde::{Deserialize, Serialize};

use crate::draft::Draft;
use crate::resolve::Resolver;
use crate::{Parameters, Provenance, Sources, Unbound, wire};

/// How binding went.
#[derive(Debug, Clone, PartialEq)]
pub enum Binding {
    /// Every parameter has its value, and the whole fits the schema.
    Bound(Bound),
    /// Some parameters have no value. Nothing may be sent.
    Unbound {
        /// Those that have one, not fitted to the schema.
        partial: Bound,
        /// Those that have none, at least one.
        unbound: Vec<Unbound>,
    },
    /// Every parameter has its value, but the whole does not fit the schema: the tool would reject it.
    Misfit {
        /// The parameters as they are.
        bound: Bound,
        /// What is wrong with them, at least one thing.
        problems: Vec<Problem>,
    },
}

/// Parameters with where each of them comes from.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Bound {
    /// The parameters.
    #[serde(with = "reknit_protocol::exact")]
    pub parameters: Object,
    /// Where each comes from, by its name at the top level, in order.
    pub provenance: Vec<(String, Provenance)>,
    /// What was changed on the way.
    pub changes: Vec<crate::Change>,
}

impl Bound {
    /// Where a parameter comes from.
    pub fn origin(&self, parameter: &str) -> Option<&Provenance> {
        self.provenance.iter().find(|(name, _)| name == parameter).map(|(_, provenance)| provenance)
    }
}

/// Resolves the parameters of a step, fits them to the schema of the tool, and says where each comes from.
///
/// A required parameter that the plan left out is wired from the results of `wire_from`, which should be the steps this
/// one depends on, if exactly one of them has a value of that name which fits; an optional one if the name is exactly
/// the same. What the plan says is never overridden.
///
/// ```
/// use std::collections::BTreeMap;
/// use reknit_bind::{Binding, Parameters, Provenance, bind};
/// use reknit_protocol::{StepId, Value};
/// use reknit_salvage::Schema;
///
/// let ids: [StepId; 1] = ["geocode".into()];
/// let results = BTreeMap::from([(ids[0].clone(), Value::parse(r#"{"data": {"lat": "35.6897", "lon": 139.6922}}"#)?)]);
/// let schema = Schema::compile(&Value::parse(
///     r#"{"type": "object", "required": ["lat", "lon"], "properties": {"lat": {"type": "number"}, "lon": {"type": "number"}}}"#,
/// )?)?;
/// let plan = Value::parse(r#"{"lat": "{{geocode.response.lat}}"}"#)?;
/// let parameters = Parameters::parse(plan.as_object().expect("it is one"), &ids)?;
///
/// let Binding::Bound(bound) = bind(&parameters, &results, &ids, Some(&schema)) else { panic!("it binds") };
/// assert_eq!(bound.parameters.to_string(), r#"{"lat":35.6897,"lon":139.6922}"#);
/// assert!(matches!(bound.origin("lat"), Some(Provenance::Reference { .. })));
/// assert!(matches!(bound.origin("lon"), Some(Provenance::Wired { .. })));
/// assert_eq!(bound.changes[0].kind, "number_in_string");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn bind(parameters: &Parameters, sources: &dyn Sources, wire_from: &[StepId], schema: Option<&Schema>) -> Binding {
    bind_with(parameters, sources, wire_from, schema, Optional::Wired)
}

/// What becomes of optional parameters that the plan left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Optional {
    /// They are wired where a result has a value of that very name.
    Wired,
    /// They stay out. An order with a price that nobody asked for is another order.
    Left,
}

/// The same, with a word on optional parameters.
pub(crate) fn bind_with(
    parameters: &Parameters,
    sources: &dyn Sources,
    wire_from: &[StepId],
    schema: Option<&Schema>,
    optional: Optional,
) -> Binding {
    let mut resolver = Resolver::new(sources);
    let mut draft = Draft::resolve(&parameters.entries, &mut resolver);
    if let Some(schema) = schema {
        draft.settle(&mut resolver, schema);
        wire::wire(&mut draft, parameters, sources, wire_from, schema, optional);
    }
    draft.changes.splice(0..0, resolver.changes);
    let unbound = std::mem::take(&mut draft.unbound);
    if !unbound.is_empty() {
        return Binding::Unbound { partial: draft.into_bound(), unbound };
    }
    let Some(schema) = schema else { return Binding::Bound(draft.into_bound()) };
    match draft.fit(schema) {
        Ok(bound) => Binding::Bound(bound),
        Err((bound, problems)) => Binding::Misfit { bound, problems },
    }
}
