//! What a run learns about those it cannot reach now: a service that rests, a model that refuses its key.

use std::sync::Arc;

use reknit_dialogue::{Failure, TargetName};
use reknit_protocol::EffectKind;
use reknit_protocol::{Object, Value};

use super::Run;
use super::state::{Before, Phase, Stage, State, Stop};
use super::steps::StepRun;
use crate::budget::Bill;
use crate::consult::Consultation;
use crate::event::What;
use reknit_mend::{Fate, Fault, Origin};
use reknit_protocol::EffectId;
use reknit_protocol::human_duration;

/// How often a step may find its service resting. Each time is a wait of its own, so this bounds them.
const MOST_TURNS: u32 = 5;

impl Run {
    /// The call of a step was not made: its service rests. It is made later, unless that is too late.
    pub(super) fn turn_away(&mut self, index: usize, until_ms: i64) {
        self.state.spent.give_back_tool_call();
        let plan = Arc::clone(&self.plan);
        let (now_ms, ceiling_ms) = (self.state.now_ms, self.policy().resend.ceiling_ms);
        let ending = self.state.stop.as_ref().filter(|stop| stop.is_immediate()).map(Stop::reason);
        let ending = ending.or_else(|| self.too_late(index, until_ms));
        let (Some(planned), Some(step)) = (plan.steps.get(index), self.state.steps.get_mut(index)) else { return };
        step.turned_away += 1;
        let wait_ms = until_ms.saturating_sub(now_ms).max(0).unsigned_abs();
        let too_late = match ending {
            Some(reason) => Some(reason),
            None if wait_ms > ceiling_ms => {
                let (wait, ceiling) = (human_duration(wait_ms), human_duration(ceiling_ms));
                Some(format!(
                    "it would be {wait} until then; the longest allowed wait is {ceiling} (`ceiling` in `[resend]`)"
                ))
            }
            None if step.turned_away > MOST_TURNS => Some(format!("that was so {MOST_TURNS} times before")),
            None => None,
        };
        let stage = match too_late {
            Some(reason) => Stage::Failed { reason, fault: Some(Box::new(resting(planned.agent.as_str()))) },
            None => Stage::Resting {
                id: EffectId::of_step(&planned.id, EffectKind::BreakerWait, step.turned_away),
                until_ms,
                before: Before::GateOpens,
            },
        };
        self.set_stage(index, stage);
    }

    /// Before a question hears what became of it: it is told by when the run ends, who refused a key or an account is
    /// remembered, and what it cost is settled.
    pub(super) fn prepare_question(&mut self, what: &What) {
        let (effect, is_fatal, bill) = match what {
            What::ModelFailed { effect, failure } => {
                (effect, failure.class.fatal(), Bill::of_failure(failure.usage.as_ref()))
            }
            What::ModelAnswered { effect, answer } => (effect, false, Bill::Used(&answer.usage)),
            What::GateClosed { effect, .. } => (effect, false, Bill::Nothing),
            _ => return,
        };
        let now_ms = self.state.now_ms;
        let left_ms = self.policy().limits.active_ms.saturating_sub(self.state.clock.active_ms(now_ms));
        let index = effect.step().and_then(|step| self.plan.place(step.as_str()));
        let Some(question) = self.state.question(effect, index) else { return };
        question.end_by(now_ms.saturating_add_unsigned(left_ms), now_ms);
        let quote = question.take_quote();
        let refused = question.target().filter(|_| is_fatal).cloned();
        self.state.refused.extend(refused);
        if let Some(quote) = quote {
            self.state.spent.settle(quote, bill);
        }
        if let What::ModelFailed { failure: Failure { usage: Some(usage), .. }, .. } = what {
            self.state.spent.wasted_tokens += usage.input_tokens.saturating_add(usage.output_tokens);
        }
    }

    /// The models that may be asked: all that did not refuse their key. If all did, all: somebody may have mended it.
    pub(super) fn targets_left(&self) -> Vec<TargetName> {
        let targets = &self.started.targets;
        let left: Vec<TargetName> =
            targets.iter().filter(|target| !self.state.refused.contains(target)).cloned().collect();
        if left.is_empty() { targets.clone() } else { left }
    }
}

impl State {
    /// Nobody waits for answers any more: what questions under way cost is not known.
    pub(super) fn settle_open_questions(&mut self) {
        let Self { phase, steps, spent, .. } = self;
        match phase {
            Phase::Choosing { consultation }
            | Phase::Planning { consultation, .. }
            | Phase::Answering { consultation } => consultation.settle(spent, Bill::Unknown),
            Phase::Running => {
                for question in steps.iter_mut().filter_map(StepRun::question_mut) {
                    question.settle(spent, Bill::Unknown);
                }
            }
            Phase::Ended(_) => {}
        }
    }

    /// The question that an effect belongs to: the run's, or that of the step whose name the effect has.
    fn question(&mut self, effect: &EffectId, index: Option<usize>) -> Option<&mut Consultation> {
        let question = match &mut self.phase {
            Phase::Choosing { consultation }
            | Phase::Planning { consultation, .. }
            | Phase::Answering { consultation } => Some(consultation.as_mut()),
            Phase::Running => index.and_then(|index| self.steps.get_mut(index)?.question_mut()),
            Phase::Ended(_) => None,
        };
        question.filter(|question| question.wants(effect))
    }
}

fn resting(agent: &str) -> Fault {
    Fault {
        origin: Origin::Local,
        fate: Fate::NotSent,
        code: String::new(),
        message: format!("`{agent}` is resting"),
        category: None,
        retryable: None,
        details: Object::new(),
        wait_ms: None,
        body: Value::Null,
    }
}
