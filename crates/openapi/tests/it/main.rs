//! Documents in, operations and requests out.

// The attribute tells clippy that the test helpers may panic.
#![cfg(test)]

mod bodies;
mod decoder;
mod files;
mod laws;
mod operations;
mod render;
mod schemas;
mod support;
mod swagger;
mod text;
