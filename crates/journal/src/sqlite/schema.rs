//! The schema of the file.

/// The application id in the header of the file, which tells a journal from the file of another program: `RKJ1`.
pub(crate) const APPLICATION_ID: u32 = 0x524b_4a31;

/// The version of the tables below, in the header of the file. Increase it with every change of the tables, and add a step to
/// `migrate.rs`, which brings a file of the version before to this one.
pub(crate) const SCHEMA_VERSION: u32 = 6;

/// The tables. `events` and `due` are clustered by run: a run is read as a whole, and an append touches one page of each.
///
/// `chain` is the digest of the row and of the rows before it (`chain.rs`). The `seq` of a claim is how many events the run had.
///
/// The `digest` of a business key covers its other columns.
///
/// `event_blobs` says which blobs belong into the body of which event, each at a byte offset. Those of a run's ending have the
/// `seq` -1, those of its snapshot -2.
///
/// The `digest` of an ending and of a snapshot covers its text and the digest of the last event before it. `parked` says why a
/// run cannot be driven until a person decides.
///
/// `run_requests` has the digest of the request of each run, `pruned_runs` what is left of a pruned run: the id of a run outlives the
/// run. The indexes after them find what can be pruned. `counted` is the part of a run's cost that `spent` includes already.
pub(crate) const TABLES: &str = "
CREATE TABLE runs (
    key        INTEGER PRIMARY KEY,
    run        TEXT    NOT NULL UNIQUE,
    title      TEXT    NOT NULL,
    created_ms INTEGER NOT NULL,
    updated_ms INTEGER NOT NULL,
    status     TEXT,
    len        INTEGER NOT NULL,
    epoch      INTEGER NOT NULL,
    holder     TEXT,
    until_ms   INTEGER,
    parked     TEXT,
    owner      TEXT
) STRICT;
CREATE INDEX runs_by_time ON runs (created_ms, key);

CREATE TABLE events (
    run   INTEGER NOT NULL,
    seq   INTEGER NOT NULL,
    at_ms INTEGER NOT NULL,
    kind  TEXT    NOT NULL,
    body  TEXT    NOT NULL,
    chain BLOB    NOT NULL,
    PRIMARY KEY (run, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE due (
    run     INTEGER NOT NULL,
    seq     INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    effect  TEXT    NOT NULL,
    digest  TEXT    NOT NULL,
    PRIMARY KEY (run, seq, ordinal)
) STRICT, WITHOUT ROWID;

CREATE TABLE event_blobs (
    run     INTEGER NOT NULL,
    seq     INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    offset  INTEGER NOT NULL,
    digest  TEXT    NOT NULL,
    size    INTEGER NOT NULL,
    PRIMARY KEY (run, seq, ordinal)
) STRICT, WITHOUT ROWID;

CREATE TABLE blobs (
    digest TEXT NOT NULL PRIMARY KEY,
    body   TEXT NOT NULL
) STRICT;

CREATE TABLE claims (
    run    INTEGER NOT NULL,
    seq    INTEGER NOT NULL,
    effect TEXT    NOT NULL,
    epoch  INTEGER NOT NULL,
    chain  BLOB    NOT NULL,
    PRIMARY KEY (run, seq, effect)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX claims_by_effect ON claims (run, effect);

CREATE TABLE inbox (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    run      INTEGER NOT NULL,
    at_ms    INTEGER NOT NULL,
    kind     TEXT    NOT NULL,
    body     TEXT    NOT NULL,
    consumed INTEGER
) STRICT;
CREATE INDEX inbox_unread ON inbox (run, id) WHERE consumed IS NULL;

CREATE TABLE snapshots (
    run             INTEGER PRIMARY KEY,
    len             INTEGER NOT NULL,
    machine_version INTEGER NOT NULL,
    body            TEXT    NOT NULL,
    digest          BLOB
) STRICT;

CREATE TABLE endings (
    run    INTEGER PRIMARY KEY,
    body   TEXT    NOT NULL,
    digest BLOB    NOT NULL
) STRICT;

CREATE TABLE learned_mappings (
    producer    TEXT    NOT NULL,
    consumer    TEXT    NOT NULL,
    parameter   TEXT    NOT NULL,
    expression  TEXT    NOT NULL,
    at_ms       INTEGER NOT NULL,
    accepted_ms INTEGER,
    PRIMARY KEY (producer, consumer, parameter)
) STRICT, WITHOUT ROWID;

CREATE TABLE business_keys (
    key        TEXT    NOT NULL PRIMARY KEY,
    capability TEXT    NOT NULL,
    key_values TEXT    NOT NULL,
    window_ms  INTEGER NOT NULL,
    run        TEXT    NOT NULL,
    step       TEXT    NOT NULL,
    since_ms   INTEGER NOT NULL,
    receipt    TEXT,
    digest     TEXT    NOT NULL
) STRICT;

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

CREATE INDEX runs_by_owner ON runs (owner, created_ms, key) WHERE owner IS NOT NULL;

CREATE TABLE spending (
    account  TEXT    NOT NULL,
    month    TEXT    NOT NULL,
    spent    INTEGER NOT NULL,
    reserved INTEGER NOT NULL,
    PRIMARY KEY (account, month)
) STRICT, WITHOUT ROWID;

CREATE TABLE run_spending (
    run      INTEGER PRIMARY KEY,
    account  TEXT    NOT NULL,
    month    TEXT    NOT NULL,
    reserved INTEGER NOT NULL,
    counted  INTEGER NOT NULL
) STRICT;
";
