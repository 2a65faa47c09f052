//! The contract of a journal, tested on both stores: the file and memory.

// With this attribute clippy treats helpers as test code, which may panic.
#![cfg(test)]

mod append;
mod blobs;
mod business_keys;
mod claims;
mod endings;
mod inboxes;
mod learned_mappings;
mod leases;
mod retention;
mod run_lists;
mod snapshots;
mod spending;
mod store_equivalence;
mod support;
