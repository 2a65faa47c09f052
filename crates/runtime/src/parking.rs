//! Parked runs: a run that this build cannot continue is kept as it is. A person can look at it, cancel it or close it, and another
//! build can continue it.

use std::collections::BTreeSet;

use reknit_engine::{BareOverview, BareReply, MACHINE_VERSION, Overview};
use reknit_journal::{Append, Holder, Journal, LeaseTerm};
use reknit_protocol::{RunId, Value, error_chain};
use serde::{Deserialize, Serialize};

use crate::error::DriveError;
use crate::replay::RestoreError;
use crate::snapshot::saved_history;

/// How many events are in memory at once.
const PAGE_EVENTS: u32 = 64;

/// Why a run is parked, as the journal keeps it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParkReason {
    pub reason: String,
    pub machine_version: u32,
    /// The number of the event at which it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<String>,
    /// The digest of the effect when the event was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest_before: Option<String>,
    /// The digest of the effect that this build asks for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest_now: Option<String>,
}

impl ParkReason {
    /// Why a run that cannot be restored is parked.
    pub fn of(error: &RestoreError) -> Self {
        let plain = Self { reason: error_chain(error), machine_version: MACHINE_VERSION, ..Self::default() };
        match error {
            RestoreError::Mismatch { seq, effect, before, now } => Self {
                event: Some(*seq),
                effect: Some(effect.clone()),
                digest_before: before.clone(),
                digest_now: now.clone(),
                ..plain
            },
            RestoreError::Unreadable { seq, .. } | RestoreError::Refused { seq, .. } => {
                Self { event: Some(*seq), ..plain }
            }
            _ => plain,
        }
    }

    /// The reason with both digests.
    pub fn describe(&self) -> String {
        let digest = |label: &str, digest: &Option<String>| {
            digest.as_ref().map_or_else(String::new, |digest| format!("; {label} {digest}"))
        };
        let digests = [digest("digest then", &self.digest_before), digest("digest now", &self.digest_now)].concat();
        format!("{}{digests}", self.reason)
    }

    /// The reason that the journal has.
    pub fn parse(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }

    pub(crate) fn to_text(&self) -> Result<String, RestoreError> {
        serde_json::to_string(self).map_err(RestoreError::Unwritable)
    }
}

/// Parks a run that nobody drives.
pub async fn park(journal: &Journal, run: &RunId, error: &RestoreError, term: LeaseTerm) -> Result<(), DriveError> {
    let lease = journal.acquire_or_take_over(run, &Holder::this_process(), term).await?;
    Ok(journal.park(&lease, &ParkReason::of(error).to_text()?).await?)
}

/// Ends a run with this status and reason, without a machine. What is known about it is stored with its ending.
pub async fn close(
    journal: &Journal,
    run: &RunId,
    status: &str,
    reason: &str,
    term: LeaseTerm,
) -> Result<(), DriveError> {
    let lease = journal.acquire_or_take_over(run, &Holder::this_process(), term).await?;
    let mut overview = bare_overview(journal, run).await?;
    status.clone_into(&mut overview.status);
    overview.closed = Some(reason.to_owned());
    let result = serde_json::to_string(&Overview::Bare(Box::new(overview))).map_err(RestoreError::Unwritable)?;
    let len = journal.summary(run).await?.len;
    journal.append(&lease, Append::at(len).ending(status, term.now_ms).result(result)).await?;
    Ok(())
}

/// What the journal knows about a run without its machine: the replies of tools, the calls without an outcome, and the history of
/// the steps when it last waited.
pub async fn bare_overview(journal: &Journal, run: &RunId) -> Result<BareOverview, DriveError> {
    let summary = journal.summary(run).await?;
    let history = journal.snapshot(run).await?.map(|snapshot| saved_history(&snapshot)).unwrap_or_default();
    let mut overview = BareOverview {
        run: run.clone(),
        title: summary.title,
        status: summary.status.unwrap_or_else(|| "parked".to_owned()),
        problem: None,
        closed: None,
        events: summary.len,
        history,
        replies: Vec::new(),
        open_calls: Vec::new(),
    };
    if let Some(parked) = summary.parked {
        overview.problem = Some(match ParkReason::parse(&parked) {
            Ok(reason) => reason.describe(),
            Err(_) => parked,
        });
    }
    let mut settled: BTreeSet<String> = BTreeSet::new();
    let mut next = 0;
    loop {
        let page = journal.events_page(run, next, PAGE_EVENTS).await?;
        let Some(last) = page.last() else { break };
        next = last.seq + 1;
        for event in &page {
            // Another version may have written it, so only what is there is read.
            let Ok(body) = Value::parse(&event.body) else { continue };
            let Some(details) = body.get("kind").and_then(|kind| kind.get(&event.kind)) else { continue };
            let Some(effect) = details.get("effect").and_then(Value::as_str) else { continue };
            settled.insert(effect.to_owned());
            if let Some(reply) = details.get("reply") {
                overview.replies.push(BareReply { effect: effect.to_owned(), reply: reply.clone() });
            }
        }
    }
    overview.open_calls = journal.claims(run).await?.into_iter().filter(|claim| !settled.contains(claim)).collect();
    Ok(overview)
}
