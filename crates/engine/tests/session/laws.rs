//! What holds for any sequence of what providers, tools and people do.

use proptest::prelude::*;
use reknit_dialogue::{Answer, ErrorClass, Finish};
use reknit_engine::{
    Effect, Event, PLAN_TOOL, Plans, READ_TOOL, Record, Report, ReportSource, Session, SessionRules, SessionStarted,
    SubAgent, What,
};
use reknit_mend::People;
use reknit_protocol::{Delivery, TransportFailure, TransportKind};
use std::sync::Arc;

use crate::world::{Play, calling, cut, limited, reporting, saying, started, thinking, with_json_report};

/// A world in which everything can go wrong, decided by a sequence of numbers.
#[derive(Debug, Clone)]
struct Chaos {
    choices: Vec<u8>,
    max_turns: u32,
    max_retries: u32,
    targets: usize,
    model_calls: u32,
    json: bool,
    /// What each target can read, where that is known.
    windows: Vec<Option<u32>>,
}

fn chaos() -> impl Strategy<Value = Chaos> {
    let limits = (1u32..6, 1u32..5, 1usize..4, 1u32..40, any::<bool>());
    let windows = prop::collection::vec(prop::option::of(200u32..6_000), 3);
    (prop::collection::vec(any::<u8>(), 300), limits, windows).prop_map(|(choices, limits, windows)| {
        let (max_turns, max_retries, targets, model_calls, json) = limits;
        Chaos { choices, max_turns, max_retries, targets, model_calls, json, windows }
    })
}

fn session_of(chaos: &Chaos) -> SessionStarted {
    let mut started = if chaos.json { with_json_report() } else { started() };
    started.rules.max_turns = chaos.max_turns;
    started.rules.max_retries = chaos.max_retries;
    started.targets = ["a", "b", "c"].into_iter().take(chaos.targets).map(Into::into).collect();
    let mut policy = started.policy.as_ref().clone();
    policy.limits.model_calls = chaos.model_calls;
    let windows = started.targets.iter().cloned().zip(&chaos.windows);
    policy.rotation.windows = windows.filter_map(|(target, window)| Some((target, (*window)?))).collect();
    policy.people = if chaos.json { People::Nobody } else { People::Ask };
    let started = SessionStarted { policy: Arc::new(policy), ..started };
    // It may call an agent like itself, and hand over plans.
    let agent = SubAgent { name: "other".to_owned(), description: String::new(), session: started.clone() };
    let rules = SessionRules { plans: Plans::Allowed, ..started.rules.clone() };
    SessionStarted { agents: vec![agent], rules, ..started }
}

