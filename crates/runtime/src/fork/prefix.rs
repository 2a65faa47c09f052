//! The events of a fork up to its point: those of the origin, as answers to what the fork asks.

use std::collections::HashSet;

use reknit_engine::{Effect, Ending, Event, EventKind, ForkWrites, Machine, Question};
use reknit_protocol::{CallTool, EffectId, EffectOwner, Object};

use super::{ForkError, refused};

/// A point at which a run can be forked: something begins there that calls a tool or asks somebody.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Point {
    /// The step, `plan`, `answer`, or the turn as `turn-3`.
    pub(super) name: String,
    pub(super) owner: EffectOwner,
    /// The event that makes it begin.
    pub(super) event: usize,
}

/// The points of a run, in order.
pub(super) fn points(events: &[Event]) -> Result<Vec<Point>, ForkError> {
    let mut points: Vec<Point> = Vec::new();
    let mut known: HashSet<EffectOwner> = HashSet::from([EffectOwner::Run]);
    let mut machine: Option<Machine> = None;
    for (index, event) in events.iter().enumerate() {
        let current = match machine.take() {
            None => Machine::begin(event).map_err(refused)?.0,
            Some(mut machine) => {
                machine.apply(event).map_err(refused)?;
                machine
            }
        };
        for effect in current.pending() {
            let Some(id) = effect.id().filter(|id| id.scope().is_empty()) else { continue };
            if known.insert(id.owner().clone()) {
                points.push(Point { name: name_of(id), owner: id.owner().clone(), event: index });
            }
        }
        machine = Some(current);
    }
    Ok(points)
}

/// What a person calls the part of a run that an effect belongs to.
fn name_of(id: &EffectId) -> String {
    match id.step() {
        Some(step) => step.to_string(),
        None => id.owner().to_string(),
    }
}

/// Applies the events of the origin up to the point to a machine that starts with `first`. Returns the events of the fork, so timed
/// that the last one happens at `now_ms`.
pub(super) fn replay(
    origin: &[Event],
    point: &Point,
    first: EventKind,
    now_ms: i64,
) -> Result<(Vec<Event>, Machine), ForkError> {
    let at_ms = |index: usize| origin.get(index).map_or(0, |event| event.at_ms);
    let shift_ms = now_ms.saturating_sub(at_ms(point.event));
    let first = Event { at_ms: at_ms(0).saturating_add(shift_ms), kind: first };
    let (mut before, _) = Machine::begin(origin.first().unwrap_or(&first)).map_err(refused)?;
    let (mut fork, _) = Machine::begin(&first).map_err(refused)?;
    let sends = fork.fork().is_some_and(|fork| fork.writes == ForkWrites::Sent);
    let has_same_inputs = inputs_of(&before) == inputs_of(&fork);
    let is_same_question = |was: &Question, now: &Question| !sends || is_same_question(was, now, has_same_inputs);
    let mut events = vec![first];
    for event in origin.iter().take(point.event + 1).skip(1) {
        check_goes_on(&fork, point)?;
        let kind = answer(&event.kind, &before.pending(), &fork.pending(), shift_ms, &is_same_question)
            .map_err(|effect| differs(&effect, point, &name_of(&effect)))?;
        before.apply(event).map_err(refused)?;
        if let Some(kind) = kind {
            let event = Event { at_ms: event.at_ms.saturating_add(shift_ms), kind };
            fork.apply(&event).map_err(refused)?;
            events.push(event);
        }
    }
    check_goes_on(&fork, point)?;
    Ok((events, fork))
}

fn check_goes_on(fork: &Machine, point: &Point) -> Result<(), ForkError> {
    let reason = match fork.ending() {
        None => return Ok(()),
        Some(Ending::Answer(answer)) => answer.reason.clone().unwrap_or_else(|| answer.status.as_str().to_owned()),
        Some(Ending::Report(report)) => report.content.clone(),
    };
    Err(ForkError::Ends { at: point.name.clone(), reason })
}

fn differs(effect: &EffectId, point: &Point, fork_at: &str) -> ForkError {
    ForkError::Differs { at: point.name.clone(), effect: effect.to_string(), fork_at: fork_at.to_owned() }
}

/// The event as the answer to what the fork asks; `None` if the fork has the plan and does not ask for one. Fails with the effect if
/// the fork asks for something else.
fn answer(
    event: &EventKind,
    before: &[Effect],
    fork: &[Effect],
    shift_ms: i64,
    is_same_question: &dyn Fn(&Question, &Question) -> bool,
) -> Result<Option<EventKind>, EffectId> {
    let Some(id) = event.effect() else { return Ok(Some(event.clone())) };
    // Nobody waited for the outcome any more.
    let Some(was) = find(before, id) else { return Ok(Some(event.clone())) };
    let is_same = match (was, find(fork, id)) {
        (Effect::CallTool(was), Some(Effect::CallTool(now))) => is_same_call(was, now),
        // The answer to another prompt, or of another model, counts: that is what the fork is for.
        (Effect::AskModel(_), Some(Effect::AskModel(_)))
        | (Effect::CountTokens(_), Some(Effect::CountTokens(_)))
        | (Effect::Sleep { .. }, Some(Effect::Sleep { .. })) => true,
        (Effect::AskPerson(was), Some(Effect::AskPerson(question))) => {
            // What is sent now was approved as it is now.
            if !is_same_question(&was.question, &question.question) {
                return Err(id.clone());
            }
            // A decision names the question, whose hash contains the run.
            if let EventKind::PersonDecided { effect, decision, by, .. } = event {
                let (effect, hash, decision) = (effect.clone(), question.hash.clone(), decision.clone());
                return Ok(Some(EventKind::PersonDecided { effect, hash, decision, by: *by }));
            }
            true
        }
        (_, None) if *id.owner() == EffectOwner::Plan => return Ok(None),
        _ => false,
    };
    match event {
        _ if !is_same => Err(id.clone()),
        EventKind::BreakerOpen { effect, until_ms, by } => {
            let until_ms = until_ms.saturating_add(shift_ms);
            Ok(Some(EventKind::BreakerOpen { effect: effect.clone(), until_ms, by: *by }))
        }
        _ => Ok(Some(event.clone())),
    }
}

fn find<'e>(effects: &'e [Effect], id: &EffectId) -> Option<&'e Effect> {
    effects.iter().find(|effect| effect.id() == Some(id))
}

/// Whether an answer to the first question is one to the second.
fn is_same_question(was: &Question, now: &Question, has_same_inputs: bool) -> bool {
    match (was, now) {
        (Question::SendCall { call: was, .. }, Question::SendCall { call: now, .. })
        | (Question::SendAgain { call: was, .. }, Question::SendAgain { call: now, .. })
        | (Question::SendCorrected { call: was, .. }, Question::SendCorrected { call: now, .. }) => {
            is_same_call(was, now)
        }
        // The preview shows where a value comes from, and not the values of the inputs.
        (Question::RunPlan { calls: was, .. }, Question::RunPlan { calls: now, .. }) => has_same_inputs && was == now,
        (
            Question::SendItems { tool: was_agent, capability: was_capability, calls: was, .. },
            Question::SendItems { tool: agent, capability, calls: now, .. },
        ) => (was_agent, was_capability, was) == (agent, capability, now),
        _ => false,
    }
}

fn inputs_of(machine: &Machine) -> Option<&Object> {
    machine.as_run().map(|run| &run.started().inputs)
}

pub(super) fn is_same_call(one: &CallTool, other: &CallTool) -> bool {
    (&one.tool, &one.capability, &one.parameters, &one.job)
        == (&other.tool, &other.capability, &other.parameters, &other.job)
}
