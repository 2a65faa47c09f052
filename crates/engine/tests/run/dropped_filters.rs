//! A read that is made without a filter that the request asks for is at most `partial`, and whoever reads or writes the answer is told.

use reknit_engine::{Policy, Started, Status, Synthesis};
use reknit_protocol::SideEffect;

use crate::gate::{acting, call};
use crate::world::{Play, answer, policy, started};

const SCHEMA: &str = r#"{"additionalProperties": false, "properties": {"city": {"type": "string"}, "lat": {"type": "number"},
    "list": {"type": "string"}}}"#;

/// A run of a request in which a model plans a search.
fn asked(request: &str, schema: &str, policy: Policy) -> Play {
    Play::begin(acting(
        SideEffect::Read,
        schema,
        request,
        Started { request: request.to_owned(), ..started(None, policy) },
    ))
}

fn search(id: &str, parameters: &str) -> String {
    format!(r#"{{"steps": [{}]}}"#, call(id, "t", "act", parameters))
}

fn policy_with(change: impl Fn(&mut Policy)) -> Policy {
    let mut policy = policy();
    (policy.mending.feedback, policy.mending.context, policy.resend.times) = (0, 0, 0);
    change(&mut policy);
    policy
}

fn lost(step: &str, name: &str) -> Vec<String> {
    vec![format!("step `{step}`: `{name}` is left out, although the request asks for it")]
}

fn judged(play: &Play) -> (Status, Vec<String>) {
    let answer = answer(play);
    (answer.status, answer.doubts.clone())
}

#[test]
fn a_parameter_that_the_tool_does_not_have_is_a_lost_filter_if_the_request_states_it() {
    let searched = |request: &str, parameters: &str| {
        let mut play = asked(request, SCHEMA, policy_with(|policy| policy.planning.retries = 0));
        play.answer_model("plan/ask/1", &search("s", parameters));
        assert_eq!(play.call("s/call/1").parameters.to_string(), r#"{"city":"Ulm"}"#);
        play.answer_tool("s/call/1", 200, r#"{"name": "The Steak House"}"#);
        judged(&play)
    };
    let vegan = "vegan restaurants in Ulm";
    for (request, name, value, is_lost) in [
        (vegan, "diet", r#""vegan""#, true),
        (vegan, "diet", r#""keto""#, false),
        (vegan, "vegan", "true", true),
        (vegan, "is_vegan", "false", true),
        (vegan, "veganOnly", "true", true),
        ("in Ulm, ohne Fleisch", "vegan", "true", true),
        (vegan, "smoking", "false", false),
        (vegan, "include_photos", "true", false),
        ("restaurants in Ulm, with photos", "include_photos", "true", true),
    ] {
        let found = searched(request, &format!(r#"{{"city": "Ulm", "{name}": {value}}}"#));
        let expected = if is_lost { (Status::Partial, lost("s", name)) } else { (Status::Complete, Vec::new()) };
        assert_eq!(found, expected, "{request}: {name}: {value}");
    }
}

#[test]
fn a_flag_that_a_model_removes_after_an_error_is_a_lost_filter() {
    let mut play = asked("vegan restaurants in Ulm", "{}", policy());
    play.answer_model("plan/ask/1", &search("s", r#"{"city": "Ulm", "vegan": true}"#));
    play.answer_tool("s/call/1", 400, r#"{"error": "`vegan` cannot be used for this city"}"#);
    play.answer_model("s/feedback/1", r#"{"should_retry": true, "remove": ["vegan"]}"#);
    assert_eq!(play.call("s/call/2").parameters.to_string(), r#"{"city":"Ulm"}"#);
    play.answer_tool("s/call/2", 200, r#"{"name": "The Steak House"}"#);
    assert_eq!(judged(&play), (Status::Partial, lost("s", "vegan")));
}

#[test]
fn a_plan_that_is_rejected_for_a_filter_and_comes_back_without_it_has_lost_it() {
    let planned = |again: &str, sent: &str| {
        let mut play = asked("vegan restaurants in Ulm", SCHEMA, policy_with(|_| ()));
        play.answer_model("plan/ask/1", &search("s", r#"{"city": "Ulm", "diet": "vegan"}"#));
        play.answer_model("plan/ask/2", &search("s", again));
        assert_eq!(play.call("s/call/1").parameters.to_string(), sent);
        play = Play { run: crate::world::restored(&play), ..play };
        play.answer_tool("s/call/1", 200, r#"{"name": "The Steak House"}"#);
        judged(&play)
    };
    assert_eq!(planned(r#"{"city": "Ulm"}"#, r#"{"city":"Ulm"}"#), (Status::Partial, lost("s", "diet")));
    let moved = r#"{"city": "Ulm", "list": "vegan"}"#;
    assert_eq!(planned(moved, r#"{"city":"Ulm","list":"vegan"}"#).0, Status::Complete, "it has another name");
    assert_eq!(planned(r#"{"lat": 48.4}"#, r#"{"lat":48.4}"#).0, Status::Complete, "it asks in another way");
}

#[test]
fn a_second_plan_that_makes_the_same_read_with_less_has_lost_a_filter() {
    let replanned = |second: &str, call: &str, first: &str| {
        let mut play = asked("vegan restaurants in Ulm", "{}", policy_with(|_| ()));
        play.answer_model("plan/ask/1", &search("s", first));
        play.answer_tool("s/call/1", 404, r#"{"error": "there is no such list"}"#);
        play.answer_model("plan/ask/2", second);
        play.answer_tool(call, 200, r#"{"name": "The Steak House"}"#);
        judged(&play)
    };
    let again = |capability: &str, parameters: &str| {
        let second = format!(r#"{{"steps": [{}]}}"#, call("again", "t", capability, parameters));
        replanned(&second, "again/call/1", r#"{"city": "Ulm", "diet": "vegan"}"#)
    };
    for capability in ["act", "read"] {
        assert_eq!(again(capability, r#"{"city": "Ulm"}"#), (Status::Partial, lost("again", "diet")), "{capability}");
        assert_eq!(again(capability, r#"{"city": "Ulm", "kind": "vegan"}"#).0, Status::Complete, "{capability}");
        assert_eq!(again(capability, r#"{"lat": 48.4}"#).0, Status::Complete, "{capability}");
    }
    let flag = format!(r#"{{"steps": [{}]}}"#, call("again", "t", "act", r#"{"city": "Ulm"}"#));
    let found = replanned(&flag, "again/call/1", r#"{"city": "Ulm", "vegan": true}"#);
    assert_eq!(found, (Status::Partial, lost("again", "vegan")));
    let filtered = format!(
        r#"{{"steps": [{}], "outputs": {{"found": "filter(again.list, item.kind == \"vegan\")"}}}}"#,
        call("again", "t", "act", r#"{"city": "Ulm"}"#)
    );
    let found = replanned(&filtered, "again/call/1", r#"{"city": "Ulm", "diet": "vegan"}"#);
    assert!(!found.1.iter().any(|doubt| doubt.contains("left out")), "the plan filters by itself: {found:?}");
}

#[test]
fn the_model_that_writes_the_answer_is_told_which_filter_was_lost() {
    let mut play = asked(
        "vegan restaurants in Ulm",
        SCHEMA,
        policy_with(|policy| (policy.planning.retries, policy.synthesis) = (0, Synthesis::Model)),
    );
    play.answer_model("plan/ask/1", &search("s", r#"{"city": "Ulm", "diet": "vegan"}"#));
    play.answer_tool("s/call/1", 200, r#"{"name": "The Steak House"}"#);
    let prompt = play.prompt("answer/ask/1");
    assert!(prompt.contains(&format!("- {}", lost("s", "diet")[0])), "{prompt}");
}
