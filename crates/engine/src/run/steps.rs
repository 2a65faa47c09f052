//! The steps of a run, with an index of what each of them is at: an event costs what it changes, however long the plan is.

mod agenda;

use reknit_bind::Provenance;
use reknit_protocol::EffectKind;
use reknit_protocol::{Object, SideEffect, exact};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::state::Stage;
use crate::consult::Consultation;
use crate::effect::Effect;
use agenda::Agenda;
use reknit_mend::{Again, Mend, Used};
use reknit_mend::{Fate, Fault};
use reknit_plan::{Checked, Planned};

/// The steps, in the order of the plan. Only they are written down; the index follows from them and from the plan.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Steps {
    list: Vec<StepRun>,
    agenda: Agenda,
}

impl Steps {
    /// The steps of a plan, before anything has happened.
    pub(super) fn new(plan: &Checked) -> Self {
        let list = plan.steps.iter().map(|_| StepRun::default()).collect();
        let mut steps = Self { list, agenda: Agenda::default() };
        steps.index(plan);
        steps
    }

    /// Makes the index: needed once after steps were read back.
    pub(super) fn index(&mut self, plan: &Checked) {
        self.agenda = Agenda::new(plan, &self.list);
    }

    pub(super) fn get(&self, index: usize) -> Option<&StepRun> {
        self.list.get(index)
    }

    pub(super) fn get_mut(&mut self, index: usize) -> Option<&mut StepRun> {
        self.list.get_mut(index)
    }

    pub(super) fn iter(&self) -> std::slice::Iter<'_, StepRun> {
        self.list.iter()
    }

    pub(super) fn iter_mut(&mut self) -> std::slice::IterMut<'_, StepRun> {
        self.list.iter_mut()
    }

    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    /// The one way in which a step comes to another stage.
    pub(super) fn set_stage(&mut self, index: usize, stage: Stage) {
        let Some(step) = self.list.get_mut(index) else { return };
        let before = std::mem::replace(&mut step.stage, stage);
        self.agenda.moved(index, &before, &self.list);
    }

    /// The first step from here on that can be taken further: what it needs is decided, or it is ready and there is a place.
    pub(super) fn next_to_move(&self, from: usize, calls_at_once: u32) -> Option<usize> {
        self.agenda.next_to_move(from, calls_at_once)
    }

    /// The steps that want something done, in order.
    pub(super) fn acting(&self) -> impl Iterator<Item = (usize, &StepRun)> {
        self.agenda.acting().filter_map(|index| Some((index, self.list.get(index)?)))
    }

    /// Whether nothing is left of them.
    pub(super) fn are_over(&self) -> bool {
        self.agenda.over() == self.list.len()
    }

    /// Whether nothing but a person's decision can take any of them on.
    pub(super) fn wait_for_person(&self) -> bool {
        self.agenda.waits_for_person()
    }
}

impl Serialize for Steps {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.list.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Steps {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self { list: Vec::deserialize(deserializer)?, agenda: Agenda::default() })
    }
}

/// What became of one step so far.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct StepRun {
    /// Changed by [`Steps::set_stage`] only, which keeps the index true.
    stage: Stage,
    /// What was sent last or is to be sent next.
    #[serde(with = "exact")]
    pub(super) parameters: Object,
    /// Where each of them comes from.
    pub(super) provenance: Vec<(String, Provenance)>,
    /// When its time is over. Nothing of it begins after that, and nothing of it lasts longer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) deadline_ms: Option<i64>,
    pub(super) attempts: Vec<Attempt>,
    pub(super) mends: Vec<Mend>,
    /// How many calls became due: the numbers of its effects.
    pub(super) calls: u32,
    /// How many of them were not made, for the service rested.
    pub(super) turned_away: u32,
    pub(super) resends: u32,
    /// How often the rung was used: its budget.
    pub(super) facts: u32,
    pub(super) feedback: u32,
    pub(super) context: u32,
    /// How often any model was asked on the rung: the numbers of its effects.
    pub(super) resolution_asked: u32,
    pub(super) feedback_asked: u32,
    pub(super) context_asked: u32,
    pub(super) questions: u32,
    /// The numbers of a model that were not taken, for nothing bears them out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) doubted: Vec<String>,
    /// How often the call was corrected; part of its key.
    pub(super) correction: u32,
}

/// One try of a step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Attempt {
    #[serde(with = "exact")]
    pub(super) parameters: Object,
    /// How it failed; none if it did not.
    pub(super) fault: Option<Fault>,
}

impl StepRun {
    /// How far it is.
    pub(super) fn stage(&self) -> &Stage {
        &self.stage
    }

    /// The question to a model that is being asked for it.
    pub(super) fn question_mut(&mut self) -> Option<&mut Consultation> {
        match &mut self.stage {
            Stage::Advising { consultation, .. } => Some(consultation.as_mut()),
            _ => None,
        }
    }

    pub(super) fn used(&self, fault: &Fault, planned: &Planned, class: SideEffect) -> Used {
        let earlier = self.attempts.iter().filter_map(|attempt| attempt.fault.as_ref());
        let may_have_happened = earlier.chain([fault]).any(|fault| fault.fate == Fate::Unknown);
        let last = self.attempts.last().and_then(|attempt| attempt.fault.as_ref());
        Used {
            resends: self.resends,
            feedback: self.feedback,
            context: self.context,
            independent: planned.needs.is_empty(),
            about_input: false,
            // What never left has not used up the word that a person gave for it.
            again: match (class, fault.fate) {
                (SideEffect::Unsafe, Fate::Rejected | Fate::Unknown) if may_have_happened => Again::WithAWord,
                _ => Again::Freely,
            },
            fruitless: 0,
            same_again: last.is_some_and(|last| last.same_as(fault)),
        }
    }

    /// How many calls were made.
    pub(super) fn sent(&self) -> u32 {
        self.calls.saturating_sub(self.turned_away)
    }

    /// Whether the same parameters were refused before.
    pub(super) fn was_tried(&self, parameters: &Object) -> bool {
        self.attempts.iter().any(|attempt| attempt.parameters == *parameters)
    }

    /// What this step wants done.
    pub(super) fn effects(&self, grace_ms: u64) -> Vec<Effect> {
        match &self.stage {
            Stage::Calling(call) => vec![Effect::CallTool(call.as_ref().clone())],
            Stage::Stopping(call) => vec![Effect::Abort { effect: call.id.clone(), grace_ms }],
            Stage::Resting { id, until_ms, .. } => vec![Effect::Sleep { id: id.clone(), until_ms: *until_ms }],
            Stage::Advising { consultation, .. } => consultation.effect().into_iter().collect(),
            Stage::Deciding { ask, .. } => vec![
                Effect::AskPerson(ask.as_ref().clone()),
                Effect::Sleep { id: ask.id.with_kind(EffectKind::ApprovalExpiry), until_ms: ask.expires_ms },
            ],
            Stage::Waiting | Stage::Queued | Stage::Done(_) | Stage::Failed { .. } | Stage::Skipped { .. } => {
                Vec::new()
            }
        }
    }
}
