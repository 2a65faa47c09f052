//! Properties that hold for every sequence of events.

use proptest::prelude::*;
use reknit_engine::{
    Effect, Event, EventKind, PLAN_TOOL, Plans, READ_TOOL, Report, ReportSource, Session, SessionRecord, SessionRules,
    SessionStarted, SubAgent,
};
use reknit_mend::PeoplePolicy;
use reknit_model_api::{ErrorClass, FinishReason, ModelAnswer};
use reknit_protocol::{Delivery, TransportFailure, TransportKind};
use std::sync::Arc;

use crate::driver::{
    TestDriver, calling, rate_limited, reporting, saying, started, thinking, truncated, with_json_report,
};

/// A random scenario: limits, and a sequence of numbers that chooses each outcome.
#[derive(Debug, Clone)]
struct Scenario {
    choices: Vec<u8>,
    max_turns: u32,
    max_retries: u32,
    targets: usize,
    model_calls: u32,
    json: bool,
    /// The context window of each target, if it is known.
    windows: Vec<Option<u32>>,
}

fn scenario() -> impl Strategy<Value = Scenario> {
    let limits = (1u32..6, 1u32..5, 1usize..4, 1u32..40, any::<bool>());
    let windows = prop::collection::vec(prop::option::of(200u32..6_000), 3);
    (prop::collection::vec(any::<u8>(), 300), limits, windows).prop_map(|(choices, limits, windows)| {
        let (max_turns, max_retries, targets, model_calls, json) = limits;
        Scenario { choices, max_turns, max_retries, targets, model_calls, json, windows }
    })
}

fn session_of(scenario: &Scenario) -> SessionStarted {
    let mut started = if scenario.json { with_json_report() } else { started() };
    started.rules.max_turns = scenario.max_turns;
    started.rules.max_retries = scenario.max_retries;
    started.targets = ["a", "b", "c"].into_iter().take(scenario.targets).map(Into::into).collect();
    let mut policy = started.policy.as_ref().clone();
    policy.limits.model_calls = scenario.model_calls;
    let windows = started.targets.iter().cloned().zip(&scenario.windows);
    policy.rotation.context_windows = windows.filter_map(|(target, window)| Some((target, (*window)?))).collect();
    policy.people = if scenario.json { PeoplePolicy::Nobody } else { PeoplePolicy::Ask };
    let started = SessionStarted { policy: Arc::new(policy), ..started };
    // The session may call an agent like itself, and submit plans.
    let agent = SubAgent { name: "other".to_owned(), description: String::new(), session: started.clone() };
    let rules = SessionRules { plans: Plans::Allowed, ..started.rules.clone() };
    SessionStarted { agents: vec![agent], rules, ..started }
}

