//! A limit of money: what is set aside, what is settled, and that nothing is ever spent beyond it.

use proptest::prelude::*;
use reknit_dialogue::{Answer, ErrorClass, Failure, Money, Price, Prices, Request, TargetName, Usage, UsageSource};
use reknit_engine::{Effect, Policy, Run, Status, Synthesis, What};
use reknit_protocol::EffectId;

use crate::world::{Play, model_answer, plan, policy, started, step};

/// A dollar for a million tokens of the question, ten for a million of the answer.
fn prices() -> Prices {
    Prices::new(Price::from_micros(1_000_000), Price::from_micros(10_000_000))
}

fn paid(limit: Money, synthesis: Synthesis) -> Policy {
    let mut policy = Policy { synthesis, ..policy() };
    policy.limits.money = Some(limit);
    policy.prices = ["a", "b"].into_iter().map(|name| (TargetName::from(name), prices())).collect();
    policy
}

/// A run that makes its own plan.
fn planning(limit: Money) -> Play {
    Play::begin(started(None, paid(limit, Synthesis::Template)))
}

fn asked(run: &Run) -> Option<(EffectId, Request)> {
    run.pending().into_iter().find_map(|effect| match effect {
        Effect::AskModel(ask) => Some((ask.id, ask.request)),
        _ => None,
    })
}

const PLENTY: Money = Money::from_nanos(1_000_000_000);

#[test]
fn money_is_set_aside_while_a_question_is_under_way_and_settled_by_its_usage() {
    let mut play = planning(PLENTY);
    let (id, request) = asked(&play.run).expect("a plan is asked for");
    assert_eq!(play.run.spent().reserved_cost, prices().most(&request));
    play.answer_model(&id.to_string(), "no plan");
    let spent = play.run.spent();
    assert_eq!((spent.cost, spent.estimated_cost), (Money::from_nanos(10 * 1_000 + 5 * 10_000), Money::default()));
    let (_, request) = asked(&play.run).expect("another plan is asked for");
    assert_eq!(spent.reserved_cost, prices().most(&request));
}

#[test]
fn what_nobody_knows_costs_all_that_was_set_aside_and_is_marked() {
    let most = |play: &Play| play.run.spent().reserved_cost;
    let estimated = Usage { source: UsageSource::Estimated, ..Usage::reported(1, 1) };
    let id = || "plan/ask/1".parse::<EffectId>().unwrap();
    let cut = Failure::new(ErrorClass::Timeout, "cut").with_usage(estimated);
    let silent = Answer { usage: estimated, ..model_answer("no plan") };
    // What a provider reports at the beginning of a stream says nothing about its end.
    let early = Failure::new(ErrorClass::NetworkError, "cut").with_usage(Usage::reported(10, 1));
    for (case, what) in [
        ("a stream that was cut behind its first count", What::ModelFailed { effect: id(), failure: early }),
        ("a stream that was cut", What::ModelFailed { effect: id(), failure: cut }),
        ("an answer without a count", What::ModelAnswered { effect: id(), answer: silent }),
        ("another process goes on", What::Resumed),
        ("nobody waits any more", What::Cancelled),
    ] {
        let mut play = planning(PLENTY);
        let set_aside = most(&play);
        play.happen(what);
        let spent = play.run.spent();
        assert_eq!((spent.cost, spent.estimated_cost), (set_aside, set_aside), "{case}");
    }
}

#[test]
fn what_was_never_worked_on_costs_nothing() {
    let id = || "plan/ask/1".parse::<EffectId>().unwrap();
    let refused = Failure::new(ErrorClass::RateLimit, "later").with_status(429);
    for what in
        [What::ModelFailed { effect: id(), failure: refused }, What::GateClosed { effect: id(), until_ms: 9_000 }]
    {
        let mut play = planning(PLENTY);
        play.happen(what);
        assert_eq!(play.run.spent().cost, Money::default());
    }
}

#[test]
fn no_question_begins_that_could_pass_the_limit() {
    let mut play = planning(PLENTY);
    let (_, request) = asked(&play.run).expect("a plan is asked for");
    let first = prices().most(&request);
    play = planning(first);
    play.answer_model("plan/ask/1", "no plan");
    let answer = play.run.answer().expect("a second question could cost too much");
    assert_eq!(answer.status, Status::BudgetExhausted);
    assert_eq!(answer.spent.reserved_cost, Money::default());
    let reason = answer.reason.as_deref().unwrap_or_default();
    assert!(reason.starts_with(&format!("the limit of {first} for models is reached: the next question may cost 0.")));
    let short = planning(first.minus(Money::from_nanos(1)));
    assert_eq!(short.run.spent().model_calls, 0);
    assert_eq!(short.run.answer().map(|answer| answer.status), Some(Status::BudgetExhausted));
}

