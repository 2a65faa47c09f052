//! Everything about runs that can be typed, as a person or a program sees it.
#![cfg(test)]

mod agents;
mod configuration;
mod demo;
mod endings;
mod help;
mod interrupt;
mod llm;
mod masks;
mod models;
mod money;
mod people;
mod plan_check;
mod plans;
mod resuming;
mod runs;
mod settings;
mod slips;
mod telemetry;
mod terminal;
mod tools;
mod untrusted;
mod world;
