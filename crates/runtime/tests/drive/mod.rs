//! Drives runs and sessions against real servers on loopback, with a real journal and a clock that the tests advance.
//!
//! A part of the unit tests, because the second driver uses parts of the first one.

mod agent_steps;
mod breakers;
mod business_keys;
mod cancellation;
mod claims;
mod clocks;
mod demo;
mod driver_faults;
mod fixture;
mod forks;
mod functions;
mod gate_replay;
mod golden;
mod learned_mappings;
mod leases;
mod many_steps;
mod operations;
mod panics;
mod remote;
mod replay_mismatch;
mod requests;
mod run_ids;
mod segmented_driver;
mod session_files;
mod sessions;
mod step_order;
mod telemetry;
mod upgrades;
mod watchers;