#[test]
fn money_for_the_answer_is_kept_from_all_other_questions() {
    let steps = || Some(plan(vec![step("a", "read", "{}")]));
    let rejected = |limit: Money| {
        let mut play = Play::begin(started(steps(), paid(limit, Synthesis::Model)));
        play.answer_tool("a/call/1", 422, r#"{"message": "x must be a colour"}"#);
        play
    };
    let (_, feedback) = asked(&rejected(PLENTY).run).expect("a model is asked about the error");
    let kept = prices().cost(&Usage::reported(6_000, 2_000));
    let enough = kept.plus(prices().most(&feedback));
    assert_eq!(rejected(enough).due(), ["a/feedback/1"]);
    // A little less, and only the answer is asked for.
    assert_eq!(rejected(enough.minus(Money::from_nanos(1))).due(), ["answer/ask/1"]);
}

#[test]
fn a_model_without_a_price_is_not_asked_under_a_limit_of_money() {
    let mut policy = paid(PLENTY, Synthesis::Template);
    policy.prices.remove("a");
    let play = Play::begin(started(None, policy));
    let reason = play.run.answer().and_then(|answer| answer.reason.clone()).unwrap_or_default();
    assert_eq!(reason, "there is a limit of money, and model `a` has no price");
}

#[test]
fn without_a_limit_what_models_cost_is_counted_where_it_is_known() {
    let mut policy = Policy { synthesis: Synthesis::Template, ..policy() };
    policy.prices = [(TargetName::from("b"), prices())].into();
    let mut play = Play::begin(started(None, policy));
    play.fail_model("plan/ask/1", ErrorClass::NetworkError);
    play.answer_model("plan/ask/2", "no plan");
    play.answer_model("plan/ask/3", "no plan");
    let spent = play.run.spent();
    assert_eq!((spent.cost, spent.unpriced_calls), (Money::from_nanos(60_000), 1));
}

/// What a provider does with a question, for a number: what it really bills, and what it says.
fn bill(effect: EffectId, request: &Request, choice: u8) -> (Money, What) {
    let most = Usage::most(request);
    let part = |tokens: u64| tokens * u64::from(choice) / 255;
    let usage = Usage::reported(part(most.input_tokens), part(most.output_tokens));
    let cost = prices().cost(&usage);
    let unsaid = Usage { source: UsageSource::Estimated, ..Usage::reported(1, 1) };
    let text = match choice % 3 {
        0 => r#"{"should_retry": false}"#.to_owned(),
        1 => format!(r#"{{"should_retry": true, "suggested_changes": {{"x": {choice}}}}}"#),
        _ => "nonsense".to_owned(),
    };
    let failed = |failure: Failure| What::ModelFailed { effect: effect.clone(), failure };
    match choice % 5 {
        0 => (Money::default(), failed(Failure::new(ErrorClass::RateLimit, "later"))),
        1 => (cost, failed(Failure::new(ErrorClass::Timeout, "cut").with_usage(unsaid))),
        2 => (cost, failed(Failure::new(ErrorClass::InvalidResponse, "cut").with_usage(usage))),
        3 => (cost, What::ModelAnswered { effect, answer: Answer { usage: unsaid, ..model_answer(&text) } }),
        _ => (cost, What::ModelAnswered { effect, answer: Answer { usage, ..model_answer(&text) } }),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn what_providers_bill_never_passes_the_limit(
        limit in 0u64..400_000_000,
        choices in prop::collection::vec(any::<u8>(), 60),
        by_model in any::<bool>(),
    ) {
        let limit = Money::from_nanos(limit);
        let synthesis = if by_model { Synthesis::Model } else { Synthesis::Template };
        let steps = (0..4).map(|index| step(&format!("s{index}"), "read", r#"{"x": 0}"#)).collect();
        let mut play = Play::begin(started(Some(plan(steps)), paid(limit, synthesis)));
        let mut billed = Money::default();
        let mut choices = choices.into_iter().cycle();
        for _ in 0..400 {
            let effects: Vec<Effect> =
                play.run.pending().into_iter().filter(|due| due.id().is_none_or(|id| !id.to_string().starts_with("run/"))).collect();
            let choice = choices.next().unwrap_or(0);
            let Some(effect) = effects.get(usize::from(choice) % effects.len().max(1)) else { break };
            match effect {
                Effect::AskModel(_) if choice % 16 == 7 => {
                    // A process dies while it asks: all that is billed, and asked again.
                    let open = effects.iter().filter_map(|due| match due {
                        Effect::AskModel(ask) => Some(prices().most(&ask.request)),
                        _ => None,
                    });
                    billed = open.fold(billed, Money::plus);
                    play.happen(What::Resumed);
                }
                Effect::AskModel(ask) => {
                    let (cost, what) = bill(ask.id.clone(), &ask.request, choice);
                    billed = billed.plus(cost);
                    play.happen(what);
                }
                Effect::CallTool(call) => play.answer_tool(&call.id.to_string(), 422, r#"{"message": "x must be a colour"}"#),
                Effect::Sleep { id, until_ms } => {
                    play.now_ms = play.now_ms.max(*until_ms);
                    play.happen(What::Woke { effect: id.clone() });
                }
                _ => break,
            }
            let spent = play.run.spent();
            prop_assert!(billed <= limit, "{billed} of {limit}");
            prop_assert!(spent.cost.plus(spent.reserved_cost) <= limit);
            prop_assert!(billed <= spent.cost, "{billed} is billed, {} is known", spent.cost);
        }
    }
}
