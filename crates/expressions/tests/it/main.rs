//! Tests of `reknit-expressions` through its public API.

// The attribute tells clippy that the test helpers may panic.
#![cfg(test)]

mod abridge;
mod autowire;
mod bind;
mod coercions;
mod corrections;
mod errors;
mod explain_number;
mod expressions;
mod fill_missing;
mod functions;
mod generators;
mod limits;
mod lists_and_conditions;
mod parameter_mappings;
mod properties;
mod references;
mod references_in_plans;
mod regressions;
mod serialization;
mod support;
mod templates;
