//! Drives runs in random worlds: a tape of bytes decides what plans, tools, models, people and time do. With a tape of zeros
//! everything succeeds.

mod choice_tape;
mod hostile;
mod invariant_checker;
mod model_replies;
mod reply_meaning;
mod tool_replies;
mod world_generator;

use reknit_engine::{Decision, Effect, Event, EventKind, Question, Record, Run};
use reknit_protocol::{CallTool, EffectId, EffectKind, Object, StepId};

pub(crate) use choice_tape::ChoiceTape;
pub(crate) use hostile::{BANK, MARK};
pub(crate) use world_generator::RandomWorld;

use crate::world::{effect_id, id_of, json};
use invariant_checker::InvariantChecker;

/// No run needs more events: its budgets allow for far fewer. A run that gets here does not end.
const MAX_EVENTS: usize = 3_000;

/// How often a run that did not succeed is retried.
const MAX_RETRIES: u32 = 2;

/// How often the twin of a run is written to a snapshot and restored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RestoreTwin {
    AfterEveryEvent,
    Sometimes,
    /// There is no twin.
    Never,
}

/// Drives a run to its end. Checks every invariant after each event.
pub(crate) fn drive(tape: &mut ChoiceTape, restore: RestoreTwin) -> RandomRun {
    let world = RandomWorld::draw(tape);
    let checker = InvariantChecker::new(&world);
    drive_in(world, Some(checker), tape, restore)
}

/// The same in a world with loops.
pub(crate) fn drive_with_loops(tape: &mut ChoiceTape, restore: RestoreTwin) -> RandomRun {
    let world = RandomWorld::draw(tape).with_loops(tape);
    let checker = InvariantChecker::new(&world);
    drive_in(world, Some(checker), tape, restore)
}

/// The same in a world with `until`, `expect` and `verify`, whose calls the checker does not know: only what holds for every run
/// is checked.
pub(crate) fn drive_with_confirmations(tape: &mut ChoiceTape, restore: RestoreTwin) -> RandomRun {
    let world = RandomWorld::draw(tape).with_confirmations(tape);
    drive_in(world, None, tape, restore)
}

/// The same in a world with payments, hostile tools, and models that follow them.
pub(crate) fn drive_with_hostility(tape: &mut ChoiceTape, restore: RestoreTwin) -> RandomRun {
    let mut world = RandomWorld::draw(tape);
    if tape.one_in(4) {
        world = world.with_loops(tape);
    }
    let world = RandomWorld { is_hostile: true, ..world.with_payments(tape) };
    let checker = InvariantChecker::new(&world);
    drive_in(world, Some(checker), tape, restore)
}

/// The same with the call of an MCP client, which is a plan with one step.
pub(crate) fn drive_client_call(tape: &mut ChoiceTape, restore: RestoreTwin) -> RandomRun {
    let world = RandomWorld { is_hostile: true, ..RandomWorld::draw(tape).with_client_call(tape) };
    let checker = InvariantChecker::new(&world);
    drive_in(world, Some(checker), tape, restore)
}

fn drive_in(
    world: RandomWorld,
    checker: Option<InvariantChecker>,
    tape: &mut ChoiceTape,
    restore: RestoreTwin,
) -> RandomRun {
    let begin = Event { at_ms: 1_000, kind: EventKind::Started(Box::new(world.started.clone())) };
    let (run, records) = Run::begin(&begin).expect("the run begins");
    let mut random_run = RandomRun {
        checker,
        world,
        twin: (restore != RestoreTwin::Never).then(|| run.clone()),
        run,
        events: vec![begin],
        records: vec![records],
        now_ms: 1_000,
    };
    random_run.check();
    loop {
        while random_run.run.answer().is_none() {
            assert!(random_run.events.len() < MAX_EVENTS, "the run does not end: {:?}", random_run.run.pending());
            let event = random_run.next_event(tape);
            random_run.apply(event, restore == RestoreTwin::AfterEveryEvent || tape.one_in(40));
        }
        if let Some(checker) = &mut random_run.checker {
            checker.check_answer(&random_run.run);
        }
        if !random_run.run.can_be_retried()
            || random_run.run.retries() >= MAX_RETRIES
            || tape.one_in(4)
            || random_run.world.is_hostile
        {
            return random_run;
        }
        random_run.apply(EventKind::Retried, restore == RestoreTwin::AfterEveryEvent);
    }
}

