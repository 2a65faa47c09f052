//! How a step is mended.

use std::borrow::Cow;

use reknit_dialogue::Purpose;

use super::planning::prompt;
use super::{Heard, Tracer, owner};
use crate::effect::AskModel;
use crate::run::Run;
use crate::run::glance::Glance;
use crate::telemetry::datum::{BRIEF, Datum, ERROR, WORDS};
use crate::telemetry::table::{events, logs, metrics};
use reknit_mend::{Advice, Mend, MendEffect, Rung};
use reknit_mend::{Fault, Origin};
use reknit_mend::{Says, facts};

type Step<'a> = (&'a str, Glance<'a>);

impl Tracer {
    pub(super) fn labels(&self, step: Glance<'_>) -> [Cow<'static, str>; 3] {
        [step.capability().to_string().into(), step.agent().to_string().into(), self.module()]
    }

    fn two_labels(&self, step: Glance<'_>) -> [Cow<'static, str>; 2] {
        [step.capability().to_string().into(), self.module()]
    }

    /// A model is asked about a step. A rung that is used may ask several; it begins once.
    pub(super) fn begin_question_of_step(&mut self, run: &Run, ask: &AskModel, at_ms: i64) {
        let owner = owner(&ask.id.to_string()).to_owned();
        let Some(step) = self.step_of(run, &owner) else { return };
        let Some((_, fault)) = step.advising() else { return };
        let (id, capability) = (step.id().as_str(), step.capability().as_str());
        let status = u32::from(fault.status().unwrap_or(0));
        match ask.purpose {
            Purpose::MicroResolution => {
                let text = prompt(ask);
                let length = text.len().into();
                let values = [id.into(), capability.into(), Datum::words(&text, WORDS), length];
                self.happen_in(&owner, events::RESOLUTION_REQUEST.at(at_ms, values));
                if self.opens(&owner, Rung::Resolution) {
                    self.count(metrics::RESOLUTIONS.amount(1, self.labels(step)));
                }
            }
            Purpose::ErrorAnalysis => {
                if self.steps.get(&owner).is_some_and(|known| known.feedback < step.feedback()) {
                    self.begin_feedback((&owner, step), fault, at_ms);
                }
                let values = [id.into(), capability.into(), status.into()];
                self.happen_in(&owner, events::ANALYSIS_START.at(at_ms, values));
            }
            _ if self.steps.get(&owner).is_some_and(|known| known.context < step.context()) => {
                self.begin_context((&owner, step), run.source_keys(), status, at_ms);
            }
            _ => {}
        }
    }

    fn begin_feedback(&mut self, (owner, step): Step<'_>, fault: &Fault, at_ms: i64) {
        self.opens(owner, Rung::Feedback);
        if let Some(known) = self.steps.get_mut(owner) {
            known.feedback = step.feedback();
        }
        let (id, attempt) = (|| Datum::from(step.id().as_str()), step.feedback());
        let error = || Datum::words(&fault.to_string(), ERROR);
        let is_type = facts(fault).iter().any(|fact| matches!(fact.says, Says::WrongType { .. }));
        let (agent, capability) = (step.agent().as_str().into(), step.capability().as_str().into());
        let values = [id(), capability, agent, attempt.into(), error(), is_type.into()];
        self.happen_in(owner, events::FEEDBACK_STARTED.at(at_ms, values));
        self.count(metrics::FEEDBACK.amount(1, self.labels(step)));
        let line = if is_type { &logs::TYPE_ERROR } else { &logs::REFUSED };
        self.say(line.line("", ["validation_feedback".into(), id(), attempt.into(), error()]));
    }

    fn begin_context(&mut self, (owner, step): Step<'_>, keys: usize, status: u32, at_ms: i64) {
        self.opens(owner, Rung::Context);
        if let Some(known) = self.steps.get_mut(owner) {
            known.context = step.context();
        }
        let name = || [Datum::from(step.id().as_str()), step.capability().as_str().into()];
        let ([id, capability], retries) = (name(), step.context().saturating_sub(1));
        let values = [id, capability, retries.into(), status.into(), keys.into(), step.is_independent().into()];
        self.happen_in(owner, events::CONTEXT_START.at(at_ms, values));
        self.count(metrics::CONTEXT.amount(1, self.two_labels(step)));
        if step.is_independent() {
            self.count(metrics::CONTEXT_INDEPENDENT.amount(1, self.two_labels(step)));
        }
        let [id, capability] = name();
        self.say(logs::CONTEXT_START.line("", [id, capability, status.into(), keys.into()]));
    }

