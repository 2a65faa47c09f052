//! What the object of a run does with an input: pure decisions, so that every attempt at an invocation decides the same.

use std::collections::HashMap;
use std::sync::Arc;

use reknit_engine::{ApplyError, Effect, Event, EventKind, Machine};
use reknit_protocol::{CallTool, EffectId};
use reknit_runtime::signals::late_decision;

use crate::messages::WakeRun;

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum RunInput {
    Outcome {
        effect: EffectId,
        event: Event,
    },
    /// Somebody outside of the workers sent an event.
    Signal(Event),
    Woke {
        wake: EffectId,
        /// When it was to end, in milliseconds since 1970.
        until_ms: i64,
        now_ms: i64,
    },
    /// The grace period of an aborted call is over.
    GraceOver {
        effect: EffectId,
        now_ms: i64,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum RunOutput {
    Perform(Effect),
    WakeAt(WakeRun),
    /// Tell the run that the grace period of an aborted call is over.
    EndGrace {
        effect: EffectId,
        grace_ms: u64,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Consequences {
    pub(crate) outputs: Vec<RunOutput>,
    /// The effects that became due, each with its digest.
    pub(crate) due: Vec<(String, String)>,
}

/// The event that an input leads to. `None` if the run does not wait for it any more, such as the late outcome of an aborted call.
pub(crate) fn event_of(machine: &Machine, input: RunInput) -> Option<Event> {
    if machine.ending().is_some() {
        return match input {
            RunInput::Signal(event) if continues_ended_run(&event.kind) => Some(not_before(machine, event)),
            _ => None,
        };
    }
    let pending = machine.pending();
    let is_pending = |id: &EffectId| {
        pending.iter().any(|effect| match effect {
            Effect::Abort { effect, .. } => effect == id,
            effect => effect.id() == Some(id),
        })
    };
    let event = match input {
        RunInput::Outcome { effect, event } => is_pending(&effect).then_some(event),
        RunInput::Signal(event) => {
            Some(if is_late_decision(&pending, &event) { Event { kind: late_decision(), ..event } } else { event })
        }
        RunInput::Woke { wake, until_ms, now_ms } => {
            let is_over = |effect: &Effect| matches!(effect, Effect::Sleep { id, until_ms: end } if *id == wake && *end <= until_ms);
            // Restate's clock may be ahead of this one.
            let at_ms = now_ms.max(until_ms);
            pending.iter().any(is_over).then_some(Event { at_ms, kind: EventKind::Woke { effect: wake } })
        }
        RunInput::GraceOver { effect, now_ms } => {
            let is_aborting = |due: &Effect| matches!(due, Effect::Abort { effect: aborted, .. } if *aborted == effect);
            let kind = EventKind::Interrupted { effect: effect.clone() };
            pending.iter().any(is_aborting).then_some(Event { at_ms: now_ms, kind })
        }
    };
    event.map(|event| not_before(machine, event))
}

/// Takes the call that the object may make itself: the only thing, beside its deadline, that the run now waits for.
pub(crate) fn take_lone_call(machine: &Machine, outputs: &mut Vec<RunOutput>) -> Option<Arc<CallTool>> {
    let is_performed = |effect: &&Effect| {
        !matches!(effect, Effect::Sleep { .. } | Effect::AskPerson(_) | Effect::Finish(_) | Effect::Report(_))
    };
    if machine.pending().iter().filter(is_performed).count() != 1 {
        return None;
    }
    let at = outputs.iter().position(|output| matches!(output, RunOutput::Perform(Effect::CallTool(_))))?;
    match outputs.remove(at) {
        RunOutput::Perform(Effect::CallTool(call)) => Some(call),
        _ => None,
    }
}

pub(crate) fn wants_call(machine: &Machine, id: &EffectId) -> bool {
    machine.pending().iter().any(|effect| matches!(effect, Effect::CallTool(call) if call.id == *id))
}

/// Why a signal is refused: only workers may say this.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not what a run is told from outside")]
pub(crate) struct UnexpectedEvent(&'static str);

/// Refuses what the API does not send. What became of a call, only the worker says that makes it; but the API makes the calls of agents,
/// and a tool that has the URL for it reports the end of a job there (`has_callbacks`), maybe before it answers the call.
pub(crate) fn check_signal(machine: &Machine, kind: &EventKind, has_callbacks: bool) -> Result<(), UnexpectedEvent> {
    let is_session_call = |id: &EffectId| {
        let is_it = |effect: &Effect| matches!(effect, Effect::CallTool(call) if call.id == *id && machine.is_session_call(call));
        machine.pending().iter().any(is_it)
    };
    let is_allowed = match kind {
        EventKind::PersonDecided { .. }
        | EventKind::Cancelled
        | EventKind::Stopped
        | EventKind::Retried
        | EventKind::FollowedUp { .. }
        | EventKind::BudgetChanged { .. }
        | EventKind::UnreadableMessage { .. } => true,
        EventKind::ToolAnswered { effect, .. } => {
            has_callbacks || !wants_call(machine, effect) || is_session_call(effect)
        }
        EventKind::ToolFailed { effect, .. } => !wants_call(machine, effect) || is_session_call(effect),
        EventKind::Started(_)
        | EventKind::SessionStarted(_)
        | EventKind::Resumed
        | EventKind::ModelAnswered { .. }
        | EventKind::ModelFailed { .. }
        | EventKind::BreakerOpen { .. }
        | EventKind::ReceiptKnown { .. }
        | EventKind::KeyHeld { .. }
        | EventKind::TokensCounted { .. }
        | EventKind::Woke { .. }
        | EventKind::Interrupted { .. } => false,
    };
    if is_allowed { Ok(()) } else { Err(UnexpectedEvent(kind.name())) }
}

/// Whether a person decided after the time for it. The wake-up at that time may not have arrived yet.
fn is_late_decision(pending: &[Effect], event: &Event) -> bool {
    let EventKind::PersonDecided { effect: decided, .. } = &event.kind else { return false };
    pending
        .iter()
        .any(|effect| matches!(effect, Effect::AskPerson(ask) if ask.id == *decided && ask.has_expired(event.at_ms)))
}

fn continues_ended_run(kind: &EventKind) -> bool {
    matches!(kind, EventKind::Retried | EventKind::FollowedUp { .. } | EventKind::BudgetChanged { .. })
}

/// The time of a run never goes back, whichever machine's clock an event has.
fn not_before(machine: &Machine, event: Event) -> Event {
    Event { at_ms: event.at_ms.max(machine.now_ms()), ..event }
}

pub(crate) fn advance(machine: &mut Machine, event: &Event) -> Result<Consequences, ApplyError> {
    let before = machine.pending();
    machine.apply(event)?;
    Ok(consequences(machine, &before))
}

/// The same for the first event of a run.
pub(crate) fn begin(event: &Event) -> Result<(Machine, Consequences), ApplyError> {
    let (machine, _) = Machine::begin(event)?;
    let consequences = consequences(&machine, &[]);
    Ok((machine, consequences))
}

fn consequences(machine: &Machine, before: &[Effect]) -> Consequences {
    let known: HashMap<&EffectId, &Effect> =
        before.iter().filter_map(|effect| effect.id().map(|id| (id, effect))).collect();
    let was_aborting =
        |id: &EffectId| before.iter().any(|due| matches!(due, Effect::Abort { effect, .. } if effect == id));
    let (mut outputs, mut due) = (Vec::new(), Vec::new());
    for effect in machine.pending() {
        let earlier = effect.id().and_then(|id| known.get(id));
        if let (None, Some(id)) = (earlier, effect.id()) {
            due.push((id.to_string(), effect.digest()));
        }
        match effect {
            // The end of a wait can change, and the run is woken at the new one, too.
            Effect::Sleep { until_ms, .. } if matches!(earlier, Some(Effect::Sleep { until_ms: before, .. }) if *before == until_ms) =>
                {}
            Effect::Sleep { id, until_ms } => outputs.push(RunOutput::WakeAt(WakeRun { effect: id, until_ms })),
            Effect::Abort { effect, .. } if was_aborting(&effect) => {}
            Effect::Abort { effect, grace_ms } => outputs.push(RunOutput::EndGrace { effect, grace_ms }),
            // The API process that follows the run makes the calls of agents: their sessions are runs of their own.
            Effect::CallTool(call) if machine.is_session_call(&call) => {}
            Effect::AskPerson(_) | Effect::Finish(_) | Effect::Report(_) => {}
            effect if earlier.is_none() => outputs.push(RunOutput::Perform(effect)),
            _ => {}
        }
    }
    Consequences { outputs, due }
}

#[cfg(test)]
mod tests;
