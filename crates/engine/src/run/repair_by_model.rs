//! Rungs that ask a model: the question about a failed call, and applying the advice as far as that is safe.

use std::sync::Arc;

use reknit_expressions::{BoundParameters, CorrectionOutcome, abridge, apply_correction, replace_parameters};
use reknit_mend::{
    Advice, AdviceForm, CallFault, Fate, LadderPolicy, MendEffect, ModelRung, Remedy, Rung, context_or_give_up,
    parse_context_advice, parse_feedback_advice, resend_or_give_up,
};
use reknit_model_api::{Message, ModelAnswer, Purpose, ResponseFormat};
use reknit_plan::{PlannedStep, StepIndex};
use reknit_protocol::spelling::are_alike;
use reknit_protocol::{EffectKind, EffectOwner, Object, Value};
use reknit_salvage::Schema;

use super::call_repair::CallRepair;
use super::consultations::NoAnswer;
use super::correction::{Correction, NoHelp, Repair, changed_text};
use super::knowledge::StepContext;
use super::resolve_parameters::{fixes_text, missing_text, refuse_doubtful, wanted};
use super::stage::Stage;
use super::step_run::StepRun;
use super::ungrounded_numbers::removable;
use crate::consult::Consultation;
use crate::internal_error::Decided;
use crate::policy::Sampling;
use crate::record::{MendDetail, RejectionCause, RunRecord, RungStart};
use crate::templates::{TemplateError, render};

/// How much of a schema or of details a model is shown, in bytes.
const MAX_SHOWN_BYTES: usize = 8_192;

/// How much of the details of an attempt before the last one a model is shown, in bytes.
const MAX_EARLIER_DETAILS_BYTES: usize = 2_048;