/// A run in a random world, and a twin that is written to snapshots and restored between events.
pub(crate) struct RandomRun {
    world: RandomWorld,
    pub(crate) run: Run,
    twin: Option<Run>,
    pub(crate) events: Vec<Event>,
    /// The records that the run returned for each event.
    pub(crate) records: Vec<Vec<Record>>,
    checker: Option<InvariantChecker>,
    now_ms: i64,
}

impl RandomRun {
    /// How many different calls were due, and how many of them were not as they were written.
    pub(crate) fn judged_calls(&self) -> [usize; 2] {
        self.checker.as_ref().map(InvariantChecker::judged_calls).unwrap_or_default()
    }

    /// Whether a person approved, or wrote, a call of a step with exactly these parameters.
    pub(crate) fn is_approved(&self, step: &StepId, parameters: &Object) -> bool {
        self.checker.as_ref().is_some_and(|checker| checker.is_approved(step, parameters))
    }

    fn apply(&mut self, kind: EventKind, restore_twin: bool) {
        self.now_ms += 7;
        let event = Event { at_ms: self.now_ms, kind };
        if let Some(checker) = &mut self.checker {
            checker.observe(&event.kind);
        }
        let records = self.run.apply(&event).expect("the run applies the event");
        if let Some(twin) = &mut self.twin {
            if restore_twin {
                *twin = Run::restore(&snapshot(twin)).expect("a snapshot can be restored");
            }
            let twin_records = twin.apply(&event).expect("the twin applies the event");
            assert_eq!(records, twin_records, "a restored run returns the same records");
            if restore_twin {
                let [original, restored] = [&self.run, &*twin].map(snapshot);
                assert!(original == restored, "a restored run has the same state:\n{original}\n{restored}");
                assert_eq!(self.run.pending(), twin.pending(), "a restored run has the same pending effects");
            }
        }
        self.events.push(event);
        self.records.push(records);
        self.check();
    }

    fn check(&mut self) {
        if let Some(checker) = &mut self.checker {
            checker.check(&self.run);
        }
    }

    /// The next event: mostly the outcome of a pending effect.
    fn next_event(&mut self, tape: &mut ChoiceTape) -> EventKind {
        if tape.one_in(40) {
            return self.unexpected_event(tape);
        }
        let effects = self.run.pending();
        // A driver reports a deadline that has passed before anything else.
        let passed = effects.iter().find_map(|effect| match effect {
            Effect::Sleep { id, until_ms } if id.kind() == EffectKind::Deadline && *until_ms <= self.now_ms => Some(id),
            _ => None,
        });
        if let Some(effect) = passed {
            return EventKind::Woke { effect: effect.clone() };
        }
        // The deadline and the expiry of an approval are far away: taken as often as other effects, they would end most runs.
        let is_late = |effect: &&Effect| {
            effect.id().is_some_and(|id| {
                matches!(id.kind(), EffectKind::Deadline | EffectKind::ApprovalExpiry | EffectKind::PlanApprovalExpiry)
            })
        };
        let soon: Vec<&Effect> = effects.iter().filter(|effect| !is_late(effect)).collect();
        let pool: Vec<&Effect> = if soon.is_empty() || tape.one_in(200) { effects.iter().collect() } else { soon };
        assert!(!pool.is_empty(), "a run that has not ended has pending effects");
        let effect: &Effect = tape.pick::<&Effect>(&pool);
        if let Some((deadline, at_ms)) = earlier_deadline(effect, &effects) {
            self.now_ms = self.now_ms.max(at_ms);
            return EventKind::Woke { effect: deadline };
        }
        let kind = self.outcome(effect, tape);
        if !self.world.is_hostile {
            return kind;
        }
        let has_data = self.run.spent().tool_calls > 0;
        hostile::spoiled(kind, effect, has_data, tape)
    }

