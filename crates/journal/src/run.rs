//! Runs: creating one, appending to it, listing them.

use reknit_protocol::RunId;

use crate::{
    EffectClaim, Holder, KeyChange, KeyedClaim, Liveness, NewEvent, Reservation, SignalId, Snapshot, StoredMapping,
};

/// A run to create.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRun {
    /// Its id, which no other run has.
    pub run: RunId,
    /// The title in lists: the request, or the name of the plan.
    pub title: String,
    /// The digest of everything that the caller chose. It says whether a second start with the same id wants the same.
    pub request: String,
    /// Who asked for it, if several callers share the journal.
    pub owner: Option<String>,
    /// What the run may cost, if its owner has a budget. It is settled when the run ends.
    pub reservation: Option<Reservation>,
    /// Event 0.
    pub first: NewEvent,
    /// What is appended after event 0, in the same transaction.
    pub rest: Option<Append>,
}

impl NewRun {
    /// A run that nobody pays for and that begins with one event.
    pub fn new(run: impl Into<RunId>, title: impl Into<String>, request: impl Into<String>, first: NewEvent) -> Self {
        let (title, request) = (title.into(), request.into());
        Self { run: run.into(), title, request, owner: None, reservation: None, first, rest: None }
    }
}

/// How a run that has ended goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reopening {
    pub expected_len: u64,
    /// What it has cost so far. Whoever pays for the rest does not pay for this.
    pub cost_so_far: u64,
    /// What it may cost from now on, if whoever opens it has a budget. Without one, nobody pays.
    pub reservation: Option<Reservation>,
}

/// The content of one transaction on a run: the journal writes all of it or nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Append {
    /// How many events the run must have before the append.
    pub expected_len: u64,
    pub events: Vec<NewEvent>,
    /// The signals that became these events. They leave the inbox.
    pub consumed: Vec<SignalId>,
    /// A snapshot of the state after these events.
    pub snapshot: Option<Snapshot>,
    /// Mappings that the run learned, for later runs.
    pub learned_mappings: Vec<StoredMapping>,
    /// What became of deeds with a business key.
    pub keys: Vec<KeyChange>,
    /// Effects that these events made due, and that the caller performs as soon as the append is committed. A claim that is
    /// refused does not fail the append.
    pub claims: Vec<EffectClaim>,
    /// Set when the run ends with these events; this also releases the lease.
    pub ending: Option<RunEnding>,
}

impl Append {
    /// An empty append to a run that has `expected_len` events.
    pub fn at(expected_len: u64) -> Self {
        Self {
            expected_len,
            events: Vec::new(),
            consumed: Vec::new(),
            snapshot: None,
            learned_mappings: Vec::new(),
            keys: Vec::new(),
            claims: Vec::new(),
            ending: None,
        }
    }

    /// Adds an event.
    #[must_use]
    pub fn event(mut self, event: NewEvent) -> Self {
        self.events.push(event);
        self
    }

    /// Ends the run with these events.
    #[must_use]
    pub fn ending(mut self, status: impl Into<String>, at_ms: i64) -> Self {
        self.ending = Some(RunEnding { status: status.into(), at_ms, result: None, cost: None });
        self
    }

    /// What the run has cost in all. It replaces what was reserved for the run.
    #[must_use]
    pub fn cost(mut self, cost: u64) -> Self {
        if let Some(ending) = &mut self.ending {
            ending.cost = Some(cost);
        }
        self
    }

    /// Stores the result of the run together with its ending.
    #[must_use]
    pub fn result(mut self, text: String) -> Self {
        if let Some(ending) = &mut self.ending {
            ending.result = Some(text);
        }
        self
    }
}

/// What an append wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Appended {
    pub len: u64,
    /// The outcome of each of [`Append::claims`], in their order.
    pub claims: Vec<KeyedClaim>,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunEnding {
    /// The status: `complete`, `failed`.
    pub status: String,
    /// When it ended, in milliseconds since 1970.
    pub at_ms: i64,
    /// Everything that is shown about the run from now on, as JSON. [`Journal::ending`](crate::Journal::ending) returns it byte
    /// for byte.
    pub result: Option<String>,
    /// What the run has cost in all, in the unit of [`NewRun::reservation`]. If it is not known, all that was reserved counts.
    pub cost: Option<u64>,
}

