//! How a run ends: stopped, or with everything over and an answer written.

use std::sync::Arc;

use reknit_dialogue::Purpose;
use reknit_protocol::{EffectKind, EffectOwner};
use reknit_protocol::{Object, SideEffect};

use super::Run;
use super::sources::fenced;
use super::state::{Phase, Stage, State, Stop};
use super::steps::StepRun;
use crate::answer::{Answer, MissingOutput, Outcome, Status, StepReport, Writer};
use crate::budget::Exhausted;
use crate::consult::{AfterFailure, Consultation};
use crate::event::What;
use crate::policy::Synthesis;
use crate::synthesis::{self, Given};
use crate::templates::render;
use reknit_mend::Fate;

/// Why a run ends before any step.
pub(super) struct NoSteps {
    status: Status,
    reason: String,
}

impl NoSteps {
    pub(super) fn new(status: Status, reason: String) -> Self {
        Self { status, reason }
    }
}

impl State {
    /// Nothing that costs what ran out begins any more.
    pub(super) fn stop_for(&mut self, exhausted: Exhausted) {
        self.stop.get_or_insert(Stop::Exhausted(exhausted));
    }
}

impl Run {
    pub(super) fn end_without_steps(&mut self, end: NoSteps) {
        let answer = Answer {
            status: end.status,
            text: end.reason.clone(),
            written_by: Writer::Template,
            reason: Some(end.reason),
            doubts: Vec::new(),
            steps: Vec::new(),
            outputs: Object::new(),
            missing_outputs: Vec::new(),
            spent: self.spent(),
        };
        self.state.phase = Phase::Ended(Box::new(answer));
    }

    /// Ends what can be ended at once. Calls under way are aborted, and waited for until they are.
    pub(super) fn stop(&mut self, stop: Stop) {
        let reason = stop.reason();
        let status = stop.status();
        self.take_back_payment();
        self.state.stopped_ms.get_or_insert(self.state.now_ms);
        self.state.stop = Some(stop);
        self.state.settle_open_questions();
        match &self.state.phase {
            Phase::Ended(_) => {}
            Phase::Choosing { .. } | Phase::Planning { .. } => self.end_without_steps(NoSteps::new(status, reason)),
            Phase::Answering { .. } => self.end(Writer::TemplateInstead(reason), None),
            Phase::Running => {
                for index in 0..self.state.steps.len() {
                    if let Some(stage) = self.state.steps.get(index).and_then(|step| stopped(step, &reason)) {
                        self.set_stage(index, stage);
                    }
                }
            }
        }
    }

    /// Once every step is over, the answer is written.
    pub(super) fn end_if_over(&mut self) {
        if !self.state.steps.are_over() || !matches!(self.state.phase, Phase::Running) {
            return;
        }
        let at_once = self.state.stop.as_ref().is_some_and(Stop::is_immediate);
        match self.policy().synthesis {
            Synthesis::Template => self.end(Writer::Template, None),
            Synthesis::Raw => {
                let text = synthesis::raw_text(&self.reports());
                self.end(Writer::Raw, Some(text));
            }
            Synthesis::Model if at_once => self.end(Writer::Template, None),
            Synthesis::Model => self.ask_for_answer(),
        }
    }

    fn ask_for_answer(&mut self) {
        if self.started.targets.is_empty() {
            return self.end(Writer::Template, None);
        }
        let (reports, given) = (self.reports(), self.given());
        let fenced_unless_empty = |text: String| if text.is_empty() { text } else { fenced(&text) };
        let missing = fenced_unless_empty(synthesis::missing_text(&reports, &given));
        let mended = fenced_unless_empty(synthesis::mended_text(&reports));
        let results = fenced(&synthesis::results_text(&reports, &given));
        let request = self.started.request.as_str();
        let values = [("request", request), ("results", &results), ("missing", &missing), ("mended", &mended)];
        let messages = match render(&self.started.templates.answer, &values) {
            Ok(messages) => messages,
            Err(error) => return self.end(Writer::TemplateInstead(error.to_string()), None),
        };
        let request = self.policy().asking.answer.request(messages);
        let mut consultation =
            Consultation::open(EffectOwner::Answer, EffectKind::Ask, 0, Purpose::Synthesis, request, self.rotation());
        if let Err(exhausted) = consultation.pay(&mut self.state.spent, &self.started.policy) {
            return self.end(Writer::TemplateInstead(exhausted.to_string()), None);
        }
        self.state.phase = Phase::Answering { consultation: Box::new(consultation) };
    }

    /// Takes in what a model says about the answer; says whether it was that.
    pub(super) fn on_answering(&mut self, what: &What) -> bool {
        let now_ms = self.state.now_ms;
        let Phase::Answering { consultation } = &mut self.state.phase else { return false };
        match what {
            What::ModelAnswered { effect, answer } if consultation.wants(effect) => {
                self.state.spent.add_tokens(&answer.usage);
                match answer.words() {
                    Ok(text) => self.end(Writer::Model, Some(text.trim().to_owned())),
                    Err(failure) => {
                        let after = consultation.failed(&failure, now_ms);
                        self.on_no_answer(after);
                    }
                }
            }
            What::ModelFailed { effect, failure } if consultation.wants(effect) => {
                let after = consultation.failed(failure, now_ms);
                self.on_no_answer(after);
            }
            What::GateClosed { effect, until_ms } if consultation.wants(effect) => {
                self.state.spent.give_back_model_call();
                let after = consultation.closed(*until_ms, now_ms);
                self.on_no_answer(after);
            }
            What::Woke { effect } if consultation.wants(effect) => {
                consultation.woke(now_ms);
                self.pay_for_answer();
            }
            _ => return false,
        }
        true
    }