impl CallRepair<'_> {
    /// Enters a rung that asks a model. If no model can be asked, the next rung is tried.
    pub(super) fn consult_about(&mut self, fault: Arc<CallFault>, rung: ModelRung) -> Decided {
        if let Some(reason) = self.too_late(self.clock.now_ms)? {
            return self.fail_late(reason, Some(fault));
        }
        let planned = self.planned()?;
        let limits = self.known().answer_limits(planned, rung);
        let step = self.step_mut()?;
        match rung {
            ModelRung::Resolution => {}
            ModelRung::Feedback => step.rungs.feedback += 1,
            ModelRung::Context => step.rungs.context += 1,
        }
        let (asked, deadline_ms) = (*step.asked_mut(rung), step.deadline_ms);
        if self.context.started.targets.is_empty() {
            let reason = self.known().reason_without_model(self.index, &fault)?;
            return self.on_no_advice(Repair { rung, fault }, NoAnswer::GaveUp(reason));
        }
        let messages = match self.known().advice_messages(self.index, planned, &fault, rung)? {
            Ok(messages) => messages,
            Err(error) => {
                return self.on_no_advice(Repair { rung, fault }, NoAnswer::GaveUp(error.to_string()));
            }
        };
        let request =
            limits.to_model_request(self.known().messages_with_attachments(messages)).with_format(ResponseFormat::Json);
        let (kind, purpose) = question_kind(rung);
        let id = (EffectOwner::Step(planned.id.clone()), kind);
        let mut consultation = Consultation::open(id, asked, purpose, request, self.known().rotation());
        if let Some(deadline_ms) = deadline_ms {
            consultation.set_deadline(deadline_ms, self.clock.now_ms);
        }
        let consultation = Box::new(consultation);
        self.set_stage(Stage::Consulting { rung, fault: Arc::clone(&fault), consultation })?;
        match self.pay_question()? {
            Ok(()) => {
                let start = RungStart {
                    step: planned.id.clone(),
                    rung,
                    uses: self.step()?.uses(rung),
                    is_type_error: fault.is_type_error(),
                    fault,
                    source_keys: self.known().source_keys(planned),
                    is_independent: planned.dependencies.is_empty(),
                };
                self.record(RunRecord::RungStarted(start));
                self.record_question()
            }
            Err(exhausted) => self.on_no_advice(Repair { rung, fault }, NoAnswer::Exhausted(exhausted)),
        }
    }

    pub(super) fn on_no_advice(&mut self, repair: Repair, why: NoAnswer) -> Decided {
        let words = why.to_string();
        if let NoAnswer::Exhausted(exhausted) = why {
            self.account.stop_for(exhausted);
        }
        self.no_help(repair, words, (NoHelp::Unavailable, RejectionCause::NoAnswer))
    }

    pub(super) fn on_advice_text(&mut self, repair: Repair, answer: Arc<ModelAnswer>) -> Decided {
        let rung = repair.rung;
        let read = match rung {
            ModelRung::Resolution => return self.on_resolution_text(repair, answer),
            ModelRung::Feedback => parse_feedback_advice(&answer.text),
            ModelRung::Context => parse_context_advice(&answer.text),
        };
        let read = read.map(Arc::new);
        let step = self.planned()?.id.clone();
        self.record(RunRecord::AdviceRead { step, rung, advice: read.clone(), answer });
        match read {
            Ok(advice) => self.follow(repair, &advice),
            Err(error) => self.no_help(repair, error, (NoHelp::Unusable, RejectionCause::Unreadable)),
        }
    }

    fn follow(&mut self, repair: Repair, advice: &Advice) -> Decided {
        if advice.retry && advice.is_change() {
            return self.follow_correction(repair, advice);
        }
        let (fault, cause) = (&repair.fault, rejection_cause(advice));
        if advice.is_same_call() && repair.rung != ModelRung::Context && fault.fate != Fate::NotSent {
            self.step_mut()?.rungs.said_transient = true;
            let planned = self.planned()?;
            let state = self.known().repair_state(self.step()?, planned, fault);
            let resend = self.known().resend_policy(planned);
            let ladder = LadderPolicy { resend: &resend, ..self.context.started.policy.ladder() };
            return match resend_or_give_up(fault, state, ladder) {
                Remedy::GiveUp(words) => self.no_help(repair, words, (NoHelp::Declined, cause)),
                remedy => self.apply_remedy(repair.fault, remedy),
            };
        }
        let words =
            if advice.reason.is_empty() { "the model found no correction".to_owned() } else { advice.reason.clone() };
        self.no_help(repair, words, (NoHelp::Declined, cause))
    }

    fn follow_correction(&mut self, repair: Repair, advice: &Advice) -> Decided {
        let (rung, fault) = (repair.rung, &repair.fault);
        let planned = self.planned()?;
        let step = self.step()?;
        let cause = rejection_cause(advice);
        if self.known().may_have_happened(planned, step, fault) {
            let words = "the call may have happened, so it is not changed".to_owned();
            return self.no_help(repair, words, (NoHelp::Declined, cause));
        }
        let (removed, kept) = removable(advice, &step.parameters, planned.schema.as_deref(), fault);
        let kept = kept.join(", ");
        let note = if kept.is_empty() { String::new() } else { format!("; {kept} stays: the error does not name it") };
        let (bound, note) = match self.known().corrected(step, planned, advice, &removed, &repair) {
            Ok((bound, fixes)) => (bound, fixes + &note),
            Err(words) => return self.no_help(repair, words + &note, (NoHelp::Unusable, cause)),
        };
        let held = self.known().judge().judge_change(self.index, planned, fault, &bound)?;
        if let Some(words) = self.reject_ungrounded(planned, fault, &bound, &held.numbers)? {
            return self.no_help(repair, words + &note, (NoHelp::Unusable, cause));
        }
        if let Some(words) = self.known().judge().cannot_ask_about(&held.reasons) {
            return self.no_help(repair, words + &note, (NoHelp::Unusable, cause));
        }
        let BoundParameters { parameters, provenance, .. } = bound;
        let step = self.step_mut()?;
        let change = changed_text(&step.parameters, &parameters);
        let words = format!("{change}: {}{note}", advice.reason);
        step.set_parameters(parameters.clone(), provenance);
        let (uses, analysis) = (step.uses(rung), advice.reason.clone());
        let detail = MendDetail::ByModel { uses, parameters, analysis, answer: None };
        self.add_mend(rung.into(), MendEffect::Applied, words, detail)?;
        self.send_corrected(repair.fault, Correction::new(change, &advice.reason, &held))
    }

    /// Records why a rung could not help, if there is a model that it could have asked, and goes on to the next remedy.
    pub(super) fn no_help(
        &mut self,
        Repair { rung, fault }: Repair,
        reason: String,
        (why, cause): (NoHelp, RejectionCause),
    ) -> Decided {
        if !self.context.started.targets.is_empty() {
            let uses = self.step()?.uses(rung);
            let detail = MendDetail::NotByModel { uses, cause };
            self.add_mend(rung.into(), MendEffect::NoHelp, reason.clone(), detail)?;
        }
        let state = self.known().repair_state(self.step()?, self.planned()?, &fault);
        let may_pass = fault.status().is_none_or(|status| status >= 500) && !fault.is_type_error();
        let resend = self.known().resend_policy(self.planned()?);
        let ladder = LadderPolicy { resend: &resend, ..self.context.started.policy.ladder() };
        let next = match (rung, why) {
            // No model judged the failure: one that can pass by itself may still do so.
            (_, NoHelp::Unusable | NoHelp::Unavailable) if may_pass => resend_or_give_up(&fault, state, ladder),
            (ModelRung::Resolution | ModelRung::Feedback, _) | (_, NoHelp::Unusable) => {
                match context_or_give_up(&fault, state, ladder) {
                    Remedy::GiveUp(next) => Remedy::GiveUp(format!("{reason}; {next}")),
                    remedy => remedy,
                }
            }
            (ModelRung::Context, NoHelp::Declined | NoHelp::Unavailable) => Remedy::GiveUp(reason),
        };
        self.apply_remedy(fault, next)
    }
}

