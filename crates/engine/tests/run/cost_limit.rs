//! The cost limit: reservations, settlements, and that no run exceeds it.

use proptest::prelude::*;
use reknit_engine::{Effect, EventKind, Policy, Run, Status, Synthesis};
use reknit_model_api::{
    ErrorClass, ModelAnswer, ModelFailure, ModelRequest, Money, Price, Prices, TargetName, Usage, UsageSource,
};
use reknit_protocol::{EffectId, EffectKind};

use crate::world::{Play, effect_id, model_answer, plan, policy, started, step};

/// One dollar per million input tokens, ten per million output tokens.
fn prices() -> Prices {
    Prices::new(Price::from_micros(1_000_000), Price::from_micros(10_000_000))
}

fn with_limit(limit: Money, synthesis: Synthesis) -> Policy {
    let mut policy = Policy { synthesis, ..policy() };
    policy.limits.money = Some(limit);
    policy.prices = ["a", "b"].into_iter().map(|name| (TargetName::from(name), prices())).collect();
    policy
}

/// A run that asks a model for its plan.
fn planning(limit: Money) -> Play {
    Play::begin(started(None, with_limit(limit, Synthesis::Template)))
}

fn asked(run: &Run) -> Option<(EffectId, ModelRequest)> {
    run.pending().into_iter().find_map(|effect| match effect {
        Effect::AskModel(ask) => Some((ask.id, ask.request.as_ref().clone())),
        _ => None,
    })
}

const PLENTY: Money = Money::from_nanos(1_000_000_000);

#[test]
fn the_cost_of_a_question_is_reserved_and_then_settled_by_its_usage() {
    let mut play = planning(PLENTY);
    let (id, request) = asked(&play.run).expect("a plan is asked for");
    assert_eq!(play.run.spent().reserved_cost, prices().max_cost(&request));
    play.answer_model(&id.to_string(), "no plan");
    let spent = play.run.spent();
    assert_eq!((spent.cost, spent.estimated_cost), (Money::from_nanos(10 * 1_000 + 5 * 10_000), Money::default()));
    let (_, request) = asked(&play.run).expect("another plan is asked for");
    assert_eq!(spent.reserved_cost, prices().max_cost(&request));
}

#[test]
fn a_question_without_reported_usage_costs_its_whole_reservation() {
    let estimated = Usage { source: UsageSource::Estimated, ..Usage::reported(1, 1) };
    let id = || effect_id("plan/ask/1");
    let cut = ModelFailure::new(ErrorClass::Timeout, "cut").with_usage(estimated);
    let unreported = ModelAnswer { usage: estimated, ..model_answer("no plan") };
    // A usage reported at the start of a stream does not cover the rest of it.
    let early = ModelFailure::new(ErrorClass::NetworkError, "cut").with_usage(Usage::reported(10, 1));
    for (case, event) in [
        ("a stream that broke after its first usage", EventKind::ModelFailed { effect: id(), failure: early }),
        ("a stream that broke", EventKind::ModelFailed { effect: id(), failure: cut }),
        ("an answer without a reported usage", EventKind::ModelAnswered { effect: id(), answer: unreported }),
        ("another process resumes the run", EventKind::Resumed),
        ("the run is cancelled", EventKind::Cancelled),
    ] {
        let mut play = planning(PLENTY);
        let reserved = play.run.spent().reserved_cost;
        play.happen(event);
        let spent = play.run.spent();
        assert_eq!((spent.cost, spent.estimated_cost), (reserved, reserved), "{case}");
    }
}

#[test]
fn a_question_that_was_not_served_costs_nothing() {
    let id = || effect_id("plan/ask/1");
    let refused = ModelFailure::new(ErrorClass::RateLimit, "later").with_status(429);
    for event in [
        EventKind::ModelFailed { effect: id(), failure: refused },
        EventKind::BreakerOpen { effect: id(), until_ms: 9_000, by: reknit_model_api::BlockedBy::OpenBreaker },
    ] {
        let mut play = planning(PLENTY);
        play.happen(event);
        assert_eq!(play.run.spent().cost, Money::default());
    }
}

#[test]
fn no_question_starts_that_could_exceed_the_limit() {
    let mut play = planning(PLENTY);
    let (_, request) = asked(&play.run).expect("a plan is asked for");
    let first = prices().max_cost(&request);
    play = planning(first);
    play.answer_model("plan/ask/1", "no plan");
    let answer = play.run.answer().expect("a second question could cost too much");
    assert_eq!(answer.status, Status::BudgetExhausted);
    assert_eq!(answer.spent.reserved_cost, Money::default());
    let reason = answer.reason.as_deref().unwrap_or_default();
    assert!(reason.starts_with(&format!("the cost limit of {first} is reached: the next model call may cost 0.")));
    let short = planning(first.minus(Money::from_nanos(1)));
    assert_eq!(short.run.spent().model_calls, 0);
    assert_eq!(short.run.answer().map(|answer| answer.status), Some(Status::BudgetExhausted));
}

