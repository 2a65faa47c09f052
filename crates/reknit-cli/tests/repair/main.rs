//! `reknit repair`, `reknit eval` and the usage of the program.
#![cfg(test)]

mod eval;
mod explain;
mod jsonl;
mod pipes;
mod run;
mod schema;
mod text;
mod usage;
