//! What is sent between the API, the object of a run and the effect service, and what the object keeps. Builds of different versions
//! read each other's messages: a new field has a default.

use reknit_engine::Event;
use reknit_protocol::{EffectId, RunId};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::blobs::StoredJson;

/// The name of the object of a run at Restate; its key is the id of the run.
pub(crate) const RUN_OBJECT: &str = "ReknitRun";
/// The name of the service that performs effects.
pub(crate) const EFFECT_SERVICE: &str = "ReknitEffect";

/// The status with which the object of a run answers that has not begun. Restate itself answers 404 if there are no workers.
pub(crate) const NOT_HERE: u16 = 410;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct BeginRun {
    pub(crate) first: Box<RawValue>,
}

/// An event that happened outside of the workers: a decision, a cancellation, the end of a job or of an agent's session.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct OutsideEvent {
    pub(crate) event: Event,
}

/// What became of an outside event.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct SignalHandled {
    /// How many events the run has now.
    pub(crate) len: u64,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct EffectRequest {
    pub(crate) run: RunId,
    pub(crate) effect: StoredJson,
    /// Its digest: a build that reads another effect does not perform it.
    pub(crate) digest: String,
    /// When the run asked for it, in milliseconds since 1970.
    #[serde(default)]
    pub(crate) asked_ms: i64,
    /// The trace of a call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) traceparent: Option<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct PerformedEffect {
    pub(crate) event: StoredJson,
    pub(crate) effect: EffectId,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct WakeRun {
    pub(crate) effect: EffectId,
    /// When it was to end, in milliseconds since 1970.
    pub(crate) until_ms: i64,
}

/// Names an effect: the aborted call whose grace period is over, or the call that a run may still want to be made.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct NamedEffect {
    pub(crate) effect: EffectId,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct ReadEvents {
    pub(crate) from: u64,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct EventPage {
    pub(crate) events: Vec<EventRow>,
}

/// An event as readers see it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct EventRow {
    pub(crate) body: Box<RawValue>,
    /// The effects that it made due, each with its digest.
    pub(crate) due: Vec<(String, String)>,
}

/// An event as the object keeps it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct StoredRow {
    pub(crate) body: StoredJson,
    /// The effects that it made due, each with its digest.
    pub(crate) due: Vec<(String, String)>,
}

/// What the object of a run knows without its machine.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct RunHead {
    /// The digest of the first event: who begins the run again must mean the same.
    pub(crate) first: String,
    pub(crate) len: u64,
    /// A digest of all events, each with the digest before it.
    pub(crate) chain: String,
    /// The events before the tail, in pages.
    pub(crate) pages: Vec<PageRef>,
    pub(crate) snapshot: Option<SnapshotRef>,
    pub(crate) bytes_after_snapshot: usize,
    /// The status with which the run has ended.
    pub(crate) status: Option<String>,
}

impl RunHead {
    /// The position of the first event in the tail.
    pub(crate) fn tail_start(&self) -> u64 {
        self.pages.last().map_or(0, |page| page.to)
    }

    /// The position of the first event after the snapshot; 0 without one.
    pub(crate) fn snapshot_len(&self) -> u64 {
        self.snapshot.as_ref().map_or(0, |snapshot| snapshot.len)
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct SnapshotRef {
    /// How many events it includes.
    pub(crate) len: u64,
    pub(crate) machine_version: u32,
    pub(crate) machine: StoredJson,
}

/// Some events, stored together: a list of [`StoredRow`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct PageRef {
    /// The position after its last event.
    pub(crate) to: u64,
    pub(crate) rows: StoredJson,
}
