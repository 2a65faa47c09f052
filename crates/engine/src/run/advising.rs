//! Asking a model about a failed call, and doing what it says as far as that is safe.

use std::sync::Arc;

use reknit_bind::{Bound, Corrected, correct, correct_to, project};
use reknit_dialogue::{Format, Message, Purpose};
use reknit_protocol::spelling::are_alike;
use reknit_protocol::{EffectKind, EffectOwner};
use reknit_protocol::{Object, Value};
use reknit_salvage::Schema;

use super::Run;
use super::doubting::removable;
use super::resolving::{missing_text, wanted};
use super::sources::fenced;
use super::state::{Stage, State};
use super::steps::StepRun;
use crate::consult::{AfterFailure, Consultation};
use crate::event::What;
use crate::policy::Freedom;
use crate::templates::{TemplateError, render};
use reknit_mend::{Advice, Form, Mend, MendEffect, Remedy, Rung, last_rung, read_context, read_feedback, resend};
use reknit_mend::{Fate, Fault};
use reknit_plan::Planned;

/// More room for each value that is missing: an answer that is cut for want of it helps nobody.
const VALUE_TOKENS: u32 = 100;

/// The most of a schema or of details that a model is shown, in bytes.
const SHOWN: usize = 8_192;

impl Run {
    /// Opens a rung. What keeps it from being opened is recorded, and the next one is tried.
    pub(super) fn ask_for_advice(&mut self, index: usize, fault: Fault, rung: Rung) {
        if let Some(reason) = self.too_late(index, self.state.now_ms) {
            return self.fail_late(index, reason, Some(fault));
        }
        let plan = Arc::clone(&self.plan);
        let Some(planned) = plan.steps.get(index) else { return };
        let missing = if rung == Rung::Resolution { self.missing(planned).len() } else { 0 };
        let missing = u32::try_from(missing).unwrap_or(u32::MAX);
        let asking = self.policy().asking.clone();
        let Some(step) = self.state.steps.get_mut(index) else { return };
        let (asked, freedom) = match rung {
            Rung::Resolution => {
                let room = VALUE_TOKENS.saturating_mul(missing).saturating_add(asking.resolution.max_tokens);
                (step.resolution_asked, Freedom { max_tokens: room, ..asking.resolution })
            }
            Rung::Feedback => {
                step.feedback += 1;
                (step.feedback_asked, asking.feedback)
            }
            Rung::Context | Rung::Schema | Rung::Facts | Rung::Resend => {
                step.context += 1;
                (step.context_asked, asking.context)
            }
        };
        if self.started.targets.is_empty() {
            return self.no_help(index, fault, rung, "there is no model to ask".to_owned(), NoHelp::Final);
        }
        let messages = match self.advice_messages(index, planned, &fault, rung) {
            Ok(messages) => messages,
            Err(error) => return self.no_help(index, fault, rung, error.to_string(), NoHelp::Final),
        };
        let request = freedom.request(messages).with_format(Format::Json);
        let mut consultation = Consultation::open(
            EffectOwner::Step(planned.id.clone()),
            kind(rung),
            asked,
            purpose(rung),
            request,
            self.rotation(),
        );
        if let Some(deadline_ms) = self.state.steps.get(index).and_then(|step| step.deadline_ms) {
            consultation.end_before(deadline_ms, self.state.now_ms);
        }
        let open = Box::new(fault.clone());
        self.set_stage(index, Stage::Advising { rung, fault: open, consultation: Box::new(consultation) });
        self.pay_for_advice(index, fault, rung);
    }

