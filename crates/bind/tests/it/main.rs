//! Binding, through the public API.

// The attribute tells clippy that the helpers of tests are tests too, and may panic.
#![cfg(test)]

mod any;
mod binding;
mod coercions;
mod corrections;
mod defects;
mod errors;
mod explanations;
mod expressions;
mod functions;
mod kit;
mod laws;
mod limits;
mod mappings;
mod projections;
mod references;
mod serial;
mod substitutions;
mod supplies;
mod templates;
mod wiring;
