//! `reknit repair` and its neighbours, as a person or a program runs them.
#![cfg(test)]

mod eval;
mod explain;
mod jsonl;
mod pipes;
mod run;
mod schema;
mod text;
mod usage;
