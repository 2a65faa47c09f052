//! The JSON shapes in which frameworks write their errors, one file each. A body of another shape states no facts.

mod cloud;
mod django;
mod envelope;
mod graphql;
mod json_api;
mod problem;
mod pydantic;
mod rails;
mod spring;
mod validator;

use reknit_protocol::Value;

use super::Fact;

/// The readers of all dialects.
pub(crate) const DIALECTS: [fn(&Value) -> Vec<Fact>; 10] = [
    envelope::facts,
    problem::facts,
    json_api::facts,
    pydantic::facts,
    spring::facts,
    rails::facts,
    django::facts,
    graphql::facts,
    validator::facts,
    cloud::facts,
];
