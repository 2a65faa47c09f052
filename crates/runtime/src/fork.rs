//! Forks: a new run that starts with the answers of another one, and goes its own way from one point on.
//!
//! ```text
//!   origin   started  answer  answer | answer  answer  ending
//!   fork     changed  answer  answer | tools, models and people are asked again
//!                                  point
//! ```
//!
//! The events before the point are applied to a new machine, so nothing is called, asked or waited for again. If the fork asks for
//! another call before the point than the origin did, there is no answer to it, and the fork is refused.

mod changes;
mod prefix;
mod recorded_calls;
mod unsent_writes;

use reknit_engine::{ApplyError, Event, EventKind, ForkOrigin, Machine, RequestDigest};
use reknit_journal::Journal;
use reknit_protocol::RunId;

use crate::error::DriveError;
use crate::replay::{RestoreError, from_row};
pub use changes::ForkChanges;
use prefix::{Point, points};
pub use recorded_calls::{JournalledCall, recorded_calls};
pub(crate) use unsent_writes::UnsentWrites;

/// Why a run cannot be forked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ForkError {
    #[error(transparent)]
    Read(#[from] DriveError),
    #[error("run `{run}` has no step or turn `{at}` that called a tool or asked somebody")]
    NoSuchPoint { run: RunId, at: String, known: Vec<String> },
    #[error("{0}")]
    Change(String),
    #[error("{}", .0.join("\n"))]
    Plan(Vec<String>),
    /// With the changes, something else happens before the point than in the run.
    #[error("with these changes, `{effect}` is not what it was in the run, and it comes before `{at}`")]
    Differs {
        at: String,
        effect: String,
        /// The point at which the run can be forked with these changes.
        fork_at: String,
    },
    /// The fork needs what this process does not have.
    #[error("cannot fork run `{run}` without {}", .missing.join(", "))]
    Missing { run: RunId, missing: Vec<String> },
    /// With the changes, the run ends before the point.
    #[error("with these changes, the run ends before `{at}`: {reason}")]
    Ends { at: String, reason: String },
}

/// A fork that is ready to be started with [`Driver::start_fork`](crate::Driver::start_fork).
#[derive(Debug, Clone)]
pub struct Fork {
    /// Its events up to the point.
    pub(crate) events: Vec<Event>,
    pub(crate) title: String,
    pub(crate) request: RequestDigest,
    machine: Machine,
    later_messages: Vec<String>,
}

impl Fork {
    /// Forks a run where `at` begins: at a step, at `plan`, at `answer`, or at the turn of a session with this number. The fork gets the
    /// id `fork`, which must be new; `now_ms` is the time at which it goes on.
    pub async fn of(
        journal: &Journal,
        run: &RunId,
        at: &str,
        changes: &ForkChanges,
        (fork, now_ms): (RunId, i64),
    ) -> Result<Self, ForkError> {
        let events = read_events(journal, run).await?;
        let Some(first) = events.first() else { return Err(DriveError::from(RestoreError::Empty).into()) };
        let point = find_point(run, at, &events)?;
        let (before, _) = Machine::replay(events.get(..=point.event).unwrap_or(&events))
            .map_err(refused)?
            .ok_or(DriveError::from(RestoreError::Empty))?;
        let origin = ForkOrigin { run: run.clone(), at: point.name.clone(), writes: changes.writes };
        let start = changes.apply(&first.kind, &before, &point, (fork, origin))?;
        let (title, request) = match &start {
            EventKind::Started(started) => (started.request.clone(), started.request_digest()),
            EventKind::SessionStarted(started) => (started.input.clone(), started.request_digest()),
            _ => return Err(DriveError::from(RestoreError::Empty).into()),
        };
        let (prefix, machine) = prefix::replay(&events, &point, start, now_ms)?;
        let later = events.iter().skip(point.event + 1).filter_map(|event| match &event.kind {
            EventKind::FollowedUp { input } => Some(input.clone()),
            _ => None,
        });
        Ok(Self { events: prefix, title, request, machine, later_messages: later.collect() })
    }

    pub fn run(&self) -> &RunId {
        self.machine.id()
    }

    /// The state of the fork at the point.
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// What the user of a session said after the point.
    pub fn later_messages(&self) -> &[String] {
        &self.later_messages
    }
}

fn find_point(run: &RunId, at: &str, events: &[Event]) -> Result<Point, ForkError> {
    let points = points(events)?;
    let turn = format!("turn-{at}");
    // The first item of a loop begins where the loop does.
    let item = format!("{at}[");
    let found = points
        .iter()
        .find(|point| point.name == at)
        .or_else(|| points.iter().find(|point| point.name == turn || point.name.starts_with(&item)));
    found.cloned().ok_or_else(|| ForkError::NoSuchPoint {
        run: run.clone(),
        at: at.to_owned(),
        known: points.into_iter().map(|point| point.name).collect(),
    })
}

async fn read_events(journal: &Journal, run: &RunId) -> Result<Vec<Event>, DriveError> {
    let stored = journal.events(run, 0).await?;
    stored.iter().map(|row| from_row(row).map_err(DriveError::from)).collect()
}

/// The machine of this build does not accept an event of the run.
fn refused(source: ApplyError) -> DriveError {
    RestoreError::Refused { seq: 0, source }.into()
}
