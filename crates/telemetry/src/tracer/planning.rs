//! Questions that belong to no step: tool selection, plan, answer.

use reknit_engine::{ModelQuestion, PlanRejection};
use reknit_model_api::Purpose;

use super::models::{QuestionEnd, prompt, temperature};
use super::{Tracer, elapsed_ms};
use crate::attribute_value::{AttributeValue, MAX_TEXT};
use crate::signal::Definition;
use crate::table::{events, logs, metrics};

#[derive(Debug, Clone, Default)]
pub(super) struct Planning {
    since_ms: Option<i64>,
    attempt: u32,
    /// Whether it is for a plan of what is missing.
    is_second: bool,
}

/// The events of a question: request, response and error.
type QuestionEvents = (&'static Definition<6>, &'static Definition<8>, &'static Definition<4>);

fn question_events(purpose: Purpose) -> QuestionEvents {
    match purpose {
        Purpose::TieredSelection => (&events::SELECTION_REQUEST, &events::SELECTION_RESPONSE, &events::SELECTION_ERROR),
        Purpose::Synthesis => (&events::SYNTHESIS_REQUEST, &events::SYNTHESIS_RESPONSE, &events::SYNTHESIS_ERROR),
        _ => (&events::PLAN_REQUEST, &events::PLAN_RESPONSE, &events::PLAN_ERROR),
    }
}

impl Tracer {
    pub(super) fn add_request_event(&mut self, question: &ModelQuestion) {
        let attempt = question.attempt;
        if self.has_readers {
            let (request, ..) = question_events(question.purpose);
            let prompt = prompt(&question.request);
            let values = [
                self.run_id(),
                AttributeValue::prompt(&prompt),
                prompt.len().into(),
                AttributeValue::Number(temperature(&question.request)),
                question.request.max_tokens.into(),
                attempt.into(),
            ];
            self.add_event(request.event_at(self.at_ms, values));
        }
        if question.purpose == Purpose::PlanGeneration {
            self.planning.since_ms.get_or_insert(self.at_ms);
            if attempt > 1 && attempt > self.planning.attempt {
                self.count(&metrics::PLAN_RETRIES, [self.module()]);
            }
            self.planning.attempt = attempt;
        }
    }

    pub(super) fn add_response_event(&mut self, question: &ModelQuestion, end: QuestionEnd<'_>, ms: u64) {
        if !self.has_readers {
            return;
        }
        let (_, response, error_event) = question_events(question.purpose);
        let (answer, error) = (end.answer, end.error());
        let event = match (answer, error) {
            (Some(answer), None) => {
                let (input, output) = (answer.usage.input_tokens, answer.usage.output_tokens);
                let values = [
                    self.run_id(),
                    AttributeValue::excerpt(&answer.text, MAX_TEXT),
                    answer.text.len().into(),
                    input.into(),
                    output.into(),
                    input.saturating_add(output).into(),
                    ms.into(),
                    question.attempt.into(),
                ];
                response.event_at(self.at_ms, values)
            }
            (_, error) => {
                let error = AttributeValue::error(&error.unwrap_or_default());
                error_event.event_at(self.at_ms, [self.run_id(), error, ms.into(), question.attempt.into()])
            }
        };
        self.add_event(event);
    }

    pub(super) fn map_rejected_plan(
        &mut self,
        attempt: u32,
        cause: PlanRejection,
        problems: &[String],
        will_retry: bool,
    ) {
        let problems = problems.join("; ");
        let error = || AttributeValue::error(&problems);
        let values = [self.run_id(), error(), attempt.into(), will_retry.into()];
        match cause {
            PlanRejection::Unreadable => {
                self.add_event(events::PLAN_PARSE_ERROR.event_at(self.at_ms, values));
                let retry = if will_retry { "true" } else { "false" };
                self.count(&metrics::PLAN_PARSE_ERRORS, [self.module(), retry.into()]);
            }
            PlanRejection::Problems => self.add_event(events::PLAN_PROBLEMS.event_at(self.at_ms, values)),
        }
        let values = ["plan_generation".into(), self.run_id(), attempt.into(), will_retry.into(), error()];
        self.log(&logs::PLAN_FAILED, values);
    }

    /// The planner is asked for a plan of what is missing.
    pub(super) fn begin_replanning(&mut self) {
        self.planning.is_second = true;
    }

    pub(super) fn end_planning(&mut self, status: &'static str) {
        // It can end before a model is asked: if none can be paid.
        if std::mem::take(&mut self.planning.is_second) {
            self.count(&metrics::REPLANS, [self.module(), status.into()]);
        }
        let Some(since_ms) = self.planning.since_ms.take() else { return };
        self.count(&metrics::PLANS, [self.module(), status.into()]);
        self.measure(&metrics::PLAN_MS, elapsed_ms(since_ms, self.at_ms), [self.module(), status.into()]);
    }
}
