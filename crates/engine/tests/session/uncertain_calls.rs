//! Uncertain calls: calls that failed but may have taken effect are not repeated.

use std::sync::Arc;

use reknit_engine::{EventKind, Policy, SessionStarted};
use reknit_plan::{Catalogue, CatalogueEntry, CatalogueTool};
use reknit_protocol::{Capability, SideEffect};
use reknit_protocol::{Delivery, TransportFailure, TransportKind};

use crate::driver::{TestDriver, calling, effect_id, json, reporting, started};

/// A session with a tool `bank` whose payments have an idempotency key and a strict schema.
fn bank() -> TestDriver {
    let mut pay = Capability::new("pay");
    pay.effect = SideEffect::Keyed;
    let schema = r#"{"type": "object", "required": ["amount"], "properties": {"amount": {"type": "number"}}}"#;
    let entry = CatalogueEntry::new(pay, Some(json(schema))).expect("a valid schema");
    let tool = CatalogueTool { name: "bank".into(), description: String::new(), capabilities: vec![entry] };
    let mut policy = Policy::default();
    policy.resend.times = 1;
    (policy.mending.feedback, policy.mending.context) = (0, 0);
    let catalogue = Arc::new(Catalogue { tools: vec![tool] });
    TestDriver::begin(SessionStarted { catalogue, policy: Arc::new(policy), ..started() })
}

fn time_out(driver: &mut TestDriver, effect: &str) {
    let failure = TransportFailure {
        kind: TransportKind::TimedOut,
        delivery: Delivery::Possible,
        message: "no answer".to_owned(),
    };
    driver.apply(EventKind::ToolFailed { effect: effect_id(effect), failure });
}

/// The calls that are sent when the model repeats a payment.
fn sent_again(driver: &mut TestDriver, arguments: &str) -> Vec<String> {
    assert_eq!(driver.session.view().turn, 2, "{:?}", driver.due());
    driver.answer(calling(&[("bank__pay", arguments)]));
    driver.calls().iter().map(|call| call.parameters.to_string()).collect()
}

fn last_result(driver: &TestDriver) -> String {
    driver.session.history().last().map(|message| message.text().to_owned()).unwrap_or_default()
}

#[test]
fn an_uncertain_call_is_not_repeated_in_another_spelling() {
    for (arguments, expected) in [
        (r#"{"amount": 100}"#, &[][..]),
        (r#"{"amount": "100"}"#, &[]),
        (r#"{"Amount": 100.0}"#, &[]),
        (r#"{"amount": 101}"#, &[r#"{"amount":101}"#]),
    ] {
        let mut driver = bank();
        driver.answer(calling(&[("bank__pay", r#"{"amount": 100}"#)]));
        time_out(&mut driver, "turn-1/call-1/call/1");
        driver.finish_wait();
        time_out(&mut driver, "turn-1/call-1/call/2");
        assert_eq!(sent_again(&mut driver, arguments), expected, "{arguments}");
    }
}

#[test]
fn a_later_rejection_does_not_make_an_earlier_uncertain_attempt_certain() {
    let mut driver = bank();
    driver.answer(calling(&[("bank__pay", r#"{"amount": 100}"#)]));
    time_out(&mut driver, "turn-1/call-1/call/1");
    driver.finish_wait();
    driver.reply("turn-1/call-1/call/2", 400, r#"{"message": "no"}"#);
    assert_eq!(sent_again(&mut driver, r#"{"amount": 100}"#), [""; 0]);
    let told = last_result(&driver);
    assert!(told.contains("find out what became of it, or report it"), "the model reads what to do: {told}");
}

#[test]
fn a_report_after_a_call_that_may_have_taken_effect_is_partial_and_names_the_call() {
    let mut driver = bank();
    driver.answer(calling(&[("bank__pay", r#"{"amount": 5}"#)]));
    time_out(&mut driver, "turn-1/call-1/call/1");
    driver.finish_wait();
    time_out(&mut driver, "turn-1/call-1/call/2");
    let told = driver.session.history().iter().map(|message| message.text().to_owned()).collect::<String>();
    assert!(told.contains("the call may have taken effect"), "{told}");
    driver.answer(reporting("Everything is paid."));
    let report = driver.report();
    assert_eq!(report.status, reknit_engine::ReportStatus::Partial);
    assert_eq!(
        report.shortcomings.in_doubt,
        [r#"`pay` of `bank` with {"amount":5} failed, and may have taken effect"#]
    );
}
