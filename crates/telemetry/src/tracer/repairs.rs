//! The repair of a step's call, rung by rung.

use std::sync::Arc;

use reknit_engine::{MendDetail, RejectionCause, RungStart};
use reknit_mend::{Advice, CallFault, FaultOrigin, Mend, MendEffect, ModelRung, Rung};
use reknit_model_api::ModelAnswer;
use reknit_protocol::{EffectId, Object};

use super::models::QuestionEnd;
use super::steps::StepTrace;
use super::{StepKey, Tracer};
use crate::attribute_value::{AttributeValue, MAX_BRIEF, MAX_TEXT};
use crate::signal::Definition;
use crate::table::{events, logs, metrics};

impl Tracer {
    fn add_step_event<const N: usize>(&mut self, key: &StepKey, event: &Definition<N>, values: [AttributeValue; N]) {
        if let Some(step) = self.steps.get_mut(key) {
            step.add_event(event.event_at(self.at_ms, values));
        }
    }

    fn close_rung(&mut self, key: &StepKey, rung: ModelRung) -> bool {
        self.steps.get_mut(key).is_some_and(|step| step.open_rungs.remove(&rung))
    }

    /// Reports the start of a rung that asks a model. A rung may ask several models, but starts once.
    pub(super) fn start_rung(&mut self, turn: Option<u32>, start: &RungStart) {
        let Some(step) = self.steps.get_mut(&StepKey::new(turn, &start.step)) else { return };
        step.fault = Some(Arc::clone(&start.fault));
        let is_new = step.open_rungs.insert(start.rung);
        let step = step.clone();
        match start.rung {
            ModelRung::Resolution if is_new => self.count(&metrics::RESOLUTIONS, self.labels(&step)),
            ModelRung::Resolution => {}
            ModelRung::Feedback => self.start_feedback(&step, start),
            ModelRung::Context => self.start_context(&step, start),
        }
    }

    fn start_feedback(&mut self, step: &StepTrace, start: &RungStart) {
        if let Some(step) = self.steps.get_mut(&step.key) {
            step.feedback_uses = start.uses;
        }
        let error = || AttributeValue::error(&start.fault.to_string());
        let values =
            [step.id(), step.capability(), step.tool(), start.uses.into(), error(), start.is_type_error.into()];
        self.add_step_event(&step.key, &events::FEEDBACK_STARTED, values);
        self.count(&metrics::FEEDBACK, self.labels(step));
        let definition = if start.is_type_error { &logs::TYPE_ERROR } else { &logs::REFUSED };
        self.log(definition, ["validation_feedback".into(), step.id(), start.uses.into(), error()]);
    }

    fn start_context(&mut self, step: &StepTrace, start: &RungStart) {
        let (retries, status, keys) = (start.uses.saturating_sub(1), step.status(), start.source_keys.len());
        let names = || AttributeValue::error(&start.source_keys.join(", "));
        let independent = start.is_independent.into();
        let values = [step.id(), step.capability(), retries.into(), status.into(), keys.into(), names(), independent];
        self.add_step_event(&step.key, &events::CONTEXT_START, values);
        self.count(&metrics::CONTEXT, self.short_labels(step));
        if start.is_independent {
            self.count(&metrics::CONTEXT_INDEPENDENT, self.short_labels(step));
        }
        self.log(&logs::CONTEXT_START, [step.id(), step.capability(), status.into(), keys.into(), names()]);
    }

    /// Reports how long a question of the rung `context` took, and its failure.
    pub(super) fn map_context_latency(&mut self, id: &EffectId, end: &QuestionEnd<'_>) {
        let Some(key) = StepKey::of(id) else { return };
        let Some(labels) = self.steps.get(&key).map(|step| self.short_labels(step)) else { return };
        let ms = self.latency_ms;
        self.measure(&metrics::CONTEXT_LATENCY, ms, labels.clone());
        let Some(error) = end.error() else { return };
        let values = || [AttributeValue::error(&error), ms.into()];
        self.add_step_event(&key, &events::CONTEXT_ERROR, values());
        self.count(&metrics::CONTEXT_LLM_ERRORS, labels);
        self.log(&logs::CONTEXT_LLM_FAILED, values());
    }