    fn advice_messages(
        &self,
        index: usize,
        planned: &Planned,
        fault: &Fault,
        rung: Rung,
    ) -> Result<Vec<Message>, TemplateError> {
        let Some(step) = self.state.steps.get(index) else { return Ok(Vec::new()) };
        let missing = if rung == Rung::Resolution { self.missing(planned) } else { Vec::new() };
        let wanted = wanted(planned, &missing);
        let schema =
            planned.schema.as_ref().map_or(Value::Null, |schema| project(schema.source(), SHOWN, &wanted)).to_pretty();
        let common = [
            ("agent", planned.agent.as_str()),
            ("capability", planned.capability.as_str()),
            ("description", planned.description.as_str()),
            ("instruction", planned.instruction.as_str()),
            ("schema", schema.as_str()),
        ];
        let facts = fenced(&self.facts_shown(index, fault));
        if rung == Rung::Feedback {
            let details = fenced(&project(&fault.evidence(), SHOWN, &wanted).to_string());
            let message = fenced(&fault.message);
            let (attempt, parameters) = (step.attempts.len().to_string(), self.parameters_text(index));
            let status = fault.status().map_or_else(|| "none".to_owned(), |status| status.to_string());
            let own = [
                ("attempt", attempt.as_str()),
                ("status", status.as_str()),
                ("code", fault.code.as_str()),
                ("category", fault.category.as_deref().unwrap_or("unknown")),
                ("message", message.as_str()),
                ("details", details.as_str()),
                ("facts", facts.as_str()),
                ("parameters", parameters.as_str()),
            ];
            return render(&self.started.templates.feedback, &[&common[..], &own[..]].concat());
        }
        let results = self.results(Some(planned));
        let (sources, attempts) = (results.shown(&wanted), fenced(&attempts_text(step, &wanted)));
        let missing = missing_text(&missing);
        let known =
            [("request", self.started.request.as_str()), ("sources", sources.as_str()), ("facts", facts.as_str())];
        let (template, own) = match rung {
            Rung::Resolution => (&self.started.templates.resolution, ("wanted", missing.as_str())),
            _ => (&self.started.templates.context, ("attempts", attempts.as_str())),
        };
        render(template, &[&common[..], &known[..], &[own]].concat())
    }

    /// Takes in an answer to a question about a step; says whether it was one.
    pub(super) fn on_advice(&mut self, index: usize, what: &What) -> bool {
        let now_ms = self.state.now_ms;
        let Some(step) = self.state.steps.get_mut(index) else { return false };
        let Stage::Advising { rung, fault, .. } = step.stage() else { return false };
        let (rung, fault) = (*rung, fault.as_ref().clone());
        let Some(consultation) = step.question_mut() else { return false };
        match what {
            What::ModelAnswered { effect, answer } if consultation.wants(effect) => {
                self.state.spent.add_tokens(&answer.usage);
                match answer.words() {
                    Ok(text) => self.on_advice_text(index, fault, rung, text),
                    Err(failure) => {
                        let after = consultation.failed(&failure, now_ms);
                        self.on_no_advice(index, fault, rung, after);
                    }
                }
            }
            What::ModelFailed { effect, failure } if consultation.wants(effect) => {
                let after = consultation.failed(failure, now_ms);
                self.on_no_advice(index, fault, rung, after);
            }
            What::GateClosed { effect, until_ms } if consultation.wants(effect) => {
                self.state.spent.give_back_model_call();
                let after = consultation.closed(*until_ms, now_ms);
                self.on_no_advice(index, fault, rung, after);
            }
            What::Woke { effect } if consultation.wants(effect) => {
                consultation.woke(now_ms);
                self.pay_for_advice(index, fault, rung);
            }
            _ => return false,
        }
        true
    }

    fn on_no_advice(&mut self, index: usize, fault: Fault, rung: Rung, after: AfterFailure) {
        match after {
            AfterFailure::Wait => {}
            AfterFailure::AskNext => self.pay_for_advice(index, fault, rung),
            AfterFailure::GiveUp(reason) => self.no_help(index, fault, rung, reason, NoHelp::Final),
        }
    }

    fn on_advice_text(&mut self, index: usize, fault: Fault, rung: Rung, text: &str) {
        let read = match rung {
            Rung::Resolution => return self.on_resolution_text(index, fault, text),
            Rung::Feedback => read_feedback(text),
            Rung::Context | Rung::Schema | Rung::Facts | Rung::Resend => read_context(text),
        };
        match read {
            Ok(advice) => self.follow(index, fault, rung, advice),
            Err(error) => self.no_help(index, fault, rung, error, NoHelp::AskAgain),
        }
    }

    pub(super) fn pay_for_advice(&mut self, index: usize, fault: Fault, rung: Rung) {
        let State { steps, spent, .. } = &mut self.state;
        let Some(consultation) = steps.get_mut(index).and_then(StepRun::question_mut) else { return };
        match consultation.pay(spent, &self.started.policy) {
            Ok(()) => self.note_asked(index),
            Err(exhausted) => {
                let words = exhausted.to_string();
                self.state.stop_for(exhausted);
                self.no_help(index, fault, rung, words, NoHelp::Final);
            }
        }
    }

