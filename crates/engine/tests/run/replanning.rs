//! A second plan after steps failed that nothing could mend.

use reknit_engine::{ApprovalPolicy, AskScope, DecidedBy, Decision, EventKind, Policy, Run, Status, Synthesis};
use reknit_mend::PeoplePolicy;
use reknit_model_api::ErrorClass;

use crate::world::{Play, answer, plan, policy, question, restored, started, step};

fn quick() -> Policy {
    let mut policy = policy();
    policy.mending.feedback = 0;
    policy.mending.context = 0;
    policy.resend.times = 0;
    policy
}

fn steps(steps: &[(&str, &str, &str)]) -> String {
    let step = |(id, capability, parameters): &(&str, &str, &str)| {
        format!(
            r#"{{"step_id": "{id}", "agent_name": "t", "metadata": {{"capability": "{capability}", "parameters": {parameters}}}}}"#
        )
    };
    format!(r#"{{"steps": [{}]}}"#, steps.iter().map(step).collect::<Vec<_>>().join(", "))
}

fn begin(policy: Policy, first: &[(&str, &str, &str)]) -> Play {
    let mut play = Play::begin(started(None, policy));
    play.answer_model("plan/ask/1", &steps(first));
    play
}

const NOT_FOUND: &str = r#"{"error": "no place is called Apple"}"#;

/// A plan whose second step fails for good, and whose third needs it.
fn failed(policy: Policy) -> Play {
    let mut play = begin(
        policy,
        &[
            ("a", "keyed", r#"{"n": 1}"#),
            ("b", "read", r#"{"place": "Apple"}"#),
            ("c", "read", r#"{"x": "{{b.lat}}"}"#),
        ],
    );
    play.answer_tool("a/call/1", 200, r#"{"price": 5}"#);
    play.answer_tool("b/call/1", 404, NOT_FOUND);
    play
}

#[test]
fn the_planner_is_asked_once_more_for_what_is_missing() {
    let mut play = failed(quick());
    assert_eq!(play.due(), ["plan/ask/2"]);
    restored(&play);
    let prompt = play.prompt("plan/ask/2");
    let progress = prompt.split("Request: sell 100 shares").nth(1).expect("the progress follows the request");
    insta::assert_snapshot!(progress.trim(), @r#"
    A plan for this request has already run, and a part of it failed. Write a plan of only what is still missing.

    Done. It is never done again; your steps refer to these results by their ids, as to earlier steps:
    <data>- a (t/keyed with {"n":1}): {"price":5}</data>

    Failed or not made:
    <data>
    - b (t/read with {"place":"Apple"}): failed: 404: no place is called Apple; no model may correct it (`[mending]` turns off `feedback` and `context`)
    - c (t/read with {}): not made: it needs `b`, which failed
    </data>

    Find another way than the one that failed: another tool, other parameters, or a value that a result above states. The ids of your steps are
    new: step-4 and so on. If these tools offer no other way, write "steps": [].
    "#);
    play.answer_model("plan/ask/2", &steps(&[("d", "read", r#"{"x": "{{a.price}}"}"#)]));
    assert_eq!(play.due(), ["d/call/1"], "what is done is not done again");
    restored(&play);
    assert_eq!(
        play.call("d/call/1").parameters.to_string(),
        r#"{"x":5}"#,
        "the new step sees the result of the first plan"
    );
    play.answer_tool("d/call/1", 200, r#"{"won": 7}"#);
    assert_eq!(answer(&play).status, Status::Complete, "the second plan did what was missing");
    insta::assert_snapshot!(answer(&play).text, @r#"
    Everything was done.

    Planned again:
    - after b failed: d

    Done:
    - a (keyed): {"price":5}
    - d (read): {"won":7}
    "#);
    let mut twin = Run::begin(&play.events[0]).expect("it begins").0;
    for event in &play.events[1..] {
        twin.apply(event).expect("it is applied");
        assert_eq!(
            Run::restore(&twin.snapshot().expect("a snapshot")).expect("it is restored").pending(),
            twin.pending()
        );
    }
    assert_eq!(twin.answer(), play.run.answer());
}

#[test]
fn a_done_step_that_the_second_plan_repeats_with_the_same_mistake_is_left_out() {
    let mut play = failed(quick());
    let repeated = steps(&[("a", "keyed", r#"{"n": 1}"#), ("d", "read", r#"{"x": "{{a.price}}"}"#)]);
    // The planner wrote the tool with its capability, as in the first plan before it was corrected.
    play.answer_model("plan/ask/2", &repeated.replacen(r#""agent_name": "t""#, r#""agent_name": "t/keyed""#, 1));
    assert_eq!(play.due(), ["d/call/1"], "what is done is not done again");
}

#[test]
fn a_second_plan_that_fails_is_the_last_one() {
    let mut play = failed(quick());
    play.answer_model("plan/ask/2", &steps(&[("d", "read", "{}")]));
    play.answer_tool("d/call/1", 404, NOT_FOUND);
    assert_eq!(answer(&play).status, Status::Partial);
    assert!(!answer(&play).text.contains("- b (read)"), "d stands for it: {}", answer(&play).text);
    play.happen(EventKind::Retried);
    assert_eq!(play.due(), ["d/call/2"], "a retry tries the step of the second plan again, and not what it replaced");
}

#[test]
fn a_persons_plan_and_a_limit_of_zero_are_never_replanned() {
    let steps_of = vec![step("a", "read", "{}")];
    let mut play = Play::begin(started(Some(plan(steps_of)), quick()));
    play.answer_tool("a/call/1", 404, NOT_FOUND);
    assert_eq!(answer(&play).status, Status::Failed);
    let mut never = quick();
    never.planning.replans = 0;
    assert_eq!(answer(&failed(never)).status, Status::Partial);
}

#[test]
fn what_was_done_is_left_out_and_an_id_of_a_failed_step_is_used_again() {
    let mut play = failed(quick());
    let second = [
        ("a", "keyed", r#"{"n": 1}"#),
        ("b", "read", r#"{"place": "Cupertino"}"#),
        ("c", "read", r#"{"x": "{{b.lat}}", "y": "{{a.price}}"}"#),
    ];
    play.answer_model("plan/ask/2", &steps(&second));
    assert_eq!(play.due(), ["b-2/call/1"]);
    play.answer_tool("b-2/call/1", 200, r#"{"lat": 37}"#);
    assert_eq!(play.call("c-2/call/1").parameters.to_string(), r#"{"x":37,"y":5}"#);
    restored(&play);
    play.answer_tool("c-2/call/1", 200, "{}");
    assert_eq!(answer(&play).status, Status::Complete);
}

#[test]
fn the_same_call_under_another_name_takes_the_result_there_is() {
    let mut play = failed(quick());
    play.answer_model(
        "plan/ask/2",
        &steps(&[("d", "keyed", r#"{"n": "1"}"#), ("e", "read", r#"{"x": "{{d.price}}"}"#)]),
    );
    assert_eq!(play.due(), ["e/call/1"], "the keyed call is not made twice");
    assert_eq!(play.call("e/call/1").parameters.to_string(), r#"{"x":5}"#);
    restored(&play);
}

#[test]
fn problems_of_a_second_plan_are_shown_to_the_planner_and_the_last_one_ends_the_run() {
    let mut play = failed(quick());
    play.answer_model("plan/ask/2", &steps(&[("a", "keyed", r#"{"n": 2}"#), ("d", "read", "{}")]));
    assert!(play.prompt("plan/ask/3").contains("`a` is the id of a step that is done and stays"));
    play.answer_model("plan/ask/3", &steps(&[("d", "read", r#"{"x": "{{b.lat}}"}"#)]));
    let prompt = play.prompt("plan/ask/4");
    assert!(prompt.contains("step `d` needs `b`, which has no result (plan it anew)"), "{prompt}");
    restored(&play);
    play.answer_model("plan/ask/4", "no");
    assert_eq!(answer(&play).status, Status::Partial);
    let reason = answer(&play).replannings[0].gave_up.as_deref().expect("a reason");
    assert!(reason.starts_with("no plan could be used after 3 attempts"), "{reason}");
}

#[test]
fn a_planner_without_another_way_or_without_an_answer_ends_the_run_with_what_it_has() {
    let mut play = failed(quick());
    play.answer_model("plan/ask/2", r#"{"steps": []}"#);
    assert_eq!(answer(&play).status, Status::Partial);
    assert!(answer(&play).text.contains("after b failed: no other plan (the planner found no other way)"));
    let mut play = failed(quick());
    for _ in 0..20 {
        match play.due().first().cloned() {
            Some(id) if id.contains("wait") => play.wake(&id),
            Some(id) => play.fail_model(&id, ErrorClass::AuthError),
            None => break,
        }
    }
    assert_eq!(answer(&play).status, Status::Partial);
}

#[test]
fn a_call_that_may_have_happened_is_not_planned_again_in_any_form() {
    let mut play = begin(quick(), &[("pay", "unsafe", r#"{"n": 1}"#), ("b", "read", "{}")]);
    play.happen(EventKind::Interrupted { effect: crate::world::effect_id("pay/call/1") });
    if play.due().iter().any(|id| id.starts_with("pay/approval")) {
        let decision = Decision::Deny { reason: None };
        play.decide(decision);
    }
    assert_eq!(play.due(), ["b/call/1"]);
    play.answer_tool("b/call/1", 404, NOT_FOUND);
    assert!(play.prompt("plan/ask/2").contains("May have happened. It must not be planned again"));
    play.answer_model("plan/ask/2", &steps(&[("d", "unsafe", r#"{"n": 2}"#)]));
    assert!(play.prompt("plan/ask/3").contains("`t/unsafe` may have happened in step `pay`"));
    play.answer_model("plan/ask/3", &steps(&[("d", "read", r#"{"n": 2}"#)]));
    play.answer_tool("d/call/1", 200, "{}");
    assert_eq!(answer(&play).status, Status::Partial, "the unknown outcome is not replaced");
    assert!(answer(&play).text.contains("- pay (unsafe): failed (the call may have taken effect)"));
}

#[test]
fn no_planner_is_asked_about_denied_access_unknown_outcomes_and_decisions_of_people() {
    let mut play = begin(quick(), &[("a", "read", "{}")]);
    play.answer_tool("a/call/1", 403, r#"{"error": "forbidden"}"#);
    assert_eq!(answer(&play).status, Status::Failed);
    let mut ask = quick();
    ask.approvals = ApprovalPolicy { ask: AskScope::Plan, ..ApprovalPolicy::default() };
    ask.people = PeoplePolicy::Ask;
    let mut play = begin(ask, &[("a", "keyed", "{}")]);
    let asked = question(&play);
    let decision = Decision::Deny { reason: None };
    play.happen(EventKind::PersonDecided { effect: asked.id, hash: asked.hash, decision, by: DecidedBy::Person });
    assert_eq!(answer(&play).status, Status::Failed);
}

#[test]
fn a_person_approves_only_the_calls_of_the_second_plan() {
    let mut ask = quick();
    ask.approvals = ApprovalPolicy { ask: AskScope::Plan, ..ApprovalPolicy::default() };
    ask.people = PeoplePolicy::Ask;
    let approve = |play: &mut Play| {
        let asked = question(play);
        let text = format!("{:?}", asked.question);
        let decision = Decision::Approve;
        play.happen(EventKind::PersonDecided { effect: asked.id, hash: asked.hash, decision, by: DecidedBy::Person });
        text
    };
    let mut play = begin(ask, &[("a", "keyed", r#"{"n": 1}"#), ("b", "read", "{}")]);
    approve(&mut play);
    play.answer_tool("a/call/1", 200, "{}");
    play.answer_tool("b/call/1", 404, NOT_FOUND);
    play.answer_model("plan/ask/2", &steps(&[("d", "keyed", r#"{"n": 2}"#)]));
    assert_eq!(play.due(), ["plan/plan-approval/2", "plan/plan-approval-expiry/2"]);
    restored(&play);
    let shown = approve(&mut play);
    assert!(shown.contains(r#"step: "d""#) && !shown.contains(r#"step: "a""#), "{shown}");
    assert_eq!(play.due(), ["d/call/1"]);
}

#[test]
fn a_second_plan_keeps_the_items_of_loops_and_adds_loops_of_its_own() {
    let looped = |id: &str, list: &str| {
        format!(
            r#"{{"step_id": "{id}", "agent_name": "t", "metadata": {{"capability": "keyed", "foreach": "{list}", "parameters": {{"n": "{{{{item}}}}"}}}}}}"#
        )
    };
    let mut begun = started(None, quick());
    "do it for 1, 3 and 2 or 4".clone_into(&mut begun.request);
    let mut play = Play::begin(begun);
    play.answer_model("plan/ask/1", &format!(r#"{{"steps": [{}]}}"#, looped("a", "[1, 2, 3]")));
    play.answer_tool("a[0]/call/1", 200, r#"{"r": 1}"#);
    play.answer_tool("a[1]/call/1", 404, NOT_FOUND);
    play.answer_tool("a[2]/call/1", 200, r#"{"r": 3}"#);
    let prompt = play.prompt("plan/ask/2");
    assert!(prompt.contains(r#"- a[0] (t/keyed with {"n":1}): {"r":1}"#), "{prompt}");
    play.answer_model("plan/ask/2", &format!(r#"{{"steps": [{}]}}"#, looped("d", "[1, 4, 3]")));
    restored(&play);
    assert_eq!(play.due(), ["d[1]/call/1"], "only the call that was not made");
    play.answer_tool("d[1]/call/1", 200, r#"{"r": 4}"#);
    restored(&play);
    assert_eq!(answer(&play).status, Status::Complete);
    assert_eq!(play.run.result("d").map(ToString::to_string).as_deref(), Some(r#"[{"r":1},{"r":4},{"r":3}]"#));
}

#[test]
fn a_run_that_is_cancelled_while_the_planner_is_asked_keeps_its_results() {
    let mut play = failed(Policy { synthesis: Synthesis::Template, ..quick() });
    play.happen(EventKind::Cancelled);
    assert_eq!(answer(&play).status, Status::Cancelled);
    assert_eq!(answer(&play).steps.len(), 3);
}
