//! Steps: when they begin, how they are mended, how they end.

use super::{Heard, OpenSpan, StepTrace, Tracer, step_key};
use crate::event::What;
use crate::run::Run;
use crate::run::glance::{Glance, Standing};
use crate::telemetry::datum::{Datum, ERROR};
use crate::telemetry::signal::{SpanKind, SpanStatus};
use crate::telemetry::table::{logs, metrics, spans};
use reknit_mend::{MendEffect, Rung};
use reknit_mend::{Verdict, judge_reply};

impl Tracer {
    pub(super) fn look_at_steps(&mut self, run: &Run, heard: Option<&Heard<'_>>, what: Option<&What>, at_ms: i64) {
        self.look_at_choice(run);
        if self.over.0 != self.prefix {
            self.over = (self.prefix.clone(), Vec::new());
        }
        for (index, step) in run.glances().enumerate() {
            let is_over = self.over.1.get(index).is_some_and(|over| *over);
            if is_over || step.standing() == Standing::Waiting {
                continue;
            }
            let owner = format!("{}{}", self.prefix, step.id());
            let heard = heard.filter(|heard| heard.owner == owner);
            let is_spent = what.is_some_and(|what| is_spent(run, (&owner, step), what, at_ms));
            self.look_at_step(run, (&owner, step), heard, is_spent, at_ms);
            if step.standing() != Standing::Begun {
                self.over.1.resize(self.over.1.len().max(index + 1), false);
                if let Some(over) = self.over.1.get_mut(index) {
                    *over = true;
                }
            }
        }
    }

    fn look_at_step(
        &mut self,
        run: &Run,
        step: (&str, Glance<'_>),
        heard: Option<&Heard<'_>>,
        is_spent: bool,
        at_ms: i64,
    ) {
        let (owner, glance) = step;
        let is_new = !self.steps.contains_key(owner);
        let mut known = self.steps.get(owner).map_or(0, |known| known.mends);
        if is_new {
            // A step that is skipped before anything is done for it took no time.
            let is_begun = !matches!(glance.standing(), Standing::Skipped(_)) || !glance.mends().is_empty();
            let span = is_begun.then(|| OpenSpan::new(step_key(owner), at_ms));
            self.steps.insert(owner.to_owned(), StepTrace { span, ..StepTrace::default() });
            known = 0;
        }
        let new = glance.mends().get(known..).unwrap_or_default();
        let by_facts = new.iter().any(|mend| mend.rung == Rung::Facts && mend.effect == MendEffect::Applied);
        for mend in new {
            self.tell_mend(run, step, mend, heard, at_ms);
        }
        if let Some(known) = self.steps.get_mut(owner) {
            known.mends = glance.mends().len();
        }
        if !by_facts && is_spent {
            self.tell_spent(step, at_ms);
        }
        self.end_step(step, at_ms);
    }

    fn end_step(&mut self, (owner, step): (&str, Glance<'_>), at_ms: i64) {
        let (status, reason) = match step.standing() {
            Standing::Waiting | Standing::Begun => return,
            Standing::Done => ("done", ""),
            Standing::Failed(reason) => ("failed", reason),
            Standing::Skipped(reason) => ("skipped", reason),
        };
        self.tell_stopped((owner, step), at_ms);
        let Some(span) = self.steps.get_mut(owner).and_then(|known| known.span.take()) else { return };
        let fault = step.last_fault().map(ToString::to_string).unwrap_or_default();
        let words = match status {
            "failed" if !fault.is_empty() => format!("{fault}; {reason}"),
            _ => reason.to_owned(),
        };
        let (words, status_of_span) = (
            Datum::words(&words, ERROR),
            if status == "failed" {
                SpanStatus::Error(Datum::words(&words, ERROR).to_string())
            } else {
                SpanStatus::Ok
            },
        );
        let values = [
            self.run_id(),
            step.id().as_str().into(),
            step.agent().as_str().into(),
            step.capability().as_str().into(),
            Datum::words(step.instruction(), ERROR),
            status.into(),
            words.clone(),
            step.sent().into(),
            step.mends().len().into(),
        ];
        self.close(span, SpanKind::Internal, (&spans::STEP_EXECUTION, values), status_of_span, at_ms);
        let [capability, agent, module] = self.labels(step);
        self.count(metrics::STEPS.amount(1, [capability, agent, module, status.into()]));
        if status == "failed" {
            let (agent, capability) = (step.agent().as_str().into(), step.capability().as_str().into());
            let values = ["step_execution".into(), step.id().as_str().into(), capability, agent, words];
            self.say(logs::STEP_FAILED.line("", values));
        }
    }
}

/// Whether a call was refused once more after every correction that a model may make.
fn is_spent(run: &Run, (owner, step): (&str, Glance<'_>), what: &What, at_ms: i64) -> bool {
    let What::ToolAnswered { effect, reply } = what else { return false };
    let limit = run.started().policy.mending.feedback;
    let is_asked_again = step.advising().is_some_and(|(rung, _)| rung == Rung::Feedback);
    super::owner(&effect.to_string()) == owner
        && limit > 0
        && step.feedback() >= limit
        && !is_asked_again
        && matches!(judge_reply(reply, at_ms), Verdict::Mend(fault) if fault.retryable != Some(false))
}
