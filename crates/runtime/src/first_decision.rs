//! Stores a person's decision if it is the first about its question.

use reknit_engine::{AskPerson, DecidedBy, Decision, Event, EventKind};
use reknit_journal::{EarlierSignal, EventsOfKind, Journal};
use reknit_protocol::{EffectId, RunId};

use crate::refusal::Refusal;
use crate::signals::{decide_by, to_event};

/// The kind of the events with decisions.
const PERSON_DECIDED: &str = "person_decided";

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
    let (id, hash) = (ask.id.clone(), ask.hash.clone());
    let read = EventsOfKind { kind: PERSON_DECIDED, from_seq: known_events };
    let earlier = if ask.has_expired(now_ms) {
        // Only a message that waits can become an event meanwhile, so the messages are looked at first.
        let waiting = journal.inbox(run).await?.into_iter().map(EarlierSignal::Waiting);
        let read = journal.events_of_kind(run, read).await?.into_iter().map(EarlierSignal::Read);
        let earlier = waiting.chain(read).find_map(|earlier| decision_in(&earlier, &id, &hash));
        Some(earlier.ok_or_else(|| Refusal::Expired { run: run.clone(), step: ask.step.clone() })?)
    } else {
        let signal = decide_by(ask.id.clone(), ask.hash.clone(), decision.clone(), by);
        let is_about_it = {
            let (id, hash) = (id.clone(), hash.clone());
            move |earlier: &EarlierSignal| decision_in(earlier, &id, &hash).is_some()
        };
        // However many processes send a decision, one wins.
        let sent = journal.send_once(run, signal, now_ms, Some(read), is_about_it).await?;
        sent.err().and_then(|earlier| decision_in(&earlier, &id, &hash))
    };
    match earlier {
        Some(earlier) => compare_decisions(run, &ask.id, earlier, &decision),
        None => Ok(DecisionOutcome::Made),
    }
}

/// The first decision about a question that a run has read.
pub(crate) async fn stored_decision(
    journal: &Journal,
    run: &RunId,
    question: &EffectId,
    hash: &str,
) -> Result<Option<Decision>, Refusal> {
    let read = journal.events_of_kind(run, EventsOfKind { kind: PERSON_DECIDED, from_seq: 0 }).await?;
    Ok(read.into_iter().find_map(|event| decision_in(&EarlierSignal::Read(event), question, hash)))
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

/// The decision about a question in a signal.
fn decision_in(signal: &EarlierSignal, question: &EffectId, about: &str) -> Option<Decision> {
    let event = match signal {
        EarlierSignal::Waiting(message) => to_event(&message.signal),
        EarlierSignal::Read(event) => serde_json::from_str::<Event>(&event.body).ok()?.kind,
    };
    match event {
        EventKind::PersonDecided { effect, hash, decision, .. } if effect == *question && hash == about => {
            Some(decision)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use reknit_engine::Question;
    use reknit_journal::{Append, Holder, LeaseTerm, NewEvent, NewRun};

    /// A question about a plan, whose time is over at 1000.
    fn question() -> AskPerson {
        AskPerson {
            id: "plan/approval/1".parse().expect("an id"),
            step: "plan".into(),
            question: Question::RunPlan { calls: Vec::new(), tool_calls: 1, money: None },
            provenance: Vec::new(),
            hash: "5f2a".to_owned(),
            expires_ms: 1_000,
        }
    }

    /// The question was seen to be open when the run had one event. Since then the run has read `decision`.
    async fn after_the_run_read(decision: Decision) -> (Journal, RunId) {
        let (journal, ask) = (Journal::in_memory(), question());
        let first = NewEvent::new(0, "started", "{}");
        let term = LeaseTerm { now_ms: 0, ttl_ms: 1_000 };
        let lease = journal.create(NewRun::new("r", "", "", first), &Holder::this_process(), term).await;
        let kind = EventKind::PersonDecided { effect: ask.id, hash: ask.hash, decision, by: DecidedBy::Person };
        let body = serde_json::to_string(&Event { at_ms: 1, kind }).expect("JSON");
        let read = Append::at(1).event(NewEvent::new(1, PERSON_DECIDED, body));
        journal.append(&lease.expect("it is new"), read).await.expect("it is appended");
        (journal, "r".into())
    }

    #[tokio::test]
    async fn a_decision_that_the_run_has_just_read_is_not_made_again() {
        let (journal, run) = after_the_run_read(Decision::Approve).await;
        let ask = question();
        for now_ms in [1, 1_001] {
            let decide = |decision| store_first(&journal, &run, (&ask, 1), (decision, DecidedBy::Person), now_ms);
            let same = decide(Decision::Approve).await.expect("it is the same");
            assert_eq!(same, DecisionOutcome::AlreadyMade, "at {now_ms}");
            let other = decide(Decision::Deny { reason: None }).await.expect_err("the first counts");
            assert_eq!(other.to_string(), "the question `plan/approval/1` of run `r` is decided already: approved");
        }
        assert_eq!(journal.inbox(&run).await.expect("the run"), [], "neither was sent");
    }
}
