//! What happens to a step: its call is answered, its wait is over, a person has decided.

use std::sync::Arc;

use reknit_bind::Provenance;
use reknit_protocol::EffectKind;
use reknit_protocol::{SideEffect, Value};

use super::Run;
use super::state::{Before, Stage};
use super::steps::Attempt;
use crate::digest::{digest_of, jitter};
use crate::effect::{AskPerson, Question};
use crate::event::{Decision, What};
use reknit_mend::People;
use reknit_mend::{Fault, Origin, Verdict, judge_failure, judge_reply};
use reknit_mend::{Mend, MendEffect, Remedy, Rung, Used, remedy};
use reknit_protocol::EffectId;

impl Run {
    /// Takes in what concerns a step; says whether it did.
    pub(super) fn on_step(&mut self, what: &What) -> bool {
        let index = what.effect().and_then(|effect| self.plan.place(effect.step()?.as_str()));
        index.is_some_and(|index| self.on_step_at(index, what))
    }

    fn on_step_at(&mut self, index: usize, what: &What) -> bool {
        let Some(step) = self.state.steps.get(index) else { return false };
        match (step.stage(), what) {
            (Stage::Calling(call) | Stage::Stopping(call), What::ToolAnswered { effect, reply })
                if call.id == *effect =>
            {
                self.on_verdict(index, judge_reply(reply, self.state.now_ms));
            }
            (Stage::Calling(call) | Stage::Stopping(call), What::ToolFailed { effect, failure })
                if call.id == *effect =>
            {
                self.on_verdict(index, judge_failure(failure));
            }
            (Stage::Calling(call), What::Interrupted { effect }) if call.id == *effect => {
                self.on_verdict(index, Verdict::SendAgain(Fault::interrupted()));
            }
            (Stage::Stopping(call), What::Interrupted { effect }) if call.id == *effect => {
                let fault = self.given_up();
                self.on_verdict(index, Verdict::SendAgain(fault));
            }
            (Stage::Calling(call) | Stage::Stopping(call), What::GateClosed { effect, until_ms })
                if call.id == *effect =>
            {
                self.turn_away(index, *until_ms);
            }
            (Stage::Resting { id, .. }, What::Woke { effect }) if id == effect => {
                self.set_stage(index, Stage::Queued);
            }
            (Stage::Deciding { ask, .. }, What::PersonDecided { effect, hash, decision })
                if ask.id == *effect && ask.hash == *hash =>
            {
                self.on_decision(index, *decision);
            }
            (Stage::Deciding { ask, .. }, What::Woke { effect })
                if ask.id.with_kind(EffectKind::ApprovalExpiry) == *effect =>
            {
                self.on_decision(index, Decision::Deny);
            }
            (Stage::Advising { .. }, _) => return self.on_advice(index, what),
            _ => return false,
        }
        true
    }

    /// A call that was still under way when the run had to end. Who waited for it as long as is allowed gave it up; who did
    /// not took over from a process that is gone.
    fn given_up(&self) -> Fault {
        let drain_ms = self.policy().limits.drain_ms;
        let waited_ms = self.state.stopped_ms.map_or(0, |since| self.state.now_ms.saturating_sub(since));
        if u64::try_from(waited_ms).unwrap_or(0) < drain_ms {
            return Fault::interrupted();
        }
        Fault::given_up(drain_ms)
    }

