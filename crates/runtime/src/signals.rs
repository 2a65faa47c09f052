//! Signals that other processes send to the driver of a run: cancel, stop, a person's decision, or the end of a job.

use std::collections::BTreeMap;

use reknit_engine::{AskPerson, DecidedBy, Decision, Effect, EventKind};
use reknit_journal::{EarlierSignal, InboxMessage, RunSignal};
use reknit_protocol::{EffectId, EffectKind, ToolReply};
use serde::{Deserialize, Serialize};

const CANCEL: &str = "cancel";
const STOP: &str = "stop";
const DECIDE: &str = "decide";
const JOB_END: &str = "job-end";

/// The body of a decision.
#[derive(Serialize, Deserialize)]
struct DecisionBody {
    effect: EffectId,
    hash: String,
    decision: Decision,
    #[serde(default)]
    by: DecidedBy,
}

/// The body of the end of a job.
#[derive(Serialize, Deserialize)]
struct JobEndBody {
    effect: EffectId,
    reply: ToolReply,
}

/// Whether a signal that waits cancels its run.
pub(crate) fn is_cancel(earlier: &EarlierSignal) -> bool {
    matches!(earlier, EarlierSignal::Waiting(message) if message.signal.kind == CANCEL)
}

pub fn cancel() -> RunSignal {
    RunSignal::new(CANCEL, "{}")
}

/// Asks a session to stop and to write its report.
pub fn stop() -> RunSignal {
    RunSignal::new(STOP, "{}")
}

/// A person's decision about a question, which its effect and its hash identify.
pub fn decide(effect: EffectId, hash: String, decision: Decision) -> RunSignal {
    decide_by(effect, hash, decision, DecidedBy::Person)
}

/// The decision about a question to a person, with who decided.
pub fn decide_by(effect: EffectId, hash: String, decision: Decision, by: DecidedBy) -> RunSignal {
    let body = serde_json::to_string(&DecisionBody { effect, hash, decision, by });
    // Serializing strings cannot fail.
    RunSignal::new(DECIDE, body.unwrap_or_default())
}

/// The job of a call has ended: the tool has called back.
pub fn job_end(call: EffectId, reply: ToolReply) -> RunSignal {
    let body = serde_json::to_string(&JobEndBody { effect: call, reply });
    // Serializing strings and values cannot fail.
    RunSignal::new(JOB_END, body.unwrap_or_default())
}

/// Whether the end of a call's job is in an inbox.
pub fn has_job_end(inbox: &[InboxMessage], call: &EffectId) -> bool {
    let is_end = |message: &InboxMessage| {
        message.signal.kind == JOB_END && to_event(&message.signal).effect().is_some_and(|effect| effect == call)
    };
    inbox.iter().any(is_end)
}

/// The first decision about each question in an inbox: it counts.
pub fn decisions(inbox: &[InboxMessage]) -> BTreeMap<EffectId, Decision> {
    let mut decisions = BTreeMap::new();
    for event in to_events(inbox) {
        if let EventKind::PersonDecided { effect, decision, .. } = event {
            decisions.entry(effect).or_insert(decision);
        }
    }
    decisions
}

/// Converts the messages of an inbox to events.
pub(crate) fn to_events(inbox: &[InboxMessage]) -> Vec<EventKind> {
    inbox.iter().map(|message| to_event(&message.signal)).collect()
}

/// The messages to a run that goes on. A decision that came after the time for it becomes a note; if none came in time, the wait for it
/// ends.
pub(crate) fn events_of_inbox(pending: &[Effect], inbox: &[InboxMessage], now_ms: i64) -> Vec<EventKind> {
    let expired = expired_questions(pending, now_ms);
    let (late, in_time) = split_by_time(&expired, inbox);
    let undecided = expired.iter().filter(|ask| !in_time.iter().any(|message| decides(ask, message)));
    let end_of = |ask: &AskPerson| {
        let ends = [EffectKind::ApprovalExpiry, EffectKind::PlanApprovalExpiry].map(|kind| ask.id.with_kind(kind));
        pending.iter().filter_map(Effect::id).find(|id| ends.contains(id)).cloned()
    };
    let ends = undecided.filter_map(|ask| end_of(ask)).map(|effect| EventKind::Woke { effect });
    late.iter().map(|_| late_decision()).chain(ends).chain(to_events(&in_time)).collect()
}

/// The same for a run that an engine elsewhere drives, each event with its message. The engine itself ends waits.
pub(crate) fn messages_for_engine(
    pending: &[Effect],
    inbox: &[InboxMessage],
    now_ms: i64,
) -> Vec<(InboxMessage, EventKind)> {
    let (late, in_time) = split_by_time(&expired_questions(pending, now_ms), inbox);
    let events = to_events(&in_time);
    let notes = late.into_iter().map(|message| (message, late_decision()));
    let mut messages: Vec<_> = notes.chain(in_time.into_iter().zip(events)).collect();
    messages.sort_by_key(|(message, _)| message.id);
    messages
}

/// The note about a message from before a run that had ended went on.
pub(crate) fn note_before_reopening(message: &InboxMessage) -> EventKind {
    EventKind::UnreadableMessage { words: format!("`{}` came before the run went on", message.signal.kind) }
}

/// The note about a decision that came after the time for it.
pub fn late_decision() -> EventKind {
    EventKind::UnreadableMessage { words: "a decision came after the time for it, and does not count".to_owned() }
}

fn expired_questions(pending: &[Effect], now_ms: i64) -> Vec<&AskPerson> {
    pending.iter().filter_map(as_question).filter(|ask| ask.has_expired(now_ms)).collect()
}

fn decides(ask: &AskPerson, message: &InboxMessage) -> bool {
    decisions(std::slice::from_ref(message)).contains_key(&ask.id)
}

/// The decisions that came too late, and the other messages.
fn split_by_time(expired: &[&AskPerson], inbox: &[InboxMessage]) -> (Vec<InboxMessage>, Vec<InboxMessage>) {
    let is_late =
        |message: &InboxMessage| expired.iter().any(|ask| ask.has_expired(message.at_ms) && decides(ask, message));
    inbox.iter().cloned().partition(is_late)
}

fn as_question(effect: &Effect) -> Option<&AskPerson> {
    match effect {
        Effect::AskPerson(ask) => Some(ask),
        _ => None,
    }
}

/// Converts a signal to an event. An unknown signal becomes a note, so that it neither stops the run nor is lost.
pub(crate) fn to_event(signal: &RunSignal) -> EventKind {
    match signal.kind.as_str() {
        CANCEL => EventKind::Cancelled,
        STOP => EventKind::Stopped,
        DECIDE => match serde_json::from_str(&signal.body) {
            Ok(DecisionBody { effect, hash, decision, by }) => EventKind::PersonDecided { effect, hash, decision, by },
            Err(error) => EventKind::UnreadableMessage { words: format!("cannot read a decision: {error}") },
        },
        JOB_END => match serde_json::from_str(&signal.body) {
            Ok(JobEndBody { effect, reply }) => EventKind::ToolAnswered { effect, reply },
            Err(error) => EventKind::UnreadableMessage { words: format!("cannot read the end of a job: {error}") },
        },
        other => EventKind::UnreadableMessage { words: format!("unknown signal `{other}`") },
    }
}
