//! Recorded tests, their assertions, and faults at every step.
#![cfg(test)]

mod agents;
mod examples;
mod files;
mod nested_agents;
mod regressions;
#[path = "../../../runtime/tests/example_plans/services.rs"]
mod services;
