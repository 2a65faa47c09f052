//! What has gone wrong with plans elsewhere, and must not go wrong here.

use std::sync::Arc;

use reknit_engine::{Started, Status};
use reknit_plan::{Author, Catalogue, Entry, ProblemCode as Code, Tool, check, correct_names, read_plan};
use reknit_protocol::{Capability, Plan, Step};

use crate::world::{Play, catalogue, json, plan, policy, started, step};

fn ended(play: &Play) -> (Status, String) {
    let answer = play.run.answer().expect("the run has ended");
    (answer.status, answer.text.clone())
}

#[test]
fn a_circle_is_found_before_anything_runs_also_what_does_not_belong_to_it() {
    let play = Play::of_steps(vec![
        step("free", "unsafe", "{}"),
        step("a", "read", "{}").after("b"),
        step("b", "read", "{}").after("a"),
    ]);
    assert_eq!((ended(&play).0, play.run.spent().tool_calls), (Status::Failed, 0));
    assert!(ended(&play).1.contains("`a` runs after `b`, `b` runs after `a`"), "{}", ended(&play).1);
}

#[test]
fn two_steps_with_one_id_are_refused_before_anything_runs() {
    let play = Play::of_steps(vec![step("a", "unsafe", "{}"), step("a", "unsafe", "{}")]);
    assert_eq!((ended(&play).0, play.run.spent().tool_calls), (Status::Failed, 0));
    assert!(ended(&play).1.contains("have the same id"), "{}", ended(&play).1);
}

