//! Asking until somebody answers: one question, several models, in turn.

use reknit_dialogue::{Failure, Next, Purpose, Request, Rotation, TargetName};
use serde::{Deserialize, Serialize};

use crate::effect::{AskModel, Effect, EffectId};

/// A question that is being asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Consultation {
    owner: String,
    rung: String,
    purpose: Purpose,
    request: Request,
    rotation: Rotation,
    /// How often anybody was asked under this owner and rung; the next effect has the next number.
    asked: u32,
    stage: Stage,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Stage {
    Asking,
    Waiting { until_ms: i64 },
}

/// What a failed question leads to.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum AfterFailure {
    /// Another model is asked at once, which must be paid for.
    AskNext,
    /// It is asked later.
    Wait,
    /// Nobody is left to ask.
    GiveUp(String),
}

impl Consultation {
    /// Opens a question; the first to be asked is the first in the rotation. `asked` is how often the rung was used before.
    pub(crate) fn open(
        owner: &str,
        rung: &str,
        asked: u32,
        purpose: Purpose,
        request: Request,
        rotation: Rotation,
    ) -> Self {
        Self {
            owner: owner.to_owned(),
            rung: rung.to_owned(),
            purpose,
            request,
            rotation,
            asked: asked + 1,
            stage: Stage::Asking,
        }
    }

    /// How often anybody was asked, this question included.
    pub(crate) fn asked(&self) -> u32 {
        self.asked
    }

    fn id(&self) -> EffectId {
        match self.stage {
            Stage::Asking => EffectId::new(&self.owner, &self.rung, self.asked),
            Stage::Waiting { .. } => EffectId::new(&self.owner, &format!("{}-wait", self.rung), self.asked),
        }
    }

    /// Whether the answer to an effect belongs here.
    pub(crate) fn wants(&self, effect: &EffectId) -> bool {
        self.id() == *effect
    }

    /// Whether a model is being asked, and not only waited for.
    pub(crate) fn is_asking(&self) -> bool {
        self.stage == Stage::Asking
    }

    /// What is to be done now.
    pub(crate) fn effect(&self) -> Option<Effect> {
        let id = self.id();
        match self.stage {
            Stage::Waiting { until_ms } => Some(Effect::Sleep { id, until_ms }),
            Stage::Asking => Some(Effect::AskModel(AskModel {
                id,
                target: self.rotation.target()?.clone(),
                purpose: self.purpose,
                request: self.request.clone(),
            })),
        }
    }

    /// Who is asked.
    pub(crate) fn target(&self) -> Option<&TargetName> {
        self.rotation.target()
    }

    /// By when the run must end: nobody is asked after that, and nobody waited for.
    pub(crate) fn end_by(&mut self, deadline_ms: i64) {
        self.rotation.set_deadline_ms(u64::try_from(deadline_ms).unwrap_or(0));
    }

    /// The model did not answer.
    pub(crate) fn failed(&mut self, failure: &Failure, now_ms: i64) -> AfterFailure {
        let next = self.rotation.failed(failure, u64::try_from(now_ms).unwrap_or(0));
        self.after(next, now_ms, failure)
    }

    /// The model was not asked: it rests. Nothing was paid for, and nothing is counted.
    pub(crate) fn closed(&mut self, until_ms: i64, now_ms: i64) -> AfterFailure {
        let next = self.rotation.closed(u64::try_from(until_ms).unwrap_or(0), u64::try_from(now_ms).unwrap_or(0));
        self.after(next, now_ms, "no model was asked")
    }

    fn after(&mut self, next: Next, now_ms: i64, what: impl std::fmt::Display) -> AfterFailure {
        match next {
            Next::Ask => {
                self.asked += 1;
                AfterFailure::AskNext
            }
            Next::Wait { ms } => {
                self.stage = Stage::Waiting { until_ms: now_ms.saturating_add_unsigned(ms) };
                AfterFailure::Wait
            }
            Next::GiveUp(reason) => AfterFailure::GiveUp(format!("{what}; {reason}")),
        }
    }

    /// Until when nobody is asked, if that is so.
    pub(crate) fn waits_until_ms(&self) -> Option<i64> {
        match self.stage {
            Stage::Asking => None,
            Stage::Waiting { until_ms } => Some(until_ms),
        }
    }

    /// The wait is over: the next model is asked, which must be paid for.
    pub(crate) fn woke(&mut self) {
        self.asked += 1;
        self.stage = Stage::Asking;
    }
}