    /// A model was heard about a step.
    pub(super) fn hear_of_step(
        &mut self,
        run: &Run,
        purpose: Purpose,
        heard: &Heard<'_>,
        error: Option<&str>,
        at_ms: i64,
    ) {
        let Some(step) = self.step_of(run, &heard.owner) else { return };
        match (purpose, &heard.advice) {
            (Purpose::ErrorAnalysis, Some(Ok(advice))) => {
                self.hear_analysis((&heard.owner, step), advice, heard.ms, at_ms);
            }
            (Purpose::SemanticRetry, advice) => {
                self.count(metrics::CONTEXT_LATENCY.amount(heard.ms, self.two_labels(step)));
                match advice {
                    Some(Ok(advice)) => self.hear_reconsidered((&heard.owner, step), advice, heard.ms, at_ms),
                    Some(Err(problem)) => {
                        let values = || [Datum::words(problem, ERROR), Datum::words(heard.text, BRIEF)];
                        self.happen_in(&heard.owner, events::CONTEXT_PARSE_ERROR.at(at_ms, values()));
                        self.say(logs::CONTEXT_UNREADABLE.line("", values()));
                    }
                    None => {
                        let values = || [Datum::words(error.unwrap_or_default(), ERROR), heard.ms.into()];
                        self.happen_in(&heard.owner, events::CONTEXT_ERROR.at(at_ms, values()));
                        self.count(metrics::CONTEXT_LLM_ERRORS.amount(1, self.two_labels(step)));
                        self.say(logs::CONTEXT_LLM_FAILED.line("", values()));
                    }
                }
            }
            _ => {}
        }
    }

    fn hear_analysis(&mut self, (owner, step): Step<'_>, advice: &Advice, ms: u64, at_ms: i64) {
        let (id, capability) = (|| Datum::from(step.id().as_str()), || Datum::from(step.capability().as_str()));
        let reason = || Datum::words(&advice.reason, BRIEF);
        let changes = advice.changes.len();
        let values = [id(), capability(), advice.retry.into(), reason(), changes.into(), ms.into()];
        self.happen_in(owner, events::ANALYSIS_COMPLETE.at(at_ms, values));
        if advice.retry || advice.transient {
            return;
        }
        self.closes(owner, Rung::Feedback);
        let status = step.last_fault().and_then(Fault::status).unwrap_or(0);
        self.happen_in(owner, events::ANALYSIS_NO_RETRY.at(at_ms, [id(), reason()]));
        let [capability_label, module] = self.two_labels(step);
        self.count(metrics::NO_RETRY.amount(1, [capability_label, status.to_string().into(), module]));
        let status = u32::from(status).into();
        self.say(logs::NO_RETRY.line("", ["error_analysis_no_retry".into(), id(), capability(), status, reason()]));
    }

    fn hear_reconsidered(&mut self, (owner, step): Step<'_>, advice: &Advice, ms: u64, at_ms: i64) {
        let analysis = || Datum::words(&advice.reason, BRIEF);
        let values = [advice.retry.into(), analysis(), advice.changes.len().into(), ms.into()];
        self.happen_in(owner, events::CONTEXT_COMPLETE.at(at_ms, values));
        let metric = if advice.retry { &metrics::CONTEXT_SUCCESS } else { &metrics::CONTEXT_CANNOT_FIX };
        self.count(metric.amount(1, self.two_labels(step)));
        if !advice.retry {
            self.closes(owner, Rung::Context);
        }
        let (id, capability) = (step.id().as_str().into(), step.capability().as_str().into());
        let changes = Datum::parameters(&advice.changes);
        self.say(
            logs::CONTEXT_COMPLETE.line("", [id, capability, advice.retry.into(), analysis(), changes, ms.into()]),
        );
    }

    /// Something was mended, or tried.
    pub(super) fn tell_mend(&mut self, run: &Run, step: Step<'_>, mend: &Mend, heard: Option<&Heard<'_>>, at_ms: i64) {
        match (mend.rung, mend.effect) {
            (Rung::Schema, MendEffect::Applied) => self.tell_coercion(run, step, mend, at_ms),
            (Rung::Facts, MendEffect::Applied) => self.tell_facts(step, mend, at_ms),
            (Rung::Resend, MendEffect::Applied) => self.tell_resend(step, mend, at_ms),
            (Rung::Resolution, MendEffect::Applied) => self.tell_resolved(step, mend, heard, at_ms),
            (Rung::Resolution, MendEffect::NoHelp) => self.tell_unresolved(step, &mend.words, heard, at_ms),
            (Rung::Feedback, MendEffect::Applied) => self.tell_corrected(step, at_ms),
            (Rung::Feedback, MendEffect::NoHelp) => {
                let reason = match heard.map(|heard| &heard.advice) {
                    Some(Some(Err(_))) => "parse_error",
                    Some(Some(Ok(advice))) if advice.changes.is_empty() => "resends_spent",
                    Some(Some(Ok(_))) => "refused",
                    Some(None) | None => "llm_error",
                };
                self.tell_not_corrected(step, reason, at_ms);
            }
            (Rung::Context, MendEffect::Applied) => self.tell_reconsidered(step, mend, heard, at_ms),
            (Rung::Context, MendEffect::NoHelp) => self.tell_not_reconsidered(step, &mend.words),
            (Rung::Schema | Rung::Facts | Rung::Resend, MendEffect::NoHelp) => {}
        }
    }

