//! A limit of money: the last question is kept for the report, and nothing is spent beyond the limit.

use std::sync::Arc;

use proptest::prelude::*;
use reknit_dialogue::{Answer, ErrorClass, Failure, Money, Price, Prices, TargetName, Usage, UsageSource};
use reknit_engine::{Effect, ForcedReason, SessionStarted, SubAgent, SyntheticReason, What};

use crate::world::{Play, calling, reporting, saying, started};

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

/// The same with an agent that may be called, and would like to spend as much.
fn paid_with_agent(limit: Money) -> SessionStarted {
    let session = SessionStarted { agent: "researcher".to_owned(), ..paid(limit) };
    let agent = SubAgent { name: "researcher".to_owned(), description: "finds things out".to_owned(), session };
    SessionStarted { agents: vec![agent], ..paid(limit) }
}

/// What the first question could cost.
fn first() -> Money {
    let play = Play::begin(paid(Money::from_nanos(u64::MAX)));
    prices().most(&play.asked().2)
}

#[test]
fn a_session_that_can_pay_for_one_question_asks_for_the_report() {
    // The report is asked for with one answer and one result more.
    let twice = first().plus(first()).plus(prices().cost(&Usage::reported(4_096 + 12_288, 0)));
    assert_eq!(Play::begin(paid(twice)).shown().len(), 5);
    let mut play = Play::begin(paid(twice.minus(Money::from_nanos(1))));
    assert_eq!(play.shown(), ["agent__final_report"]);
    play.answer(reporting("done"));
    let report = play.session.report().expect("it has ended");
    assert_eq!(report.forced_final_reason, Some(ForcedReason::Budget));
    assert_eq!((report.spent.cost.nanos(), report.spent.reserved_cost), (60_000, Money::default()));
}

#[test]
fn a_session_that_can_pay_for_nothing_says_so() {
    let play = Play::begin(paid(Money::from_nanos(1_000)));
    let report = play.session.report().expect("it has ended");
    assert_eq!(report.synthetic_reason, Some(SyntheticReason::BudgetExhausted));
    assert!(report.content.contains("the limit of 0.000001 for models is reached"), "{}", report.content);
}

#[test]
fn money_for_the_report_is_kept_from_the_mending_of_calls() {
    let kept = first().plus(prices().cost(&Usage::reported(4_096 + 12_288, 0)));
    let mut play = Play::begin(paid(first().plus(kept)));
    let answer = Answer { usage: Usage::most(&play.asked().2), ..calling(&[("shop__look_up", "{}")]) };
    play.answer(Answer { usage: Usage { source: UsageSource::Reported, ..answer.usage }, ..answer });
    let call = play.due().remove(0);
    play.reply(&call, 422, r#"{"message": "x must be a colour"}"#);
    // All that is left is for the report: nobody is asked about the error.
    assert_eq!(play.shown(), ["agent__final_report"]);
}

#[test]
fn an_agent_has_its_share_of_the_money_and_what_it_leaves_comes_back() {
    let limit = Money::from_nanos(first().nanos() * 20);
    let mut play = Play::begin(paid_with_agent(limit));
    play.answer(calling(&[("agent__researcher", r#"{"input": "x"}"#), ("agent__researcher", r#"{"input": "y"}"#)]));
    let spent = play.session.spent();
    assert!(spent.cost.plus(spent.reserved_cost) <= limit, "{spent:?}");
    play.answer(reporting("found"));
    play.answer(reporting("found"));
    play.answer(reporting("done"));
    let report = play.report();
    assert_eq!(report.spent.cost.nanos(), 4 * 60_000, "what agents cost is the session's");
    assert_eq!(report.spent.reserved_cost, Money::default());
    assert_eq!(report.children.iter().map(|child| child.spent.cost.nanos()).collect::<Vec<_>>(), [60_000, 60_000]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn what_providers_bill_never_passes_the_limit(
        limit in 0u64..1_500_000_000,
        choices in prop::collection::vec(any::<u8>(), 60),
    ) {
        let limit = Money::from_nanos(limit);
        let mut play = Play::begin(paid_with_agent(limit));
        let mut billed = Money::default();
        let mut choices = choices.into_iter().cycle();
        while play.session.report().is_none() {
            let effects: Vec<Effect> = play
                .session
                .pending()
                .into_iter()
                .filter(|due| due.id().is_none_or(|id| !id.to_string().starts_with("run/")))
                .collect();
            let choice = choices.next().unwrap_or(0);
            let Some(effect) = effects.get(usize::from(choice) % effects.len().max(1)) else { break };
            match effect {
                Effect::AskModel(_) if choice % 16 == 7 => {
                    // A process dies while it asks, or nobody waits for the answer any more: that is billed all the same.
                    play.happen(if choice > 200 { What::Stopped } else { What::Resumed });
                    let pending = play.session.pending();
                    for due in &effects {
                        if let Effect::AskModel(ask) = due
                            && (choice <= 200 || !pending.contains(due))
                        {
                            billed = billed.plus(prices().most(&ask.request));
                        }
                    }
                }
                Effect::AskModel(ask) => {
                    let most = Usage::most(&ask.request);
                    let part = |tokens: u64| tokens * u64::from(choice) / 255;
                    let usage = Usage::reported(part(most.input_tokens), part(most.output_tokens));
                    let unsaid = Usage { source: UsageSource::Estimated, ..Usage::reported(1, 1) };
                    let answer = match choice % 5 {
                        4 => calling(&[("agent__researcher", r#"{"input": "x"}"#), ("shop__look_up", "{}")]),
                        0 => calling(&[("shop__look_up", "{}"), ("shop__order", "{}")]),
                        1 => saying("words"),
                        2 => saying(r#"{"should_retry": true, "suggested_changes": {"x": 2}}"#),
                        _ => reporting("done"),
                    };
                    let effect = ask.id.clone();
                    let cut = |usage| Failure::new(ErrorClass::Timeout, "cut").with_usage(usage);
                    let (cost, what) = match choice % 7 {
                        0 => (Money::default(), What::ModelFailed { effect, failure: Failure::new(ErrorClass::ModelError, "no") }),
                        1 => (prices().cost(&usage), What::ModelFailed { effect, failure: cut(unsaid) }),
                        2 => (prices().cost(&usage), What::ModelAnswered { effect, answer: Answer { usage: unsaid, ..answer } }),
                        _ => (prices().cost(&usage), What::ModelAnswered { effect, answer: Answer { usage, ..answer } }),
                    };
                    billed = billed.plus(cost);
                    play.happen(what);
                }
                Effect::CallTool(call) => play.reply(&call.id.to_string(), 422, r#"{"message": "x must be a colour"}"#),
                Effect::Sleep { id, until_ms } => {
                    play.now_ms = play.now_ms.max(*until_ms);
                    play.happen(What::Woke { effect: id.clone() });
                }
                _ => break,
            }
            let spent = play.session.spent();
            prop_assert!(billed <= limit, "{billed} of {limit}");
            prop_assert!(spent.cost.plus(spent.reserved_cost) <= limit);
            prop_assert!(billed <= spent.cost, "{billed} is billed, {} is known", spent.cost);
        }
    }
}