    /// Keeps the number of the last question, so that the next one on this rung gets another.
    fn note_asked(&mut self, index: usize) {
        let Some(step) = self.state.steps.get_mut(index) else { return };
        if let Stage::Advising { rung, consultation, .. } = step.stage() {
            let (rung, asked) = (*rung, consultation.asked());
            match rung {
                Rung::Resolution => step.resolution_asked = asked,
                Rung::Feedback => step.feedback_asked = asked,
                Rung::Context | Rung::Schema | Rung::Facts | Rung::Resend => step.context_asked = asked,
            }
        }
    }

    fn follow(&mut self, index: usize, fault: Fault, rung: Rung, advice: Advice) {
        let wants_same = (advice.retry || advice.transient) && !advice.is_change();
        if advice.retry && advice.is_change() {
            return self.follow_correction(index, fault, rung, advice);
        }
        if wants_same && fault.fate != Fate::NotSent {
            let (Some(planned), Some(step)) = (self.plan.steps.get(index), self.state.steps.get(index)) else { return };
            let remedy = resend(&fault, self.used(step, planned, &fault), self.started.policy.ladder());
            return match remedy {
                Remedy::GiveUp(words) => self.no_help(index, fault, rung, words, NoHelp::Declined),
                remedy => self.treat(index, fault, remedy),
            };
        }
        let words = if advice.reason.is_empty() { "it sees no way".to_owned() } else { advice.reason };
        self.no_help(index, fault, rung, words, NoHelp::Declined);
    }

    fn follow_correction(&mut self, index: usize, fault: Fault, rung: Rung, advice: Advice) {
        let plan = Arc::clone(&self.plan);
        let Some(planned) = plan.steps.get(index) else { return };
        let Some(step) = self.state.steps.get(index) else { return };
        if self.may_have_happened(planned, step, &fault) {
            let words = "the call may have happened, so it is not changed".to_owned();
            return self.no_help(index, fault, rung, words, NoHelp::Declined);
        }
        let (gone, kept) = removable(&advice, &step.parameters, planned.schema.as_deref(), &fault);
        let kept = kept.join(", ");
        let said =
            if kept.is_empty() { String::new() } else { format!("; nothing speaks against {kept}, which stays") };
        let bound = match self.corrected(index, planned, &advice, &gone, rung) {
            Ok(bound) => bound,
            Err(words) => return self.no_help(index, fault, rung, words + &said, NoHelp::AskAgain),
        };
        if let Some(words) = self.doubt(index, planned, &fault, &bound) {
            return self.no_help(index, fault, rung, words + &said, NoHelp::AskAgain);
        }
        let Bound { parameters, provenance, .. } = bound;
        let Some(step) = self.state.steps.get_mut(index) else { return };
        let words = format!("{}: {}{said}", changed_text(&step.parameters, &parameters), advice.reason);
        step.provenance.retain(|(name, _)| parameters.contains_key(name));
        step.parameters = parameters;
        for (name, origin) in provenance {
            step.provenance.retain(|(known, _)| *known != name);
            step.provenance.push((name, origin));
        }
        step.mends.push(Mend { rung, effect: MendEffect::Applied, words });
        self.send_corrected(index, fault, advice.reason);
    }

    /// The parameters after a correction and without those that are to be gone, or why it is refused.
    fn corrected(
        &self,
        index: usize,
        planned: &Planned,
        advice: &Advice,
        gone: &[&str],
        rung: Rung,
    ) -> Result<Bound, String> {
        let step = self.state.steps.get(index).ok_or("there is no such step")?;
        let refused = |error| format!("the correction is refused: {error}");
        let (schema, rung) = (planned.schema.as_deref(), rung.as_str());
        if advice.form == Form::Values {
            refuse_others(&advice.changes, &step.parameters, schema)?;
        }
        let mut kept = step.parameters.clone();
        for name in gone {
            kept.remove(name);
        }
        let results = self.results(Some(planned));
        let corrected = correct(&kept, &advice.changes, &results, &self.source_ids(), schema, rung).map_err(refused)?;
        let corrected = match corrected {
            Corrected::Unchanged => correct_to(&step.parameters, kept, schema, rung).map_err(refused)?,
            changed @ Corrected::Changed(_) => changed,
        };
        match corrected {
            Corrected::Unchanged => Err("the correction changes nothing".to_owned()),
            Corrected::Changed(bound) if step.was_tried(&bound.parameters) => {
                Err("the correction was tried before".to_owned())
            }
            Corrected::Changed(bound) => {
                if step.calls == 0 {
                    self.refuse_lost(planned, &bound.parameters)?;
                }
                Ok(self.with_explanations(planned, bound))
            }
        }
    }

