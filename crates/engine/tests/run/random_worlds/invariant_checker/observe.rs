//! What happens to calls, to approvals and to questions, as far as the invariants need it.

use reknit_engine::{Decision, EventKind, Question};
use reknit_model_api::ModelAnswer;
use reknit_protocol::{CallTool, Delivery, EffectId, EffectKind, EffectOwner, SideEffect, StepId};

use super::super::reply_meaning::{AdviceMeaning, ReplyMeaning, advice_meaning, reply_meaning, supplied_names};
use super::InvariantChecker;
use super::step_log::{ApprovedCall, Uncertainty};

impl InvariantChecker {
    /// Remembers an event before the run applies it.
    pub(crate) fn observe(&mut self, event: &EventKind) {
        if *event == EventKind::Retried {
            self.observe_retry();
        }
        let Some(id) = event.effect() else { return };
        let call = self.pending_calls.get(id).cloned();
        match (event, call) {
            (
                EventKind::ToolAnswered { .. } | EventKind::ToolFailed { .. } | EventKind::Interrupted { .. },
                Some(call),
            ) => {
                self.started_calls.insert(id.clone());
                self.observe_call(&call, event);
            }
            (EventKind::ModelAnswered { .. } | EventKind::ModelFailed { .. }, None)
                if self.pending_questions.contains(id) =>
            {
                self.started_questions.insert(id.clone());
                if let EventKind::ModelAnswered { answer, .. } = event {
                    self.observe_answer(id, answer);
                }
            }
            (EventKind::PersonDecided { decision, hash, .. }, None)
                if decision.settles_outcome() && hash != "another" =>
            {
                // After a retry, a person may also settle a call that was approved and not sent.
                if let Some(log) = id.step().and_then(|step| self.steps.get_mut(step))
                    && log.uncertainty != Uncertainty::None
                {
                    log.uncertainty = Uncertainty::None;
                    log.is_done = matches!(decision, Decision::Happened { .. });
                }
            }
            (EventKind::PersonDecided { decision: Decision::Edit { parameters }, hash, .. }, None) => {
                let asked = self.pending_approvals.get(id).filter(|asked| asked.hash == *hash);
                let Some(ask) = asked.filter(|ask| !matches!(ask.question, Question::SendAgain { .. })) else { return };
                let log = self.steps.entry(ask.step.clone()).or_default();
                log.approved.push(parameters.clone());
                log.approved_calls.push(ApprovedCall::Edited(parameters.to_string()));
                // A person may write anything, also what was rejected before.
                (log.last_call, log.named) = (None, None);
                log.rejected.retain(|(rejected, _)| rejected != parameters);
            }
            (EventKind::PersonDecided { decision: Decision::Approve, hash, .. }, None) => {
                self.observe_approval(id, hash);
            }
            _ => {}
        }
    }

    fn observe_approval(&mut self, id: &EffectId, hash: &str) {
        let asked = self.pending_approvals.get(id).filter(|asked| asked.hash == hash);
        if let Some(Question::SendItems { calls, .. }) = asked.map(|ask| &ask.question) {
            for call in calls {
                let log = self.steps.entry(call.step.clone()).or_default();
                log.approved.push(call.parameters.clone());
                log.approved_calls.push(ApprovedCall::Item(call.parameters.to_string()));
            }
            return;
        }
        self.is_plan_approved |= asked.is_some_and(|ask| matches!(ask.question, Question::RunPlan { .. }));
        let Some(call) = asked.and_then(|ask| ask.question.call()) else { return };
        let log = self.steps.entry(call.step.clone()).or_default();
        log.approved.push(call.parameters.clone());
        let key = call.idempotency_key.clone();
        log.approved_calls.push(ApprovedCall::AsAsked(call.parameters.to_string(), key));
        if let Some(log) = id.step().and_then(|step| self.steps.get_mut(step))
            && log.uncertainty.is_open()
        {
            log.uncertainty = Uncertainty::Approved;
        }
    }

    /// What failed may be done again, except that a call with an unknown outcome stays what it is.
    fn observe_retry(&mut self) {
        self.retries += 1;
        self.active_before_ms = self.active_ms;
        for log in self.steps.values_mut() {
            log.is_access_denied = false;
            log.rejected.clear();
            log.named = None;
            log.approved_calls.clear();
            let only_reads = log.last_call.as_ref().is_none_or(|call| call.side_effect == SideEffect::Read);
            if only_reads || !log.uncertainty.is_open() {
                log.last_call = None;
            }
        }
    }

