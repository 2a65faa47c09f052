//! `--quiet` and `--events`.

use crate::exit_status::{PRICE_AND_ORDER, shop, shopping};
use crate::world::{World, plan, text};

/// The field `event` of each line.
fn events(output: &str) -> Vec<String> {
    let event = |line: &str| {
        let line: serde_json::Value = serde_json::from_str(line).expect("each line is JSON");
        line["event"].as_str().expect("each line says what happened").to_owned()
    };
    output.lines().map(event).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn quiet_prints_only_the_answer() {
    let (_shop, world) = shopping(&PRICE_AND_ORDER).await;
    insta::assert_snapshot!(world.reknit(&["run", "--quiet", "plan.json"]), @r#"
    exit status 0 --- stdout
    Everything was done.

    Done:
    - price (price): {"price":12.50}
    - order (order): {"order":"o-1"}
    "#);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn quiet_still_prints_warnings_errors_and_what_waits_for_a_person() {
    let shop = shop().await;
    let gone = "[[tools]]\nname = \"gone\"\nurl = \"http://127.0.0.1:9\"\n";
    let world = World::new().configured(&[&shop], gone).file("plan.json", &plan(&[("pay", "{}")]));
    insta::assert_snapshot!(world.reknit(&["run", "--quiet", "plan.json"]), @"
    exit status 6 --- stderr
    warning: tool `gone` at http://127.0.0.1:9/: connection refused; is the tool running?

    waiting for approval:
    - pay: failed: `shop` broke the connection: Connection reset by peer (os error 104)
      again:  `pay` of `shop` (unsafe) with {}; the first call may have taken effect (idempotency key: KEY)

    hint: decide with `reknit runs approve RUN` or `reknit runs deny RUN`, then continue with `reknit runs resume RUN`; `reknit runs settle --help` if you know what became of a call
    ");
    insta::assert_snapshot!(world.reknit(&["run", "--quiet", "missing.json"]), @"
    exit status 2 --- stderr
    error: cannot read `missing.json`
      caused by: No such file or directory (os error 2)

    hint: list the files there with `ls .`
    ");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn quiet_still_says_that_a_run_failed() {
    let (_shop, world) = shopping(&[("find", "{}")]).await;
    for failing in
        [&["run", "--quiet", "--answer", "raw", "plan.json"][..], &["tools", "call", "--quiet", "shop/find", "{}"]]
    {
        let output = world.output(failing);
        let printed = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{failing:?}: {printed}");
        assert!(printed.contains("failed: 0 of 1 step done"), "{failing:?}: {printed}");
        assert!(printed.contains("the catalogue is lost"), "{failing:?}: {printed}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn events_are_lines_of_json_and_the_last_one_is_the_answer() {
    let (_shop, world) = shopping(&PRICE_AND_ORDER).await;
    insta::assert_snapshot!(world.reknit(&["run", "--events", "--quiet", "plan.json"]), @r#"
    exit status 0 --- stdout
    {"event":"started","run":"RUN","at_ms":0,"request":"shopping"}
    {"event":"plan_accepted","run":"RUN","at_ms":0,"steps":2,"repairs":[]}
    {"event":"step_started","run":"RUN","at_ms":0,"step":"price","tool":"shop","capability":"price"}
    {"event":"call_started","run":"RUN","at_ms":0,"step":"price","call":"price/call/1","tool":"shop","capability":"price","parameters":{"of":"tea"}}
    {"event":"call_ended","run":"RUN","at_ms":0,"step":"price","call":"price/call/1","status":200}
    {"event":"step_ended","run":"RUN","at_ms":0,"step":"price","state":"done"}
    {"event":"step_started","run":"RUN","at_ms":0,"step":"order","tool":"shop","capability":"order"}
    {"event":"call_started","run":"RUN","at_ms":0,"step":"order","call":"order/call/1","tool":"shop","capability":"order","parameters":{"at":12.50}}
    {"event":"call_ended","run":"RUN","at_ms":0,"step":"order","call":"order/call/1","status":200}
    {"event":"step_ended","run":"RUN","at_ms":0,"step":"order","state":"done"}
    {"event":"ended","run":"RUN","at_ms":0,"status":"complete"}
    {"event":"answer","run":"RUN","status":"complete","answer":"Everything was done.\n\nDone:\n- price (price): {\"price\":12.50}\n- order (order): {\"order\":\"o-1\"}","written_by":"template","reason":null,"steps":[{"step":"price","agent":"shop","capability":"price","outcome":{"done":{"success":true,"data":{"price":12.50}}},"mends":[],"calls":1},{"step":"order","agent":"shop","capability":"order","outcome":{"done":{"success":true,"data":{"order":"o-1"}}},"mends":[],"calls":1}],"spent":{"tool_calls":2,"model_calls":0,"input_tokens":0,"output_tokens":0,"wasted_tokens":0,"active_ms":0}}
    "#);
}

#[test]
fn events_of_the_demo_tell_what_was_mended() {
    let world = World::new();
    let output = world.output(&["demo", "--events"]);
    let events = events(&text(&output.stdout));
    for event in
        ["started", "model_asked", "model_answered", "plan_accepted", "call_ended", "changed", "step_ended", "ended"]
    {
        assert!(events.iter().any(|seen| seen == event), "{event} is missing in {events:?}");
    }
    assert_eq!(events.last().map(String::as_str), Some("answer"));
    assert!(!text(&output.stderr).contains("running"), "progress is not mixed with events");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_waits_ends_its_events_with_the_question() {
    let (_shop, world) = shopping(&[("pay", "{}")]).await;
    let output = world.output(&["run", "--events", "plan.json"]);
    assert_eq!(events(&text(&output.stdout)).last().map(String::as_str), Some("waiting"));
    world.reknit(&["runs", "approve", "last"]);
    let output = world.output(&["runs", "resume", "last", "--events"]);
    let resumed = events(&text(&output.stdout));
    assert_eq!(resumed.last().map(String::as_str), Some("answer"));
    assert!(!resumed.contains(&"started".to_owned()), "what happened before is not repeated: {resumed:?}");
    insta::assert_snapshot!(world.reknit(&["runs", "resume", "--all", "--events"]), @r#"
    exit status 2 --- stdout
    {"error":{"message":"`--events` follows one run, and `--all` resumes several","hint":"leave out `--events`, or resume one run at a time","exit_status":2}}
    "#);
}

#[test]
fn an_error_is_a_line_of_json_too() {
    insta::assert_snapshot!(World::new().reknit(&["run", "--events", "missing.json"]), @r#"
    exit status 2 --- stdout
    {"error":{"message":"cannot read `missing.json`","causes":["No such file or directory (os error 2)"],"hint":"list the files there with `ls .`","exit_status":2}}
    "#);
}
