//! A world in which everything can go wrong that can go wrong: plans, tools, models, people and time, decided by a tape of
//! bytes. Where all of them are 0, all goes well.

mod models;
mod plans;
mod tape;
mod tools;
mod verdict;
mod watch;

use reknit_engine::{Decision, Effect, Event, Run, What};
use reknit_protocol::EffectId;

pub(crate) use plans::World;
pub(crate) use tape::Tape;
pub(crate) use watch::Watch;

use crate::world::id_of;

/// The most events of a run. Its budgets allow for far fewer; who comes here does not end.
const MOST_EVENTS: usize = 3_000;

/// How often a run is written down and read back on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Restored {
    /// After every event.
    Always,
    /// After some of them.
    Sometimes,
}

/// Drives a run to its end, and tells the watch of everything.
pub(crate) fn drive(tape: &mut Tape, restored: Restored) -> Drive {
    let world = World::draw(tape);
    let begin = Event { at_ms: 1_000, what: What::Started(Box::new(world.started.clone())) };
    let run = Run::begin(&begin).expect("the run begins");
    let twin = run.clone();
    let mut drive = Drive { watch: Watch::new(&world), world, run, twin, events: vec![begin], now_ms: 1_000 };
    drive.watch.look(&drive.run);
    while drive.run.answer().is_none() {
        assert!(drive.events.len() < MOST_EVENTS, "every run ends: {:?}", drive.run.pending());
        let what = drive.next(tape);
        drive.happen(what, restored == Restored::Always || tape.one_in(40));
    }
    drive.watch.look_at_answer(&drive.run);
    drive
}

/// A run on its way, with a twin that is written down and read back between events.
pub(crate) struct Drive {
    pub(crate) world: World,
    pub(crate) run: Run,
    twin: Run,
    pub(crate) events: Vec<Event>,
    pub(crate) watch: Watch,
    now_ms: i64,
}

impl Drive {
    fn happen(&mut self, what: What, restored: bool) {
        self.now_ms += 7;
        let event = Event { at_ms: self.now_ms, what };
        self.watch.before(&event.what);
        self.run.apply(&event).expect("the event is taken in");
        if restored {
            self.twin = Run::restore(&self.twin.snapshot().expect("it can be written")).expect("it can be read");
        }
        self.twin.apply(&event).expect("the event is taken in");
        if restored {
            let [one, other] = [&self.run, &self.twin].map(|run| run.snapshot().expect("it can be written"));
            assert!(one == other, "a run that is read back goes on as if nothing had been:\n{one}\n{other}");
            assert_eq!(self.run.pending(), self.twin.pending(), "it wants the same");
        }
        self.events.push(event);
        self.watch.look(&self.run);
    }

    /// What happens next: mostly the outcome of something that is due.
    fn next(&mut self, tape: &mut Tape) -> What {
        if tape.one_in(40) {
            return self.aside(tape);
        }
        let effects = self.run.pending();
        // A driver is never so late that a run outlives its time.
        let over = effects.iter().find_map(|effect| match effect {
            Effect::Sleep { id, until_ms }
                if id.kind() == reknit_protocol::EffectKind::Deadline && *until_ms <= self.now_ms =>
            {
                Some(id)
            }
            _ => None,
        });
        if let Some(effect) = over {
            return What::Woke { effect: effect.clone() };
        }
        // The deadline and the expiry of a question come last, or nothing else would be seen.
        let is_last = |effect: &Effect| matches!(effect, Effect::Sleep { id, .. } if matches!(id.kind(), reknit_protocol::EffectKind::Deadline | reknit_protocol::EffectKind::ApprovalExpiry));
        let open: Vec<&Effect> = effects.iter().filter(|effect| !is_last(effect)).collect();
        let pool: Vec<&Effect> = if open.is_empty() || tape.one_in(200) { effects.iter().collect() } else { open };
        assert!(!pool.is_empty(), "something is due until a run has ended");
        let effect: &Effect = tape.pick::<&Effect>(&pool);
        if let Some((deadline, at_ms)) = earlier_deadline(effect, &effects) {
            self.now_ms = self.now_ms.max(at_ms);
            return What::Woke { effect: deadline };
        }
        self.outcome(effect, tape)
    }

    fn outcome(&mut self, effect: &Effect, tape: &mut Tape) -> What {
        match effect {
            Effect::CallTool(call) => tools::outcome(call, self.now_ms, tape),
            Effect::AskModel(ask) => models::outcome(ask, &self.world, self.now_ms, tape),
            Effect::AskPerson(ask) => {
                let decision = if tape.one_in(3) { Decision::Deny } else { Decision::Approve };
                let hash = if tape.one_in(10) { "another".to_owned() } else { ask.hash.clone() };
                What::PersonDecided { effect: ask.id.clone(), hash, decision }
            }
            Effect::Sleep { until_ms, .. } => {
                self.now_ms = self.now_ms.max(*until_ms);
                What::Woke { effect: id_of(effect) }
            }
            Effect::Abort { effect, .. } if tape.one_in(2) => What::Interrupted { effect: effect.clone() },
            Effect::Abort { effect, .. } => tools::answered(effect.clone(), tape),
            Effect::CountTokens(_) => panic!("only sessions want to know how long a question is"),
            Effect::Finish(_) | Effect::Report(_) => panic!("a run that goes on has not ended"),
        }
    }

    /// What nobody waits for, and what ends or interrupts a run from outside.
    fn aside(&mut self, tape: &mut Tape) -> What {
        let some = |tape: &mut Tape| {
            let ids: Vec<EffectId> = self.events.iter().filter_map(|event| event.what.effect().cloned()).collect();
            if ids.is_empty() { "s0/call/1".parse::<EffectId>().unwrap() } else { tape.pick(&ids).clone() }
        };
        match tape.below(8) {
            0 => What::NotUnderstood { words: "{{s0.v}}".to_owned() },
            1 => What::Resumed,
            2 => What::Woke { effect: some(tape) },
            3 => What::Interrupted { effect: some(tape) },
            4 => tools::answered(some(tape), tape),
            // The last outcome once more.
            5 => self
                .events
                .last()
                .map(|event| event.what.clone())
                .filter(|what| what.effect().is_some())
                .unwrap_or(What::Resumed),
            6 if tape.one_in(3) => What::Cancelled,
            7 if tape.one_in(3) => What::Stopped,
            _ => {
                self.now_ms += 60_000;
                What::Resumed
            }
        }
    }
}

/// The end of the run's time, if it comes before a wait is over.
fn earlier_deadline(wait: &Effect, effects: &[Effect]) -> Option<(EffectId, i64)> {
    let Effect::Sleep { until_ms: wait_ms, .. } = wait else { return None };
    effects.iter().find_map(|effect| match effect {
        Effect::Sleep { id, until_ms } if id.kind() == reknit_protocol::EffectKind::Deadline && until_ms < wait_ms => {
            Some((id.clone(), *until_ms))
        }
        _ => None,
    })
}
