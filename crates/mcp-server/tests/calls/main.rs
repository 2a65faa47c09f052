//! Calls of an MCP client over a real connection, to tools that are real servers on this machine.
#![cfg(test)]

mod agents;
mod approvals;
mod arguments_and_results;
mod connection;
mod hostile_results;
mod offering;
mod owners;