fn answer(choice: u8) -> Answer {
    match choice % 20 {
        0 => saying("words"),
        1 => saying(""),
        2 => thinking(),
        3 => cut(calling(&[("agent__final_report", r#"{"report_content": "It w"#)])),
        4 => calling(&[("shop__look_up", "{{{"), ("shop__order", "{}")]),
        5 => calling(&[("fly", "{}")]),
        6 => Answer { finish: Finish::Refusal, ..saying("no") },
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

/// What becomes of an effect, for a number.
fn outcome(effect: &Effect, choice: u8) -> Option<What> {
    let id = effect.id()?.clone();
    Some(match effect {
        Effect::AskModel(_) if choice % 32 == 31 => What::GateClosed { effect: id, until_ms: i64::from(choice) * 500 },
        Effect::AskModel(_) => match choice % 8 {
            0 => What::ModelFailed { effect: id, failure: limited((choice > 99).then_some(u64::from(choice) * 100)) },
            1 => {
                let class = ErrorClass::ALL[usize::from(choice / 8) % ErrorClass::ALL.len()];
                What::ModelFailed { effect: id, failure: reknit_dialogue::Failure::new(class, "it failed") }
            }
            _ => {
                // Some providers count, each in its own way, and some do not.
                let mut answer = answer(choice / 8);
                match choice % 4 {
                    0 => answer.usage.source = reknit_dialogue::UsageSource::Estimated,
                    other => answer.usage.input_tokens = u64::from(other) * u64::from(choice),
                }
                What::ModelAnswered { effect: id, answer }
            }
        },
        Effect::CountTokens(_) if choice.is_multiple_of(3) => What::TokensCounted { effect: id, tokens: None },
        Effect::CountTokens(_) => What::TokensCounted { effect: id, tokens: Some(u64::from(choice) * 20) },
        Effect::CallTool(_) => match choice % 8 {
            0 => reply(id, 400),
            1 => reply(id, 401),
            2 => reply(id, 503),
            3 => What::Interrupted { effect: id },
            4 => {
                let message = "it broke".to_owned();
                let failure = TransportFailure { kind: TransportKind::TimedOut, delivery: Delivery::Possible, message };
                What::ToolFailed { effect: id, failure }
            }
            5 => long_reply(id, usize::from(choice) * 40),
            _ => reply(id, 200),
        },
        Effect::AskPerson(ask) => {
            let decision =
                if choice.is_multiple_of(2) { reknit_engine::Decision::Approve } else { reknit_engine::Decision::Deny };
            What::PersonDecided { effect: id, hash: ask.hash.clone(), decision }
        }
        Effect::Sleep { .. } => What::Woke { effect: id },
        Effect::Abort { .. } | Effect::Finish(_) | Effect::Report(_) => return None,
    })
}

fn long_reply(effect: reknit_protocol::EffectId, bytes: usize) -> What {
    let body = reknit_protocol::ReplyBody::Json(reknit_protocol::Value::from("words ".repeat(bytes / 6)));
    What::ToolAnswered { effect, reply: reknit_protocol::ToolReply { status: 200, retry_after_ms: None, body } }
}

fn reply(effect: reknit_protocol::EffectId, status: u16) -> What {
    let body = reknit_protocol::ReplyBody::Json(crate::world::json(r#"{"v": 1}"#));
    What::ToolAnswered { effect, reply: reknit_protocol::ToolReply { status, retry_after_ms: None, body } }
}

/// Drives a session to its end in an order chosen by the numbers, looking at it after each event.
fn drive(chaos: &Chaos, mut look: impl FnMut(&Play)) -> Play {
    let mut play = Play::begin(session_of(chaos));
    look(&play);
    let mut choices = chaos.choices.iter().copied().cycle();
    for _ in 0..6_000 {
        if play.session.report().is_some() {
            return play;
        }
        let effects: Vec<Effect> = play.session.pending();
        let open: Vec<&Effect> = effects.iter().filter(|effect| !is_last_resort(effect)).collect();
        let pool = if open.is_empty() { effects.iter().collect() } else { open };
        let choice = choices.next().unwrap_or(0);
        let Some(effect) = pool.get(usize::from(choice) % pool.len().max(1)) else {
            panic!("nothing is due: {play:?}")
        };
        if let Effect::Sleep { until_ms, .. } = effect {
            play.now_ms = play.now_ms.max(*until_ms);
        }
        match choices.next().unwrap_or(0) {
            255 => play.happen(What::Resumed),
            254 => play.happen(What::Stopped),
            253 => play.happen(What::Cancelled),
            choice => {
                let abort = if let Effect::Abort { effect, .. } = effect { Some(effect.clone()) } else { None };
                match abort {
                    Some(effect) => play.happen(What::Interrupted { effect }),
                    None => outcome(effect, choice).into_iter().for_each(|what| play.happen(what)),
                }
            }
        }
        look(&play);
    }
    panic!("the session does not end: {:?}", play.due());
}

fn is_last_resort(effect: &Effect) -> bool {
    matches!(effect, Effect::Sleep { id, .. } if matches!(id.kind(), reknit_protocol::EffectKind::Deadline | reknit_protocol::EffectKind::ApprovalExpiry))
}

fn reports(play: &Play) -> usize {
    play.session.records().iter().filter(|record| matches!(record, Record::Reported { .. })).count()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, ..ProptestConfig::default() })]

    #[test]
    fn every_session_ends_with_exactly_one_report_within_its_budgets(chaos in chaos()) {
        let play = drive(&chaos, |play| assert_eq!(reports(play), usize::from(play.session.report().is_some())));
        let report: &Report = play.report();
        prop_assert_eq!(reports(&play), 1);
        prop_assert!(play.session.spent().model_calls <= chaos.model_calls);
        prop_assert!(play.session.spent().tool_calls <= 50);
        prop_assert!(!report.content.trim().is_empty());
        prop_assert_eq!(report.source == ReportSource::Synthetic, report.synthetic_reason.is_some());
        prop_assert!(report.turn <= chaos.max_turns);
        if chaos.json && report.is_answer() {
            prop_assert!(report.content_json.as_ref().is_some_and(|value| value.get("total").is_some()));
        }
    }

    #[test]
    fn attempts_never_exceed_turns_times_retries_and_never_the_retries_of_a_turn(chaos in chaos()) {
        let play = drive(&chaos, |_| ());
        let attempts = u32::try_from(play.attempts().len()).expect("they are few");
        prop_assert!(attempts <= chaos.max_turns * chaos.max_retries);
        for attempt in play.attempts() {
            prop_assert!((1..=chaos.max_retries).contains(&attempt.attempt));
        }
        prop_assert_eq!(attempts, play.report().totals.attempts);
    }

    #[test]
    fn a_failed_attempt_leaves_the_history_byte_identical(chaos in chaos()) {
        let mut before = String::new();
        let (mut attempts, mut guarded) = (0, 0);
        drive(&chaos, |play| {
            let history = serde_json::to_string(play.session.history()).expect("it can be written");
            let failed = play.attempts().iter().skip(attempts).any(|attempt| attempt.error.is_some());
            attempts = play.attempts().len();
            // What makes room is not the attempt, and is written down by itself.
            let guards = play.session.records().iter().filter(|record| matches!(record, Record::ContextGuard { .. })).count();
            let made_room = std::mem::replace(&mut guarded, guards) < guards;
            assert!(!failed || made_room || history == before, "{before}\n{history}");
            assert!(!history.contains("System notice"));
            before = history;
        });
    }

    #[test]
    fn no_question_with_its_answer_is_longer_than_the_window(chaos in chaos()) {
        drive(&chaos, |play| {
            if let Some(size) = play.session.question_size() {
                assert!(size.tokens + u64::from(size.max_tokens) <= size.window, "{size:?}");
                let (_, _, request) = play.asked();
                assert_eq!(request.max_tokens, size.max_tokens);
            }
        });
    }

    #[test]
    fn there_is_no_wait_without_an_attempt_behind_it(chaos in chaos()) {
        let play = drive(&chaos, |_| ());
        let records = play.session.records();
        for (index, record) in records.iter().enumerate() {
            if let Record::Waited { end: reknit_engine::WaitEnd::Completed, turn, .. } = record {
                // A budget may still run out while everybody waits.
                let out = play.session.spent().model_calls >= chaos.model_calls;
                let next = records[index + 1..].iter().find_map(|record| match record {
                    Record::Attempt(attempt) => Some(attempt.turn),
                    // It was to be one, but a gate was closed.
                    Record::Rested { turn, .. } => Some(*turn),
                    _ => None,
                });
                prop_assert!(next == Some(*turn) || out, "{:?}", records);
            }
        }
    }

    #[test]
    fn every_call_in_the_history_has_its_result_behind_it(chaos in chaos()) {
        drive(&chaos, |play| {
            if play.session.report().is_some() {
                return;
            }
            let mut open: Vec<String> = Vec::new();
            for message in play.session.history() {
                if let reknit_dialogue::Message::Tool { call, .. } = message {
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
    fn a_session_stored_and_restored_anywhere_is_the_session_that_never_was(chaos in chaos()) {
        drive(&chaos, |play| {
            let snapshot = play.session.snapshot().expect("it can be written");
            let restored = Session::restore(&snapshot).expect("it can be read");
            assert_eq!(restored.snapshot().expect("it can be written"), snapshot);
            assert_eq!(restored.pending(), play.session.pending());
        });
    }

    #[test]
    fn a_session_replayed_from_its_events_is_the_same_session(chaos in chaos()) {
        let play = drive(&chaos, |_| ());
        let (first, rest) = play.events.split_first().expect("there is a first event");
        let mut replayed = Session::begin(first).expect("it begins");
        for event in rest {
            let text = serde_json::to_string(event).expect("it can be written");
            let event: Event = serde_json::from_str(&text).expect("it can be read");
            replayed.apply(&event).expect("the event is taken in");
        }
        prop_assert_eq!(replayed.snapshot().expect("it can be written"), play.session.snapshot().expect("it can be written"));
    }

    #[test]
    fn a_call_that_was_answered_is_never_made_again(chaos in chaos()) {
        let mut done: std::collections::HashSet<String> = std::collections::HashSet::new();
        let mut seen = 0;
        drive(&chaos, |play| {
            for event in &play.events[seen..] {
                if let What::ToolAnswered { effect, reply } = &event.what && reply.status == 200 {
                    done.insert(effect.to_string().rsplit_once("/call/").map(|(call, _)| call.to_owned()).expect("a call"));
                }
            }
            seen = play.events.len();
            for call in play.calls() {
                let name = call.id.to_string().rsplit_once("/call/").map(|(call, _)| call.to_owned()).expect("a call");
                assert!(!done.contains(&name), "{name}");
            }
        });
    }
}
