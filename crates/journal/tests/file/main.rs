//! Guarantees of a journal in a file: concurrent processes, crashes, damage, full disks, permissions.

// With this attribute clippy treats helpers as test code, which may panic.
#![cfg(test)]

mod child_process;
mod crashes;
mod damage;
mod full_disk;
mod permissions;
mod processes;
mod refused_files;
mod shrinking;
mod support;
