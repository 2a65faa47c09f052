//! Simulated models: they write the plan or the next turn of a run, and correct refused calls.

use reknit_engine::AskModel;
use reknit_model_api::{ErrorClass, FinishReason, ModelAnswer, ModelFailure, Purpose, ToolCall, Usage};
use reknit_protocol::EffectOwner;

use crate::plot::{Plot, PlottedRun};
use crate::random::Random;

/// The answer of a model that works.
pub(crate) fn answer(ask: &AskModel, plot: &Plot, random: &mut Random) -> ModelAnswer {
    let text: String = ask.request.messages.iter().map(reknit_model_api::Message::text).collect();
    let run = plot.find(&text);
    match ask.purpose {
        Purpose::AgentTurn => turn(ask, run),
        Purpose::PlanGeneration => {
            let plan = run.and_then(|run| run.plan.as_ref()).map(|plan| plan.to_value().to_string());
            let plan = plan.unwrap_or_default();
            // A plan that is cut off is asked for again.
            if random.one_in(8) { saying(plan.get(..plan.len() / 2).unwrap_or_default()) } else { saying(&plan) }
        }
        Purpose::Synthesis | Purpose::SynthesisStreaming => saying("all is done"),
        Purpose::MicroResolution => saying(r#"{"x": 3}"#),
        _ if random.one_in(8) => saying("I cannot tell."),
        _ => saying(r#"{"should_retry": true, "reason": "x is too small", "suggested_changes": {"x": 3}}"#),
    }
}

/// The next turn of a session: its calls, and its report at the end.
fn turn(ask: &AskModel, run: Option<&PlottedRun>) -> ModelAnswer {
    let number = match ask.id.owner() {
        EffectOwner::Turn(turn) => usize::try_from(*turn).unwrap_or(usize::MAX),
        _ => usize::MAX,
    };
    let calls = run.and_then(|run| run.turns.get(number.saturating_sub(1)));
    let can_call = ask.request.tools.iter().any(|tool| tool.name.starts_with("t__"));
    match calls.filter(|_| can_call) {
        Some(calls) => calling(calls.iter().map(|(name, arguments)| (name.as_str(), arguments.as_str()))),
        None => calling([("agent__final_report", r#"{"report_content": "all is done"}"#)]),
    }
}

pub(crate) fn failure(random: &mut Random) -> ModelFailure {
    let class = *random.pick(&[ErrorClass::ModelError, ErrorClass::RateLimit, ErrorClass::Timeout]);
    let failure = ModelFailure::new(class, "the model failed");
    if random.one_in(3) { failure.with_retry_after_ms(random.below(20_000)) } else { failure }
}

fn saying(text: &str) -> ModelAnswer {
    ModelAnswer::complete(text, "m", Usage::reported(10, 5))
}

fn calling<'a>(calls: impl IntoIterator<Item = (&'a str, &'a str)>) -> ModelAnswer {
    let call = |(index, (name, arguments)): (usize, (&str, &str))| {
        ToolCall::new(format!("call_{}", index + 1), name, arguments)
    };
    let tool_calls = calls.into_iter().enumerate().map(call).collect();
    ModelAnswer { tool_calls, finish: FinishReason::ToolCalls, ..saying("") }
}
