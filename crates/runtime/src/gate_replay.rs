//! Runs recorded runs through today's gate: which calls a person would be asked about.
//!
//! The machine of this build gets the recorded events. A question that the record does not answer is counted and approved, so
//! that the run goes on as it did.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use reknit_engine::{AskPerson, DecidedBy, Decision, Effect, Event, EventKind, Machine, RoleRule, TrustRule};
use reknit_journal::Journal;
use reknit_mend::PeoplePolicy;
use reknit_protocol::{CallTool, EffectId, EffectKind, RunId};
use serde::Serialize;

use crate::error::DriveError;
use crate::replay::from_row;

/// What today's gate says about recorded runs.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct GateReplay {
    pub runs: u64,
    pub calls: u64,
    /// The questions about calls, by rule and then by `tool/capability`.
    pub questions: BTreeMap<String, BTreeMap<String, GateQuestions>>,
    /// The runs that this build cannot follow to their end, each with the reason. What was found before counts.
    pub not_followed: BTreeMap<String, String>,
}

/// The questions of one rule about one capability.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct GateQuestions {
    pub count: u64,
    /// How many of them the record has an answer to.
    pub answered_then: u64,
    /// The runs, each with the reason of its first question.
    pub reasons: BTreeMap<String, String>,
}

/// The roles and the trusted results with which recorded runs are judged. `None` keeps those of each run.
pub type ReplayedRules = Option<(Vec<RoleRule>, Vec<TrustRule>)>;

impl GateReplay {
    /// How many questions there would be.
    pub fn count(&self) -> u64 {
        self.questions.values().flat_map(BTreeMap::values).map(|questions| questions.count).sum()
    }

    /// Adds a run of the journal.
    pub async fn add(&mut self, journal: &Journal, run: &RunId, rules: &ReplayedRules) -> Result<(), DriveError> {
        let rows = journal.events(run, 0).await?;
        let events: Result<Vec<Event>, _> = rows.iter().map(from_row).collect();
        self.runs += 1;
        let followed = match events {
            Ok(mut events) => {
                events.first_mut().into_iter().for_each(|first| prepare(first, rules));
                self.follow(run, &events)
            }
            Err(error) => Err(error.to_string()),
        };
        if let Err(reason) = followed {
            self.not_followed.insert(run.to_string(), reason);
        }
        Ok(())
    }

    fn follow(&mut self, run: &RunId, events: &[Event]) -> Result<(), String> {
        let Some((first, rest)) = events.split_first() else { return Err("the run has no events".to_owned()) };
        let answered: BTreeSet<&EffectId> = rest.iter().filter_map(|event| event.kind.effect()).collect();
        let words = |error: reknit_engine::ApplyError| error.to_string();
        let (mut machine, _) = Machine::begin(first).map_err(words)?;
        let (mut asked, mut approved, mut sent) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        let is_answered = |ask: &AskPerson| {
            answered.contains(&ask.id) || answered.contains(&ask.id.with_kind(EffectKind::ApprovalExpiry))
        };
        for event in rest {
            while let Some(open) = self.open_question(run, &machine, &mut asked, is_answered) {
                if !approved.insert(open.id.clone()) {
                    return Err(format!("`{}` stays open although it is approved", open.id));
                }
                machine.apply(&approval(&open, event.at_ms)).map_err(words)?;
            }
            let mut event = event.clone();
            if let Some(call) = call_of(&machine, &event) {
                self.calls += u64::from(sent.insert(call.id));
            } else if matches!(event.kind, EventKind::ToolAnswered { .. }) && machine.ending().is_none() {
                let effect = event.kind.effect().map(ToString::to_string).unwrap_or_default();
                return Err(format!("`{effect}` was answered, and today it is not called"));
            }
            // The question may be another one today; its answer counts all the same.
            if let EventKind::PersonDecided { effect, hash, .. } = &mut event.kind
                && let Some(ask) = machine.questions().into_iter().find(|ask| ask.id == *effect)
            {
                *hash = ask.hash;
            }
            machine.apply(&event).map_err(words)?;
        }
        self.open_question(run, &machine, &mut asked, is_answered);
        Ok(())
    }

    /// Counts the new questions. Returns one that the record does not answer.
    fn open_question(
        &mut self,
        run: &RunId,
        machine: &Machine,
        asked: &mut BTreeSet<EffectId>,
        is_answered: impl Fn(&AskPerson) -> bool,
    ) -> Option<AskPerson> {
        let questions = machine.questions();
        for ask in questions.iter().filter(|ask| asked.insert(ask.id.clone())) {
            self.count_question(run, ask, is_answered(ask));
        }
        questions.into_iter().find(|ask| !is_answered(ask))
    }

    fn count_question(&mut self, run: &RunId, ask: &AskPerson, was_answered: bool) {
        let name = |call: &CallTool| format!("{}/{}", call.tool, call.capability);
        let capability = ask.question.call().map_or_else(|| ask.step.to_string(), name);
        let questions = self.questions.entry(ask.question.rule()).or_default().entry(capability).or_default();
        questions.count += 1;
        questions.answered_then += u64::from(was_answered);
        let lines = ask.question.lines();
        let reason =
            ["reason", "failed", "limit"].iter().find_map(|label| lines.iter().find(|line| line.label == *label));
        let text = reason.map(|line| line.text.clone()).unwrap_or_default();
        questions.reasons.entry(run.to_string()).or_insert(text);
    }
}

/// Lets a run ask, and judges it by other rules, if there are some.
fn prepare(first: &mut Event, rules: &ReplayedRules) {
    let policy = match &mut first.kind {
        EventKind::Started(started) => &mut started.policy,
        EventKind::SessionStarted(started) => &mut started.policy,
        _ => return,
    };
    let policy = Arc::make_mut(policy);
    policy.people = PeoplePolicy::Ask;
    if let Some((roles, trust)) = rules {
        policy.effects.roles.clone_from(roles);
        policy.effects.trust.clone_from(trust);
    }
}

fn approval(ask: &AskPerson, at_ms: i64) -> Event {
    let (effect, hash) = (ask.id.clone(), ask.hash.clone());
    Event { at_ms, kind: EventKind::PersonDecided { effect, hash, decision: Decision::Approve, by: DecidedBy::Person } }
}

/// The tool call that an event is the outcome of.
fn call_of(machine: &Machine, event: &Event) -> Option<CallTool> {
    let id = event.kind.effect().filter(|_| !matches!(event.kind, EventKind::Woke { .. }))?;
    machine.pending().into_iter().find_map(|effect| match effect {
        Effect::CallTool(call) if call.id == *id => Some((*call).clone()),
        _ => None,
    })
}