impl StepContext<'_> {
    /// Temperature and length of the answer on a rung.
    fn answer_limits(&self, planned: &PlannedStep, rung: ModelRung) -> Sampling {
        let asking = &self.policy().asking;
        match rung {
            ModelRung::Resolution => self.resolution_sampling(planned),
            ModelRung::Feedback => asking.feedback,
            ModelRung::Context => asking.context,
        }
    }

    fn advice_messages(
        &self,
        index: StepIndex,
        planned: &PlannedStep,
        fault: &CallFault,
        rung: ModelRung,
    ) -> Decided<Result<Vec<Message>, TemplateError>> {
        let step = self.steps.get(index)?;
        let missing = if rung == ModelRung::Resolution { self.missing(planned) } else { Vec::new() };
        let wanted = wanted(planned, &missing);
        let schema = planned
            .schema
            .as_ref()
            .map_or(Value::Null, |schema| abridge(schema.source(), MAX_SHOWN_BYTES, &wanted))
            .to_pretty();
        let common = [
            ("agent", planned.tool.as_str()),
            ("capability", planned.capability.as_str()),
            ("description", planned.description.as_str()),
            ("instruction", planned.instruction.as_str()),
            ("request", self.request),
            ("schema", schema.as_str()),
        ];
        let facts = self.facts_shown(index, fault)?;
        if rung == ModelRung::Feedback {
            let details = abridge(&fault.evidence(), MAX_SHOWN_BYTES, &wanted).to_string();
            let (attempt, parameters) = (step.attempts.len().to_string(), self.parameters_text(index)?);
            let status = fault.status().map_or_else(|| "none".to_owned(), |status| status.to_string());
            let own = [
                ("attempt", attempt.as_str()),
                ("status", status.as_str()),
                ("code", fault.code.as_str()),
                ("category", fault.category.as_deref().unwrap_or("unknown")),
                ("message", fault.message.as_str()),
                ("details", details.as_str()),
                ("facts", facts.as_str()),
                ("parameters", parameters.as_str()),
            ];
            return Ok(render(&self.started.templates.feedback, &[&common[..], &own[..]].concat()));
        }
        let results = self.results_before(planned);
        let (sources, attempts) = (results.shown(&wanted), attempts_text(step, &wanted));
        let missing = missing_text(&missing);
        let known = [("sources", sources.as_str()), ("facts", facts.as_str())];
        let (template, own) = match rung {
            ModelRung::Resolution => (&self.started.templates.resolution, ("wanted", missing.as_str())),
            ModelRung::Feedback | ModelRung::Context => {
                (&self.started.templates.context, ("attempts", attempts.as_str()))
            }
        };
        Ok(render(template, &[&common[..], &known[..], &[own]].concat()))
    }

    /// The parameters after a correction and without those to be removed, with a note about the references that were read; or
    /// why the correction is refused.
    fn corrected(
        &self,
        step: &StepRun,
        planned: &PlannedStep,
        advice: &Advice,
        removed: &[&str],
        repair: &Repair,
    ) -> Result<(BoundParameters, String), String> {
        let refused = |error| format!("the correction is refused: {error}");
        let (schema, rung) = (planned.schema.as_deref(), repair.rung.as_str());
        if advice.form == AdviceForm::ParametersOnly {
            refuse_other_fields(&advice.changes, &step.parameters, schema)?;
        }
        let mut kept = step.parameters.clone();
        for name in removed {
            kept.remove(name);
        }
        let results = self.results_before(planned);
        let read = self.read_references(planned, &step.parameters, &advice.changes);
        let mut corrected = apply_correction(&kept, &read.values, &results, &self.source_ids(planned), schema, rung)
            .map_err(refused)?;
        if matches!(corrected, CorrectionOutcome::Unchanged) {
            corrected = replace_parameters(&step.parameters, kept, schema, rung).map_err(refused)?;
        }
        let (bound, was_tried) = match corrected {
            CorrectionOutcome::Changed(bound) => {
                let was_tried = step.was_tried(&bound.parameters);
                (bound, was_tried)
            }
            CorrectionOutcome::Respelled(bound) if !removed.is_empty() || repair.fault.is_type_error() => {
                let was_tried = step.was_tried_as_spelled(&bound.parameters);
                (bound, was_tried)
            }
            CorrectionOutcome::Respelled(_) | CorrectionOutcome::Unchanged => {
                return Err("the correction changes nothing".to_owned());
            }
        };
        if was_tried {
            return Err("the correction was tried before".to_owned());
        }
        refuse_doubtful(&read, &step.parameters, &bound.parameters)?;
        if step.counts.calls == 0 {
            self.require_all(planned, &bound.parameters)?;
        }
        Ok((self.with_explanations(planned, bound), fixes_text(&read)))
    }
}

