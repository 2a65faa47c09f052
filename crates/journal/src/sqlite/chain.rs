//! The chain of digests over the events and claims of a run. It shows that a row was changed, lost or exchanged: `SQLite` checks
//! no page of the file, and no frame of the log while another process has it open.
//!
//! The digest of an event covers the digest of the event before it, its own content, and the claims that were made since that
//! event. The digest of a claim covers the digest of the last event before it.

use reknit_protocol::Sha256;

use crate::error::storage::{StoreFailure, StoreResult};

/// A digest in a row.
pub(crate) type RowDigest = [u8; 32];

/// The digest before the first event.
pub(crate) const START: RowDigest = [0; 32];

/// Collects the content of a row. Lengths keep apart what would otherwise run together.
#[derive(Clone)]
pub(crate) struct ChainLink(Sha256);

impl ChainLink {
    pub(crate) fn after(previous: &RowDigest) -> Self {
        let mut digest = Sha256::new();
        digest.update(previous);
        Self(digest)
    }

    pub(crate) fn number(&mut self, number: u64) {
        self.0.update(number.to_le_bytes());
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.update(bytes);
    }

    pub(crate) fn digest(self) -> RowDigest {
        self.0.finish()
    }
}

/// The parts of an event that its digest covers.
pub(crate) struct EventContent<'a> {
    pub(crate) at_ms: i64,
    pub(crate) kind: &'a str,
    pub(crate) body: &'a str,
    /// The effect and the digest of each effect that became due.
    pub(crate) due: &'a [(&'a str, &'a str)],
    /// The offset and the digest of each blob.
    pub(crate) blobs: &'a [(u64, &'a str)],
    /// The digests of the claims since the event before, sorted.
    pub(crate) claims: &'a [RowDigest],
}

pub(crate) fn event_digest(previous: &RowDigest, event: &EventContent<'_>) -> RowDigest {
    let mut link = ChainLink::after(previous);
    link.bytes(&event.at_ms.to_le_bytes());
    link.bytes(event.kind.as_bytes());
    link.bytes(event.body.as_bytes());
    link.number(event.due.len() as u64);
    for (effect, digest) in event.due {
        link.bytes(effect.as_bytes());
        link.bytes(digest.as_bytes());
    }
    link.number(event.blobs.len() as u64);
    for (offset, digest) in event.blobs {
        link.number(*offset);
        link.bytes(digest.as_bytes());
    }
    for claim in event.claims {
        link.bytes(claim);
    }
    link.digest()
}

pub(crate) fn claim_digest(previous: &RowDigest, effect: &str, epoch: u64) -> RowDigest {
    let mut link = ChainLink::after(previous);
    link.bytes(effect.as_bytes());
    link.number(epoch);
    link.digest()
}

/// The digest of an ending or a snapshot, after the event that it follows. `blobs` are the offset and the digest of each.
pub(crate) fn text_digest<'a>(
    previous: &RowDigest,
    rest: &str,
    blobs: impl Iterator<Item = (usize, &'a str)>,
) -> RowDigest {
    let mut link = ChainLink::after(previous);
    link.bytes(rest.as_bytes());
    for (offset, digest) in blobs {
        link.number(offset as u64);
        link.bytes(digest.as_bytes());
    }
    link.digest()
}

/// The digest in a column.
pub(crate) fn read_digest(row: &rusqlite::Row<'_>, column: usize) -> StoreResult<RowDigest> {
    let bytes: Vec<u8> = row.get(column)?;
    bytes.try_into().map_err(|_| StoreFailure::Contents("a row has no digest".to_owned()))
}
