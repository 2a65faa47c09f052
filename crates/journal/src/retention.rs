//! Which ended runs a journal keeps, and what pruning removes.

use reknit_protocol::RunId;

/// Which ended runs are kept. A run is pruned as soon as one of the limits says so, the one that ended first before the others.
///
/// Only runs that have ended are pruned: never one that is driven, waits, or is parked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Retention {
    /// For how long after its end a run is kept, in milliseconds; `None` for ever.
    pub max_age_ms: Option<u64>,
    /// How many ended runs are kept; `None` for all.
    pub max_runs: Option<u64>,
    /// How many bytes of the file may be in use before ended runs are pruned; `None` for any number.
    pub max_bytes: Option<u64>,
}

/// What pruning removed, or would remove.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Pruned {
    /// Runs, with their events, claims, messages and snapshots.
    pub runs: u64,
    /// Long values that no other run has.
    pub blobs: u64,
    /// Business keys whose window ended more than a day ago.
    pub keys: u64,
}

/// What [`Journal::prune`](crate::Journal::prune) would do now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PrunePreview {
    /// How many runs have ended, and can be pruned.
    pub ended: u64,
    /// How many of them would be pruned because of their age or their number.
    pub by_age_or_number: u64,
    /// About how many more would be pruned because of the size of the file.
    pub by_size: u64,
    pub size: StoreSize,
}

/// The size of a journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StoreSize {
    /// The bytes that are in use; 0 for a journal in memory.
    pub used_bytes: u64,
    /// The bytes of the file that are not in use.
    pub free_bytes: u64,
}

/// A run that was pruned or deleted. Its id is never used again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrunedRun {
    pub run: RunId,
    /// The digest of its request; `None` if the version that created the run did not store one.
    pub request: Option<String>,
    /// The status with which it ended; `unfinished` if it was deleted before.
    pub status: String,
    /// When it ended, in milliseconds since 1970.
    pub ended_ms: i64,
    pub pruned_ms: i64,
}

/// The place of an ended run in the order in which runs are pruned: when it ended, and its key.
pub(crate) type EndOrder = (i64, i64);

/// Which runs a pass prunes. It is computed once, so that the runs that end meanwhile do not matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct PruneLimit {
    /// Runs up to this one are pruned.
    pub(crate) up_to: Option<EndOrder>,
    /// Others are pruned while more bytes are in use.
    pub(crate) max_bytes: Option<u64>,
}

/// What one batch did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PruneBatch {
    pub(crate) runs: u64,
    pub(crate) blobs: u64,
    /// Whether nothing is left to prune.
    pub(crate) is_last: bool,
}