/// Why advice that was read could not be applied.
fn rejection_cause(advice: &Advice) -> RejectionCause {
    if advice.changes.is_empty() { RejectionCause::ResendsSpent } else { RejectionCause::Refused }
}

/// Refuses an answer without a verdict that has fields other than parameters: they were not meant for the tool.
fn refuse_other_fields(changes: &Object, parameters: &Object, schema: Option<&Schema>) -> Result<(), String> {
    let declared = schema.and_then(|schema| schema.source().get("properties")?.as_object());
    let known: Vec<&str> = parameters.keys().chain(declared.into_iter().flat_map(Object::keys)).collect();
    match changes.keys().find(|name| !known.iter().any(|known| are_alike(known, name))) {
        Some(name) => Err(format!("the answer has no verdict, and `{name}` is not a parameter")),
        None => Ok(()),
    }
}

/// The kind of the effect that asks on a rung, and the purpose of the question.
fn question_kind(rung: ModelRung) -> (EffectKind, Purpose) {
    match rung {
        ModelRung::Resolution => (EffectKind::Resolution, Purpose::MicroResolution),
        ModelRung::Feedback => (EffectKind::Feedback, Purpose::ErrorAnalysis),
        ModelRung::Context => (EffectKind::Context, Purpose::SemanticRetry),
    }
}

fn attempts_text(step: &StepRun, wanted: &[&str]) -> String {
    let mut lines = Vec::new();
    for (index, attempt) in step.attempts.iter().enumerate() {
        let outcome = attempt.fault.as_ref().map_or_else(|| "accepted".to_owned(), ToString::to_string);
        let parameters = abridge(&Value::Object(attempt.parameters.clone()), MAX_SHOWN_BYTES, wanted);
        lines.push(format!("{}. {parameters}\n   {outcome}", index + 1));
        // Details that the next attempt has too are shown there.
        let next = step.attempts.get(index + 1).and_then(|next| next.fault.as_ref());
        let evidence = attempt.fault.as_ref().map(|fault| fault.evidence());
        let evidence = evidence.filter(|value| !value.as_object().is_some_and(Object::is_empty));
        let is_new = |value: &Value| next.is_none_or(|next| next.evidence() != *value);
        lines.extend(evidence.filter(is_new).map(|value| {
            let limit = if next.is_none() { MAX_SHOWN_BYTES } else { MAX_EARLIER_DETAILS_BYTES };
            format!("   its details: {}", abridge(&value, limit, wanted))
        }));
    }
    let advice = step
        .mends
        .iter()
        .filter(|mend| mend.rung >= Rung::Feedback)
        .map(|mend| format!("   an earlier look at it said: {}", mend.description));
    lines.extend(advice);
    lines.join("\n")
}
