//! Stores a person's decision if it is the first about its question.

use reknit_engine::{AskPerson, DecidedBy, Decision, Event, EventKind};
use reknit_journal::{InboxMessage, Journal, SendError};
use reknit_protocol::{EffectId, RunId};

use crate::refusal::Refusal;
use crate::signals::{decide_by, to_event};

/// The kind of the events with decisions.
const PERSON_DECIDED: &str = "person_decided";
/// How many events are in memory at once.
const PAGE_EVENTS: u32 = 256;

/// What became of a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecisionOutcome {
    /// The run reads it.
    Made,
    /// The same was decided before.
    AlreadyMade,
}

/// Stores a decision about a question that was open after `known_events` events of its run.
pub(crate) async fn store_first(
    journal: &Journal,
    run: &RunId,
    (ask, known_events): (&AskPerson, u64),
    (decision, by): (Decision, DecidedBy),
    now_ms: i64,
) -> Result<DecisionOutcome, Refusal> {
    let signal = decide_by(ask.id.clone(), ask.hash.clone(), decision.clone(), by);
    let (id, hash) = (ask.id.clone(), ask.hash.clone());
    let is_about_it = move |message: &InboxMessage| decision_in(&to_event(&message.signal), &id, &hash).is_some();
    if ask.has_expired(now_ms) {
        let earlier = journal.inbox(run).await?.into_iter().find(is_about_it);
        return match earlier.map(|message| to_event(&message.signal)) {
            Some(EventKind::PersonDecided { decision: earlier, .. }) => {
                compare_decisions(run, &ask.id, earlier, &decision)
            }
            _ => Err(Refusal::Expired { run: run.clone(), step: ask.step.clone() }),
        };
    }
    // However many processes send a decision, one wins.
    let sent = journal.send_once(run, signal, now_ms, is_about_it).await;
    // The run may have read a decision and ended since the question was seen to be open.
    if let Err(SendError::Ended { .. }) = &sent
        && let Some(earlier) = stored_decision(journal, run, &ask.id, &ask.hash, known_events).await?
    {
        return compare_decisions(run, &ask.id, earlier, &decision);
    }
    if let Err(earlier) = sent?
        && let EventKind::PersonDecided { decision: earlier, .. } = to_event(&earlier.signal)
    {
        return compare_decisions(run, &ask.id, earlier, &decision);
    }
    // The driver may have read another decision since the question was seen to be open.
    match stored_decision(journal, run, &ask.id, &ask.hash, known_events).await? {
        Some(earlier) if earlier != decision => compare_decisions(run, &ask.id, earlier, &decision),
        _ => Ok(DecisionOutcome::Made),
    }
}

/// The first decision about a question among the events of a run, from the event with this number on.
pub(crate) async fn stored_decision(
    journal: &Journal,
    run: &RunId,
    question: &EffectId,
    hash: &str,
    mut from_seq: u64,
) -> Result<Option<Decision>, Refusal> {
    loop {
        let page = journal.events_page(run, from_seq, PAGE_EVENTS).await?;
        let Some(last) = page.last() else { return Ok(None) };
        from_seq = last.seq + 1;
        let decided = page.iter().filter(|stored| stored.kind == PERSON_DECIDED);
        let mut events = decided.filter_map(|stored| serde_json::from_str::<Event>(&stored.body).ok());
        if let Some(found) = events.find_map(|event| decision_in(&event.kind, question, hash).cloned()) {
            return Ok(Some(found));
        }
    }
}

/// The outcome of a decision about a question that was decided before.
pub(crate) fn compare_decisions(
    run: &RunId,
    question: &EffectId,
    earlier: Decision,
    decision: &Decision,
) -> Result<DecisionOutcome, Refusal> {
    if earlier == *decision {
        return Ok(DecisionOutcome::AlreadyMade);
    }
    Err(Refusal::AlreadyDecided { run: run.clone(), question: question.clone(), earlier })
}

fn decision_in<'e>(event: &'e EventKind, question: &EffectId, about: &str) -> Option<&'e Decision> {
    match event {
        EventKind::PersonDecided { effect, hash, decision, .. } if effect == question && hash == about => {
            Some(decision)
        }
        _ => None,
    }
}