    /// A call, or what would have been one, came out so.
    pub(super) fn on_verdict(&mut self, index: usize, verdict: Verdict) {
        let plan = Arc::clone(&self.plan);
        let Some(planned) = plan.steps.get(index) else { return };
        let class = self.class(planned);
        let started = Arc::clone(&self.started);
        let Some(step) = self.state.steps.get_mut(index) else { return };
        let fault = match verdict {
            Verdict::Success(value) => {
                step.attempts.push(Attempt { parameters: step.parameters.clone(), fault: None });
                return self.set_stage(index, Stage::Done(value));
            }
            Verdict::Stop(ref fault) | Verdict::SendAgain(ref fault) | Verdict::Mend(ref fault) => fault.clone(),
        };
        let used = self.state.steps.get(index).map(|step| self.used(step, planned, &fault)).unwrap_or_default();
        if let Some(step) = self.state.steps.get_mut(index) {
            step.attempts.push(Attempt { parameters: step.parameters.clone(), fault: Some(fault.clone()) });
        }
        if let Some(stop) = self.state.stop.as_ref().filter(|stop| stop.is_immediate()) {
            let reason = stop.reason();
            return self.set_stage(index, Stage::Failed { reason, fault: Some(Box::new(fault)) });
        }
        if let Some(reason) = self.too_late(index, self.state.now_ms) {
            return self.fail_late(index, reason, Some(fault));
        }
        let about_input = match &verdict {
            Verdict::Mend(_) => true,
            // The service may be down; what it says about the input counts only if there is such a thing in the call.
            Verdict::SendAgain(fault) => fault.origin == Origin::Status(503) && self.is_about_input(index, fault),
            Verdict::Success(_) | Verdict::Stop(_) => false,
        };
        if about_input && self.mend_by_facts(index, &fault) {
            return;
        }
        if let Some(remedy) = remedy(&verdict, class, Used { about_input, ..used }, started.policy.ladder()) {
            self.treat(index, fault, remedy);
        }
    }

    /// Does what was decided about a failure.
    pub(super) fn treat(&mut self, index: usize, fault: Fault, remedy: Remedy) {
        match remedy {
            Remedy::SendAgain { floor_ms } => self.rest(index, &fault, floor_ms),
            Remedy::Feedback => self.ask_for_advice(index, fault, Rung::Feedback),
            Remedy::Context => self.ask_for_advice(index, fault, Rung::Context),
            Remedy::AskPerson => {
                let Some(call) = self.last_call(index) else { return };
                self.ask_person(index, fault, Question::SendAgain { call: Box::new(call) });
            }
            Remedy::GiveUp(reason) => {
                self.set_stage(index, Stage::Failed { reason, fault: Some(Box::new(fault)) });
            }
        }
    }

    /// The call that was just answered: the next one, but under the number it had.
    fn last_call(&self, index: usize) -> Option<reknit_protocol::CallTool> {
        let mut call = self.next_call(index)?;
        let calls = self.state.steps.get(index)?.calls;
        call.id = EffectId::of_step(&call.step, EffectKind::Call, calls);
        Some(call)
    }

    /// Waits before the same call is sent again: longer each time, never shorter than the tool asked for.
    fn rest(&mut self, index: usize, fault: &Fault, floor_ms: u64) {
        let started = Arc::clone(&self.started);
        let rules = &started.policy.resend;
        let now_ms = self.state.now_ms;
        let plan = Arc::clone(&self.plan);
        let (Some(planned), Some(step)) = (plan.steps.get(index), self.state.steps.get_mut(index)) else { return };
        step.resends += 1;
        let id = EffectId::of_step(&planned.id, EffectKind::RetryWait, step.resends);
        // The quarter that is added below is within the longest wait.
        let most_ms = rules.max_ms.saturating_mul(4) / 5;
        let doubled = rules.base_ms.saturating_mul(1u64.checked_shl(step.resends - 1).unwrap_or(u64::MAX)).min(most_ms);
        let wait_ms = match fault.origin {
            // It was our own process that went away; the tool needs no rest.
            Origin::Interrupted => 0,
            Origin::Local | Origin::Transport(_) | Origin::Status(_) => {
                let wait_ms = doubled.max(floor_ms);
                // Up to a quarter more, so that callers who failed together do not come back together.
                wait_ms.saturating_add(jitter(started.seed, &id.to_string(), wait_ms / 4))
            }
        };
        step.mends.push(Mend {
            rung: Rung::Resend,
            effect: MendEffect::Applied,
            words: format!("sent again after {wait_ms} ms, for {fault}"),
        });
        let until_ms = now_ms.saturating_add_unsigned(wait_ms);
        self.set_stage(index, Stage::Resting { id, until_ms, before: Before::SendingAgain });
        if let Some(reason) = self.too_late(index, until_ms) {
            self.fail_late(index, reason, Some(fault.clone()));
        }
    }