/// A run as lists show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunSummary {
    pub run: RunId,
    /// The request, or the name of the plan.
    pub title: String,
    /// Who asked for it; `None` if the caller did not say.
    pub owner: Option<String>,
    /// When it was created, in milliseconds since 1970: the time of event 0.
    pub created_ms: i64,
    pub updated_ms: i64,
    /// The status with which it ended; `None` until then.
    pub status: Option<String>,
    pub len: u64,
    /// How often it was leased. Set even while it has no lease.
    pub epoch: u64,
    /// The current lease. If it has expired, any process may take the run over.
    pub lease: Option<LeaseInfo>,
    /// Why the run is parked: a build could not continue it, and a person or another build must. `None` otherwise.
    pub parked: Option<String>,
}

impl RunSummary {
    /// Where the run stands, in one word: the status with which it ended, or `running`, `waiting` (for a person), `stopped` (its
    /// process has ended) or `parked`.
    pub fn state(&self) -> &str {
        match (&self.status, &self.lease) {
            (Some(status), _) => status,
            (None, None) if self.parked.is_some() => "parked",
            (None, Some(lease)) if lease.holder.liveness() != Liveness::Dead => "running",
            // A driver releases its lease when the run waits for a person, and keeps it when it crashes.
            (None, None) => "waiting",
            (None, Some(_)) => "stopped",
        }
    }
}

/// The current lease of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeaseInfo {
    pub holder: Holder,
    /// When the lease expires, in milliseconds since 1970.
    pub until_ms: i64,
    /// The fencing token of the lease.
    pub epoch: u64,
}

impl LeaseInfo {
    /// Whether another process may take the run over: the holder is dead, or nobody knows and the lease has expired.
    pub fn may_be_taken_over(&self, now_ms: i64) -> bool {
        match self.holder.liveness() {
            Liveness::Dead => true,
            Liveness::Unknown => self.until_ms <= now_ms,
            Liveness::Alive => false,
        }
    }
}

/// Which runs to list, newest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunFilter {
    pub status: StatusFilter,
    /// The earliest time at which a run was created, in milliseconds since 1970.
    pub since_ms: Option<i64>,
    /// A text that the title must contain; the case of ASCII letters does not matter.
    pub title: Option<String>,
    /// Who must have asked for it.
    pub owner: Option<String>,
    /// The last run of the page before: only older ones are listed. If it does not exist, none are.
    pub after: Option<RunId>,
    pub limit: u32,
}

impl RunFilter {
    /// The newest runs.
    pub fn newest(limit: u32) -> Self {
        Self::of_status(StatusFilter::All, limit)
    }

    /// The newest runs with a status.
    pub fn of_status(status: StatusFilter, limit: u32) -> Self {
        Self { status, since_ms: None, title: None, owner: None, after: None, limit }
    }

    pub(crate) fn matches(&self, run: &RunSummary) -> bool {
        let has_text = |text: &String| run.title.to_ascii_lowercase().contains(&text.to_ascii_lowercase());
        self.status.matches(run.status.as_deref())
            && self.since_ms.is_none_or(|since_ms| run.created_ms >= since_ms)
            && self.title.as_ref().is_none_or(has_text)
            && (self.owner.is_none() || self.owner == run.owner)
    }
}

/// Selects runs by status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StatusFilter {
    All,
    Unfinished,
    /// Runs that have ended, with any status.
    Ended,
    Status(String),
}

impl StatusFilter {
    fn matches(&self, status: Option<&str>) -> bool {
        match self {
            Self::All => true,
            Self::Unfinished => status.is_none(),
            Self::Ended => status.is_some(),
            Self::Status(expected) => status == Some(expected.as_str()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lease_of_a_process_elsewhere_can_be_taken_over_when_it_has_expired() {
        let here = LeaseInfo { holder: Holder::this_process(), until_ms: 100, epoch: 1 };
        assert!(!here.may_be_taken_over(101), "this process is alive");
        let mut elsewhere = here.clone();
        elsewhere.holder.host = "another-host".to_owned();
        assert!(!elsewhere.may_be_taken_over(99));
        assert!(elsewhere.may_be_taken_over(100));
    }
}
