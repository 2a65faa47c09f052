//! One run as the checker knows it: a machine that follows its committed events.

use std::collections::{BTreeMap, BTreeSet};

use reknit_engine::{Decision, Effect, Event, EventKind, Machine, Question, Record, RecordKind, RunRecord};
use reknit_journal::{Journal, RunSummary, StoredEvent};
use reknit_protocol::{CapabilityName, EffectKind, Object};

use super::calls::LEAST_DRAIN_MS;
use super::{Checked, Mishap, Seen, ready};
use crate::plot::owner_of;
use crate::process::{DiskFault, DiskFaultKind, Process};

/// A call that a person approved.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ApprovedCall {
    pub(crate) step: String,
    pub(crate) capability: CapabilityName,
    pub(crate) parameters: Object,
}

/// One run.
#[derive(Debug)]
pub(crate) struct RunCheck {
    pub(crate) summary: RunSummary,
    pub(crate) machine: Machine,
    pub(crate) pending: Vec<Effect>,
    records: Vec<Vec<Record>>,
    bodies: Vec<String>,
    last_ms: i64,
    /// The effects that were ever due: the digest by id.
    pub(crate) due: BTreeMap<String, String>,
    /// The process that claimed each call.
    pub(crate) claims: BTreeMap<String, u32>,
    /// The claimed calls that were sent, with the time.
    pub(crate) sent: BTreeMap<String, u64>,
    /// The effects with an outcome in the journal.
    pub(crate) outcomes: BTreeSet<String>,
    /// When a call was first to be aborted, and its grace period.
    pub(crate) aborts: BTreeMap<String, (u64, u64)>,
    /// When processes got the results of calls: by process and call.
    pub(crate) results: BTreeMap<(u32, String), u64>,
    /// How often a person allowed to send a call again that may have happened, by step.
    pub(crate) allowed_again: BTreeMap<String, usize>,
    pub(crate) approved: Vec<ApprovedCall>,
    /// Who appended, and when.
    pub(crate) commits: Vec<(u32, u64)>,
}

/// What another run has done counts only if it has the same owner.
fn check_owner(run: &str, kind: &EventKind) -> Checked {
    let other = match kind {
        EventKind::ReceiptKnown { receipt, .. } => &receipt.run,
        EventKind::KeyHeld { holder, .. } => &holder.run,
        _ => return Ok(()),
    };
    if owner_of(run) == owner_of(other.as_str()) {
        return Ok(());
    }
    Err(format!("it learned of a deed of {other}, which belongs to another owner"))
}

impl RunCheck {
    pub(crate) fn begin(journal: &Journal, summary: RunSummary) -> Result<Self, String> {
        let rows = ready(journal.events(&summary.run, 0)).map_err(|error| error.to_string())?;
        let event = read_event(&rows[0])?;
        let (machine, records) = Machine::begin(&event).map_err(|error| error.to_string())?;
        let pending = machine.pending();
        let mut run = Self {
            due: digests(&pending),
            machine,
            pending,
            records: vec![records],
            bodies: vec![rows[0].body.clone()],
            last_ms: event.at_ms,
            claims: BTreeMap::new(),
            sent: BTreeMap::new(),
            outcomes: BTreeSet::new(),
            aborts: BTreeMap::new(),
            results: BTreeMap::new(),
            allowed_again: BTreeMap::new(),
            approved: Vec::new(),
            commits: Vec::new(),
            summary,
        };
        let due = ready(journal.due_effects(&run.summary.run)).map_err(|error| error.to_string())?;
        let written = due.iter().map(|(_, due)| (due.effect.clone(), due.digest.clone())).collect();
        run.check_due(0, &written, &BTreeMap::new())?;
        run.add_aborts(0);
        Ok(run)
    }

