//! Fitting values to schemas, through the public API.

// The attribute tells clippy that the helpers of tests are tests too, and may panic.
#![cfg(test)]

mod bounds;
mod containers;
mod keys;
mod kit;
mod laws;
mod misfits;
mod scalars;
mod schemas;
mod unions;
