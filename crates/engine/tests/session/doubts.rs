//! Calls that may have happened: no turn, no plan and no agent makes them again, however they are written.

use std::sync::Arc;

use reknit_engine::{Policy, SessionStarted, What};
use reknit_plan::{Catalogue, Entry, Tool};
use reknit_protocol::{Capability, SideEffect};
use reknit_protocol::{Delivery, TransportFailure, TransportKind};

use crate::world::{Play, calling, json, started};

/// A tool `bank` that pays under a key, and is strict about the amount.
fn bank() -> Play {
    let mut pay = Capability::new("pay");
    pay.effect = SideEffect::Keyed;
    let schema = r#"{"type": "object", "required": ["amount"], "properties": {"amount": {"type": "number"}}}"#;
    let entry = Entry::new(pay, Some(json(schema))).expect("the schema is one");
    let tool = Tool { name: "bank".into(), description: String::new(), capabilities: vec![entry] };
    let mut policy = Policy::default();
    policy.resend.times = 1;
    (policy.mending.feedback, policy.mending.context) = (0, 0);
    let catalogue = Arc::new(Catalogue { tools: vec![tool] });
    Play::begin(SessionStarted { catalogue, policy: Arc::new(policy), ..started() })
}

fn silence(play: &mut Play, effect: &str) {
    let failure = TransportFailure {
        kind: TransportKind::TimedOut,
        delivery: Delivery::Possible,
        message: "no answer".to_owned(),
    };
    play.happen(What::ToolFailed { effect: effect.parse().unwrap(), failure });
}

/// What is sent when a model wants the same again.
fn sent_again(play: &mut Play, arguments: &str) -> Vec<String> {
    assert_eq!(play.session.view().turn, 2, "{:?}", play.due());
    play.answer(calling(&[("bank__pay", arguments)]));
    play.calls().iter().map(|call| call.parameters.to_string()).collect()
}

#[test]
fn another_spelling_of_a_call_in_doubt_is_the_same_call() {
    for (arguments, expected) in [
        (r#"{"amount": 100}"#, &[][..]),
        (r#"{"amount": "100"}"#, &[]),
        (r#"{"Amount": 100.0}"#, &[]),
        (r#"{"amount": 101}"#, &[r#"{"amount":101}"#]),
    ] {
        let mut play = bank();
        play.answer(calling(&[("bank__pay", r#"{"amount": 100}"#)]));
        silence(&mut play, "turn-1/call-1/call/1");
        play.wake();
        silence(&mut play, "turn-1/call-1/call/2");
        assert_eq!(sent_again(&mut play, arguments), expected, "{arguments}");
    }
}

#[test]
fn a_later_refusal_does_not_say_that_an_earlier_try_came_to_nothing() {
    let mut play = bank();
    play.answer(calling(&[("bank__pay", r#"{"amount": 100}"#)]));
    silence(&mut play, "turn-1/call-1/call/1");
    play.wake();
    play.reply("turn-1/call-1/call/2", 400, r#"{"message": "no"}"#);
    assert_eq!(sent_again(&mut play, r#"{"amount": 100}"#), [""; 0]);
}