    pub(super) fn map_advice(
        &mut self,
        key: &StepKey,
        rung: ModelRung,
        advice: &Result<Arc<Advice>, String>,
        answer: &ModelAnswer,
    ) {
        let Some(step) = self.steps.get(key).cloned() else { return };
        match (rung, advice) {
            (ModelRung::Feedback, Ok(advice)) => self.map_analysis(&step, advice),
            (ModelRung::Context, Ok(advice)) => self.map_context_advice(&step, advice),
            (ModelRung::Context, Err(problem)) => {
                let values = || [AttributeValue::error(problem), AttributeValue::excerpt(&answer.text, MAX_BRIEF)];
                self.add_step_event(key, &events::CONTEXT_PARSE_ERROR, values());
                self.log(&logs::CONTEXT_UNREADABLE, values());
            }
            (ModelRung::Feedback, Err(_)) | (ModelRung::Resolution, _) => {}
        }
    }

    fn map_analysis(&mut self, step: &StepTrace, advice: &Advice) {
        let reason = || AttributeValue::excerpt(&advice.reason, MAX_BRIEF);
        let (changes, ms) = (advice.changes.len(), self.latency_ms);
        let values = [step.id(), step.capability(), advice.retry.into(), reason(), changes.into(), ms.into()];
        self.add_step_event(&step.key, &events::ANALYSIS_COMPLETE, values);
        if advice.retry || advice.transient {
            return;
        }
        self.close_rung(&step.key, ModelRung::Feedback);
        self.add_step_event(&step.key, &events::ANALYSIS_NO_RETRY, [step.id(), reason()]);
        let [capability, _, module] = self.labels(step);
        let status = step.status();
        self.count(&metrics::NO_RETRY, [capability, status.to_string().into(), module]);
        let operation = "error_analysis_no_retry".into();
        self.log(&logs::NO_RETRY, [operation, step.id(), step.capability(), status.into(), reason()]);
    }

    fn map_context_advice(&mut self, step: &StepTrace, advice: &Advice) {
        let analysis = || AttributeValue::excerpt(&advice.reason, MAX_BRIEF);
        let ms = self.latency_ms;
        let values = [advice.retry.into(), analysis(), advice.changes.len().into(), ms.into()];
        self.add_step_event(&step.key, &events::CONTEXT_COMPLETE, values);
        let metric = if advice.retry { &metrics::CONTEXT_SUCCESS } else { &metrics::CONTEXT_CANNOT_FIX };
        self.count(metric, self.short_labels(step));
        if !advice.retry {
            self.close_rung(&step.key, ModelRung::Context);
        }
        let changes = AttributeValue::parameters(&advice.changes);
        let values = [step.id(), step.capability(), advice.retry.into(), analysis(), changes, ms.into()];
        self.log(&logs::CONTEXT_COMPLETE, values);
    }

    pub(super) fn map_mend(&mut self, key: &StepKey, mend: &Mend, detail: &MendDetail) {
        let Some(step) = self.steps.get_mut(key) else { return };
        if step.fault.is_some() && mend.effect == MendEffect::Applied && mend.rung.changes_parameters() {
            step.corrected_by = Some(mend.rung);
        }
        let step = step.clone();
        let description = mend.description.as_str();
        match detail {
            MendDetail::Coerced { values } => self.map_coercion(&step, description, *values),
            MendDetail::ByRule if mend.effect == MendEffect::Applied => self.map_rule(&step, description),
            MendDetail::ByLearnedRule { rule } => self.map_learned_rule(&step, rule, description, false),
            MendDetail::RuleRejected { rule } => self.map_learned_rule(&step, rule, description, true),
            MendDetail::ByRule
            | MendDetail::NoLearnedRule
            | MendDetail::Settled
            | MendDetail::Wired
            | MendDetail::Read => {}
            MendDetail::Resent { times, fault } => self.map_resend(&step, description, (*times, fault)),
            MendDetail::Learned => {
                let values = [step.id(), step.capability(), AttributeValue::error(description)];
                self.add_step_event(key, &events::MAPPING_APPLIED, values);
                self.count(&metrics::MAPPINGS, self.labels(&step));
            }
            MendDetail::ByModel { uses, parameters, analysis, answer } => match mend.rung {
                Rung::Feedback => self.map_feedback_success(&step, *uses, parameters),
                Rung::Context => self.map_semantic_retry(&step, *uses, (parameters, analysis)),
                _ => self.map_resolution(&step, answer.as_deref()),
            },
            MendDetail::NotByModel { uses, cause } => match mend.rung {
                Rung::Feedback if self.close_rung(key, ModelRung::Feedback) => {
                    self.map_feedback_failure(key, *uses, rejection_label(*cause));
                }
                Rung::Context if self.close_rung(key, ModelRung::Context) => {
                    let values = ["semantic_retry_failed".into(), step.id(), AttributeValue::error(description)];
                    self.log(&logs::SEMANTIC_RETRY_FAILED, values);
                }
                Rung::Resolution => self.map_failed_resolution(&step, description, *cause),
                _ => {}
            },
        }
    }

