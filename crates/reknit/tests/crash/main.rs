//! The real binary, killed with SIGKILL wherever its journal stands, and resumed.
#![cfg(test)]

mod positions;
mod world;
