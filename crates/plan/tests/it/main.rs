//! Plans of models and of people, from their text to the calls that they make.

// The attribute tells clippy that the test helpers may panic.
#![cfg(test)]

mod emphasis;
mod graph;
mod notes;
mod plan_files;
mod plan_schemas;
mod support;
mod tool_names;
mod unbraced_references;
mod values;