    fn tell_coercion(&mut self, run: &Run, (owner, step): Step<'_>, mend: &Mend, at_ms: i64) {
        let (id, capability) = (|| Datum::from(step.id().as_str()), || Datum::from(step.capability().as_str()));
        self.happen_in(owner, events::TYPE_COERCION.at(at_ms, [run.coercions(step).into(), capability(), id()]));
        self.count(metrics::COERCIONS.amount(1, self.two_labels(step)));
        let words = Datum::words(&mend.words, ERROR);
        self.say(logs::COERCED.line("", ["type_coercion".into(), id(), capability(), words]));
    }

    fn tell_facts(&mut self, (owner, step): Step<'_>, mend: &Mend, at_ms: i64) {
        let (id, capability) = (|| Datum::from(step.id().as_str()), || Datum::from(step.capability().as_str()));
        let words = || Datum::words(&mend.words, ERROR);
        self.happen_in(owner, events::FACTS_APPLIED.at(at_ms, [id(), capability(), words()]));
        self.count(metrics::FACTS.amount(1, self.labels(step)));
        self.say(logs::FACTS.line("", ["facts".into(), id(), capability(), words()]));
    }

    fn tell_resend(&mut self, (owner, step): Step<'_>, mend: &Mend, at_ms: i64) {
        // A model that says to send the same again has not failed.
        self.closes(owner, Rung::Feedback);
        self.closes(owner, Rung::Context);
        let (id, attempt) = (|| Datum::from(step.id().as_str()), step.resends());
        let words = || Datum::words(&mend.words, ERROR);
        let capability = step.capability().as_str().into();
        self.happen_in(owner, events::RESEND.at(at_ms, [id(), capability, attempt.into(), words()]));
        let reason = match step.last_fault().map(|fault| fault.origin) {
            Some(Origin::Transport(_)) => "transport",
            Some(Origin::Interrupted) => "interrupted",
            Some(Origin::Status(429)) => "rate_limit",
            Some(Origin::Status(500..)) => "server_error",
            Some(Origin::Status(_) | Origin::Local) | None => "other",
        };
        let [capability, agent, module] = self.labels(step);
        self.count(metrics::RESENDS.amount(1, [capability, agent, module, reason.into()]));
        let tool = step.agent().as_str().into();
        self.say(logs::RETRY.line("", ["resend".into(), id(), tool, attempt.into(), words()]));
    }

    fn tell_resolved(&mut self, (owner, step): Step<'_>, mend: &Mend, heard: Option<&Heard<'_>>, at_ms: i64) {
        let (id, capability) = (|| Datum::from(step.id().as_str()), || Datum::from(step.capability().as_str()));
        let Some(heard) = heard.filter(|_| self.closes(owner, Rung::Resolution)) else {
            let values = [id(), capability(), Datum::words(&mend.words, ERROR)];
            self.happen_in(owner, events::MAPPING_APPLIED.at(at_ms, values));
            return self.count(metrics::MAPPINGS.amount(1, self.labels(step)));
        };
        let values = [id(), capability(), Datum::words(heard.text, WORDS), heard.ms.into()];
        self.happen_in(owner, events::RESOLUTION_RESPONSE.at(at_ms, values));
        self.count(metrics::RESOLUTION_SUCCESS.amount(1, self.labels(step)));
    }

    fn tell_unresolved(&mut self, (owner, step): Step<'_>, words: &str, heard: Option<&Heard<'_>>, at_ms: i64) {
        if !self.closes(owner, Rung::Resolution) {
            return;
        }
        let (id, capability) = (step.id().as_str().into(), step.capability().as_str().into());
        let ms = heard.map_or(0, |heard| heard.ms);
        let values = [id, capability, Datum::words(words, ERROR), ms.into()];
        self.happen_in(owner, events::RESOLUTION_ERROR.at(at_ms, values));
        let is_answered = heard.is_some_and(|heard| heard.advice.is_some());
        let reason = if is_answered { "refused" } else { "llm_error" };
        let [capability, agent, module] = self.labels(step);
        self.count(metrics::RESOLUTION_FAILED.amount(1, [capability, agent, module, reason.into()]));
    }

