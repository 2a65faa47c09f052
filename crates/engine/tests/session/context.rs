//! The context guard: no question goes to a target that cannot read it, and nothing is lost on the way.

use std::sync::Arc;

use reknit_dialogue::{Answer, Failure, Message, Usage, UsageSource};
use reknit_engine::{
    ContextAction, Effect, Exit, ForcedReason, READ_TOOL, Record, SessionStarted, SyntheticReason, What,
};

use crate::world::{Play, calling, reporting, saying, started};

/// A session whose targets have these windows, in tokens.
fn windows(windows: &[(&str, u32)]) -> SessionStarted {
    let mut started = started();
    started.targets = windows.iter().map(|(name, _)| (*name).into()).collect();
    let mut policy = started.policy.as_ref().clone();
    policy.rotation.windows = windows.iter().map(|(name, window)| ((*name).into(), *window)).collect();
    started.policy = Arc::new(policy);
    started
}

/// How many tokens the first question is taken for.
fn base() -> u32 {
    let size = Play::begin(windows(&[("a", 100_000)])).session.question_size().expect("there is a window");
    u32::try_from(size.tokens).expect("it is short")
}

/// A window into which the first question may not fit, with a quarter of it for the answer.
fn narrow() -> u32 {
    base() * 5 / 4
}

/// Says how many tokens the question has that somebody wants to know of; nobody can if there is no number.
fn count(play: &mut Play, tokens: Option<u64>) {
    let found = play.session.pending().into_iter().find_map(|effect| match effect {
        Effect::CountTokens(count) => Some((count.id, count.target)),
        _ => None,
    });
    let (effect, _) = found.unwrap_or_else(|| panic!("nobody counts: {:?}", play.due()));
    play.happen(What::TokensCounted { effect, tokens });
}

/// An answer whose provider says nothing about tokens.
fn uncounted(mut answer: Answer) -> Answer {
    answer.usage.source = UsageSource::Estimated;
    answer
}

