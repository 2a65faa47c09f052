//! The tables for the owners of runs, which version 6 added.

/// What owners spend. `counted` is the part of the cost of a run that `spent` has already.
pub(crate) const OWNER_TABLES: &str = "
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
