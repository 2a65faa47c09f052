//! A test that was recorded from `reknit demo` fails for every planted regression, and passes unchanged however often it runs.

use std::path::Path;

use reknit_protocol::Value;
use reknit_recorded_tests::{Mismatch, TestFile, updated_text};

const DEMO: &str = include_str!("demo.yaml");

fn differences(text: &str) -> Vec<Mismatch> {
    let file = TestFile::read(text).unwrap_or_else(|problems| panic!("{problems:?}"));
    let run = file.run(Path::new("")).unwrap_or_else(|error| panic!("{error}"));
    file.mismatches(&run)
}

/// The demo with one text replaced by another.
fn with(before: &str, after: &str) -> String {
    assert!(DEMO.contains(before), "the recorded demo has no `{before}`");
    DEMO.replacen(before, after, 1)
}

/// What the first difference is about.
fn first(text: &str) -> String {
    differences(text).first().map(|found| found.what.clone()).unwrap_or_default()
}

#[test]
fn the_recorded_demo_passes() {
    assert_eq!(differences(DEMO), []);
}

#[test]
#[ignore = "takes a minute: cargo test --release -p reknit-recorded-tests --test recorded -- --ignored"]
fn the_recorded_demo_passes_a_thousand_times() {
    for _ in 0..1_000 {
        assert_eq!(differences(DEMO), []);
    }
}

