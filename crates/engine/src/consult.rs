//! Asking until somebody answers: one question, several models, in turn.

use reknit_dialogue::{Failure, Next, Purpose, Request, Rotation, TargetName};
use serde::{Deserialize, Serialize};

use crate::budget::{Bill, Exhausted, Quote, Spent};
use crate::effect::{AskModel, Effect};
use crate::policy::Policy;
use reknit_protocol::EffectId;
use reknit_protocol::{EffectKind, EffectOwner};

/// A question that is being asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Consultation {
    owner: EffectOwner,
    kind: EffectKind,
    purpose: Purpose,
    request: Request,
    rotation: Rotation,
    /// How often anybody was asked under this owner and rung; the next effect has the next number.
    asked: u32,
    stage: Stage,
    /// What is set aside for the attempt that is under way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    quote: Option<Quote>,
    /// By when the question must be over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    deadline_ms: Option<i64>,
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
        owner: EffectOwner,
        kind: EffectKind,
        asked: u32,
        purpose: Purpose,
        request: Request,
        rotation: Rotation,
    ) -> Self {
        Self {
            owner,
            kind,
            purpose,
            request,
            rotation,
            asked: asked + 1,
            stage: Stage::Asking,
            quote: None,
            deadline_ms: None,
        }
    }

    /// Pays for the attempt that is due, and sets aside what it may cost.
    pub(crate) fn pay(&mut self, spent: &mut Spent, policy: &Policy) -> Result<(), Exhausted> {
        // Another process may have asked, and nobody knows what that cost.
        self.settle(spent, Bill::Unknown);
        let quote = Quote::new(policy, self.target(), &self.request);
        spent.take_model_call(policy, self.purpose, self.target(), quote)?;
        self.quote = Some(quote);
        Ok(())
    }

    /// The attempt that was paid for is over.
    pub(crate) fn settle(&mut self, spent: &mut Spent, bill: Bill<'_>) {
        if let Some(quote) = self.take_quote() {
            spent.settle(quote, bill);
        }
    }

    /// What was set aside for the attempt, for whoever settles it.
    pub(crate) fn take_quote(&mut self) -> Option<Quote> {
        self.quote.take()
    }

    /// How often anybody was asked, this question included.
    pub(crate) fn asked(&self) -> u32 {
        self.asked
    }

    fn id(&self) -> EffectId {
        match self.stage {
            Stage::Asking => EffectId::new(self.owner.clone(), self.kind, self.asked),
            Stage::Waiting { .. } => {
                EffectId::new(self.owner.clone(), self.kind.wait().unwrap_or(EffectKind::AskWait), self.asked)
            }
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

    /// By when it must be over, whatever the run may still do.
    pub(crate) fn end_before(&mut self, deadline_ms: i64, now_ms: i64) {
        self.deadline_ms = Some(deadline_ms);
        self.shorten(now_ms);
    }

    /// Time in which nobody drove the run is given back.
    pub(crate) fn put_deadline_off(&mut self, ms: i64) {
        self.deadline_ms = self.deadline_ms.map(|deadline| deadline.saturating_add(ms));
    }

    /// No answer may take longer than what is left.
    fn shorten(&mut self, now_ms: i64) {
        if let Some(deadline_ms) = self.deadline_ms {
            self.request.max_ms = Some(u64::try_from(deadline_ms.saturating_sub(now_ms)).unwrap_or(0).max(1));
        }
    }

    /// By when the run must end: nobody is asked after that, and nobody waited for.
    pub(crate) fn end_by(&mut self, deadline_ms: i64, now_ms: i64) {
        self.shorten(now_ms);
        let deadline_ms = self.deadline_ms.map_or(deadline_ms, |own| own.min(deadline_ms));
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
    pub(crate) fn woke(&mut self, now_ms: i64) {
        self.shorten(now_ms);
        self.asked += 1;
        self.stage = Stage::Asking;
    }
}