    fn map_coercion(&mut self, step: &StepTrace, description: &str, values: usize) {
        self.add_step_event(&step.key, &events::TYPE_COERCION, [values.into(), step.capability(), step.id()]);
        self.count(&metrics::COERCIONS, self.short_labels(step));
        let description = AttributeValue::error(description);
        self.log(&logs::COERCED, ["type_coercion".into(), step.id(), step.capability(), description]);
    }

    fn map_rule(&mut self, step: &StepTrace, description: &str) {
        let description = || AttributeValue::error(description);
        self.add_step_event(&step.key, &events::FACTS_APPLIED, [step.id(), step.capability(), description()]);
        self.count(&metrics::FACTS, self.labels(step));
        self.log(&logs::FACTS, ["facts".into(), step.id(), step.capability(), description()]);
    }

    /// Reports a call that a learned rule corrected, or that the tool rejected although it did.
    fn map_learned_rule(&mut self, step: &StepTrace, rule: &str, description: &str, is_rejected: bool) {
        let rule = || AttributeValue::Text(rule.to_owned());
        let description = || AttributeValue::error(description);
        let (event, metric, line, operation) = if is_rejected {
            (&events::RULE_REJECTED, &metrics::RULES_REJECTED, &logs::RULE_REJECTED, "learned_rule_rejected")
        } else {
            (&events::RULE_APPLIED, &metrics::RULES, &logs::RULE, "learned_rule")
        };
        self.add_step_event(&step.key, event, [step.id(), step.capability(), rule(), description()]);
        self.count(metric, self.labels(step));
        self.log(line, [operation.into(), step.id(), step.capability(), rule(), description()]);
    }

    fn map_resend(&mut self, step: &StepTrace, description: &str, (times, fault): (u32, &Arc<CallFault>)) {
        // A model that advises to send the same call again has not failed.
        self.close_rung(&step.key, ModelRung::Feedback);
        self.close_rung(&step.key, ModelRung::Context);
        let description = || AttributeValue::error(description);
        self.add_step_event(&step.key, &events::RESEND, [step.id(), step.capability(), times.into(), description()]);
        let reason = match fault.origin {
            FaultOrigin::Transport(_) => "transport",
            FaultOrigin::Interrupted => "interrupted",
            FaultOrigin::Status(429) => "rate_limit",
            FaultOrigin::Status(500..) => "server_error",
            FaultOrigin::Status(_) | FaultOrigin::Local => "other",
        };
        self.count(&metrics::RESENDS, self.labels_with(step, reason));
        let error = match fault.status() {
            _ if !fault.code.is_empty() => AttributeValue::error(&fault.code),
            Some(status) => AttributeValue::Text(status.to_string()),
            None => reason.into(),
        };
        self.log(&logs::RETRY, ["resend".into(), step.id(), step.tool(), times.into(), error]);
    }

