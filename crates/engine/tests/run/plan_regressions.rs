//! Mistakes with plans that similar systems have made.

use std::sync::Arc;

use reknit_engine::{Started, Status};
use reknit_plan::{
    Catalogue, CatalogueEntry, CatalogueTool, PlanAuthor, ProblemCode as Code, check, correct_plan, read_plan,
};
use reknit_protocol::{Capability, Plan, Step};

use crate::world::{Play, catalogue, json, plan, policy, started, step};

fn ended(play: &Play) -> (Status, String) {
    let answer = play.run.answer().expect("the run has ended");
    (answer.status, answer.text.clone())
}

#[test]
fn a_cycle_is_found_before_any_step_runs_also_one_outside_of_it() {
    let play = Play::of_steps(vec![
        step("free", "unsafe", "{}"),
        step("a", "read", "{}").after("b"),
        step("b", "read", "{}").after("a"),
    ]);
    assert_eq!((ended(&play).0, play.run.spent().tool_calls), (Status::Failed, 0));
    assert!(ended(&play).1.contains("`a` runs after `b`, `b` runs after `a`"), "{}", ended(&play).1);
}

#[test]
fn a_duplicate_step_id_is_rejected_before_any_step_runs() {
    let play = Play::of_steps(vec![step("a", "unsafe", "{}"), step("a", "unsafe", "{}")]);
    assert_eq!((ended(&play).0, play.run.spent().tool_calls), (Status::Failed, 0));
    assert!(ended(&play).1.contains("have the same id"), "{}", ended(&play).1);
}

#[test]
fn a_step_waits_for_the_steps_it_references_and_never_sends_a_template() {
    let mut play =
        Play::of_steps(vec![step("b", "read", r#"{"x": "{{a.v}}", "y": "at {{a.v}}"}"#), step("a", "read", "{}")]);
    assert_eq!(play.due(), ["a/call/1"]);
    play.answer_tool("a/call/1", 200, r#"{"v": "{{b.x}}"}"#);
    assert_eq!(
        play.call("b/call/1").parameters.to_string(),
        r#"{"x":"{{b.x}}","y":"at {{b.x}}"}"#,
        "a template in a result is not evaluated"
    );
    let play = Play::of_steps(vec![step("b", "read", r#"{"x": "{{nobody.v}}"}"#)]);
    assert_eq!((ended(&play).0, play.run.spent().tool_calls), (Status::Failed, 0));
}

/// A weather tool with input and output fields, and an internal capability.
fn weather() -> Catalogue {
    let capability = r#"{"name": "get_weather", "input_summary": {"required": [{"name": "city", "type": "string"}]},
        "output_summary": {"required": [{"name": "temperature", "type": "number"}]}}"#;
    let capability = Capability::from_value(&json(capability)).expect("a capability");
    let mut hidden = Capability::new("flush");
    hidden.internal = true;
    let capabilities = vec![
        CatalogueEntry::new(capability, None).expect("a schema"),
        CatalogueEntry::new(hidden, None).expect("no schema"),
    ];
    Catalogue { tools: vec![CatalogueTool { name: "weather-tool".into(), description: String::new(), capabilities }] }
}

#[test]
fn a_planner_sees_output_fields_and_its_references_are_checked_against_them() {
    let play = Play::begin(Started { catalogue: Arc::new(weather()), ..started(None, policy()) });
    let prompt = play.prompt("plan/ask/1");
    assert!(prompt.contains("temperature"), "{prompt}");
    let weather_in = |id: &str, city: &str| {
        Step::new(id, "weather-tool", "get_weather", "")
            .with_parameters(reknit_protocol::Object::from([("city", city.into())]))
    };
    let wrong = plan(vec![weather_in("a", "Paris"), weather_in("b", "{{a.temprature}}")]);
    let problems = check(&wrong, &weather(), PlanAuthor::Model).expect_err("the field is misspelt");
    assert_eq!(problems.iter().map(|problem| problem.code).collect::<Vec<_>>(), [Code::BadPath]);
}

#[test]
fn a_name_in_another_case_is_corrected_without_another_question() {
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
            (call.tool.as_str(), call.capability.as_str()),
            ("weather-tool", "get_weather"),
            "case: {agent}/{capability}"
        );
    }
}

#[test]
fn runs_with_the_same_plan_id_have_different_idempotency_keys() {
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
fn a_run_does_not_change_its_plan() {
    let written = plan(vec![step("a", "read", "{}"), step("b", "convert", r#"{"amount": "{{a.v}}"}"#)]);
    let run_with = |value: &str| {
        let mut play = Play::begin(started(Some(written.clone()), policy()));
        play.answer_tool("a/call/1", 200, value);
        let sent = play.call("b/call/1").parameters.to_string();
        play.answer_tool("b/call/1", 422, r#"{"message": "no"}"#);
        let feedback = play.due().first().cloned().expect("a model is asked");
        play.answer_model(&feedback, r#"{"should_retry": true, "suggested_changes": {"amount": 7}}"#);
        assert!(
            play.run.snapshot().expect("a run can be written to a snapshot").contains("{{a.v}}"),
            "the plan still has its template"
        );
        sent
    };
    assert_eq!(run_with(r#"{"v": 1}"#), r#"{"amount":1}"#);
    assert_eq!(run_with(r#"{"v": 2}"#), r#"{"amount":2}"#, "the second run does not see the first");
}

#[test]
fn a_plan_keeps_every_digit_and_the_order_of_keys() {
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
fn a_plan_may_name_only_known_and_offered_capabilities() {
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
        correct_plan(&mut plan, &catalogue, PlanAuthor::Model);
        let problems = check(&plan, &catalogue, PlanAuthor::Model).err().unwrap_or_default();
        assert_eq!(problems.iter().map(|problem| problem.code).collect::<Vec<_>>(), expected, "case: {case}");
    }
}

#[test]
fn a_plan_is_found_in_fences_and_prose_but_not_in_incomplete_json() {
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
    let (plan, _) = read_plan(whole, "r").expect("the text is a plan");
    check(&plan, &catalogue(), PlanAuthor::Model).expect("the plan is valid");
}

#[test]
fn a_template_in_a_parameter_name_is_rejected_and_never_sent() {
    for parameters in [r#"{"{{a.v}}": 1}"#, r#"{"x": {"deep": [{"{{a.v}}": 1}]}}"#] {
        let play = Play::of_steps(vec![step("a", "read", "{}"), step("b", "read", parameters)]);
        let answer = play.run.answer().unwrap_or_else(|| panic!("the run has not ended: {:?}", play.due()));
        assert!(answer.text.contains("templates are allowed in values only, not in names"), "{}", answer.text);
    }
    for changes in [r#"{"{{a.v}}": 1}"#, r#"{"x": {"{{a.v}}": 1}}"#] {
        let mut play = Play::of_steps(vec![step("a", "read", "{}"), step("b", "read", r#"{"x": "{{a.v}}"}"#)]);
        play.answer_tool("a/call/1", 200, r#"{"v": 1}"#);
        play.answer_tool("b/call/1", 422, "{}");
        play.answer_model("b/feedback/1", &format!(r#"{{"should_retry": true, "suggested_changes": {changes}}}"#));
        assert_eq!(play.due(), ["b/context/1"], "case: {changes}");
    }
}