#[test]
fn the_cost_of_the_answer_is_kept_in_reserve() {
    let steps = || Some(plan(vec![step("a", "read", "{}"), step("b", "read", "{}")]));
    let rejected = |limit: Money| {
        let mut play = Play::begin(started(steps(), with_limit(limit, Synthesis::Model)));
        play.answer_tool("b/call/1", 200, "{}");
        play.answer_tool("a/call/1", 422, r#"{"message": "x must be a colour"}"#);
        play
    };
    let (_, feedback) = asked(&rejected(PLENTY).run).expect("a model is asked about the error");
    let kept = prices().cost(&Usage::reported(6_000, 2_000));
    let enough = kept.plus(prices().max_cost(&feedback));
    assert_eq!(rejected(enough).due(), ["a/feedback/1"]);
    // With less, the run goes straight to the answer.
    assert_eq!(rejected(enough.minus(Money::from_nanos(1))).due(), ["answer/ask/1"]);
}

#[test]
fn a_model_without_a_price_is_not_asked_under_a_cost_limit() {
    let mut policy = with_limit(PLENTY, Synthesis::Template);
    policy.prices.remove("a");
    let play = Play::begin(started(None, policy));
    let reason = play.run.answer().and_then(|answer| answer.reason.clone()).unwrap_or_default();
    assert_eq!(reason, "model `a` has no price, so it cannot be used under a cost limit");
}

#[test]
fn known_costs_are_counted_without_a_limit() {
    let mut policy = Policy { synthesis: Synthesis::Template, ..policy() };
    policy.prices = [(TargetName::from("b"), prices())].into();
    let mut play = Play::begin(started(None, policy));
    play.fail_model("plan/ask/1", ErrorClass::NetworkError);
    play.answer_model("plan/ask/2", "no plan");
    play.answer_model("plan/ask/3", "no plan");
    let spent = play.run.spent();
    assert_eq!((spent.cost, spent.unpriced_calls), (Money::from_nanos(60_000), 1));
}

/// What a provider bills for a question, and the event that it causes. `choice` selects both.
fn bill(effect: EffectId, request: &ModelRequest, choice: u8) -> (Money, EventKind) {
    let most = Usage::upper_bound(request);
    let part = |tokens: u64| tokens * u64::from(choice) / 255;
    let usage = Usage::reported(part(most.input_tokens), part(most.output_tokens));
    let cost = prices().cost(&usage);
    let unreported = Usage { source: UsageSource::Estimated, ..Usage::reported(1, 1) };
    let text = match choice % 3 {
        0 => r#"{"should_retry": false}"#.to_owned(),
        1 => format!(r#"{{"should_retry": true, "suggested_changes": {{"x": {choice}}}}}"#),
        _ => "nonsense".to_owned(),
    };
    let failed = |failure: ModelFailure| EventKind::ModelFailed { effect: effect.clone(), failure };
    match choice % 5 {
        0 => (Money::default(), failed(ModelFailure::new(ErrorClass::RateLimit, "later"))),
        1 => (cost, failed(ModelFailure::new(ErrorClass::Timeout, "cut").with_usage(unreported))),
        2 => (cost, failed(ModelFailure::new(ErrorClass::InvalidResponse, "cut").with_usage(usage))),
        3 => (
            cost,
            EventKind::ModelAnswered { effect, answer: ModelAnswer { usage: unreported, ..model_answer(&text) } },
        ),
        _ => (cost, EventKind::ModelAnswered { effect, answer: ModelAnswer { usage, ..model_answer(&text) } }),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn billed_costs_never_exceed_the_limit(
        limit in 0u64..400_000_000,
        choices in prop::collection::vec(any::<u8>(), 60),
        by_model in any::<bool>(),
    ) {
        let limit = Money::from_nanos(limit);
        let synthesis = if by_model { Synthesis::Model } else { Synthesis::Template };
        let steps = (0..4).map(|index| step(&format!("s{index}"), "read", r#"{"x": 0}"#)).collect();
        let mut play = Play::begin(started(Some(plan(steps)), with_limit(limit, synthesis)));
        let mut billed = Money::default();
        let mut choices = choices.into_iter().cycle();
        for _ in 0..400 {
            let effects: Vec<Effect> =
                play.run.pending().into_iter().filter(|due| due.id().is_none_or(|id| id.kind() != EffectKind::Deadline)).collect();
            let choice = choices.next().unwrap_or(0);
            let Some(effect) = effects.get(usize::from(choice) % effects.len().max(1)) else { break };
            match effect {
                Effect::AskModel(_) if choice % 16 == 7 => {
                    // A process crashes while models work: the provider bills every question, and the run asks again.
                    let pending = effects.iter().filter_map(|due| match due {
                        Effect::AskModel(ask) => Some(prices().max_cost(&ask.request)),
                        _ => None,
                    });
                    billed = pending.fold(billed, Money::plus);
                    play.happen(EventKind::Resumed);
                }
                Effect::AskModel(ask) => {
                    let (cost, event) = bill(ask.id.clone(), &ask.request, choice);
                    billed = billed.plus(cost);
                    play.happen(event);
                }
                Effect::CallTool(call) => play.answer_tool(&call.id.to_string(), 422, r#"{"message": "x must be a colour"}"#),
                Effect::Sleep { id, until_ms } => {
                    play.now_ms = play.now_ms.max(*until_ms);
                    play.happen(EventKind::Woke { effect: id.clone() });
                }
                _ => break,
            }
            let spent = play.run.spent();
            prop_assert!(billed <= limit, "{billed} of {limit}");
            prop_assert!(spent.cost.plus(spent.reserved_cost) <= limit);
            prop_assert!(billed <= spent.cost, "billed {billed}, counted {}", spent.cost);
        }
    }
}