    /// The rung brought nothing: records why, and goes on to the next thing.
    pub(super) fn no_help(&mut self, index: usize, fault: Fault, rung: Rung, words: String, how: NoHelp) {
        if let Some(step) = self.state.steps.get_mut(index) {
            step.mends.push(Mend { rung, effect: MendEffect::NoHelp, words: words.clone() });
        }
        let (Some(planned), Some(step)) = (self.plan.steps.get(index), self.state.steps.get(index)) else { return };
        let used = self.used(step, planned, &fault);
        let passes = fault.status().is_none_or(|status| status >= 500);
        let next = match (rung, how) {
            // Nobody has looked at it: what passes by itself may still do so.
            (_, NoHelp::AskAgain | NoHelp::Final) if passes => resend(&fault, used, self.started.policy.ladder()),
            (Rung::Resolution | Rung::Feedback, _) | (_, NoHelp::AskAgain) => {
                match last_rung(&fault, used, self.started.policy.ladder()) {
                    // Nobody else will say why.
                    Remedy::GiveUp(reason) => Remedy::GiveUp(format!("{words}; {reason}")),
                    remedy => remedy,
                }
            }
            (_, NoHelp::Declined | NoHelp::Final) => Remedy::GiveUp(words),
        };
        self.treat(index, fault, next);
    }
}

/// An answer without a verdict counts only if all that is in it are parameters: anything else was not meant for the tool.
fn refuse_others(changes: &Object, parameters: &Object, schema: Option<&Schema>) -> Result<(), String> {
    let declared = schema.and_then(|schema| schema.source().get("properties")?.as_object());
    let known: Vec<&str> = parameters.keys().chain(declared.into_iter().flat_map(Object::keys)).collect();
    match changes.keys().find(|name| !known.iter().any(|known| are_alike(known, name))) {
        Some(name) => Err(format!("the answer says nothing about another try, and `{name}` is no parameter")),
        None => Ok(()),
    }
}

fn purpose(rung: Rung) -> Purpose {
    match rung {
        Rung::Resolution => Purpose::MicroResolution,
        Rung::Feedback => Purpose::ErrorAnalysis,
        Rung::Context | Rung::Schema | Rung::Facts | Rung::Resend => Purpose::SemanticRetry,
    }
}

/// How a rung came to nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoHelp {
    /// The answer could not be used; asking once more can help.
    AskAgain,
    /// The model sees no way.
    Declined,
    /// Nobody can be asked.
    Final,
}

/// What changed, for people: `amount: 0 -> 46828.5`.
pub(super) fn changed_text(before: &Object, after: &Object) -> String {
    let changed = after.iter().filter(|(name, value)| before.get(name) != Some(value)).map(|(name, value)| {
        let old = before.get(name).map_or_else(|| "nothing".to_owned(), ToString::to_string);
        format!("{name}: {old} -> {value}")
    });
    let removed = before.iter().filter(|(name, _)| !after.contains_key(name));
    let removed = removed.map(|(name, value)| format!("{name}: {value} -> nothing"));
    changed.chain(removed).collect::<Vec<_>>().join(", ")
}

fn attempts_text(step: &StepRun, wanted: &[&str]) -> String {
    let lines = step.attempts.iter().enumerate().map(|(index, attempt)| {
        let outcome = attempt.fault.as_ref().map_or_else(|| "accepted".to_owned(), ToString::to_string);
        let parameters = project(&Value::Object(attempt.parameters.clone()), SHOWN, wanted);
        format!("{}. {parameters}\n   {outcome}", index + 1)
    });
    let evidence = step.attempts.last().and_then(|attempt| attempt.fault.as_ref()).map(Fault::evidence);
    let evidence = evidence.filter(|value| !value.as_object().is_some_and(Object::is_empty));
    let evidence = evidence.map(|value| format!("   its details: {}", project(&value, SHOWN, wanted)));
    let advice = step
        .mends
        .iter()
        .filter(|mend| mend.rung >= Rung::Feedback)
        .map(|mend| format!("   an earlier look at it said: {}", mend.words));
    lines.chain(evidence).chain(advice).collect::<Vec<_>>().join("\n")
}

fn kind(rung: Rung) -> EffectKind {
    match rung {
        Rung::Feedback => EffectKind::Feedback,
        Rung::Context => EffectKind::Context,
        Rung::Resolution | Rung::Schema | Rung::Facts | Rung::Resend => EffectKind::Resolution,
    }
}
