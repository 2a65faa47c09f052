//! Questions to models: outcomes, payments and retries, handled once for every purpose.

use std::sync::Arc;

use reknit_mend::ModelRung;
use reknit_model_api::{FinishReason, Message, ModelAnswer, ModelFailure, Role, Rotation, TargetName};
use reknit_plan::StepIndex;
use reknit_protocol::EffectId;

use super::Run;
use super::call_control::CallControl;
use super::call_repair::CallRepair;
use super::correction::Repair;
use super::knowledge::Knowledge;
use super::stage::Stage;
use super::state::{Account, Phase, State};
use super::step_handle::StepHandle;
use super::step_run::StepRun;
use crate::answer::AnswerAuthor;
use crate::budget::{Bill, Exhausted, Spent};
use crate::consult::{Consultation, NextAttempt};
use crate::event::EventKind;
use crate::event::Started;
use crate::internal_error::{Decided, InternalError};
use crate::record::{ModelRecord, RunRecord, WaitReason};

/// What a question is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Topic {
    /// Which tools the planner needs to see.
    Selection,
    /// The plan.
    Plan {
        attempt: u32,
    },
    /// The repair of a step's call.
    Repair {
        index: StepIndex,
        rung: ModelRung,
    },
    Answer,
}

/// Why a question remains unanswered.
#[derive(Debug, thiserror::Error)]
pub(super) enum NoAnswer {
    /// No target is left.
    #[error("{0}")]
    GaveUp(String),
    /// The budget does not allow another attempt.
    #[error(transparent)]
    Exhausted(Exhausted),
}

