//! Fitting values to schemas, through the public API.

// Without the attribute, clippy would not let helper functions panic.
#![cfg(test)]

mod calls;
mod complexity;
mod containers;
mod formats;
mod keys;
mod kinds;
mod laws;
mod limits;
mod problems;
mod scalars;
mod schemas;
mod second_validator;
mod support;
mod unions;
