//! Steps with `until`.

use reknit_engine::{EventKind, Run, Started, Status, StepState};
use reknit_plan::{Document, PlanAuthor, check, check_read_calls, write_plan_file};
use reknit_protocol::SideEffect;

use crate::world::{Play, answer, catalogue, failure_reason, policy, read, run_with, started};

const BUILD: &str = "
inputs: {wished: done}
steps:
  - id: build
    tool: t/read
    with: {id: 7}
    until: {condition: result.status == inputs.wished, wait: 10 s, times: 3}
  - {id: report, tool: t/read, with: {log: '{{build.log}}'}}
";

#[test]
fn a_call_is_made_again_until_its_result_is_as_wished() {
    let mut play = run_with(BUILD, policy());
    play.answer_tool("build/call/1", 200, r#"{"success": true, "data": {"status": "queued"}}"#);
    assert_eq!(play.due(), ["build/poll-wait/1"]);
    let state = play.run.step("build").map(|(_, view)| view.state);
    assert_eq!(state, Some(StepState::Polling { polls: 1, until_ms: 11_000 }));
    play.wake("build/poll-wait/1");
    assert_eq!(play.now_ms, 11_000, "the plan says how long to wait");
    assert_eq!(play.call("build/call/2").parameters.to_string(), r#"{"id":7}"#);
    play.answer_tool("build/call/2", 200, r#"{"status": "done", "log": "ok"}"#);
    assert_eq!(play.call("report/call/1").parameters.to_string(), r#"{"log":"ok"}"#);
    play.answer_tool("report/call/1", 200, "{}");
    assert_eq!(answer(&play).status, Status::Complete);
    assert_eq!(answer(&play).steps[0].calls, 2);
}

#[test]
fn a_result_that_is_never_as_wished_fails_the_step_and_is_shown() {
    let mut play = run_with(BUILD, policy());
    for poll in 1..=3 {
        play.answer_tool(&format!("build/call/{poll}"), 200, r#"{"status": "running", "percent": 93.50}"#);
        if poll < 3 {
            play.wake(&format!("build/poll-wait/{poll}"));
        }
    }
    assert_eq!(answer(&play).status, Status::Failed);
    assert_eq!(
        answer(&play).steps.iter().map(|step| format!("{:?}", step.outcome)).collect::<Vec<_>>()[0],
        r#"Failed { reason: "`until`: `result.status == inputs.wished` is false after 3 results; the last result is {\"status\":\"running\",\"percent\":93.50}", fate: Rejected }"#
    );
}

#[test]
fn a_condition_that_has_no_value_or_is_no_boolean_fails_the_step() {
    let mut play =
        run_with("steps: [{id: a, tool: t/read, until: {condition: result.done, wait: 1 s, times: 9}}]", policy());
    play.answer_tool("a/call/1", 200, r#"{"state": "x"}"#);
    assert_eq!(
        failure_reason(&play),
        "`until`: `result.done` has no value: `result.done` does not exist: available fields are `state`; the last result is {\"state\":\"x\"}"
    );
    let mut play =
        run_with("steps: [{id: a, tool: t/read, until: {condition: result.done, wait: 1 s, times: 9}}]", policy());
    play.answer_tool("a/call/1", 200, r#"{"done": 5}"#);
    assert_eq!(
        failure_reason(&play),
        "`until`: `result.done` is a number, not true or false; the last result is {\"done\":5}"
    );
}

#[test]
fn each_poll_is_sent_again_on_its_own_after_transient_failures() {
    let mut play = run_with(&BUILD.replace("with: {id: 7}", "retry: 1"), policy());
    let mut waits = Vec::new();
    for poll in 0..3 {
        play.answer_tool(&format!("build/call/{}", 2 * poll + 1), 503, "{}");
        waits.extend(play.due());
        play.wake(&play.due()[0].clone());
        play.answer_tool(&format!("build/call/{}", 2 * poll + 2), 200, r#"{"status": "running"}"#);
        if poll < 2 {
            play.wake(&play.due()[0].clone());
        }
    }
    assert_eq!(waits, ["build/retry-wait/1", "build/retry-wait/2", "build/retry-wait/3"], "no id occurs twice");
    assert!(answer(&play).steps[0].calls == 6);
}

#[test]
fn polls_count_as_tool_calls_and_those_of_a_persons_plan_add_to_the_limit() {
    for (author, status) in [(PlanAuthor::Person, Status::Complete), (PlanAuthor::Model, Status::BudgetExhausted)] {
        let mut policy = policy();
        policy.limits.tool_calls = 1;
        let polled = read("steps: [{id: a, tool: t/read, until: {condition: result.done, wait: 1 s, times: 3}}]");
        let mut play = Play::begin(Started { plan_author: author, ..started(Some(polled), policy) });
        play.answer_tool("a/call/1", 200, r#"{"done": false}"#);
        play.wake("a/poll-wait/1");
        if play.run.answer().is_none() {
            play.answer_tool("a/call/2", 200, r#"{"done": true}"#);
        }
        assert_eq!(answer(&play).status, status, "{author:?}");
        assert_eq!(play.run.spent().tool_calls, if author == PlanAuthor::Person { 2 } else { 1 });
    }
}

#[test]
fn the_wait_is_not_active_time_but_counts_for_the_time_limit_of_the_step() {
    let mut policy = policy();
    policy.limits.active_ms = Some(5_000);
    let mut play = run_with(BUILD, policy.clone());
    play.answer_tool("build/call/1", 200, r#"{"status": "queued"}"#);
    assert!(play.run.is_idle());
    play.wake("build/poll-wait/1");
    assert_eq!(play.due(), ["build/call/2"], "ten seconds are more than the run may be active");

    let mut play = run_with(&BUILD.replace("with: {id: 7}", "timeout: 15 s"), policy);
    play.answer_tool("build/call/1", 200, r#"{"status": "queued"}"#);
    play.wake("build/poll-wait/1");
    play.answer_tool("build/call/2", 200, r#"{"status": "queued"}"#);
    let reason = format!("{:?}", answer(&play).steps[0].outcome);
    assert!(reason.contains("the next attempt would start after the step's time limit of 15000 ms"), "{reason}");
    assert!(reason.contains("the last result is"), "{reason}");
}

#[test]
fn cancelling_ends_a_step_that_waits_for_its_next_poll() {
    let mut play = run_with(BUILD, policy());
    play.answer_tool("build/call/1", 200, r#"{"status": "queued"}"#);
    play.happen(EventKind::Cancelled);
    assert_eq!(answer(&play).status, Status::Cancelled);
    let mut play = run_with(BUILD, policy());
    play.happen(EventKind::Cancelled);
    play.answer_tool("build/call/1", 200, r#"{"status": "queued"}"#);
    assert_eq!(answer(&play).status, Status::Cancelled, "an unwished result starts no wait");
}

#[test]
fn the_items_of_a_loop_are_polled_each_on_its_own() {
    let mut play = run_with(
        "steps: [{id: a, foreach: [7, 8], tool: t/read, with: {id: '{{item}}'}, until: {condition: result.n >= item, wait: 1 s, times: 5}}]",
        policy(),
    );
    play.answer_tool("a[0]/call/1", 200, r#"{"n": 7}"#);
    play.answer_tool("a[1]/call/1", 200, r#"{"n": 7}"#);
    assert_eq!(play.due(), ["a[1]/poll-wait/1"]);
    play.wake("a[1]/poll-wait/1");
    play.answer_tool("a[1]/call/2", 200, r#"{"n": 8}"#);
    assert_eq!(play.run.result("a").map(ToString::to_string).as_deref(), Some(r#"[{"n":7},{"n":8}]"#));
}

#[test]
fn a_retry_asks_as_often_again_and_no_effect_has_an_id_twice() {
    let mut play = run_with(BUILD, policy());
    let mut seen: Vec<String> = Vec::new();
    for round in 0..2 {
        if round == 1 {
            play.happen(EventKind::Retried);
        }
        while play.run.answer().is_none() {
            let due = play.due()[0].clone();
            assert!(!seen.contains(&due), "{due}");
            seen.push(due.clone());
            if due.contains("/call/") {
                play.answer_tool(&due, 200, r#"{"status": "queued"}"#);
            } else {
                play.wake(&due);
            }
        }
    }
    assert_eq!(seen.iter().filter(|id| id.contains("/call/")).count(), 6);
}

#[test]
fn a_run_is_restored_at_every_event_of_a_poll() {
    let mut play = run_with(BUILD, policy());
    let replies =
        [(503, "{}"), (200, r#"{"status": "queued"}"#), (200, r#"{"status": "done", "log": 1}"#), (200, "{}")];
    let mut replies = replies.iter();
    while play.run.answer().is_none() {
        let mut again = Run::restore(&play.run.snapshot().expect("a snapshot")).expect("it can be restored");
        assert_eq!(again.pending(), play.run.pending());
        let due = play.due()[0].clone();
        if due.contains("/call/") {
            let (status, body) = replies.next().expect("a reply");
            play.answer_tool(&due, *status, body);
        } else {
            play.wake(&due);
        }
        again.apply(play.events.last().expect("an event")).expect("the twin applies the event");
        assert_eq!(again.snapshot().ok(), play.run.snapshot().ok());
    }
    assert_eq!(answer(&play).status, Status::Complete);
}

#[test]
fn a_process_that_resumes_a_run_waits_for_the_rest_of_the_time_and_asks_once() {
    let mut play = run_with(BUILD, policy());
    play.answer_tool("build/call/1", 200, r#"{"status": "queued"}"#);
    play.now_ms += 4_000;
    play.happen(EventKind::Resumed);
    assert_eq!(play.due(), ["build/poll-wait/1"]);
    play.wake("build/poll-wait/1");
    assert_eq!((play.now_ms, play.due()), (11_000, vec!["build/call/2".to_owned()]));
}

#[test]
fn misuse_is_reported_with_its_place() {
    let text = "steps:
  - {id: a, tool: t/read, until: result.done}
  - {id: b, tool: t/read, until: {condition: result.done, times: 0, wait: 5, often: 1}}
  - {id: c, tool: t/read, until: {wait: 1 s}}
  - {id: d, compute: 1, until: {condition: result, wait: 1 s, times: 2}}
  - {id: e, tool: t/read, when: result.x, until: {condition: resul.x, wait: 1 s, times: 2}}
  - {id: result, tool: t/read}
";
    let problems = check(&read(text), &catalogue(), PlanAuthor::Person).expect_err("the plan has problems");
    let document = Document::read(text).expect("it is YAML");
    let lines = problems.iter().map(|problem| {
        let (line, column) = document.locate(&problem.location).expect("a place");
        format!("{line}:{column}: {problem}")
    });
    insta::assert_snapshot!(lines.collect::<Vec<_>>().join("\n"), @r#"
    2:27: step `a`: `until`: expected the keys `condition`, `wait` and `times`, found a string (write `until: {condition: result.status == "done", wait: 10 s, times: 20}`)
    3:78: step `b`: `until.often`: unknown key (there is `condition`, `wait`, `times`)
    3:69: step `b`: `until.wait`: expected a duration of at most 24 h, found `5` (write a number and a unit: `wait: 10 s`, `2 min`)
    3:59: step `b`: `until.times`: expected a number from 1 to 10000
    4:27: step `c`: `until`: it has no `condition` and no `times` (write `until: {condition: result.status == "done", wait: 10 s, times: 20}`)
    5:25: step `d`: `until`: a step that computes makes no call (remove it)
    6:51: step `e`: character 1: there is no step `resul` (did you mean `result`?)
    7:6: step `result`: `result` is reserved for the result of a step with `until`, `expect` or `verify`
    "#);
}

#[test]
fn only_calls_that_read_are_made_again_and_again() {
    let text = "steps:
  - id: a
    tool: t/keyed
    until: {condition: result.done, wait: 1 s, times: 2}
";
    let play = run_with(text, policy());
    let reason = answer(&play).reason.clone().unwrap_or_default();
    insta::assert_snapshot!(reason, @r#"the plan cannot run: step `a`: `until`: the side effect class of `t/keyed` is `keyed`, not `read`, but it is called again and again (call one that only reads, or declare it with `"t/keyed" = "read"` in `[effects.classes]`)"#);
    let problems = check_read_calls(&read(text), |_| Some(SideEffect::Keyed));
    let document = Document::read(text).expect("it is YAML");
    assert_eq!(document.locate(&problems[0].location), Some((4, 5)));
    let mut configured = policy();
    configured.effects.classes.insert("t/keyed".to_owned(), SideEffect::Read);
    assert_eq!(run_with(text, configured).due(), ["a/call/1"], "the configuration says that it reads");
    let mut configured = policy();
    configured.effects.classes.insert("t".to_owned(), SideEffect::Unsafe);
    assert!(run_with(BUILD, configured).run.answer().is_some(), "the configuration says that it does not");
}

#[test]
fn a_plan_with_until_is_written_and_read_again() {
    let plan = read(BUILD);
    let again = read(&write_plan_file(&plan));
    assert_eq!((again.steps, again.inputs), (plan.steps, plan.inputs));
}
