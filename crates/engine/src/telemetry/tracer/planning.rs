//! Questions of the run as a whole: which tools, which plan, which answer.

use reknit_dialogue::{Answer, Purpose};

use super::{Tracer, since, temperature};
use crate::effect::AskModel;
use crate::run::Run;
use crate::telemetry::datum::{Datum, ERROR, WORDS};
use crate::telemetry::entry::Entry;
use crate::telemetry::table::{events, logs, metrics};

/// The names of the three events of a question.
type Names = (&'static Entry<6>, &'static Entry<8>, &'static Entry<4>);

fn names(purpose: Purpose) -> Names {
    match purpose {
        Purpose::TieredSelection => (&events::CHOICE_REQUEST, &events::CHOICE_RESPONSE, &events::CHOICE_ERROR),
        Purpose::Synthesis => (&events::ANSWER_REQUEST, &events::ANSWER_RESPONSE, &events::ANSWER_ERROR),
        _ => (&events::PLAN_REQUEST, &events::PLAN_RESPONSE, &events::PLAN_ERROR),
    }
}

/// The words that a model is asked with.
pub(super) fn prompt(ask: &AskModel) -> String {
    ask.request.messages.iter().map(reknit_dialogue::Message::text).collect::<Vec<_>>().join("\n\n")
}

impl Tracer {
    pub(super) fn begin_question_of_run(&mut self, ask: &AskModel, attempt: u32, at_ms: i64) {
        let (request, ..) = names(ask.purpose);
        let prompt = prompt(ask);
        let values = [
            self.run_id(),
            Datum::words(&prompt, WORDS),
            prompt.len().into(),
            Datum::Number(temperature(&ask.request)),
            ask.request.max_tokens.into(),
            attempt.into(),
        ];
        self.happen(request.at(at_ms, values));
        if ask.purpose == Purpose::PlanGeneration {
            self.planning.since_ms.get_or_insert(at_ms);
            if attempt > 1 && attempt > self.planning.attempt {
                self.count(metrics::PLAN_RETRIES.amount(1, [self.module()]));
            }
            self.planning.attempt = attempt;
        }
    }

    pub(super) fn hear_of_run(
        &mut self,
        run: Option<&Run>,
        purpose: Purpose,
        (answer, error): (Option<&Answer>, Option<&str>),
        (attempt, ms): (u32, u64),
        at_ms: i64,
    ) {
        let (_, response, failure) = names(purpose);
        let answer = match (answer, error) {
            (Some(answer), None) => answer,
            (_, error) => {
                let error = Datum::words(error.unwrap_or_default(), ERROR);
                let values = [self.run_id(), error, ms.into(), attempt.into()];
                return self.happen(failure.at(at_ms, values));
            }
        };
        let (input, output) = (answer.usage.input_tokens, answer.usage.output_tokens);
        let values = [
            self.run_id(),
            Datum::words(&answer.text, WORDS),
            answer.text.len().into(),
            input.into(),
            output.into(),
            input.saturating_add(output).into(),
            ms.into(),
            attempt.into(),
        ];
        self.happen(response.at(at_ms, values));
        let Some(run) = run else { return };
        if purpose == Purpose::PlanGeneration {
            self.hear_plan(run, &answer.text, attempt, at_ms);
        }
    }

    fn hear_plan(&mut self, run: &Run, text: &str, attempt: u32, at_ms: i64) {
        let Some(problems) = run.plan_problems(text) else { return self.end_planning("success", at_ms) };
        let will_retry = run.plan_attempt() > attempt;
        let error = || Datum::words(&problems, ERROR);
        let values = [self.run_id(), error(), attempt.into(), will_retry.into()];
        self.happen(events::PLAN_PARSE_ERROR.at(at_ms, values));
        let retry = if will_retry { "true" } else { "false" };
        self.count(metrics::PLAN_PARSE_ERRORS.amount(1, [self.module(), retry.into()]));
        let values = ["plan_generation".into(), self.run_id(), attempt.into(), will_retry.into(), error()];
        self.say(logs::PLAN_FAILED.line("", values));
    }

    /// There is a plan, or there will be none. Told once.
    pub(super) fn end_planning(&mut self, status: &'static str, at_ms: i64) {
        let Some(since_ms) = self.planning.since_ms.take() else { return };
        self.count(metrics::PLANS.amount(1, [self.module(), status.into()]));
        self.count(metrics::PLAN_MS.amount(since(since_ms, at_ms), [self.module(), status.into()]));
    }

    /// Some of many tools were chosen for the planner.
    pub(super) fn look_at_choice(&mut self, run: &Run) {
        let Some(shown) = run.shown().filter(|_| !self.planning.chosen) else { return };
        self.planning.chosen = true;
        self.count(metrics::TOKENS_SAVED.amount(shown.saved_tokens, [self.module()]));
    }
}
