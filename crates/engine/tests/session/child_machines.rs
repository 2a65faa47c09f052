//! Plans and agents that a model calls.

use std::sync::Arc;

use reknit_engine::{
    AgentMending, ChildActivity, Decision, Effect, EventKind, FinalTurnReason, Metadata, PLAN_TOOL, Plans, RecordKind,
    RunRecord, SessionActivity, SessionExit, SessionRecord, SessionStarted, StepState, SubAgent,
};

use crate::driver::{TestDriver, calling, json, reporting, saying, started, with_rules};

fn with_plans() -> SessionStarted {
    with_rules(|rules| rules.plans = Plans::Allowed)
}

/// An agent `clerk` that may call `researcher`, with this budget.
fn with_agent(tool_calls: u32, model_calls: u32) -> SessionStarted {
    let mut session = started();
    "researcher".clone_into(&mut session.agent);
    "You find things out.".clone_into(&mut session.prompt);
    let mut policy = session.policy.as_ref().clone();
    policy.limits.tool_calls = tool_calls;
    policy.limits.model_calls = model_calls;
    session.policy = Arc::new(policy);
    let agent = SubAgent { name: "researcher".to_owned(), description: "finds things out".to_owned(), session };
    SessionStarted { agents: vec![agent], ..started() }
}

fn last_result(driver: &TestDriver) -> String {
    driver.session.history().last().map(|message| message.text().to_owned()).unwrap_or_default()
}

const PLAN: &str = r#"{"steps": [
    {"id": "one", "tool": "shop__look_up", "with": {"id": 7}},
    {"id": "two", "tool": "shop__order", "with": {"of": "{{one.state}}"}},
    {"id": "three", "tool": "look_up", "with": {"id": 8}}]}"#;

#[test]
fn a_submitted_plan_can_loop_compute_and_have_conditions() {
    let mut driver = TestDriver::begin(with_plans());
    let plan = r#"{"steps": [
        {"id": "list", "compute": "{{[7, 8]}}"},
        {"id": "each", "tool": "shop__look_up", "foreach": "list", "with": {"id": "{{item}}"}},
        {"id": "never", "tool": "shop__order", "when": "len(list) > 2", "with": {"of": "x"}}]}"#;
    driver.answer(calling(&[(PLAN_TOOL, plan)]));
    let mut due = driver.due();
    due.retain(|id| !id.contains("deadline"));
    assert_eq!(due, ["turn-1/call-1/each[0]/call/1", "turn-1/call-1/each[1]/call/1"]);
}

