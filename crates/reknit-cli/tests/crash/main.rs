//! Runs of the real binary that are killed with SIGKILL and resumed, that other processes read, cancel or try to drive, and
//! whose journal cannot be written or has lost its tail.
#![cfg(test)]

mod agent_steps;
mod business_keys;
mod controls;
mod disk;
mod moments;
mod other_processes;
mod positions;
mod retention;
mod retry;
mod run_ids;
mod sessions;
mod tail;
mod two_drivers;
mod world;
