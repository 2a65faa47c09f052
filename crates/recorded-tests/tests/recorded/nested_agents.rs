//! A plan whose step runs an agent, whose call a person approves.

use std::path::Path;

use reknit_recorded_tests::{ChaosVerdict, TestFile, run_chaos};

const TEST: &str = "\
plan:
  steps:
    - {id: clerk, tool: agent/clerk, with: {task: Order tea.}}
    - {id: note, tool: shop/note, with: {text: \"{{clerk.report}}\"}}
agents:
  - name: clerk
    prompt: You work for a shop.
    tools: [shop/order]
policy: {synthesis: template, limits: {person_ms: 60000}, approvals: {ask: rules, rules: [{capability: shop/order}]}}
targets: [main]
at_ms: 1794900000000
match: purpose
tools:
  shop: [{name: order, effect: keyed}, {name: note, effect: keyed}]
calls:
  - {call: shop/order, with: {what: tea}, reply: {order: o-1}}
  - {call: shop/note, with: {text: Ordered.}, reply: {noted: true}}
models:
  - purpose: agent_turn
    tool_calls: [{id: a-1, name: shop__order, arguments: {what: tea}}]
    finish: tool_calls
  - purpose: agent_turn
    tool_calls: [{id: a-2, name: agent__final_report, arguments: {status: success, report_content: Ordered.}}]
    finish: tool_calls
decisions: [{in: clerk, step: call-1, decision: approve}]
expect:
  status: complete
  calls: [{call: shop/order}, {call: shop/note}]
";

fn read(text: &str) -> TestFile {
    TestFile::read(text).unwrap_or_else(|problems| panic!("{problems:?}"))
}

fn differences(file: &TestFile) -> String {
    let run = file.run(Path::new("")).unwrap_or_else(|error| panic!("{error}"));
    file.mismatches(&run).iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_decision_about_a_call_of_an_agent_is_played() {
    let file = read(TEST);
    assert_eq!(differences(&file), "");
    assert_eq!(read(&file.write()), file, "it survives writing and reading");
}

#[test]
fn a_question_of_an_agent_that_nobody_answers_in_time_is_answered_with_no() {
    let text = TEST.replace("decisions: [{in: clerk, step: call-1, decision: approve}]\n", "");
    let file = read(&text.replace("calls: [{call: shop/order}, {call: shop/note}]", "calls: [{call: shop/note}]"));
    let run = file.run(Path::new("")).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(run.unused, ["calls[0]: shop/order {what: tea}"], "{run:?}");
    assert_eq!(run.facts.status, "partial", "the agent did not order: {:?}", run.facts.remarks);
    // The run asks for the state of the session in growing intervals, up to a minute.
    assert!((60_000..130_000).contains(&run.facts.time_ms), "{}", run.facts.time_ms);
}

#[test]
fn a_process_that_is_killed_leaves_no_session_that_waits_for_its_lease() {
    let file = read(TEST);
    let report = run_chaos(&file, Path::new(""), 1).unwrap_or_else(|error| panic!("{error}"));
    let killed: Vec<_> =
        report.outcomes.iter().filter(|outcome| outcome.case.fault.class().contains("killed")).collect();
    assert!(!killed.is_empty());
    for outcome in killed {
        assert_eq!(outcome.verdict, ChaosVerdict::Mended, "{outcome:?}");
        // The run asks for the state of a session in growing intervals, up to a minute.
        assert!(outcome.extra_ms < 130_000, "it waited for an hour: {outcome:?}");
    }
}