    fn outcome(&mut self, effect: &Effect, tape: &mut ChoiceTape) -> EventKind {
        match effect {
            Effect::CallTool(call) => tool_replies::outcome(call, self.now_ms, tape),
            Effect::AskModel(ask) => model_replies::outcome(ask, &self.world, self.now_ms, tape),
            Effect::AskPerson(ask) => {
                let is_open = matches!(ask.question, Question::SendAgain { .. });
                // A tape that repeats the same choice would never answer the question.
                let decided = |event: &Event| matches!(event.kind, EventKind::PersonDecided { .. });
                let may_be_refused = !self.events.last().is_some_and(decided);
                let decision = match tape.below(8) {
                    0 | 1 => Decision::Deny { reason: None },
                    2 if is_open => Decision::Happened { result: json(r#"{"v": 1}"#) },
                    3 if is_open => Decision::DidNotHappen,
                    4 if !is_open && may_be_refused && ask.question.call().is_some() => {
                        Decision::Edit { parameters: edited(ask.question.call(), tape) }
                    }
                    _ => Decision::Approve,
                };
                let hash = if may_be_refused && tape.one_in(10) { "another".to_owned() } else { ask.hash.clone() };
                EventKind::PersonDecided {
                    effect: ask.id.clone(),
                    hash,
                    decision,
                    by: reknit_engine::DecidedBy::Person,
                }
            }
            Effect::Sleep { until_ms, .. } => {
                self.now_ms = self.now_ms.max(*until_ms);
                EventKind::Woke { effect: id_of(effect) }
            }
            Effect::Abort { effect, .. } if tape.one_in(2) => EventKind::Interrupted { effect: effect.clone() },
            Effect::Abort { effect, .. } => tool_replies::reply_to(effect.clone(), tape),
            Effect::CountTokens(_) => panic!("only sessions count tokens"),
            Effect::Finish(_) | Effect::Report(_) => panic!("a run without an answer has not ended"),
        }
    }

    /// An event that no pending effect waits for: a duplicate, a late outcome, a crash, a cancellation.
    fn unexpected_event(&mut self, tape: &mut ChoiceTape) -> EventKind {
        let earlier_effect = |tape: &mut ChoiceTape| {
            let ids: Vec<EffectId> = self.events.iter().filter_map(|event| event.kind.effect().cloned()).collect();
            if ids.is_empty() { effect_id("s0/call/1") } else { tape.pick(&ids).clone() }
        };
        match tape.below(8) {
            0 => EventKind::UnreadableMessage { words: "{{s0.v}}".to_owned() },
            1 => EventKind::Resumed,
            2 => EventKind::Woke { effect: earlier_effect(tape) },
            3 => EventKind::Interrupted { effect: earlier_effect(tape) },
            4 => tool_replies::reply_to(earlier_effect(tape), tape),
            // The last outcome a second time.
            5 => self
                .events
                .last()
                .map(|event| event.kind.clone())
                .filter(|kind| kind.effect().is_some())
                .unwrap_or(EventKind::Resumed),
            6 if tape.one_in(3) => EventKind::Cancelled,
            7 if tape.one_in(3) => EventKind::Stopped,
            _ => {
                self.now_ms += 60_000;
                EventKind::Resumed
            }
        }
    }
}

/// The parameters of a call after a person changed a number in them.
fn edited(call: Option<&CallTool>, tape: &mut ChoiceTape) -> Object {
    let mut parameters = call.map(|call| call.parameters.clone()).unwrap_or_default();
    if let Some(name) = ["x", "amount", "quantity"].into_iter().find(|name| parameters.contains_key(name)) {
        parameters.insert(name, 1 + tape.below(4));
    }
    parameters
}

pub(crate) fn snapshot(run: &Run) -> String {
    run.snapshot().expect("a run can be written to a snapshot")
}

/// The run's deadline, if it comes before a wait ends.
fn earlier_deadline(wait: &Effect, effects: &[Effect]) -> Option<(EffectId, i64)> {
    let Effect::Sleep { until_ms: wait_ms, .. } = wait else { return None };
    effects.iter().find_map(|effect| match effect {
        Effect::Sleep { id, until_ms } if id.kind() == EffectKind::Deadline && until_ms < wait_ms => {
            Some((id.clone(), *until_ms))
        }
        _ => None,
    })
}