    /// Applies the events that a process has appended.
    pub(crate) fn add_events(
        &mut self,
        journal: &Journal,
        process: &Process,
        new: &RunSummary,
        mishaps: &[Mishap],
        now_ms: u64,
        seen: &mut Seen,
    ) -> Checked {
        match &self.summary.lease {
            Some(lease) if lease.holder.pid == process.pid => {}
            lease => return Err(format!("p{} appended, but the lease is {lease:?}", process.pid)),
        }
        if let Some(status) = &self.summary.status {
            return Err(format!("an event after the end ({status})"));
        }
        self.commits.push((process.pid, now_ms));
        let id = &new.run;
        let rows = ready(journal.events(id, self.summary.len)).map_err(|error| error.to_string())?;
        let due = ready(journal.due_effects(id)).map_err(|error| error.to_string())?;
        for row in rows {
            let event = read_event(&row)?;
            if event.at_ms < self.last_ms {
                return Err(format!("the time went back from {} to {}", self.last_ms, event.at_ms));
            }
            self.last_ms = event.at_ms;
            seen.counts.push(format!("event: {}", event.kind.name()));
            let effect = event.kind.effect().map(|effect| format!(" {effect}")).unwrap_or_default();
            seen.notes.push(format!("p{} {id} #{} {}{effect}", process.pid, row.seq, event.kind.name()));
            self.check_interruption(&event.kind, process, mishaps)?;
            check_owner(id.as_str(), &event.kind)?;
            self.add_decision(&event.kind);
            let before = digests(&self.pending);
            let records = self.machine.apply(&event).map_err(|error| format!("event {}: {error}", row.seq))?;
            seen.counts.extend(counts_of(&event.kind, &records));
            self.records.push(records);
            self.bodies.push(row.body.clone());
            self.pending = self.machine.pending();
            let written = due.iter().filter(|(seq, _)| *seq == row.seq);
            let written = written.map(|(_, due)| (due.effect.clone(), due.digest.clone())).collect();
            self.check_due(row.seq, &written, &before)?;
            self.due.extend(digests(&self.pending));
            if let Some(effect) = event.kind.effect() {
                self.outcomes.insert(effect.to_string());
            }
            self.add_aborts(now_ms);
        }
        Ok(())
    }

    /// The effects that the journal names must be those that the machine asks for.
    fn check_due(&self, seq: u64, written: &BTreeMap<String, String>, before: &BTreeMap<String, String>) -> Checked {
        let mut wanted = digests(&self.pending);
        wanted.retain(|id, _| !before.contains_key(id));
        if wanted == *written {
            Ok(())
        } else {
            Err(format!("event {seq} made {wanted:?} due, written was {written:?}"))
        }
    }

    fn add_aborts(&mut self, now_ms: u64) {
        for effect in &self.pending {
            if let Effect::Abort { effect, grace_ms } = effect {
                self.aborts.entry(effect.to_string()).or_insert((now_ms, *grace_ms));
            }
        }
    }

    /// A result that a process has got is not thrown away, unless it could not be stored or another process has the run.
    fn check_interruption(&self, kind: &EventKind, process: &Process, mishaps: &[Mishap]) -> Checked {
        let EventKind::Interrupted { effect } = kind else { return Ok(()) };
        let id = effect.to_string();
        let Some(result_ms) = self.results.get(&(process.pid, id.clone())) else { return Ok(()) };
        if self.outcomes.contains(&id) {
            return Ok(());
        }
        // The driver may have failed shortly before the call was sent.
        let since_ms = self.sent.get(&id).copied().unwrap_or(0).saturating_sub(120_000);
        let run = self.summary.run.as_str();
        let is_of_run = |mishap: &&Mishap| mishap.pid == process.pid && mishap.run == run;
        let lost_ms: Vec<u64> =
            mishaps.iter().filter(is_of_run).map(|mishap| mishap.at_ms).filter(|at_ms| *at_ms >= since_ms).collect();
        let faults = process.faults.lock().expect("no panic");
        let is_failure = |fault: &&DiskFault| fault.kind != DiskFaultKind::Slow && fault.at_ms >= since_ms;
        let failed: Vec<&DiskFault> = faults.iter().filter(is_failure).collect();
        // What fails once is tried again: an append after the run is read, any other outcome when the driver ends.
        let is_unstored = failed.len() >= 2;
        let has_waited = |at_ms: u64| at_ms + LEAST_DRAIN_MS <= *result_ms;
        // A failed driver does not wait for a call that only reads.
        let is_dropped = !self.claims.contains_key(&id) && !failed.is_empty();
        if is_unstored || is_dropped || !lost_ms.is_empty() || failed.iter().any(|fault| has_waited(fault.at_ms)) {
            return Ok(());
        }
        Err(format!("p{} got the result of {id}, and then called it interrupted", process.pid))
    }