impl Run {
    /// Applies the outcome of a question or of its wait; returns whether the event was one.
    pub(super) fn on_consultation(&mut self, kind: &EventKind) -> Decided<bool> {
        let Some(effect) = kind.effect() else { return Ok(false) };
        let Some(topic) = self.topic_of(effect) else { return Ok(false) };
        let now_ms = self.state.now_ms;
        match kind {
            EventKind::ModelAnswered { answer, .. } => {
                self.end_attempt(topic, Bill::Used(&answer.usage))?;
                self.state.account.spent.add_tokens(&answer.usage);
                if matches!(topic, Topic::Plan { .. }) && answer.finish == FinishReason::Length {
                    // Only once, as in a session: a second truncated plan must become shorter.
                    let doubled = self.policy().asking.plan.max_tokens.saturating_mul(2);
                    self.state.consultation_mut(topic)?.0.raise_max_tokens(doubled);
                }
                let (id, answer) = (effect.clone(), Arc::new(answer.clone()));
                let words = answer.require_text().map(str::to_owned);
                let failure = words.as_ref().err().cloned();
                self.record(ModelRecord::Answered { id, answer: Arc::clone(&answer), failure });
                match words {
                    Ok(text) => self.on_answer_text(topic, &text, answer)?,
                    // A search replaces the selection at once: it is not worth another attempt.
                    Err(failure) if topic == Topic::Selection => self.select_by_search(failure.to_string())?,
                    Err(failure) => self.on_failed_attempt(topic, &failure)?,
                }
            }
            EventKind::ModelFailed { failure, .. } => {
                self.record(ModelRecord::Failed { id: effect.clone(), failure: failure.clone() });
                self.note_refusal(topic, failure)?;
                self.end_attempt(topic, Bill::of_failure(failure.usage.as_ref()))?;
                self.on_failed_attempt(topic, failure)?;
            }
            EventKind::BreakerOpen { until_ms, by, .. } => {
                self.record(ModelRecord::Skipped { id: effect.clone(), until_ms: *until_ms });
                self.end_attempt(topic, Bill::Nothing)?;
                self.state.account.spent.refund_model_call();
                let next = self.state.consultation_mut(topic)?.0.on_breaker_open(*until_ms, *by, now_ms);
                self.follow_rotation(topic, next)?;
            }
            EventKind::Woke { .. } => {
                self.record(RunRecord::WaitEnded(effect.clone()));
                self.state.consultation_mut(topic)?.0.on_wait_over(now_ms);
                self.ask(topic)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The question that waits for the outcome of an effect.
    fn topic_of(&self, effect: &EffectId) -> Option<Topic> {
        let (topic, question) = if let Some(question) = self.state.phase.question() {
            question
        } else {
            let index = self.plan.index_of(effect.step()?.as_str())?;
            let stage = self.state.steps.get(index).ok()?.stage();
            let Stage::Consulting { rung, consultation, .. } = stage else { return None };
            (Topic::Repair { index, rung: *rung }, consultation.as_ref())
        };
        question.awaits(effect).then_some(topic)
    }

    /// Books the cost of an attempt that is over, and tells the question how much time the run has left.
    fn end_attempt(&mut self, topic: Topic, bill: Bill<'_>) -> Decided {
        let now_ms = self.state.now_ms;
        let left_ms = self.known().clock.active_ms_left();
        let (question, spent) = self.state.consultation_mut(topic)?;
        if let Some(left_ms) = left_ms {
            question.set_run_deadline(now_ms.saturating_add_unsigned(left_ms), now_ms);
        }
        question.settle(spent, bill);
        Ok(())
    }

    /// Remembers a target that refused its key or account, and counts the tokens of an attempt that broke off.
    fn note_refusal(&mut self, topic: Topic, failure: &ModelFailure) -> Decided {
        let target = self.state.consultation_mut(topic)?.0.target().cloned();
        self.state.ruled_out.models.extend(target.filter(|_| failure.class.is_fatal()));
        if let Some(usage) = failure.usage {
            self.state.account.spent.wasted_tokens += usage.input_tokens.saturating_add(usage.output_tokens);
        }
        Ok(())
    }

    fn on_failed_attempt(&mut self, topic: Topic, failure: &ModelFailure) -> Decided {
        let now_ms = self.state.now_ms;
        let next = self.state.consultation_mut(topic)?.0.on_failure(failure, now_ms);
        self.follow_rotation(topic, next)
    }

    fn follow_rotation(&mut self, topic: Topic, next: NextAttempt) -> Decided {
        match next {
            NextAttempt::AskNow => self.ask(topic),
            NextAttempt::Wait { id, until_ms } => {
                self.record(RunRecord::WaitStarted { id, until_ms, reason: WaitReason::ModelsUnavailable });
                Ok(())
            }
            NextAttempt::GiveUp(reason) => self.on_no_answer(topic, NoAnswer::GaveUp(reason)),
        }
    }

    /// Pays for the attempt that is due, and asks.
    pub(super) fn ask(&mut self, topic: Topic) -> Decided {
        if let Topic::Repair { index, rung } = topic {
            return self.at(index).ask(rung);
        }
        match self.pay(topic)? {
            Ok(()) => self.record_question(topic),
            Err(exhausted) => self.on_no_answer(topic, NoAnswer::Exhausted(exhausted)),
        }
    }

    /// Pays for the attempt that is due.
    pub(super) fn pay(&mut self, topic: Topic) -> Decided<Result<(), Exhausted>> {
        let (question, spent) = self.state.consultation_mut(topic)?;
        Ok(question.pay(spent, &self.started.policy))
    }

    /// Records that a target was chosen and is asked.
    pub(super) fn record_question(&mut self, topic: Topic) -> Decided {
        let attempt = match topic {
            Topic::Plan { attempt } => Some(attempt),
            Topic::Selection | Topic::Repair { .. } | Topic::Answer => None,
        };
        let question = self.state.consultation_mut(topic)?.0.question(attempt);
        let question = question.ok_or_else(no_target)?;
        self.record(ModelRecord::Asked(question));
        Ok(())
    }

    fn on_answer_text(&mut self, topic: Topic, text: &str, answer: Arc<ModelAnswer>) -> Decided {
        match topic {
            Topic::Selection => self.on_selection_text(text)?,
            Topic::Plan { attempt } => self.on_plan_text(text, attempt)?,
            Topic::Repair { index, rung } => {
                let fault = self.state.steps.get(index)?.fault_in_question()?;
                self.at(index).on_advice_text(Repair { rung, fault }, answer)?;
            }
            Topic::Answer => self.end(AnswerAuthor::Model, Some(text.trim().to_owned())),
        }
        Ok(())
    }

    fn on_no_answer(&mut self, topic: Topic, why: NoAnswer) -> Decided {
        match topic {
            Topic::Selection => self.select_by_search(why.to_string())?,
            Topic::Plan { .. } => self.on_no_plan(why),
            Topic::Repair { index, rung } => {
                let fault = self.state.steps.get(index)?.fault_in_question()?;
                self.at(index).on_no_advice(Repair { rung, fault }, why)?;
            }
            Topic::Answer => self.end(AnswerAuthor::TemplateInstead(why.to_string()), None),
        }
        Ok(())
    }

    /// The end of the wait before the plan, the selection or the answer is asked for again.
    pub fn model_wait_ms(&self) -> Option<i64> {
        self.state.phase.question()?.1.waits_until_ms()
    }
}

impl Started {
    /// A question about the request, with what is attached to the request.
    pub(super) fn messages_with_attachments(&self, mut messages: Vec<Message>) -> Vec<Message> {
        if let Some(Message::User { attachments, .. }) =
            messages.iter_mut().rev().find(|message| message.role() == Role::User)
        {
            attachments.extend(self.attachments.iter().cloned());
        }
        messages
    }
}

impl Knowledge<'_> {
    /// The targets of a new question: those that did not refuse their key. If all did, all: a key may have been corrected.
    pub(super) fn rotation(&self) -> Rotation {
        let targets = &self.started.targets;
        let left: Vec<TargetName> =
            targets.iter().filter(|target| !self.ruled_out.models.contains(target)).cloned().collect();
        let targets = if left.is_empty() { targets.clone() } else { left };
        Rotation::new(targets, self.policy().rotation.clone())
    }
}

impl StepHandle<'_> {
    /// Records that a target was chosen and is asked.
    pub(super) fn record_question(&mut self) -> Decided {
        let step = self.step_mut()?;
        step.note_asked();
        let question = step.consultation_mut().ok_or_else(no_question)?.question(None);
        self.record(ModelRecord::Asked(question.ok_or_else(no_target)?));
        Ok(())
    }
}

impl CallControl<'_> {
    /// Pays for the attempt that is due.
    pub(super) fn pay_question(&mut self) -> Decided<Result<(), Exhausted>> {
        let policy = self.policy();
        let StepHandle { index, steps, account, .. } = &mut self.handle;
        let question = steps.get_mut(*index)?.consultation_mut().ok_or_else(no_question)?;
        Ok(question.pay(&mut account.spent, policy))
    }
}

