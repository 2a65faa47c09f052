//! Pages of stored runs: what they show, and what hostile text can do to them.
#![cfg(test)]

mod hostile_text;
mod large_runs;
mod pages;
mod stored_runs;
mod tags;
