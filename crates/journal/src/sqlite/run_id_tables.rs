//! The tables with which the id of a run outlives what it did. A text of its own: a new file and an older one get them in the same
//! way.

/// `run_requests` has the digest of the request of each run in `runs`, `pruned_runs` what is left of a run that was pruned. The
/// indexes find what is pruned: the runs that ended first, their rows, and blobs and business keys that nobody needs any more.
pub(crate) const RUN_ID_TABLES: &str = "
CREATE TABLE run_requests (
    run    INTEGER PRIMARY KEY,
    digest TEXT    NOT NULL
) STRICT;

CREATE TABLE pruned_runs (
    run       TEXT    NOT NULL PRIMARY KEY,
    request   TEXT,
    status    TEXT    NOT NULL,
    ended_ms  INTEGER NOT NULL,
    pruned_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX runs_ended ON runs (updated_ms, key) WHERE status IS NOT NULL;
CREATE INDEX inbox_by_run ON inbox (run);
CREATE INDEX event_blobs_by_digest ON event_blobs (digest);
CREATE INDEX business_keys_by_end ON business_keys (since_ms + window_ms);
";