#[test]
fn a_dropped_multiplication_fails() {
    let changed = with("{{100 * step-1.current_price}}", "{{step-1.current_price}}");
    let found = differences(&changed);
    insta::assert_snapshot!(found.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"), @r"
    unexpected call
        expected  the nearest recorded call is calls[3]: {amount: 0}
        actual    step-4: currency-tool/convert_currency {from: USD, to: KRW, amount: 468.285}
    ");
}

#[test]
fn a_changed_recipient_fails() {
    assert_eq!(first(&with(r#""to": "KRW", "amount": 0"#, r#""to": "JPY", "amount": 0"#)), "unexpected call");
}

#[test]
fn a_lost_retry_fails() {
    let found = differences(&with(
        "policy: {planning: {replans: null}}",
        "policy: {planning: {replans: null}, resend: {times: 0}}",
    ));
    assert!(found.iter().any(|found| found.what.starts_with("unexpected question")), "{found:?}");
}

#[test]
fn a_doubled_call_fails() {
    let step = r#"    {
            "step_id": "step-5","#;
    let doubled = r#"    {
            "step_id": "step-6",
            "agent_name": "stock-tool",
            "instruction": "Get the price of a Tesla share",
            "depends_on": [],
            "metadata": {"capability": "get_stock_quote", "parameters": {"symbol": "TSLA"}}
          },
          {
            "step_id": "step-5","#;
    let found = differences(&with(step, doubled));
    let text = found.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    assert!(text.contains("this call is recorded 1 times, and is made once more"), "{text}");
}

#[test]
fn a_silent_error_fails() {
    // The tool that failed now answers 200 with nothing useful, and the run takes it for a success.
    let start = DEMO.find("    with: {symbol: HANOK}\n    took_ms").expect("the call is recorded");
    let (before, rest) = DEMO.split_at(start);
    let end = rest.find("  - call: currency-tool").expect("another call follows");
    let changed = format!("{before}    with: {{symbol: HANOK}}\n    reply: {{symbol: HANOK}}\n{}", &rest[end..]);
    let found = differences(&changed);
    assert!(!found.is_empty() && found.iter().all(|found| found.what != "run"), "{found:?}");
}

#[test]
fn a_dropped_step_fails() {
    let changed = with(r#""depends_on": ["step-2"]"#, r#""depends_on": ["step-9"]"#);
    assert!(!differences(&changed).is_empty());
}

#[test]
fn a_changed_price_fails() {
    assert_eq!(first(&with("current_price: 468.285", "current_price: 468.25")), "unexpected question");
}

#[test]
fn a_repair_that_is_turned_off_fails() {
    let changed =
        with("policy: {planning: {replans: null}}", "policy: {planning: {replans: null}, mending: {context: 0}}");
    let found = differences(&changed);
    assert!(!found.is_empty(), "no question for the context is asked");
}

#[test]
fn a_changed_prompt_fails_unless_the_test_says_otherwise() {
    let prompts = "targets: [scripted]\nprompts: {feedback: \"Correct the call.\\n---\\n{{ request }}\"}\n";
    let changed = with("targets: [scripted]\n", prompts);
    let found = differences(&changed);
    assert_eq!(found.first().map(|found| found.what.as_str()), Some("unexpected question"), "{found:?}");
    let tolerant = changed.replacen("targets: [scripted]\n", "targets: [scripted]\nmatch: purpose\n", 1);
    assert_eq!(differences(&tolerant), []);
}

#[test]
fn an_update_writes_the_digests_of_changed_prompts_and_nothing_else() {
    let prompts = "targets: [scripted]\nprompts: {feedback: \"Correct the call.\\n---\\n{{ request }}\"}\n";
    let changed = with("targets: [scripted]\n", prompts);
    let file = TestFile::read(&changed).expect("it is a test");
    let run = file.run_with_any_prompt(Path::new("")).expect("it runs");
    let updated = updated_text(&changed, &file, &run).expect("it can be updated");
    assert_eq!(differences(&updated), []);
    let differ = changed.lines().zip(updated.lines()).filter(|(before, after)| before != after);
    assert!(
        differ.clone().count() > 0 && differ.clone().all(|(_, after)| after.trim().starts_with("digest:")),
        "{updated}"
    );
}

#[test]
fn an_update_replaces_wrong_values_in_place_and_keeps_the_others() {
    let wrong = with(
        "step-3.lon: {value: 126.978, from: step-2.data.lon}",
        "step-3.lon: {value: 1}\n    step-4.to: {value: USD}",
    );
    let file = TestFile::read(&wrong).expect("it is a test");
    let run = file.run(Path::new("")).expect("it runs");
    let updated = updated_text(&wrong, &file, &run).expect("it can be updated");
    assert_eq!(differences(&updated), []);
    let expected = TestFile::read(&updated).expect("it is a test").expect.values;
    let named = |name: &str| expected.iter().find(|value| value.name == name).cloned().expect("it is still expected");
    assert_eq!(expected.len(), 4);
    assert_eq!(
        (named("step-3.lon").value, named("step-3.lon").from),
        (Some(Value::parse("126.978").expect("JSON")), None)
    );
    assert_eq!(named("step-4.to").value, Some(Value::from("KRW")), "a value of the plan stays expected");
}

#[test]
fn a_state_that_is_not_a_word_is_a_problem_of_the_test() {
    let file = TestFile::read(&with("{step-1: done,", "{step-1: true,"));
    let problems = format!("{:?}", file.expect_err("it is no test"));
    assert!(problems.contains("the state of the step `step-1` is not a word"), "{problems}");
}

#[test]
fn a_value_with_another_origin_fails() {
    let found = differences(&with("{{100 * step-1.current_price}}", "46828.5"));
    let what: Vec<&str> = found.iter().map(|found| found.what.as_str()).collect();
    assert_eq!(what, ["values.step-4.amount.from"], "{found:?}");
}

#[test]
fn another_answer_fails() {
    let synthesis = "answer: \"100 Tesla shares bring 46,828.5 US dollars";
    assert_eq!(first(&with(synthesis, "answer: \"100 Tesla shares bring 468 US dollars")), "answer.contains");
}

#[test]
fn a_recording_that_is_not_used_is_reported() {
    let more = "calls:\n  - {call: weather-tool/get_weather, with: {lat: 1}, reply: {}}\n  - call: stock-tool";
    let found = differences(&with("calls:\n  - call: stock-tool", more));
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(
        (found[0].what.as_str(), found[0].expected.as_str()),
        ("unused", "calls[0]: weather-tool/get_weather {lat: 1}")
    );
}

#[test]
fn a_written_test_is_read_back() {
    let file = TestFile::read(DEMO).expect("it is a test");
    let written = file.write();
    assert_eq!(TestFile::read(&written).expect("what is written is a test"), file);
    assert_eq!(Value::from(written.as_str()), Value::from(TestFile::read(&written).expect("a test").write()));
}
