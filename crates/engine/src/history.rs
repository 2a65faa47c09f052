//! The journal of each step, told from the events: what was sent, what came back, who was asked about it, what was decided
//! and why, and how long everything took.

use std::collections::{BTreeMap, HashMap};

use reknit_dialogue::{TargetName, Usage};
use reknit_protocol::{Object, StepId, exact};
use serde::Serialize;

use crate::event::{Decision, Event, What};
use crate::{ApplyError, Effect, Run};
use reknit_mend::Mend;
use reknit_mend::{Verdict, judge_failure, judge_reply};
use reknit_protocol::EffectId;

/// Something that happened to a step.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Moment {
    /// When, in milliseconds since 1970.
    pub at_ms: i64,
    /// How long it took; 0 for what takes no time.
    pub took_ms: u64,
    /// What.
    #[serde(flatten)]
    pub deed: Deed,
}

/// What happened to a step.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "deed", rename_all = "snake_case")]
pub enum Deed {
    /// Its call was made.
    Called {
        /// What was sent.
        #[serde(with = "exact")]
        parameters: Object,
        /// The status, if the tool answered.
        status: Option<u16>,
        /// Why it failed, in words; none if it did not.
        error: Option<String>,
        /// What had to be mended for the answer to be read, in words.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        mended: Vec<String>,
    },
    /// A model was asked about it.
    Asked {
        /// On which rung.
        rung: String,
        /// Who.
        target: TargetName,
        /// What the answer used; none if there was no answer.
        usage: Option<Usage>,
        /// Why there was none, in words.
        error: Option<String>,
    },
    /// It waited before it was tried again.
    Waited,
    /// It was turned away: what it needs rests.
    TurnedAway,
    /// A person decided.
    Decided {
        /// What.
        decision: Decision,
    },
    /// Nobody knows how far its call got.
    Interrupted,
    /// Something was done about a failure, or nothing could be done on a rung.
    Mended(Mend),
}

/// Tells what happened to each step, in order.
///
/// Fails if the events are not those of one run, from the first on.
pub fn history(events: &[Event]) -> Result<BTreeMap<StepId, Vec<Moment>>, ApplyError> {
    let Some((first, rest)) = events.split_first() else { return Ok(BTreeMap::new()) };
    let mut teller =
        Teller { run: Run::begin(first)?, due: BTreeMap::new(), told: BTreeMap::new(), mends: HashMap::new() };
    teller.look(first.at_ms);
    for event in rest {
        teller.take(event)?;
    }
    Ok(teller.told)
}

/// Follows a run and notes what it sees.
struct Teller {
    run: Run,
    /// What is due, and since when.
    due: BTreeMap<EffectId, (i64, Effect)>,
    told: BTreeMap<StepId, Vec<Moment>>,
    /// How many mends of each step have been told.
    mends: HashMap<StepId, usize>,
}

impl Teller {
    fn take(&mut self, event: &Event) -> Result<(), ApplyError> {
        let due = event.what.effect().and_then(|effect| self.due.remove(effect));
        self.run.apply(event)?;
        if let Some((since_ms, effect)) = due
            && let Some((step, deed)) = self.deed(&effect, event)
        {
            let took_ms = u64::try_from(event.at_ms.saturating_sub(since_ms)).unwrap_or(0);
            self.tell(step, Moment { at_ms: since_ms, took_ms, deed });
        }
        self.look(event.at_ms);
        Ok(())
    }

    fn tell(&mut self, step: StepId, moment: Moment) {
        self.told.entry(step).or_default().push(moment);
    }

    /// Notes what has become due, and what was decided about steps.
    fn look(&mut self, now_ms: i64) {
        for effect in self.run.pending() {
            if let Some(id) = effect.id() {
                self.due.entry(id.clone()).or_insert((now_ms, effect));
            }
        }
        for (step, mends) in self.run.mends() {
            let known = self.mends.get(step).copied();
            if known == Some(mends.len()) {
                continue;
            }
            self.mends.insert(step.clone(), mends.len());
            let moments = mends.iter().skip(known.unwrap_or(0)).map(|mend| Moment {
                at_ms: now_ms,
                took_ms: 0,
                deed: Deed::Mended(mend.clone()),
            });
            self.told.entry(step.clone()).or_default().extend(moments);
        }
    }

    /// What an effect and its outcome were for a step; none if they were for the run as a whole.
    fn deed(&self, effect: &Effect, event: &Event) -> Option<(StepId, Deed)> {
        let id = effect.id()?;
        let (step, rung) = self.owner(id)?;
        let deed = match (&event.what, effect) {
            (What::GateClosed { .. }, _) => Deed::TurnedAway,
            (What::Interrupted { .. }, _) => Deed::Interrupted,
            (What::PersonDecided { decision, .. }, _) => Deed::Decided { decision: *decision },
            (What::Woke { .. }, _) => Deed::Waited,
            (What::ToolAnswered { reply, .. }, Effect::CallTool(call)) => {
                let error = error(judge_reply(reply, event.at_ms));
                let mended = reply.body.fixes().to_vec();
                Deed::Called { parameters: call.parameters.clone(), status: Some(reply.status), error, mended }
            }
            (What::ToolFailed { failure, .. }, Effect::CallTool(call)) => {
                let error = error(judge_failure(failure));
                Deed::Called { parameters: call.parameters.clone(), status: None, error, mended: Vec::new() }
            }
            (What::ModelAnswered { answer, .. }, Effect::AskModel(ask)) => {
                Deed::Asked { rung, target: ask.target.clone(), usage: Some(answer.usage), error: None }
            }
            (What::ModelFailed { failure, .. }, Effect::AskModel(ask)) => {
                Deed::Asked { rung, target: ask.target.clone(), usage: None, error: Some(failure.to_string()) }
            }
            _ => return None,
        };
        Some((step, deed))
    }

    /// The step that wants an effect, and on which rung.
    fn owner(&self, id: &EffectId) -> Option<(StepId, String)> {
        Some((id.step()?.clone(), id.kind().as_str().to_owned()))
    }
}

fn error(verdict: Verdict) -> Option<String> {
    match verdict {
        Verdict::Success(_) => None,
        Verdict::Stop(fault) | Verdict::SendAgain(fault) | Verdict::Mend(fault) => Some(fault.to_string()),
    }
}