    /// Asks a person. The hash binds the decision to just this question.
    pub(super) fn ask_person(&mut self, index: usize, fault: Fault, question: Question) {
        if self.policy().people == People::Nobody {
            let reason = "only a person may decide this, and nobody can be asked".to_owned();
            return self.set_stage(index, Stage::Failed { reason, fault: Some(Box::new(fault)) });
        }
        let limits = &self.started.policy.limits;
        let expires_ms = self.state.now_ms.saturating_add_unsigned(limits.person_ms);
        let hash = digest_of(&(self.started.run.as_str(), &question));
        let plan = Arc::clone(&self.plan);
        let (Some(planned), Some(step)) = (plan.steps.get(index), self.state.steps.get_mut(index)) else { return };
        step.questions += 1;
        let id = EffectId::of_step(&planned.id, EffectKind::Approval, step.questions);
        let ask = AskPerson { id, step: planned.id.clone(), question, hash, expires_ms };
        self.set_stage(index, Stage::Deciding { ask: Box::new(ask), fault: Box::new(fault) });
    }

    fn on_decision(&mut self, index: usize, decision: Decision) {
        let Some(step) = self.state.steps.get(index) else { return };
        let Stage::Deciding { ask, fault } = step.stage() else { return };
        // The time of a person is not the step's.
        let asked_ms = ask.expires_ms.saturating_sub_unsigned(self.started.policy.limits.person_ms);
        let waited_ms = self.state.now_ms.saturating_sub(asked_ms);
        let stage = match (decision, &ask.question) {
            (Decision::Approve, _) => Stage::Queued,
            (Decision::Deny, Question::SendAgain { .. }) => Stage::Failed {
                reason: "it may have happened, and nobody allowed it to be sent again".to_owned(),
                fault: Some(fault.clone()),
            },
            (Decision::Deny, Question::SendCorrected { .. }) => {
                Stage::Failed { reason: "nobody allowed the corrected call".to_owned(), fault: Some(fault.clone()) }
            }
        };
        if let Some(step) = self.state.steps.get_mut(index) {
            step.put_deadline_off(waited_ms);
        }
        self.set_stage(index, stage);
    }

    /// Sends a corrected call, or asks whether it may be sent.
    pub(super) fn send_corrected(&mut self, index: usize, fault: Fault, reason: String) {
        let plan = Arc::clone(&self.plan);
        let Some(planned) = plan.steps.get(index) else { return };
        let class = self.class(planned);
        if let Some(step) = self.state.steps.get_mut(index) {
            step.correction += 1;
        }
        let Some(call) = self.next_call(index) else { return };
        match class {
            SideEffect::Unsafe => {
                self.ask_person(index, fault, Question::SendCorrected { call: Box::new(call), reason })
            }
            SideEffect::Read | SideEffect::Idempotent | SideEffect::Keyed | SideEffect::Undeclared => {
                self.set_stage(index, Stage::Queued)
            }
        }
    }

    /// Sends a call whose missing values a model has found. What it wrote itself is not sent unseen where it counts.
    pub(super) fn send_resolved(&mut self, index: usize, fault: Fault) {
        let plan = Arc::clone(&self.plan);
        let (Some(planned), Some(step)) = (plan.steps.get(index), self.state.steps.get(index)) else { return };
        let inferred: Vec<&str> = step
            .provenance
            .iter()
            .filter(|(_, origin)| *origin == Provenance::Inferred)
            .map(|(name, _)| name.as_str())
            .collect();
        if self.class(planned) != SideEffect::Unsafe || inferred.is_empty() {
            return self.set_stage(index, Stage::Queued);
        }
        let reason = format!("a model gave {} without a result that says so", inferred.join(", "));
        let Some(call) = self.next_call(index) else { return };
        self.ask_person(index, fault, Question::SendCorrected { call: Box::new(call), reason });
    }

    /// The parameters of a step as JSON, for prompts.
    pub(super) fn parameters_text(&self, index: usize) -> String {
        self.state.steps.get(index).map(|step| Value::Object(step.parameters.clone()).to_pretty()).unwrap_or_default()
    }
}