    fn on_no_answer(&mut self, after: AfterFailure) {
        match after {
            AfterFailure::Wait => {}
            AfterFailure::AskNext => self.pay_for_answer(),
            AfterFailure::GiveUp(reason) => self.end(Writer::TemplateInstead(reason), None),
        }
    }

    pub(super) fn pay_for_answer(&mut self) {
        if let Err(exhausted) = self.pay_for_question() {
            self.end(Writer::TemplateInstead(exhausted.to_string()), None);
        }
    }

    pub(super) fn end(&mut self, written_by: Writer, text: Option<String>) {
        let (steps, given) = (self.reports(), self.given());
        let status = self.final_status(&steps, &given);
        let by_model = text.as_deref().filter(|_| written_by == Writer::Model);
        let doubts = self.doubts(&steps, &given, by_model);
        let text = text.unwrap_or_else(|| synthesis::template_text(status, &steps, &given));
        let reason = self.state.stop.as_ref().map(Stop::reason);
        let Given { outputs, missing: missing_outputs } = given;
        let answer =
            Answer { status, text, written_by, reason, doubts, steps, outputs, missing_outputs, spent: self.spent() };
        self.state.phase = Phase::Ended(Box::new(answer));
    }

    /// What should be looked at twice.
    fn doubts(&self, steps: &[StepReport], given: &Given, text: Option<&str>) -> Vec<String> {
        let (request, Some(plan)) = (self.started.request.as_str(), &self.state.plan) else { return Vec::new() };
        let unstated = text.and_then(|text| synthesis::unstated(text, request, plan, steps, given));
        // Who wrote a plan by hand knows what is in it.
        let by_model = self.started.plan.is_none();
        let unused = if by_model { synthesis::unused(request, plan, steps) } else { None };
        unstated.into_iter().chain(unused).collect()
    }

    fn final_status(&self, steps: &[StepReport], given: &Given) -> Status {
        let done = steps.iter().filter(|step| matches!(step.outcome, Outcome::Done(_))).count();
        match (&self.state.stop, done) {
            (Some(Stop::Cancelled), _) => Status::Cancelled,
            // A limit that was reached on the way and kept nothing from being done is not how the run ended.
            (_, done) if done == steps.len() && given.missing.is_empty() => Status::Complete,
            (Some(stop), _) => stop.status(),
            (None, 0) => Status::Failed,
            (None, _) => Status::Partial,
        }
    }

    /// What the plan gives, as far as it can be calculated.
    fn given(&self) -> Given {
        let mut given = Given::default();
        for (name, expression) in &self.plan.outputs {
            match expression.evaluate(&self.results(None)) {
                Ok(evaluated) => _ = given.outputs.insert(name.as_str(), evaluated.value),
                Err(reason) => given.missing.push(MissingOutput { name: name.clone(), reason: reason.to_string() }),
            }
        }
        given
    }

    /// What became of each step so far.
    pub(crate) fn reports(&self) -> Vec<StepReport> {
        let plan = Arc::clone(&self.plan);
        plan.steps
            .iter()
            .zip(self.state.steps.iter())
            .map(|(planned, step)| StepReport {
                step: planned.id.clone(),
                agent: planned.agent.clone(),
                capability: planned.capability.clone(),
                outcome: match step.stage() {
                    Stage::Done(value) => Outcome::Done(value.clone()),
                    Stage::Failed { reason, fault } => {
                        let words = fault.as_ref().map_or_else(|| reason.clone(), |fault| format!("{fault}; {reason}"));
                        // Of a call that may have happened, no later refusal says that it has not.
                        let tried = step.attempts.iter().filter_map(|attempt| attempt.fault.as_ref());
                        let unknown = tried.chain(fault.as_deref()).any(|fault| fault.fate == Fate::Unknown);
                        let fate = fault.as_ref().map_or(Fate::NotSent, |fault| fault.fate);
                        let fate = if unknown { Fate::Unknown } else { fate };
                        // A read that may have happened has changed nothing.
                        let fate = if self.class(planned) == SideEffect::Read { Fate::Rejected } else { fate };
                        Outcome::Failed { reason: words, fate }
                    }
                    Stage::Skipped { reason } => Outcome::Skipped { reason: reason.clone() },
                    _ => Outcome::Skipped { reason: "it was not finished".to_owned() },
                },
                mends: step.mends.clone(),
                calls: step.sent(),
            })
            .collect()
    }
}

/// What a step comes to when the run is stopped; none if it is over or being stopped.
fn stopped(step: &StepRun, reason: &str) -> Option<Stage> {
    let reason = reason.to_owned();
    let last_fault = || step.attempts.last().and_then(|attempt| attempt.fault.clone()).map(Box::new);
    match step.stage() {
        Stage::Waiting => Some(Stage::Skipped { reason }),
        Stage::Queued | Stage::Resting { .. } if step.sent() == 0 => Some(Stage::Skipped { reason }),
        Stage::Queued | Stage::Resting { .. } => Some(Stage::Failed { reason, fault: last_fault() }),
        Stage::Advising { fault, .. } | Stage::Deciding { fault, .. } => {
            Some(Stage::Failed { reason, fault: Some(fault.clone()) })
        }
        Stage::Calling(call) => Some(Stage::Stopping(call.clone())),
        Stage::Stopping(_) | Stage::Done(_) | Stage::Failed { .. } | Stage::Skipped { .. } => None,
    }
}