#[test]
fn a_step_waits_for_what_it_refers_to_and_no_template_is_ever_sent() {
    let mut play =
        Play::of_steps(vec![step("b", "read", r#"{"x": "{{a.v}}", "y": "at {{a.v}}"}"#), step("a", "read", "{}")]);
    assert_eq!(play.due(), ["a/call/1"]);
    play.answer_tool("a/call/1", 200, r#"{"v": "{{b.x}}"}"#);
    assert_eq!(
        play.call("b/call/1").parameters.to_string(),
        r#"{"x":"{{b.x}}","y":"at {{b.x}}"}"#,
        "a result is only data"
    );
    let play = Play::of_steps(vec![step("b", "read", r#"{"x": "{{nobody.v}}"}"#)]);
    assert_eq!((ended(&play).0, play.run.spent().tool_calls), (Status::Failed, 0));
}

/// Weather, with what goes in and what comes out.
fn weather() -> Catalogue {
    let capability = r#"{"name": "get_weather", "input_summary": {"required": [{"name": "city", "type": "string"}]},
        "output_summary": {"required": [{"name": "temperature", "type": "number"}]}}"#;
    let capability = Capability::from_value(&json(capability)).expect("a capability");
    let mut hidden = Capability::new("flush");
    hidden.internal = true;
    let capabilities =
        vec![Entry::new(capability, None).expect("a schema"), Entry::new(hidden, None).expect("no schema")];
    Catalogue { tools: vec![Tool { name: "weather-tool".into(), description: String::new(), capabilities }] }
}

#[test]
fn a_planner_is_told_what_comes_out_and_a_reference_to_anything_like_it_is_held_against_that() {
    let play = Play::begin(Started { catalogue: Arc::new(weather()), ..started(None, policy()) });
    let prompt = play.prompt("plan/ask/1");
    assert!(prompt.contains("temperature"), "{prompt}");
    let weather_in = |id: &str, city: &str| {
        Step::new(id, "weather-tool", "get_weather", "")
            .with_parameters(reknit_protocol::Object::from([("city", city.into())]))
    };
    let wrong = plan(vec![weather_in("a", "Paris"), weather_in("b", "{{a.temprature}}")]);
    let problems = check(&wrong, &weather(), Author::Model).expect_err("it is misspelt");
    assert_eq!(problems.iter().map(|problem| problem.code).collect::<Vec<_>>(), [Code::BadPath]);
}

#[test]
fn a_name_in_another_case_is_called_by_its_own_name_without_asking_again() {
    for (agent, capability) in
        [("Weather-Tool", "get_weather"), ("weather-tool", "GET_WEATHER"), ("WEATHER_TOOL", "getWeather")]
    {
        let mut play = Play::begin(Started { catalogue: Arc::new(weather()), ..started(None, policy()) });
        let text = format!(
            r#"[{{"step_id": "s", "agent_name": "{agent}", "metadata": {{"capability": "{capability}", "parameters": {{"city": "Paris"}}}}}}]"#
        );
        play.answer_model("plan/ask/1", &text);
        let call = play.call("s/call/1");
        assert_eq!(
            (call.agent.as_str(), call.capability.as_str()),
            ("weather-tool", "get_weather"),
            "case: {agent}/{capability}"
        );
    }
}

#[test]
fn the_id_that_a_model_gives_its_plan_tells_no_runs_apart() {
    let text =
        r#"{"plan_id": "plan-1", "steps": [{"step_id": "s", "agent_name": "t", "metadata": {"capability": "keyed"}}]}"#;
    let keys = ["run-1", "run-2"].map(|run| {
        let mut play = Play::begin(Started { run: run.into(), ..started(None, policy()) });
        play.answer_model("plan/ask/1", text);
        play.call("s/call/1").idempotency_key.expect("a keyed call has a key")
    });
    assert_ne!(keys[0], keys[1]);
}

#[test]
fn running_a_plan_leaves_it_as_it_was() {
    let written = plan(vec![step("a", "read", "{}"), step("b", "convert", r#"{"amount": "{{a.v}}"}"#)]);
    let run_with = |value: &str| {
        let mut play = Play::begin(started(Some(written.clone()), policy()));
        play.answer_tool("a/call/1", 200, value);
        let sent = play.call("b/call/1").parameters.to_string();
        play.answer_tool("b/call/1", 422, r#"{"message": "no"}"#);
        let feedback = play.due().first().cloned().expect("a model is asked");
        play.answer_model(&feedback, r#"{"should_retry": true, "suggested_changes": {"amount": 7}}"#);
        assert!(play.run.snapshot().expect("it can be written").contains("{{a.v}}"), "the plan still has its template");
        sent
    };
    assert_eq!(run_with(r#"{"v": 1}"#), r#"{"amount":1}"#);
    assert_eq!(run_with(r#"{"v": 2}"#), r#"{"amount":2}"#, "nothing is left of the first run");
}

#[test]
fn every_digit_and_the_order_of_keys_come_through_a_plan() {
    let parameters =
        r#"{"z":9007199254740993,"a":123456789012345678901234567890,"m":0.100000000000000000000000000001}"#;
    let text = format!(
        r#"[{{"step_id": "s", "agent_name": "t", "metadata": {{"capability": "read", "parameters": {parameters}}}}}]"#
    );
    let mut play = Play::begin(started(None, policy()));
    play.answer_model("plan/ask/1", &text);
    assert_eq!(play.call("s/call/1").parameters.to_string(), parameters);
    play.answer_tool("s/call/1", 200, parameters);
    assert_eq!(play.run.result("s").map(ToString::to_string).as_deref(), Some(parameters));
}

#[test]
fn which_tools_a_plan_may_name() {
    let named = |agent: &str, capability: &str| {
        plan(vec![
            Step::new("s", agent, capability, "")
                .with_parameters(reknit_protocol::Object::from([("city", "Paris".into())])),
        ])
    };
    let nothing = Catalogue::default();
    for (case, mut plan, catalogue, expected) in [
        ("all known", named("weather-tool", "get_weather"), weather(), vec![]),
        ("another case", named("Weather-Tool", "Get_Weather"), weather(), vec![]),
        ("made up", named("crystal-ball", "gaze"), weather(), vec![Code::UnknownTool]),
        (
            "known tool, made-up capability",
            named("weather-tool", "make_rain"),
            weather(),
            vec![Code::UnknownCapability],
        ),
        (
            "no capability",
            Plan::new("p", "r", vec![Step::new("s", "weather-tool", "", "")]),
            weather(),
            vec![Code::UnknownCapability],
        ),
        (
            "internal",
            Plan::new("p", "r", vec![Step::new("s", "weather-tool", "flush", "")]),
            weather(),
            vec![Code::NotShown],
        ),
        ("no tools at all", named("weather-tool", "get_weather"), nothing.clone(), vec![Code::UnknownTool]),
        ("no steps", plan(vec![]), weather(), vec![]),
        ("no steps, no tools", plan(vec![]), nothing, vec![]),
    ] {
        correct_names(&mut plan, &catalogue, Author::Model);
        let problems = check(&plan, &catalogue, Author::Model).err().unwrap_or_default();
        assert_eq!(problems.iter().map(|problem| problem.code).collect::<Vec<_>>(), expected, "case: {case}");
    }
}

#[test]
fn which_words_are_a_plan() {
    let whole = r#"{"plan_id": "p", "original_request": "r", "mode": "autonomous", "steps": [
        {"step_id": "s", "agent_name": "t", "namespace": "default", "instruction": "i", "depends_on": [],
         "metadata": {"capability": "read", "parameters": {}}}]}"#;
    for (case, text, steps) in [
        ("plain", whole.to_owned(), Some(1)),
        ("fenced", format!("```json\n{whole}\n```"), Some(1)),
        ("fenced without a language", format!("```\n{whole}\n```"), Some(1)),
        ("in prose", format!("Here is the plan: {whole} I hope it helps."), Some(1)),
        ("with space around it", format!("\n\n  {whole}  \n"), Some(1)),
        ("fenced, in prose", format!("Sure!\n\n```json\n{whole}\n```\n\nShall I run it?"), Some(1)),
        ("fenced in capitals", format!("```JSON\n{whole}\n```"), Some(1)),
        ("fenced on one line", format!("```json {whole} ```"), Some(1)),
        ("fenced with lines of another system", format!("```json\r\n{whole}\r\n```\r\n"), Some(1)),
        ("a fence that is not closed", format!("```json\n{whole}"), Some(1)),
        ("emphasis around it", format!("**Plan**\n{whole}"), Some(1)),
        ("without steps", r#"{"plan_id": "none", "steps": []}"#.to_owned(), Some(0)),
        ("only steps", "[]".to_owned(), Some(0)),
        ("other JSON", r#"{"answer": 42}"#.to_owned(), None),
        ("steps of another kind", r#"{"steps": [1, 2]}"#.to_owned(), None),
        ("no JSON", "I cannot help with that.".to_owned(), None),
        ("nothing", String::new(), None),
        ("cut", whole.chars().take(120).collect(), None),
    ] {
        let read = read_plan(&text, "r").ok().map(|(plan, _)| plan.steps.len());
        assert_eq!(read, steps, "case: {case}");
    }
    let (plan, _) = read_plan(whole, "r").expect("it is a plan");
    check(&plan, &catalogue(), Author::Model).expect("it can run");
}

#[test]
fn a_template_in_the_place_of_a_name_is_refused_and_never_sent() {
    for parameters in [r#"{"{{a.v}}": 1}"#, r#"{"x": {"deep": [{"{{a.v}}": 1}]}}"#] {
        let play = Play::of_steps(vec![step("a", "read", "{}"), step("b", "read", parameters)]);
        let answer = play.run.answer().unwrap_or_else(|| panic!("it cannot run: {:?}", play.due()));
        assert!(answer.text.contains("only a value can be a template"), "{}", answer.text);
    }
    for changes in [r#"{"{{a.v}}": 1}"#, r#"{"x": {"{{a.v}}": 1}}"#] {
        let mut play = Play::of_steps(vec![step("a", "read", "{}"), step("b", "read", r#"{"x": "{{a.v}}"}"#)]);
        play.answer_tool("a/call/1", 200, r#"{"v": 1}"#);
        play.answer_tool("b/call/1", 422, "{}");
        play.answer_model("b/feedback/1", &format!(r#"{{"should_retry": true, "suggested_changes": {changes}}}"#));
        assert_eq!(play.due(), ["b/context/1"], "case: {changes}");
    }
}