    fn add_decision(&mut self, kind: &EventKind) {
        let EventKind::PersonDecided { effect, hash, decision, .. } = kind else { return };
        let asked = self.pending.iter().find_map(|pending| match pending {
            Effect::AskPerson(ask) if ask.id == *effect && ask.hash == *hash => Some(ask),
            _ => None,
        });
        let Some(ask) = asked else { return };
        if !matches!(decision, Decision::Approve | Decision::DidNotHappen) {
            return;
        }
        let step = ask.id.owner_text();
        if matches!(ask.question, Question::SendAgain { .. }) {
            *self.allowed_again.entry(step.clone()).or_default() += 1;
        }
        if let Question::SendItems { capability, calls, .. } = &ask.question {
            self.approved.extend(calls.iter().map(|call| ApprovedCall {
                step: call.step.to_string(),
                capability: capability.clone(),
                parameters: call.parameters.clone(),
            }));
        }
        if let Some(call) = ask.question.call() {
            let (capability, parameters) = (call.capability.clone(), call.parameters.clone());
            self.approved.push(ApprovedCall { step, capability, parameters });
        }
    }

    pub(crate) fn add_claims(&mut self, journal: &Journal, pid: u32) -> Checked {
        let claims = ready(journal.claims(&self.summary.run)).map_err(|error| error.to_string())?;
        for claim in claims {
            if self.claims.contains_key(&claim) {
                continue;
            }
            if !self.due.contains_key(&claim) {
                return Err(format!("{claim} was claimed before it was due"));
            }
            self.claims.insert(claim, pid);
        }
        Ok(())
    }

    /// A run ends once, when its machine does.
    pub(crate) fn check_end(&self, new: &RunSummary) -> Checked {
        if self.summary.status.is_some() && (&self.summary.status, self.summary.len) != (&new.status, new.len) {
            return Err(format!("the run changed after its end: {:?}, then {:?}", self.summary, new));
        }
        let ending = self.machine.ending().map(|ending| ending.status().as_str().to_owned());
        // A run that ends with its first event is created, and ended by a second write.
        if new.status != ending && new.len > 1 {
            return Err(format!("the journal says {:?}, the machine {ending:?}", new.status));
        }
        let finishes = |effect: &&Effect| matches!(effect, Effect::Finish(_) | Effect::Report(_));
        match self.pending.iter().filter(finishes).count() {
            1 if ending.is_some() => Ok(()),
            0 if ending.is_none() => Ok(()),
            count => Err(format!("{count} answers or reports")),
        }
    }

    pub(crate) fn check_replay(&self, journal: &Journal) -> Checked {
        let rows = ready(journal.events(&self.summary.run, 0)).map_err(|error| error.to_string())?;
        if !rows.iter().map(|row| &row.body).eq(&self.bodies) {
            return Err("an event was changed".to_owned());
        }
        let events = rows.iter().map(read_event).collect::<Result<Vec<_>, String>>()?;
        let replayed = Machine::replay(&events).map_err(|error| error.to_string())?;
        let (machine, records) = replayed.ok_or("no events")?;
        if records != self.records {
            return Err("a replay gives other records".to_owned());
        }
        if machine.pending() != self.pending {
            return Err("a replay gives other effects".to_owned());
        }
        let [own, other] =
            [&self.machine, &machine].map(|machine| machine.snapshot().map_err(|error| error.to_string()));
        if own? == other? { Ok(()) } else { Err("a replay gives another state".to_owned()) }
    }
}

fn digests(effects: &[Effect]) -> BTreeMap<String, String> {
    effects.iter().filter_map(|effect| Some((effect.id()?.to_string(), effect.digest()))).collect()
}

/// What an event tells about loops, polls, verifications and second plans.
fn counts_of(kind: &EventKind, records: &[Record]) -> Vec<String> {
    let id = kind.effect();
    let of_item = id.is_some_and(|id| id.owner_text().contains('['));
    let kind_of_effect = id.map(reknit_protocol::EffectId::kind);
    let asks_again = |record: &Record| matches!(record.kind, RecordKind::Run(RunRecord::Replanning { .. }));
    let found = [
        (of_item, "event of an item of a loop"),
        (kind_of_effect == Some(EffectKind::PollWait), "poll"),
        (kind_of_effect == Some(EffectKind::Verify), "effect verified"),
        (records.iter().any(asks_again), "second plan"),
    ];
    found.into_iter().filter(|(is_found, _)| *is_found).map(|(_, name)| name.to_owned()).collect()
}

fn read_event(row: &StoredEvent) -> Result<Event, String> {
    serde_json::from_str(&row.body).map_err(|error| format!("event {}: {error}", row.seq))
}
