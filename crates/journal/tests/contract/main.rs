//! What every store promises, held by each of them: the file and the memory.

// The attribute tells clippy that the helpers of tests are tests too, and may panic.
#![cfg(test)]

mod appending;
mod blobs;
mod claims;
mod inboxes;
mod kit;
mod laws;
mod leases;
mod lessons;
mod snapshots;
mod views;