/// A turn with a result of so many bytes.
fn long_turn(play: &mut Play, bytes: usize) {
    play.answer(uncounted(calling(&[("shop__look_up", r#"{"id": 7}"#)])));
    play.reply_all(&format!("\"{}\"", "words ".repeat(bytes / 6)));
}

fn actions(play: &Play) -> Vec<&ContextAction> {
    let guard = |record: &'_ Record| matches!(record, Record::ContextGuard { .. });
    let records = play.session.records().iter().filter(|record| guard(record));
    records
        .filter_map(|record| if let Record::ContextGuard { action, .. } = record { Some(action) } else { None })
        .collect()
}

fn results(play: &Play) -> Vec<String> {
    let tool = |message: &Message| matches!(message, Message::Tool { .. });
    play.session.history().iter().filter(|message| tool(message)).map(|message| message.text().to_owned()).collect()
}

#[test]
fn a_question_that_fits_is_asked_without_counting_and_leaves_room_for_the_answer() {
    let wide = Play::begin(windows(&[("a", 100_000)]));
    assert_eq!(wide.asked().2.max_tokens, 4_096);
    let play = Play::begin(windows(&[("a", base() * 2)]));
    assert_eq!(play.due(), ["turn-1/ask/1"]);
    assert_eq!(play.asked().2.max_tokens, base(), "what is left is for the answer");
    assert_eq!(play.asked().2.messages, wide.asked().2.messages);
}

#[test]
fn a_question_that_may_be_too_long_is_counted_and_asked_if_it_is_not() {
    let mut play = Play::begin(windows(&[("a", narrow())]));
    assert_eq!(play.due(), ["turn-1/count/1"]);
    count(&mut play, Some(u64::from(narrow() / 2)));
    assert_eq!(play.due(), ["turn-1/ask/1"]);
    assert_eq!(play.asked().2.max_tokens, narrow() - narrow() / 2);
}

#[test]
fn what_a_provider_counts_is_remembered_for_the_next_question() {
    let mut play = Play::begin(windows(&[("a", narrow())]));
    count(&mut play, Some(100));
    let mut answer = calling(&[("shop__look_up", "{}")]);
    answer.usage = Usage::reported(110, 5);
    play.answer(answer);
    play.reply_all(r#"{"state": "sent"}"#);
    assert_eq!(play.due(), ["turn-2/ask/1"], "110 and a little more: nobody needs to count again");
    let taken = play.session.question_size().expect("there is a window").tokens;
    assert!((111..190).contains(&taken), "{taken}");
}

#[test]
fn a_target_that_cannot_read_it_is_skipped_for_one_that_can_and_that_is_no_attempt() {
    let mut play = Play::begin(windows(&[("small", narrow()), ("large", 100_000)]));
    count(&mut play, Some(u64::from(base())));
    assert_eq!(play.asked().1, "large");
    assert_eq!(actions(&play), [&ContextAction::Skipped("small".into())]);
    play.answer(reporting("done"));
    assert_eq!(play.ledger(), ["1.1 large final_report"]);
}

#[test]
fn nobody_is_asked_to_count_twice_who_cannot() {
    let mut play = Play::begin(windows(&[("a", narrow()), ("b", 100_000)]));
    count(&mut play, None);
    assert_eq!(play.asked().1, "b");
    play.good_turn();
    assert_eq!(play.asked().1, "b", "what cannot be counted is taken for as long as it may be");
}

#[test]
fn a_result_that_does_not_fit_is_stored_and_can_be_read_and_searched() {
    let mut play = Play::new();
    assert!(!play.shown().contains(&READ_TOOL.to_owned()), "there is nothing to read yet");
    play.answer(calling(&[("shop__look_up", "{}")]));
    let items = (0..3_000).map(|number| format!(r#"{{"id": {number}}}"#)).collect::<Vec<_>>().join(", ");
    let whole = crate::world::json(&format!("[{items}]")).to_string();
    play.reply_all(&whole);
    let told = results(&play).remove(0);
    assert!(told.starts_with(&format!("(stored as `result-1`, {} bytes; read or search it", whole.len())), "{told}");
    assert!(told.len() < 3_000);
    assert!(play.shown().contains(&READ_TOOL.to_owned()));
    play.answer(calling(&[
        (READ_TOOL, r#"{"result": "result-1", "search": "2718"}"#),
        (READ_TOOL, r#"{"result": "result-1", "from": 100, "bytes": 40}"#),
        (READ_TOOL, r#"{"result": "result-9"}"#),
        ("shop__look_up", "{}"),
    ]));
    assert_eq!(play.due(), ["turn-2/call-4/call/1"], "reading needs nobody else");
    play.reply_all("{}");
    let results = results(&play);
    assert!(results[1].starts_with("1 place:\nat "), "{}", results[1]);
    assert_eq!(
        results[2],
        format!("(bytes 100 to 140 of {}; go on with `from: 140`)\n{}", whole.len(), &whole[100..140])
    );
    assert!(results[3].contains("there is no `result-9`"), "{}", results[3]);
    assert_eq!(play.session.spent().tool_calls, 2, "reading costs no call");
}

#[test]
fn older_results_make_room_before_the_last_turn_is_forced() {
    let mut play = Play::begin(windows(&[("a", 5_000)]));
    long_turn(&mut play, 3_000);
    assert_eq!(play.session.view().turn, 2);
    let mut answer = calling(&[("shop__look_up", "{}")]);
    answer.usage = Usage::reported(3_700, 5);
    play.answer(answer);
    play.reply_all(&format!("\"{}\"", "w".repeat(900)));
    count(&mut play, None);
    assert_eq!(actions(&play), [&ContextAction::Compacted { results: 1 }]);
    let results = results(&play);
    assert!(results[0].starts_with("(stored as `result-2`, 3000 bytes"), "{}", results[0]);
    assert!(results[1].starts_with("(stored as `result-1`"), "there was no room for it: {}", results[1]);
    assert_eq!(play.session.view().forced_final_reason, None);
    play.answer(reporting("done"));
    assert_eq!(play.report().exit, Exit::FinalAnswer);
}

#[test]
fn when_nothing_else_makes_room_the_turn_becomes_the_last_one() {
    let mut started = windows(&[("a", base() * 2)]);
    started.input = "x".repeat(300);
    let mut play = Play::begin(started);
    let mut turns = 0;
    while play.session.view().forced_final_reason.is_none() && turns < 8 {
        while play.due()[0].contains("/count/") {
            count(&mut play, None);
        }
        if play.session.view().forced_final_reason.is_none() {
            long_turn(&mut play, 500);
            turns += 1;
        }
    }
    assert_eq!(play.session.view().forced_final_reason, Some(ForcedReason::Context));
    while play.due()[0].contains("/count/") {
        count(&mut play, None);
    }
    assert_eq!(play.shown(), ["agent__final_report"]);
    assert!(play.notices()[0].contains("context window limit"), "{:?}", play.notices());
    play.answer(reporting("done"));
    assert_eq!(play.report().exit, Exit::TokenLimit);
}

#[test]
fn a_question_that_nobody_can_read_at_all_ends_with_a_report_that_says_so() {
    let mut started = windows(&[("a", 500), ("b", 700)]);
    started.input = "x".repeat(20_000);
    let mut play = Play::begin(started);
    while play.session.report().is_none() {
        count(&mut play, None);
    }
    let report = play.report();
    assert_eq!((report.exit, report.synthetic_reason), (Exit::TokenLimit, Some(SyntheticReason::ContextLimit)));
    assert!(play.attempts().is_empty());
}

#[test]
fn who_says_that_it_is_too_long_is_believed_and_asked_less() {
    let mut play = Play::begin(windows(&[]));
    play = Play::begin(SessionStarted { targets: vec!["a".into()], ..play.session.started().clone() });
    long_turn(&mut play, 9_000);
    play.fail(Failure::new(reknit_dialogue::ErrorClass::ContextLength, "too long"));
    while play.due()[0].contains("/count/") {
        count(&mut play, None);
    }
    assert_eq!(actions(&play), [&ContextAction::Compacted { results: 1 }]);
    play.answer(saying("words"));
    play.answer(reporting("done"));
    assert_eq!(play.ledger(), ["1.1 a tool_calls", "2.1 a context_length", "2.2 a text_only", "2.3 a final_report"]);
}