    fn observe_call(&mut self, call: &CallTool, event: &EventKind) {
        let log = self.steps.entry(call.step.clone()).or_default();
        log.last_call = Some(call.clone());
        log.last_error = match event {
            EventKind::ToolAnswered { reply, .. } => reply.body.to_value().to_string().to_lowercase(),
            _ => String::new(),
        };
        log.named = None;
        match event {
            EventKind::ToolAnswered { reply, .. } => match reply_meaning(reply, call.side_effect) {
                ReplyMeaning::Success => log.is_done = true,
                ReplyMeaning::AccessDenied => log.is_access_denied = true,
                ReplyMeaning::Rejected => {
                    let may_follow =
                        call.side_effect == SideEffect::Idempotent && matches!(reply.status, 404 | 409 | 410 | 412);
                    let has_key = matches!(call.side_effect, SideEffect::Idempotent | SideEffect::Keyed);
                    if log.uncertainty == Uncertainty::Interrupted && has_key && !may_follow {
                        log.uncertainty = Uncertainty::None;
                    }
                    log.rejected.retain(|(parameters, _)| *parameters != call.parameters);
                    log.rejected.push((call.parameters.clone(), false));
                }
                ReplyMeaning::Uncertain => log.uncertainty = Uncertainty::Open,
                ReplyMeaning::NotNow => {}
            },
            EventKind::ToolFailed { failure, .. } if failure.delivery == Delivery::Possible => {
                log.uncertainty = Uncertainty::Open;
            }
            EventKind::Interrupted { .. } if log.uncertainty == Uncertainty::None => {
                log.uncertainty = Uncertainty::Interrupted;
            }
            _ => {}
        }
        let was_sent = !matches!(event, EventKind::ToolFailed { failure, .. } if failure.delivery == Delivery::NotSent);
        if was_sent && log.uncertainty == Uncertainty::Approved {
            log.uncertainty = Uncertainty::Open;
        }
    }

    /// Remembers what a model's answer may change at most.
    fn observe_answer(&mut self, id: &EffectId, answer: &ModelAnswer) {
        let has_text = answer.require_text().is_ok();
        if has_text && *id.owner() == EffectOwner::Plan && id.kind() == EffectKind::Ask {
            self.plans += 1;
            // A call that was sent again under its key and answered has a known outcome.
            let open = self.steps.values().filter(|log| log.uncertainty.is_open() && !log.is_done);
            let calls = open.filter_map(|log| log.last_call.as_ref());
            let changing = calls.filter(|call| call.side_effect != SideEffect::Read);
            self.uncertain_when_planned = changing.map(|call| call.capability.clone()).collect();
        }
        let Some(step) = id.step() else { return };
        if !has_text {
            self.last_answer = Some((step.clone(), Vec::new()));
            return;
        }
        let advice = advice_meaning(&answer.text);
        let names = if id.kind() == EffectKind::Resolution {
            self.steps.entry(step.clone()).or_default().resolutions += 1;
            // The question does not ask for parameters that the plan gives.
            let given = self.parameters.get(step);
            let is_missing = |name: &String| !given.is_some_and(|given| given.contains_key(name));
            supplied_names(&answer.text).into_iter().filter(is_missing).collect()
        } else {
            match &advice {
                Some(AdviceMeaning::Changes(names)) => names.clone(),
                Some(AdviceMeaning::SameCall) | None => Vec::new(),
            }
        };
        self.last_answer = Some((step.clone(), names));
        self.observe_advice(step, id.kind(), advice);
    }

    fn observe_advice(&mut self, step: &StepId, kind: EffectKind, advice: Option<AdviceMeaning>) {
        let Some(log) = self.steps.get_mut(step) else { return };
        match advice {
            Some(AdviceMeaning::SameCall) => {
                let last = log.last_call.as_ref().map(|call| &call.parameters);
                for (parameters, is_allowed) in &mut log.rejected {
                    *is_allowed |= Some(&*parameters) == last;
                }
            }
            Some(AdviceMeaning::Changes(names)) if kind != EffectKind::Resolution => log.named = Some(names),
            Some(AdviceMeaning::Changes(_)) => {}
            None => log.named = Some(Vec::new()),
        }
    }
}
