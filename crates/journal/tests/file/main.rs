//! What a journal in a file promises beyond every store: other processes, crashes, damage, full disks.

// The attribute tells clippy that the helpers of tests are tests too, and may panic.
#![cfg(test)]

mod child;
mod crashes;
mod damage;
mod full;
mod kinds;
mod kit;
mod private;
mod processes;
