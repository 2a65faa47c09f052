//! The cost limit: one question is reserved for the report, and the limit is never exceeded.

use std::sync::Arc;

use proptest::prelude::*;
use reknit_engine::{Effect, EventKind, FinalTurnReason, SessionStarted, SubAgent, SyntheticReason};
use reknit_model_api::{ErrorClass, ModelAnswer, ModelFailure, Money, Price, Prices, TargetName, Usage, UsageSource};

use crate::driver::{TestDriver, calling, reporting, saying, started};

fn prices() -> Prices {
    Prices::new(Price::from_micros(1_000_000), Price::from_micros(10_000_000))
}

fn paid(limit: Money) -> SessionStarted {
    let started = started();
    let mut policy = started.policy.as_ref().clone();
    policy.limits.money = Some(limit);
    policy.prices = ["a", "b"].into_iter().map(|name| (TargetName::from(name), prices())).collect();
    SessionStarted { policy: Arc::new(policy), ..started }
}

/// The same with an agent that may be called and has the same limit.
fn paid_with_agent(limit: Money) -> SessionStarted {
    let session = SessionStarted { agent: "researcher".to_owned(), ..paid(limit) };
    let agent = SubAgent { name: "researcher".to_owned(), description: "finds things out".to_owned(), session };
    SessionStarted { agents: vec![agent], ..paid(limit) }
}

/// The maximum cost of the first question.
fn first() -> Money {
    let driver = TestDriver::begin(paid(Money::from_nanos(u64::MAX)));
    prices().max_cost(&driver.asked().2)
}

#[test]
fn a_budget_for_one_question_forces_the_final_turn_at_once() {
    // The question for the report has one more answer and one more result.
    let twice = first().plus(first()).plus(prices().cost(&Usage::reported(4_096 + 12_288, 0)));
    assert_eq!(TestDriver::begin(paid(twice)).shown().len(), 5);
    let mut driver = TestDriver::begin(paid(twice.minus(Money::from_nanos(1))));
    assert_eq!(driver.shown(), ["agent__final_report"]);
    driver.answer(reporting("done"));
    let report = driver.session.report().expect("the session has ended");
    assert_eq!(report.forced_final_reason, Some(FinalTurnReason::Budget));
    assert_eq!((report.spent.cost.nanos(), report.spent.reserved_cost), (60_000, Money::default()));
}

#[test]
fn a_budget_below_one_question_ends_with_a_synthetic_report() {
    let driver = TestDriver::begin(paid(Money::from_nanos(1_000)));
    let report = driver.session.report().expect("the session has ended");
    assert_eq!(report.synthetic_reason, Some(SyntheticReason::BudgetExhausted));
    assert!(report.content.contains("the cost limit of 0.000001 is reached"), "{}", report.content);
}

