//! The commands about runs, as a person or a program uses them.
#![cfg(test)]

mod agents;
mod approval_rules;
mod approval_webhook;
mod approvals;
mod bad_usage;
mod callbacks;
mod configuration;
mod cost;
mod demo;
mod exit_status;
mod help;
mod interrupt;
mod jobs;
mod keys;
mod llm;
mod masks;
mod mcp;
mod models;
mod pins;
mod plan_check;
mod plans;
mod resume;
mod rules;
mod runs;
mod session_scenarios;
mod settings;
mod sign_in;
mod sign_in_server;
mod telemetry;
mod terminal;
mod tools;
mod trust;
mod unread_output;
mod untrusted;
mod world;
