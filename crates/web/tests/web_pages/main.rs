//! Pages of stored runs: what they show, and what hostile text can do to them.
#![cfg(test)]

mod compared_runs;
mod fleet_pages;
mod hostile_text;
mod large_runs;
mod pages;
mod stored_runs;
mod tags;