    fn map_resolution(&mut self, step: &StepTrace, answer: Option<&ModelAnswer>) {
        self.close_rung(&step.key, ModelRung::Resolution);
        let text = AttributeValue::excerpt(answer.map_or("", |answer| answer.text.as_str()), MAX_TEXT);
        let values = [step.id(), step.capability(), text, self.latency_ms.into()];
        self.add_step_event(&step.key, &events::RESOLUTION_RESPONSE, values);
        self.count(&metrics::RESOLUTION_SUCCESS, self.labels(step));
    }

    fn map_failed_resolution(&mut self, step: &StepTrace, description: &str, cause: RejectionCause) {
        if !self.close_rung(&step.key, ModelRung::Resolution) {
            return;
        }
        let values = [step.id(), step.capability(), AttributeValue::error(description), self.latency_ms.into()];
        self.add_step_event(&step.key, &events::RESOLUTION_ERROR, values);
        let reason = if cause == RejectionCause::NoAnswer { "llm_error" } else { "refused" };
        self.count(&metrics::RESOLUTION_FAILED, self.labels_with(step, reason));
    }

    fn map_feedback_success(&mut self, step: &StepTrace, uses: u32, parameters: &Object) {
        self.close_rung(&step.key, ModelRung::Feedback);
        let parameters = || AttributeValue::parameters(parameters);
        let values = [step.id(), step.capability(), uses.into(), parameters()];
        self.add_step_event(&step.key, &events::FEEDBACK_SUCCESS, values);
        self.count(&metrics::FEEDBACK_SUCCESS, self.labels(step));
        self.log(&logs::CORRECTED, ["validation_feedback_success".into(), step.id(), parameters()]);
    }

    fn map_feedback_failure(&mut self, key: &StepKey, uses: u32, reason: &'static str) {
        let Some(step) = self.steps.get(key).cloned() else { return };
        let values = [step.id(), step.capability(), uses.into(), reason.into()];
        self.add_step_event(key, &events::FEEDBACK_FAILED, values);
        self.count(&metrics::FEEDBACK_FAILED, self.labels_with(&step, reason));
        self.log(&logs::FEEDBACK_FAILED, ["validation_feedback_failed".into(), step.id(), reason.into()]);
    }

    /// Reports, once per step, that a call was rejected after the last allowed correction by feedback.
    pub(super) fn map_exhausted_feedback(&mut self, key: &StepKey) {
        let Some(step) = self.steps.get_mut(key).filter(|step| !step.feedback_exhausted) else { return };
        step.feedback_exhausted = true;
        let uses = step.feedback_uses;
        self.map_feedback_failure(key, uses, "max_retries_exceeded");
    }

    fn map_semantic_retry(&mut self, step: &StepTrace, uses: u32, (parameters, analysis): (&Object, &str)) {
        self.close_rung(&step.key, ModelRung::Context);
        let (analysis, parameters) =
            (|| AttributeValue::excerpt(analysis, MAX_TEXT), || AttributeValue::parameters(parameters));
        let values = [step.id(), step.capability(), analysis(), parameters()];
        self.add_step_event(&step.key, &events::SEMANTIC_RETRY, values);
        self.count(&metrics::CONTEXT_APPLIED, self.short_labels(step));
        let operation = "semantic_retry_applied".into();
        let values = [operation, step.id(), step.capability(), analysis(), parameters(), uses.into()];
        self.log(&logs::SEMANTIC_RETRY, values);
    }

    /// Reports the rungs that a step left open because it ended while a model was asked.
    pub(super) fn stop_rungs(&mut self, key: &StepKey) {
        if self.close_rung(key, ModelRung::Feedback) {
            let uses = self.steps.get(key).map_or(0, |step| step.feedback_uses);
            self.map_feedback_failure(key, uses, "stopped");
        }
        if self.close_rung(key, ModelRung::Resolution)
            && let Some(step) = self.steps.get(key)
        {
            self.count(&metrics::RESOLUTION_FAILED, self.labels_with(step, "stopped"));
        }
    }
}

fn rejection_label(cause: RejectionCause) -> &'static str {
    match cause {
        RejectionCause::NoAnswer => "llm_error",
        RejectionCause::Unreadable => "parse_error",
        RejectionCause::ResendsSpent => "resends_spent",
        RejectionCause::Refused => "refused",
    }
}