#[test]
fn a_submitted_plan_runs_and_the_model_sees_each_step() {
    let mut driver = TestDriver::begin(with_plans());
    assert!(driver.shown().contains(&PLAN_TOOL.to_owned()));
    driver.answer(calling(&[(PLAN_TOOL, PLAN)]));
    let mut due = driver.due();
    due.retain(|id| !id.contains("deadline"));
    assert_eq!(due, ["turn-1/call-1/one/call/1", "turn-1/call-1/three/call/1"], "independent steps start at once");
    driver.reply("turn-1/call-1/three/call/1", 403, r#"{"message": "not yours"}"#);
    driver.reply("turn-1/call-1/one/call/1", 200, r#"{"state": "sent"}"#);
    let order = driver.calls().remove(0);
    assert_eq!(order.parameters.to_string(), r#"{"of":"sent"}"#);
    assert!(order.idempotency_key.is_some());
    driver.reply("turn-1/call-1/two/call/1", 200, r#"{"success": true, "data": {"order": 9}}"#);
    let shown = json(&last_result(&driver));
    assert_eq!(shown.get("status"), Some(&"partial".into()));
    let step = |name: &str| shown.get("steps").and_then(|steps| steps.get(name)).map(ToString::to_string);
    assert_eq!(step("two").as_deref(), Some(r#"{"result":{"order":9}}"#));
    assert!(step("three").is_some_and(|step| step.starts_with(r#"{"failed":"#) && step.contains("not yours")));
    assert_eq!(driver.session.spent().tool_calls, 3);
    assert_eq!(driver.due(), ["turn-2/ask/1"]);
}

#[test]
fn the_steps_of_a_submitted_plan_are_mended_as_far_as_the_agent_file_allows() {
    let plan = r#"{"steps": [{"id": "one", "tool": "shop__look_up", "with": {"symbol": "Tesla"}}]}"#;
    let allowed = r#"{"success": false, "error": {"code": "SYMBOL_NOT_FOUND", "message": "no such symbol",
        "category": "NOT_FOUND", "details": {"field": "symbol", "allowed_values": ["TSLA", "AAPL"]}}}"#;
    for (mending, rejection, due) in [
        (AgentMending::Spelling, allowed, "turn-2/ask/1"),
        (AgentMending::Rules, allowed, "turn-1/call-1/one/call/2"),
        (AgentMending::Rules, r#"{"message": "no such symbol"}"#, "turn-2/ask/1"),
        (AgentMending::Models, r#"{"message": "no such symbol"}"#, "turn-1/call-1/one/feedback/1"),
    ] {
        let mut driver = TestDriver::begin(with_rules(|rules| {
            (rules.plans, rules.mending) = (Plans::Allowed, mending);
        }));
        driver.answer(calling(&[(PLAN_TOOL, plan)]));
        driver.reply("turn-1/call-1/one/call/1", 404, rejection);
        let mut found = driver.due();
        found.retain(|id| !id.contains("deadline"));
        assert_eq!(found, [due], "{mending:?} after {rejection}");
    }
}

#[test]
fn an_unbraced_reference_in_a_submitted_plan_is_read_as_in_any_plan_of_a_model() {
    let mut driver = TestDriver::begin(with_plans());
    driver.answer(calling(&[(PLAN_TOOL, &PLAN.replace("{{one.state}}", "$one.state"))]));
    driver.reply("turn-1/call-1/one/call/1", 200, r#"{"state": "sent"}"#);
    let order = driver.calls().into_iter().find(|call| call.capability.as_str() == "order").expect("a due call");
    assert_eq!(order.parameters.to_string(), r#"{"of":"sent"}"#);
    let repairs = driver.records.iter().find_map(|record| match &record.kind {
        RecordKind::Run(RunRecord::PlanAccepted { repairs, .. }) if !repairs.is_empty() => Some(repairs.clone()),
        _ => None,
    });
    assert!(repairs.is_some_and(|repairs| repairs[0].contains("{{one.state}}")), "the fix is recorded");
}

#[test]
fn an_invalid_plan_is_a_failed_call_that_names_the_problem() {
    for (plan, expected) in [
        (r#"{"steps": []}"#, "has no `steps`"),
        (r#"{"steps": [{"id": "a", "tool": "shop__fly"}]}"#, "there is no tool `shop__fly`"),
        (r#"{"steps": [{"id": "a", "tool": "agent__final_report"}]}"#, "cannot give the report"),
        (r#"{"steps": [{"id": "a", "tool": "shop__order", "with": {"x": "{{b.y}}"}}]}"#, "b"),
        (
            r#"{"steps": [{"id": "a", "tool": "shop__order", "after": ["b"]}, {"id": "b", "tool": "shop__order", "after": ["a"]}]}"#,
            "a",
        ),
    ] {
        let mut driver = TestDriver::begin(with_plans());
        driver.answer(calling(&[(PLAN_TOOL, plan)]));
        assert_eq!(driver.session.view().turn, 2, "{plan}");
        let shown = last_result(&driver);
        assert!(shown.starts_with("(tool failed: ") && shown.contains(expected), "{plan}: {shown}");
        assert!(matches!(
            driver.session.history().last(),
            Some(reknit_model_api::Message::Tool { is_error: true, .. })
        ));
    }
}

#[test]
fn a_plan_in_the_planner_format_is_accepted() {
    let mut driver = TestDriver::begin(with_plans());
    let written = r#"{"plan": {"steps": [{"step_id": "s1", "agent_name": "shop", "metadata": {"capability": "look_up", "parameters": {}}}]}}"#;
    driver.answer(calling(&[(PLAN_TOOL, written)]));
    assert_eq!(driver.calls()[0].id.to_string(), "turn-1/call-1/s1/call/1");
}

#[test]
fn the_plan_tool_is_unknown_unless_plans_are_allowed() {
    let mut driver = TestDriver::new();
    driver.answer(calling(&[(PLAN_TOOL, PLAN)]));
    assert_eq!(driver.attempt_lines(), ["1.1 a unknown_tool"]);
}

#[test]
fn a_called_agent_has_its_own_turns_and_its_report_is_the_result() {
    let mut driver = TestDriver::begin(with_agent(5, 5));
    assert!(driver.shown().contains(&"agent__researcher".to_owned()));
    driver.answer(calling(&[("agent__researcher", r#"{"input": "What is order 7?"}"#), ("shop__look_up", "{}")]));
    let (id, _, request) = driver.asked();
    assert_eq!(id, "turn-1/call-1/turn-1/ask/1");
    assert_eq!(request.messages[1].text(), "What is order 7?");
    assert!(request.messages[0].text().starts_with("You find things out."));
    let SessionActivity::Calling { steps, children } = driver.session.view().doing else { panic!("tools are called") };
    assert_eq!((steps.len(), children.len(), children[0].name.as_str()), (1, 1, "researcher"));
    assert!(matches!(&children[0].doing, ChildActivity::Agent(view) if view.turn == 1));
    driver.answer(calling(&[("shop__look_up", r#"{"id": 7}"#)]));
    driver.reply("turn-1/call-1/turn-1/call-1/call/1", 200, r#"{"state": "sent"}"#);
    driver.answer(reporting("It was sent."));
    assert_eq!(driver.session.view().turn, 1, "the other call is still in progress");
    driver.reply("turn-1/call-2/call/1", 200, "{}");
    let messages: Vec<&str> = driver.session.history().iter().skip(3).map(reknit_model_api::Message::text).collect();
    assert_eq!(messages, ["It was sent.", "{}"], "results keep the order of the calls");
    let spent = driver.session.spent();
    assert_eq!((spent.tool_calls, spent.model_calls), (2, 4), "the spending of the agent is included");
    driver.answer(reporting("All is well."));
    let report = driver.report();
    assert_eq!(report.children.len(), 1);
    let child = &report.children[0];
    assert_eq!(
        (child.name.as_str(), child.status.as_str(), child.done),
        ("agent__researcher", "EXIT-FINAL-ANSWER", true)
    );
    assert_eq!((child.spent.model_calls, child.call.as_str()), (2, "call-1"));
}

#[test]
fn a_failed_agent_is_a_failed_call() {
    let failing = calling(&[("agent__final_report", r#"{"report_content": "I could not.", "status": "failure"}"#)]);
    let mut driver = TestDriver::begin(with_agent(5, 5));
    driver.answer(calling(&[("agent__researcher", r#"{"input": "x"}"#)]));
    driver.answer(failing);
    assert_eq!(last_result(&driver), "(agent failed: I could not.)");
    driver.answer(calling(&[("agent__researcher", "{}")]));
    assert!(last_result(&driver).contains("`input` is missing"), "{}", last_result(&driver));
    driver.answer(calling(&[("agent__researcher", r#"{"input": "x"}"#)]));
    driver.fail_with(reknit_model_api::ErrorClass::AuthError);
    assert!(last_result(&driver).starts_with("(agent failed: The session ended without an answer"));
    assert_eq!(driver.session.report(), None, "the caller continues");
    let done: Vec<bool> = driver
        .session_records()
        .iter()
        .filter_map(|record| match record {
            SessionRecord::ChildEnded(child) => Some(child.done),
            _ => None,
        })
        .collect();
    assert_eq!(done, [false, false]);
}

#[test]
fn a_called_agent_is_limited_by_its_own_budget_and_by_its_share() {
    for (own, left, expected) in [(3, 25, 3), (25, 8, 3)] {
        let mut started = with_agent(5, own);
        let mut policy = started.policy.as_ref().clone();
        policy.limits.model_calls = left;
        started.policy = Arc::new(policy);
        let mut driver = TestDriver::begin(started);
        driver
            .answer(calling(&[("agent__researcher", r#"{"input": "x"}"#), ("agent__researcher", r#"{"input": "y"}"#)]));
        let mut asked = 0;
        while driver.session.view().turn == 1 && driver.due().iter().any(|id| id.starts_with("turn-1/call-1/")) {
            driver.answer(saying("words"));
            asked += 1;
        }
        assert_eq!(asked, expected, "own {own}, left {left}");
        assert!(driver.session.spent().model_calls <= left);
    }
}

#[test]
fn agents_that_run_in_parallel_share_the_remaining_budget() {
    let mut started = with_agent(9, 9);
    let mut policy = started.policy.as_ref().clone();
    policy.limits.tool_calls = 2;
    started.policy = Arc::new(policy);
    let mut driver = TestDriver::begin(started);
    driver.answer(calling(&[("agent__researcher", r#"{"input": "x"}"#), ("agent__researcher", r#"{"input": "y"}"#)]));
    for _ in 0..2 {
        driver.answer(calling(&[("shop__look_up", "{}"), ("shop__look_up", r#"{"id": 8}"#)]));
    }
    let mut due: Vec<String> = driver.calls().iter().map(|call| call.id.to_string()).collect();
    due.sort();
    assert_eq!(due, ["turn-1/call-1/turn-1/call-1/call/1", "turn-1/call-2/turn-1/call-1/call/1"]);
}

#[test]
fn nested_agents_have_nested_effect_ids_and_their_spending_adds_up() {
    let inner = with_agent(9, 9);
    let mut outer = started();
    outer.agents = vec![SubAgent { name: "manager".to_owned(), description: String::new(), session: inner }];
    let mut driver = TestDriver::begin(outer);
    driver.answer(calling(&[("agent__manager", r#"{"input": "x"}"#)]));
    driver.answer(calling(&[("agent__researcher", r#"{"input": "y"}"#)]));
    assert_eq!(driver.asked().0, "turn-1/call-1/turn-1/call-1/turn-1/ask/1");
    driver.answer(calling(&[("shop__order", "{}")]));
    let call = driver.calls().remove(0);
    assert_eq!(call.id.to_string(), "turn-1/call-1/turn-1/call-1/turn-1/call-1/call/1");
    driver.reply(&call.id.to_string(), 200, "{}");
    for _ in 0..3 {
        driver.answer(reporting("done"));
    }
    assert_eq!(driver.report().children[0].children[0].name, "agent__researcher");
    assert_eq!(driver.report().spent.model_calls, 6);
}

#[test]
fn a_stopped_session_lets_its_agents_report_first() {
    let mut driver = TestDriver::begin(with_agent(5, 5));
    driver.answer(calling(&[("agent__researcher", r#"{"input": "x"}"#)]));
    driver.apply(EventKind::Stopped);
    assert_eq!(driver.shown(), ["agent__final_report"], "the agent is in its final turn");
    driver.answer(reporting("Half of it."));
    assert_eq!(last_result(&driver), "Half of it.");
    assert_eq!(driver.session.view().forced_final_reason, Some(FinalTurnReason::UserStop));
    driver.answer(reporting("Half of it, says the researcher."));
    assert_eq!(driver.report().exit, SessionExit::UserStop);
}

#[test]
fn a_cancelled_session_ends_its_agents_and_plans_at_once() {
    let mut started = with_agent(5, 5);
    started.rules.plans = Plans::Allowed;
    let mut driver = TestDriver::begin(started);
    driver.answer(calling(&[("agent__researcher", r#"{"input": "x"}"#), (PLAN_TOOL, PLAN)]));
    driver.apply(EventKind::Cancelled);
    for effect in ["turn-1/call-2/one/call/1", "turn-1/call-2/three/call/1"] {
        driver.apply(EventKind::Interrupted { effect: effect.parse().unwrap() });
    }
    assert_eq!(driver.report().exit, SessionExit::SignalReceived);
    assert_eq!(driver.report().children.len(), 2);
}

#[test]
fn the_view_shows_the_steps_of_a_running_plan() {
    let mut driver = TestDriver::begin(with_plans());
    driver.answer(calling(&[(PLAN_TOOL, PLAN)]));
    let SessionActivity::Calling { children, .. } = driver.session.view().doing else { panic!("tools are called") };
    let ChildActivity::Plan(steps) = &children[0].doing else { panic!("the child is a plan") };
    assert_eq!(steps.len(), 3);
    assert!(matches!(steps[0].state, StepState::Running), "{:?}", steps[0].state);
}

#[test]
fn no_plan_or_agent_repeats_an_uncertain_call() {
    let mut started = with_agent(9, 9);
    started.rules.plans = Plans::Allowed;
    let mut driver = TestDriver::begin(started);
    driver.answer(calling(&[("shop__refund", r#"{"of": 7}"#)]));
    driver.apply(EventKind::Interrupted { effect: "turn-1/call-1/call/1".parse().unwrap() });
    let (effect, hash) = driver
        .session
        .pending()
        .into_iter()
        .find_map(
            |effect| if let Effect::AskPerson(ask) = effect { Some((ask.id.clone(), ask.hash.clone())) } else { None },
        )
        .expect("a person is asked");
    driver.apply(EventKind::PersonDecided {
        effect,
        hash,
        decision: Decision::Deny { reason: None },
        by: reknit_engine::DecidedBy::Person,
    });
    let steps = r#"{"steps": [{"id": "a", "tool": "shop__refund", "with": {"of": 7}}, {"id": "b", "tool": "shop__refund", "with": {"of": 8}}]}"#;
    driver.answer(calling(&[(PLAN_TOOL, steps), ("agent__researcher", r#"{"input": "x"}"#)]));
    driver.answer(calling(&[("shop__refund", r#"{"of": 7}"#)]));
    let sent: Vec<String> = driver.calls().iter().map(|call| call.parameters.to_string()).collect();
    assert_eq!(sent, [r#"{"of":8}"#]);
}

#[test]
fn plans_and_agents_of_a_session_have_its_metadata() {
    let metadata = Metadata::from_pairs([("tenant", "acme")]).expect("the metadata is valid");
    let mut policy = started().policy.as_ref().clone();
    policy.prompt_metadata = vec!["tenant".to_owned()];
    let mut session = with_agent(10, 10).with_metadata(metadata.clone());
    (session.rules.plans, session.policy) = (Plans::Allowed, Arc::new(policy));
    let mut driver = TestDriver::begin(session);
    let question = driver.asked().2.messages[1].text().to_owned();
    assert!(question.starts_with("Where is order 7?\n") && question.contains(r#""tenant": "acme""#), "{question}");
    driver.answer(calling(&[(PLAN_TOOL, PLAN), ("agent__researcher", r#"{"input": "x"}"#)]));
    let of_records: Vec<Metadata> = driver
        .records
        .iter()
        .filter_map(|record| match &record.kind {
            RecordKind::Run(RunRecord::Started { metadata, .. })
            | RecordKind::Session(SessionRecord::Started { metadata, .. }) => Some(metadata.clone()),
            _ => None,
        })
        .collect();
    assert_eq!(of_records, [metadata.clone(), metadata.clone(), metadata], "the session, its plan and its agent");
}