impl CallRepair<'_> {
    /// Pays for the attempt that is due on a rung, and asks.
    pub(super) fn ask(&mut self, rung: ModelRung) -> Decided {
        match self.pay_question()? {
            Ok(()) => self.record_question(),
            Err(exhausted) => {
                let fault = self.step()?.fault_in_question()?;
                self.on_no_advice(Repair { rung, fault }, NoAnswer::Exhausted(exhausted))
            }
        }
    }
}

fn no_question() -> InternalError {
    InternalError::new("no model is asked about the step")
}

fn no_target() -> InternalError {
    InternalError::new("a question that is asked has no target")
}

impl Phase {
    /// The question that the phase waits for, and its topic.
    pub(super) fn question(&self) -> Option<(Topic, &Consultation)> {
        match self {
            Self::Selecting { consultation } => Some((Topic::Selection, consultation)),
            Self::Planning { attempt, consultation } => Some((Topic::Plan { attempt: *attempt }, consultation)),
            Self::Answering { consultation } => Some((Topic::Answer, consultation)),
            Self::Running | Self::Ended(_) => None,
        }
    }
}

impl State {
    /// The question about a topic, and the budget that pays for it.
    fn consultation_mut(&mut self, topic: Topic) -> Decided<(&mut Consultation, &mut Spent)> {
        let question = match (&mut self.phase, topic) {
            (Phase::Selecting { consultation }, Topic::Selection)
            | (Phase::Planning { consultation, .. }, Topic::Plan { .. })
            | (Phase::Answering { consultation }, Topic::Answer) => Some(consultation.as_mut()),
            (Phase::Running, Topic::Repair { index, .. }) => self.steps.get_mut(index)?.consultation_mut(),
            _ => None,
        };
        let question = question.ok_or_else(|| InternalError::new(format!("no question is open about {topic:?}")))?;
        Ok((question, &mut self.account.spent))
    }

    /// Books the cost of questions in progress when the run stops: their usage stays unknown.
    pub(super) fn settle_open_questions(&mut self) {
        let Self { phase, steps, account: Account { spent, .. }, .. } = self;
        match phase {
            Phase::Selecting { consultation }
            | Phase::Planning { consultation, .. }
            | Phase::Answering { consultation } => consultation.settle(spent, Bill::Unknown),
            Phase::Running => {
                for question in steps.iter_mut().filter_map(StepRun::consultation_mut) {
                    question.settle(spent, Bill::Unknown);
                }
            }
            Phase::Ended(_) => {}
        }
    }
}
