//! The file of a test: its problems, and what it can say.

use std::path::Path;

use reknit_recorded_tests::{TestFile, updated_text};

fn problems(text: &str) -> String {
    let problems = TestFile::read(text).expect_err("the file has problems");
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

const PAY: &str = "\
plan:
  steps:
    - {id: pay, tool: bank/refund, with: {order: 7}}
policy: {synthesis: template}
tools:
  bank: [{name: refund, effect: keyed}]
calls:
  - {call: bank/refund, with: {order: 7}, status: 503}
  - {call: bank/refund, with: {order: 7}, reply: {id: r-7, token: secret}}
# What must hold.
expect:
  status: complete
  calls:
    - {call: bank/refund, with: {order: 7}}
    - {call: bank/refund, with: {order: 7}}
  mended: [{step: pay, by: resend}]

# The end.
about: a refund that is sent again
";

fn read(text: &str) -> TestFile {
    TestFile::read(text).unwrap_or_else(|problems| panic!("{problems:?}"))
}

fn differences(text: &str) -> String {
    let file = read(text);
    let run = file.run(Path::new("")).unwrap_or_else(|error| panic!("{error}"));
    file.mismatches(&run).iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

#[test]
fn every_problem_has_its_line_and_column() {
    let text = "\
plan: {steps: []}
calls:
  - {call: refund, with: 5}
  - {call: bank/refund, status: 503, replay: {}}
models:
  - {purpose: planning, answer: x}
tols: {}
expect:
  status: completed
  answer: {matches: \"(\"}
";
    insta::assert_snapshot!(problems(text), @r#"
    line 3, column 5: `calls[0]`: the recorded call does not say which capability it calls (write `call: tool/capability`)
    line 3, column 20: `calls[0].with`: expected keys with values, found a number
    line 4, column 38: `calls[1].replay`: unknown key (did you mean `reply`?)
    line 6, column 6: `models[0].purpose`: expected one of plan_generation, correction, micro_resolution, semantic_retry, synthesis, synthesis_streaming, tiered_selection, hallucination_detection, error_analysis, agent_turn, mandate
    line 7, column 1: `tols`: unknown key (did you mean `tools`?)
    line 9, column 3: `expect.status`: `completed` is no status; expected one of complete, partial, failed, impossible, cancelled, budget_exhausted, waiting
    line 10, column 12: `expect.answer.matches`: `(` is no regular expression: the schema is not valid at `$.pattern`: "(" is not a "regex"
    "#);
}

#[test]
fn a_test_that_runs_or_expects_nothing_is_none() {
    insta::assert_snapshot!(problems("about: x\n"), @r"
    the test does not say what it runs (write `request:`, or `plan:` with `inputs:`, or `agent:` with `input:`)
    the test expects nothing (write at least `expect: {status: complete}`)
    ");
}

#[test]
fn a_setting_that_nobody_reads_is_a_problem() {
    let file = read(&PAY.replace("synthesis: template", "limits: {tool_call: 5}"));
    let error = file.run(Path::new("")).expect_err("the run cannot start");
    assert_eq!(error.to_string(), "`policy.limits.tool_call`: unknown key");
}

#[test]
fn a_call_with_other_values_shows_the_nearest_recorded_one() {
    insta::assert_snapshot!(differences(&PAY.replace("with: {order: 7}}\npolicy", "with: {order: 8}}\npolicy")), @r"
    unexpected call
        expected  the nearest recorded call is calls[0]: {order: 7}
        actual    pay: bank/refund {order: 8}
    ");
}

#[test]
fn missing_extra_and_changed_calls_are_told_apart() {
    let call = |rest: &str| format!("    - {{call: bank/{rest}}}\n");
    let expected = call("refund, with: {order: 7}") + &call("refund, with: {order: 9}") + &call("get_refund");
    let text = PAY.replace(
        "    - {call: bank/refund, with: {order: 7}}\n    - {call: bank/refund, with: {order: 7}}\n",
        &expected,
    );
    insta::assert_snapshot!(differences(&text), @r"
    calls[1] bank/refund
        expected  order: 9
        actual    order: 7
    calls[2]
        expected  bank/get_refund
        actual    it was not made
    ");
}

#[test]
fn a_redacted_value_matches_any_other() {
    assert_eq!(differences(&PAY.replace("with: {order: 7}, ", "with: {order: \"[redacted]\"}, ")), "");
}

#[test]
fn limits_of_calls_and_time_are_checked() {
    insta::assert_snapshot!(differences(&PAY.replace("  status: complete\n", "  limits: {tool_calls: 1, time_ms: 10}\n")), @r"
    limits.tool_calls
        expected  at most 1
        actual    2
    limits.time_ms
        expected  at most 10
        actual    1205
    ");
}

#[test]
fn decisions_of_people_are_played() {
    let approve = "policy: {synthesis: template, approvals: {ask: all, rules: []}}\n";
    let text = PAY.replace("policy: {synthesis: template}\n", approve);
    assert!(differences(&text).contains("waiting"), "{}", differences(&text));
    let decided = format!("{text}decisions: [{{step: pay, decision: approve}}]\n");
    assert_eq!(differences(&decided), "");
}

#[test]
fn an_update_changes_only_what_is_expected() {
    let text = PAY.replace("  status: complete\n", "  status: failed\n");
    let file = read(&text);
    let run = file.run_with_any_prompt(Path::new("")).expect("it runs");
    let updated = updated_text(&text, &file, &run).expect("it can be updated");
    assert_eq!(read(&updated).expect.status.as_deref(), Some("complete"));
    let outside = |text: &str| {
        let (before, rest) = text.split_once("expect:").expect("a part");
        format!("{before}{}", rest.split_once("\n\n").expect("a blank line").1)
    };
    assert_eq!(outside(&updated), outside(PAY), "comments and other parts stay");
}

proptest::proptest! {
    #[test]
    fn any_text_survives_writing_and_reading(
        about in "[a-z \n:#{}'\"|>!?*&%@,-]{0,60}|\\PC{0,40}",
        key in "[a-z \n:#{}'\"|>.-]{1,20}",
        value in "[ -~\n\t]{0,60}",
    ) {
        let mut file = read(PAY);
        file.about = Some(about);
        file.calls[0].parameters.insert(key, value);
        proptest::prop_assert_eq!(read(&file.write()), file);
    }
}