fn answer(choice: u8) -> ModelAnswer {
    match choice % 20 {
        0 => saying("words"),
        1 => saying(""),
        2 => thinking(),
        3 => truncated(calling(&[("agent__final_report", r#"{"report_content": "It w"#)])),
        4 => calling(&[("shop__look_up", "{{{"), ("shop__order", "{}")]),
        5 => calling(&[("fly", "{}")]),
        6 => ModelAnswer { finish: FinishReason::Refusal, ..saying("no") },
        7 => calling(&[("agent__final_report", "{{{")]),
        8 => saying(r#"{"report_format": "markdown", "report_content": "Sent."}"#),
        9 => reporting("done"),
        10 => calling(&[("agent__final_report", r#"{"content_json": {"total": 1}}"#)]),
        11 => calling(&[("shop__order", "{}"), ("agent__final_report", r#"{"report_content": "x"}"#)]),
        12 => calling(&[("shop__refund", "{}"), ("shop__convert", r#"{"amount": "much"}"#)]),
        13 => saying(r#"{"should_retry": true, "suggested_changes": {"amount": 2}}"#),
        14 => calling(&[
            ("agent__other", r#"{"input": "x"}"#),
            ("agent__other", r#"{"input": "y"}"#),
            ("shop__order", "{}"),
        ]),
        15 => calling(&[
            (
                PLAN_TOOL,
                r#"{"steps": [{"id": "a", "tool": "look_up"}, {"id": "b", "tool": "order", "with": {"v": "{{a.v}}"}}]}"#,
            ),
            ("agent__other", r#"{"input": "z"}"#),
        ]),
        16 => calling(&[(READ_TOOL, r#"{"result": "result-1"}"#), ("shop__look_up", "{}")]),
        _ => calling(&[("shop__look_up", "{}"), ("shop__order", r#"{"id": 7}"#)]),
    }
}

/// The outcome of an effect that a number chooses.
fn outcome(effect: &Effect, choice: u8) -> Option<EventKind> {
    let id = effect.id()?.clone();
    Some(match effect {
        Effect::AskModel(_) if choice % 32 == 31 => EventKind::BreakerOpen {
            effect: id,
            until_ms: i64::from(choice) * 500,
            by: reknit_model_api::BlockedBy::OpenBreaker,
        },
        Effect::AskModel(_) => match choice % 8 {
            0 => EventKind::ModelFailed {
                effect: id,
                failure: rate_limited((choice > 99).then_some(u64::from(choice) * 100)),
            },
            1 => {
                let class = ErrorClass::ALL[usize::from(choice / 8) % ErrorClass::ALL.len()];
                EventKind::ModelFailed { effect: id, failure: reknit_model_api::ModelFailure::new(class, "it failed") }
            }
            _ => {
                // Some providers report different token counts, others none.
                let mut answer = answer(choice / 8);
                match choice % 4 {
                    0 => answer.usage.source = reknit_model_api::UsageSource::Estimated,
                    other => answer.usage.input_tokens = u64::from(other) * u64::from(choice),
                }
                EventKind::ModelAnswered { effect: id, answer }
            }
        },
        Effect::CountTokens(_) if choice.is_multiple_of(3) => EventKind::TokensCounted { effect: id, tokens: None },
        Effect::CountTokens(_) => EventKind::TokensCounted { effect: id, tokens: Some(u64::from(choice) * 20) },
        Effect::CallTool(_) => match choice % 8 {
            0 => reply(id, 400),
            1 => reply(id, 401),
            2 => reply(id, 503),
            3 => EventKind::Interrupted { effect: id },
            4 => {
                let message = "it broke".to_owned();
                let failure = TransportFailure { kind: TransportKind::TimedOut, delivery: Delivery::Possible, message };
                EventKind::ToolFailed { effect: id, failure }
            }
            5 => long_reply(id, usize::from(choice) * 40),
            _ => reply(id, 200),
        },
        Effect::AskPerson(ask) => {
            let decision = if choice.is_multiple_of(2) {
                reknit_engine::Decision::Approve
            } else {
                reknit_engine::Decision::Deny { reason: None }
            };
            EventKind::PersonDecided {
                effect: id,
                hash: ask.hash.clone(),
                decision,
                by: reknit_engine::DecidedBy::Person,
            }
        }
        Effect::Sleep { .. } => EventKind::Woke { effect: id },
        Effect::Abort { .. } | Effect::Finish(_) | Effect::Report(_) => return None,
    })
}

fn long_reply(effect: reknit_protocol::EffectId, bytes: usize) -> EventKind {
    let body = reknit_protocol::ReplyBody::Json(reknit_protocol::Value::from("words ".repeat(bytes / 6)));
    EventKind::ToolAnswered {
        effect,
        reply: reknit_protocol::ToolReply { status: 200, retry_after_ms: None, body, job: None },
    }
}

fn reply(effect: reknit_protocol::EffectId, status: u16) -> EventKind {
    let body = reknit_protocol::ReplyBody::Json(crate::driver::json(r#"{"v": 1}"#));
    EventKind::ToolAnswered {
        effect,
        reply: reknit_protocol::ToolReply { status, retry_after_ms: None, body, job: None },
    }
}

/// Drives a session to its end in an order that the numbers choose, and checks it after each event.
fn drive(scenario: &Scenario, mut check: impl FnMut(&TestDriver)) -> TestDriver {
    let mut driver = TestDriver::begin(session_of(scenario));
    check(&driver);
    let mut choices = scenario.choices.iter().copied().cycle();
    for _ in 0..6_000 {
        if driver.session.report().is_some() {
            return driver;
        }
        let effects: Vec<Effect> = driver.session.pending();
        let open: Vec<&Effect> = effects.iter().filter(|effect| !is_deadline(effect)).collect();
        let pool = if open.is_empty() { effects.iter().collect() } else { open };
        let choice = choices.next().unwrap_or(0);
        let Some(effect) = pool.get(usize::from(choice) % pool.len().max(1)) else {
            panic!("no effect is pending: {driver:?}")
        };
        if let Effect::Sleep { until_ms, .. } = effect {
            driver.now_ms = driver.now_ms.max(*until_ms);
        }
        match choices.next().unwrap_or(0) {
            255 => driver.apply(EventKind::Resumed),
            254 => driver.apply(EventKind::Stopped),
            253 => driver.apply(EventKind::Cancelled),
            choice => {
                let abort = if let Effect::Abort { effect, .. } = effect { Some(effect.clone()) } else { None };
                match abort {
                    Some(effect) => driver.apply(EventKind::Interrupted { effect }),
                    None => outcome(effect, choice).into_iter().for_each(|kind| driver.apply(kind)),
                }
            }
        }
        check(&driver);
    }
    panic!("the session does not end: {:?}", driver.due());
}

fn is_deadline(effect: &Effect) -> bool {
    matches!(effect, Effect::Sleep { id, .. } if matches!(id.kind(), reknit_protocol::EffectKind::Deadline | reknit_protocol::EffectKind::ApprovalExpiry))
}

fn reports(driver: &TestDriver) -> usize {
    driver.session_records().iter().filter(|record| matches!(record, SessionRecord::Reported(_))).count()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, ..ProptestConfig::default() })]

    #[test]
    fn every_session_ends_with_exactly_one_report_within_its_budgets(scenario in scenario()) {
        let driver = drive(&scenario, |driver| assert_eq!(reports(driver), usize::from(driver.session.report().is_some())));
        let report: &Report = driver.report();
        prop_assert_eq!(reports(&driver), 1);
        prop_assert!(driver.session.spent().model_calls <= scenario.model_calls);
        prop_assert!(driver.session.spent().tool_calls <= 50);
        prop_assert!(!report.content.trim().is_empty());
        prop_assert_eq!(report.source == ReportSource::Synthetic, report.synthetic_reason.is_some());
        prop_assert!(report.turn <= scenario.max_turns);
        if scenario.json && report.is_answer() {
            prop_assert!(report.content_json.as_ref().is_some_and(|value| value.get("total").is_some()));
        }
    }

    #[test]
    fn attempts_stay_within_the_limits_per_turn_and_per_session(scenario in scenario()) {
        let driver = drive(&scenario, |_| ());
        let attempts = u32::try_from(driver.attempts().len()).expect("a small number");
        prop_assert!(attempts <= scenario.max_turns * scenario.max_retries);
        for attempt in driver.attempts() {
            prop_assert!((1..=scenario.max_retries).contains(&attempt.attempt));
        }
        prop_assert_eq!(attempts, driver.report().totals.attempts);
    }

    #[test]
    fn a_failed_attempt_leaves_the_history_byte_identical(scenario in scenario()) {
        let mut before = String::new();
        let (mut attempts, mut guarded) = (0, 0);
        drive(&scenario, |driver| {
            let history = serde_json::to_string(driver.session.history()).expect("serializable");
            let failed = driver.attempts().iter().skip(attempts).any(|attempt| attempt.error.is_some());
            attempts = driver.attempts().len();
            // Only the context guard may change the history, and it has its own record.
            let guards = driver.session_records().iter().filter(|record| matches!(record, SessionRecord::ContextGuard { .. })).count();
            let compacted = std::mem::replace(&mut guarded, guards) < guards;
            assert!(!failed || compacted || history == before, "{before}\n{history}");
            assert!(!history.contains("System notice"));
            before = history;
        });
    }

    #[test]
    fn a_question_with_its_answer_always_fits_the_window(scenario in scenario()) {
        drive(&scenario, |driver| {
            if let Some(size) = driver.session.question_size() {
                assert!(size.tokens + u64::from(size.max_tokens) <= size.window, "{size:?}");
                let (_, _, request) = driver.asked();
                assert_eq!(request.max_tokens, size.max_tokens);
            }
        });
    }

    #[test]
    fn every_completed_wait_is_followed_by_an_attempt(scenario in scenario()) {
        let driver = drive(&scenario, |_| ());
        let records = driver.session_records();
        for (index, record) in records.iter().enumerate() {
            if let SessionRecord::WaitEnded { end: reknit_engine::WaitEnd::Completed, turn, .. } = record {
                // The budget may run out during the wait.
                let is_exhausted = driver.session.spent().model_calls >= scenario.model_calls;
                let next = records[index + 1..].iter().find_map(|record| match record {
                    SessionRecord::Attempt(attempt) => Some(attempt.turn),
                    // The attempt was skipped because a breaker was open.
                    SessionRecord::TargetSkipped { turn, .. } => Some(*turn),
                    _ => None,
                });
                prop_assert!(next == Some(*turn) || is_exhausted, "{:?}", records);
            }
        }
    }

    #[test]
    fn every_call_in_the_history_is_followed_by_its_result(scenario in scenario()) {
        drive(&scenario, |driver| {
            if driver.session.report().is_some() {
                return;
            }
            let mut open: Vec<String> = Vec::new();
            for message in driver.session.history() {
                if let reknit_model_api::Message::Tool { call, .. } = message {
                    assert_eq!(open.first().map(String::as_str), Some(call.as_str()));
                    open.remove(0);
                } else {
                    assert!(open.is_empty(), "{open:?}");
                }
                open.extend(message.tool_calls().iter().map(|call| call.id.to_string()));
            }
            assert!(open.is_empty(), "{open:?}");
        });
    }

    #[test]
    fn a_restored_snapshot_equals_the_session(scenario in scenario()) {
        drive(&scenario, |driver| {
            let snapshot = driver.session.snapshot().expect("serializable");
            let restored = Session::restore(&snapshot).expect("readable");
            assert_eq!(restored.snapshot().expect("serializable"), snapshot);
            assert_eq!(restored.pending(), driver.session.pending());
        });
    }

    #[test]
    fn replaying_the_events_yields_the_same_session_and_records(scenario in scenario()) {
        let driver = drive(&scenario, |_| ());
        let (first, rest) = driver.events.split_first().expect("there is a first event");
        let (mut replayed, mut records) = Session::begin(first).expect("the session starts");
        for event in rest {
            let text = serde_json::to_string(event).expect("serializable");
            let event: Event = serde_json::from_str(&text).expect("readable");
            records.extend(replayed.apply(&event).expect("the event is accepted"));
        }
        prop_assert_eq!(&records, &driver.records, "replaying yields the same records");
        prop_assert_eq!(replayed.snapshot().expect("serializable"), driver.session.snapshot().expect("serializable"));
    }

    #[test]
    fn a_call_that_succeeded_is_never_made_again(scenario in scenario()) {
        let mut done: std::collections::HashSet<String> = std::collections::HashSet::new();
        let mut seen = 0;
        drive(&scenario, |driver| {
            for event in &driver.events[seen..] {
                if let EventKind::ToolAnswered { effect, reply } = &event.kind && reply.status == 200 {
                    done.insert(effect.to_string().rsplit_once("/call/").map(|(call, _)| call.to_owned()).expect("a call"));
                }
            }
            seen = driver.events.len();
            for call in driver.calls() {
                let name = call.id.to_string().rsplit_once("/call/").map(|(call, _)| call.to_owned()).expect("a call");
                assert!(!done.contains(&name), "{name}");
            }
        });
    }
}