#[test]
fn repairs_of_calls_cannot_spend_the_money_reserved_for_the_report() {
    let reserved = first().plus(prices().cost(&Usage::reported(4_096 + 12_288, 0)));
    let mut driver = TestDriver::begin(paid(first().plus(reserved)));
    let answer = ModelAnswer { usage: Usage::upper_bound(&driver.asked().2), ..calling(&[("shop__look_up", "{}")]) };
    driver.answer(ModelAnswer { usage: Usage { source: UsageSource::Reported, ..answer.usage }, ..answer });
    let call = driver.due().remove(0);
    driver.reply(&call, 422, r#"{"message": "x must be a colour"}"#);
    // The rest is reserved for the report: no model is asked about the error.
    assert_eq!(driver.shown(), ["agent__final_report"]);
}

#[test]
fn the_unused_share_of_a_called_agent_is_refunded() {
    let limit = Money::from_nanos(first().nanos() * 20);
    let mut driver = TestDriver::begin(paid_with_agent(limit));
    driver.answer(calling(&[("agent__researcher", r#"{"input": "x"}"#), ("agent__researcher", r#"{"input": "y"}"#)]));
    let spent = driver.session.spent();
    assert!(spent.cost.plus(spent.reserved_cost) <= limit, "{spent:?}");
    driver.answer(reporting("found"));
    driver.answer(reporting("found"));
    driver.answer(reporting("done"));
    let report = driver.report();
    assert_eq!(report.spent.cost.nanos(), 4 * 60_000, "the cost of agents is included");
    assert_eq!(report.spent.reserved_cost, Money::default());
    assert_eq!(report.children.iter().map(|child| child.spent.cost.nanos()).collect::<Vec<_>>(), [60_000, 60_000]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn the_billed_cost_never_exceeds_the_limit(
        limit in 0u64..1_500_000_000,
        choices in prop::collection::vec(any::<u8>(), 60),
    ) {
        let limit = Money::from_nanos(limit);
        let mut driver = TestDriver::begin(paid_with_agent(limit));
        let mut billed = Money::default();
        let mut choices = choices.into_iter().cycle();
        while driver.session.report().is_none() {
            let effects: Vec<Effect> = driver
                .session
                .pending()
                .into_iter()
                .filter(|due| due.id().is_none_or(|id| !id.to_string().starts_with("run/")))
                .collect();
            let choice = choices.next().unwrap_or(0);
            let Some(effect) = effects.get(usize::from(choice) % effects.len().max(1)) else { break };
            match effect {
                Effect::AskModel(_) if choice % 16 == 7 => {
                    // An abandoned or interrupted question is billed nevertheless.
                    driver.apply(if choice > 200 { EventKind::Stopped } else { EventKind::Resumed });
                    let pending = driver.session.pending();
                    for due in &effects {
                        if let Effect::AskModel(ask) = due
                            && (choice <= 200 || !pending.contains(due))
                        {
                            billed = billed.plus(prices().max_cost(&ask.request));
                        }
                    }
                }
                Effect::AskModel(ask) => {
                    let max = Usage::upper_bound(&ask.request);
                    let part = |tokens: u64| tokens * u64::from(choice) / 255;
                    let usage = Usage::reported(part(max.input_tokens), part(max.output_tokens));
                    let unreported = Usage { source: UsageSource::Estimated, ..Usage::reported(1, 1) };
                    let answer = match choice % 5 {
                        4 => calling(&[("agent__researcher", r#"{"input": "x"}"#), ("shop__look_up", "{}")]),
                        0 => calling(&[("shop__look_up", "{}"), ("shop__order", "{}")]),
                        1 => saying("words"),
                        2 => saying(r#"{"should_retry": true, "suggested_changes": {"x": 2}}"#),
                        _ => reporting("done"),
                    };
                    let effect = ask.id.clone();
                    let interrupted = |usage| ModelFailure::new(ErrorClass::Timeout, "cut").with_usage(usage);
                    let (cost, kind) = match choice % 7 {
                        0 => (Money::default(), EventKind::ModelFailed { effect, failure: ModelFailure::new(ErrorClass::ModelError, "no") }),
                        1 => (prices().cost(&usage), EventKind::ModelFailed { effect, failure: interrupted(unreported) }),
                        2 => (prices().cost(&usage), EventKind::ModelAnswered { effect, answer: ModelAnswer { usage: unreported, ..answer } }),
                        _ => (prices().cost(&usage), EventKind::ModelAnswered { effect, answer: ModelAnswer { usage, ..answer } }),
                    };
                    billed = billed.plus(cost);
                    driver.apply(kind);
                }
                Effect::CallTool(call) => driver.reply(&call.id.to_string(), 422, r#"{"message": "x must be a colour"}"#),
                Effect::Sleep { id, until_ms } => {
                    driver.now_ms = driver.now_ms.max(*until_ms);
                    driver.apply(EventKind::Woke { effect: id.clone() });
                }
                _ => break,
            }
            let spent = driver.session.spent();
            prop_assert!(billed <= limit, "{billed} of {limit}");
            prop_assert!(spent.cost.plus(spent.reserved_cost) <= limit);
            prop_assert!(billed <= spent.cost, "billed {billed}, recorded {}", spent.cost);
        }
    }
}