    fn tell_corrected(&mut self, (owner, step): Step<'_>, at_ms: i64) {
        self.closes(owner, Rung::Feedback);
        let (id, parameters) = (|| Datum::from(step.id().as_str()), || Datum::parameters(step.parameters()));
        let values = [id(), step.capability().as_str().into(), step.feedback().into(), parameters()];
        self.happen_in(owner, events::FEEDBACK_SUCCESS.at(at_ms, values));
        self.count(metrics::FEEDBACK_SUCCESS.amount(1, self.labels(step)));
        self.say(logs::CORRECTED.line("", ["validation_feedback_success".into(), id(), parameters()]));
    }

    fn tell_not_corrected(&mut self, (owner, step): Step<'_>, reason: &'static str, at_ms: i64) {
        if self.closes(owner, Rung::Feedback) {
            self.tell_feedback_failed((owner, step), reason, at_ms);
        }
    }

    fn tell_feedback_failed(&mut self, (owner, step): Step<'_>, reason: &'static str, at_ms: i64) {
        let (id, capability) = (|| Datum::from(step.id().as_str()), step.capability().as_str().into());
        let values = [id(), capability, step.feedback().into(), reason.into()];
        self.happen_in(owner, events::FEEDBACK_FAILED.at(at_ms, values));
        let [capability, agent, module] = self.labels(step);
        self.count(metrics::FEEDBACK_FAILED.amount(1, [capability, agent, module, reason.into()]));
        self.say(logs::FEEDBACK_FAILED.line("", ["validation_feedback_failed".into(), id(), reason.into()]));
    }

    /// Every correction that a model may make was made, and the call was refused once more. Told once for a step.
    pub(super) fn tell_spent(&mut self, (owner, step): Step<'_>, at_ms: i64) {
        let Some(known) = self.steps.get_mut(owner).filter(|known| !known.is_spent) else { return };
        known.is_spent = true;
        self.tell_feedback_failed((owner, step), "max_retries_exceeded", at_ms);
    }

    fn tell_reconsidered(&mut self, (owner, step): Step<'_>, mend: &Mend, heard: Option<&Heard<'_>>, at_ms: i64) {
        self.closes(owner, Rung::Context);
        let advice = heard.and_then(|heard| heard.advice.as_ref()?.as_ref().ok());
        let analysis = || Datum::words(advice.map_or(&mend.words, |advice| &advice.reason), WORDS);
        let (id, capability) = (|| Datum::from(step.id().as_str()), || Datum::from(step.capability().as_str()));
        let parameters = || Datum::parameters(step.parameters());
        let values = [id(), capability(), analysis(), parameters()];
        self.happen_in(owner, events::SEMANTIC_RETRY.at(at_ms, values));
        self.count(metrics::CONTEXT_APPLIED.amount(1, self.two_labels(step)));
        let operation = "semantic_retry_applied".into();
        let values = [operation, id(), capability(), analysis(), parameters(), step.context().into()];
        self.say(logs::SEMANTIC_RETRY.line("", values));
    }

    fn tell_not_reconsidered(&mut self, (owner, step): Step<'_>, words: &str) {
        if self.closes(owner, Rung::Context) {
            let values = ["semantic_retry_failed".into(), step.id().as_str().into(), Datum::words(words, ERROR)];
            self.say(logs::SEMANTIC_RETRY_FAILED.line("", values));
        }
    }

    /// A step is over while a model was asked about it.
    pub(super) fn tell_stopped(&mut self, step: Step<'_>, at_ms: i64) {
        self.tell_not_corrected(step, "stopped", at_ms);
        let (owner, glance) = step;
        if self.closes(owner, Rung::Resolution) {
            let [capability, agent, module] = self.labels(glance);
            self.count(metrics::RESOLUTION_FAILED.amount(1, [capability, agent, module, "stopped".into()]));
        }
    }

    /// Notes that a rung began; says whether it had not begun before.
    fn opens(&mut self, owner: &str, rung: Rung) -> bool {
        let Some(known) = self.steps.get_mut(owner).filter(|known| !known.open.contains(&rung)) else { return false };
        known.open.push(rung);
        true
    }

    /// Notes that a rung is over; says whether it had begun.
    fn closes(&mut self, owner: &str, rung: Rung) -> bool {
        let Some(known) = self.steps.get_mut(owner).filter(|known| known.open.contains(&rung)) else { return false };
        known.open.retain(|open| *open != rung);
        true
    }
}
