//! Plans and agents that a model calls.

use std::sync::Arc;

use reknit_engine::{
    ChildDoing, Decision, Doing, Effect, Exit, ForcedReason, PLAN_TOOL, Plans, Record, SessionStarted, StepState,
    SubAgent, What,
};

use crate::world::{Play, calling, json, reporting, saying, started, with_rules};

fn with_plans() -> SessionStarted {
    with_rules(|rules| rules.plans = Plans::Allowed)
}

/// An agent `clerk` that may call `researcher`, which may spend so much.
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

fn last_result(play: &Play) -> String {
    play.session.history().last().map(|message| message.text().to_owned()).unwrap_or_default()
}

const PLAN: &str = r#"{"steps": [
    {"id": "one", "tool": "shop__look_up", "with": {"id": 7}},
    {"id": "two", "tool": "shop__order", "with": {"of": "{{one.state}}"}},
    {"id": "three", "tool": "look_up", "with": {"id": 8}}]}"#;

#[test]
fn a_plan_is_handed_over_whole_and_each_step_is_told() {
    let mut play = Play::begin(with_plans());
    assert!(play.shown().contains(&PLAN_TOOL.to_owned()));
    play.answer(calling(&[(PLAN_TOOL, PLAN)]));
    let mut due = play.due();
    due.retain(|id| !id.contains("deadline"));
    assert_eq!(due, ["turn-1/call-1/one/call/1", "turn-1/call-1/three/call/1"], "what can begin begins");
    play.reply("turn-1/call-1/three/call/1", 403, r#"{"message": "not yours"}"#);
    play.reply("turn-1/call-1/one/call/1", 200, r#"{"state": "sent"}"#);
    let order = play.calls().remove(0);
    assert_eq!(order.parameters.to_string(), r#"{"of":"sent"}"#);
    assert!(order.idempotency_key.is_some());
    play.reply("turn-1/call-1/two/call/1", 200, r#"{"success": true, "data": {"order": 9}}"#);
    let told = json(&last_result(&play));
    assert_eq!(told.get("status"), Some(&"partial".into()));
    let step = |name: &str| told.get("steps").and_then(|steps| steps.get(name)).map(ToString::to_string);
    assert_eq!(step("two").as_deref(), Some(r#"{"result":{"order":9}}"#));
    assert!(step("three").is_some_and(|step| step.starts_with(r#"{"failed":"#) && step.contains("not yours")));
    assert_eq!(play.session.spent().tool_calls, 3);
    assert_eq!(play.due(), ["turn-2/ask/1"]);
}

#[test]
fn a_plan_that_cannot_run_is_a_failed_call_that_says_all_that_is_wrong() {
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
        let mut play = Play::begin(with_plans());
        play.answer(calling(&[(PLAN_TOOL, plan)]));
        assert_eq!(play.session.view().turn, 2, "{plan}");
        let told = last_result(&play);
        assert!(told.starts_with("(tool failed: ") && told.contains(expected), "{plan}: {told}");
        assert!(matches!(play.session.history().last(), Some(reknit_dialogue::Message::Tool { is_error: true, .. })));
    }
}

#[test]
fn a_plan_as_planners_write_it_is_taken_too() {
    let mut play = Play::begin(with_plans());
    let written = r#"{"plan": {"steps": [{"step_id": "s1", "agent_name": "shop", "metadata": {"capability": "look_up", "parameters": {}}}]}}"#;
    play.answer(calling(&[(PLAN_TOOL, written)]));
    assert_eq!(play.calls()[0].id.to_string(), "turn-1/call-1/s1/call/1");
}

#[test]
fn plans_are_no_tool_unless_they_are_allowed() {
    let mut play = Play::new();
    play.answer(calling(&[(PLAN_TOOL, PLAN)]));
    assert_eq!(play.ledger(), ["1.1 a unknown_tool"]);
}

#[test]
fn an_agent_works_in_its_own_turns_and_its_report_is_the_result() {
    let mut play = Play::begin(with_agent(5, 5));
    assert!(play.shown().contains(&"agent__researcher".to_owned()));
    play.answer(calling(&[("agent__researcher", r#"{"input": "What is order 7?"}"#), ("shop__look_up", "{}")]));
    let (id, _, request) = play.asked();
    assert_eq!(id, "turn-1/call-1/turn-1/ask/1");
    assert_eq!(request.messages[1].text(), "What is order 7?");
    assert!(request.messages[0].text().starts_with("You find things out."));
    let Doing::Calling { steps, children } = play.session.view().doing else { panic!("it calls") };
    assert_eq!((steps.len(), children.len(), children[0].name.as_str()), (1, 1, "researcher"));
    assert!(matches!(&children[0].doing, ChildDoing::Agent(view) if view.turn == 1));
    play.answer(calling(&[("shop__look_up", r#"{"id": 7}"#)]));
    play.reply("turn-1/call-1/turn-1/call-1/call/1", 200, r#"{"state": "sent"}"#);
    play.answer(reporting("It was sent."));
    assert_eq!(play.session.view().turn, 1, "the other call is not over");
    play.reply("turn-1/call-2/call/1", 200, "{}");
    let said: Vec<&str> = play.session.history().iter().skip(3).map(reknit_dialogue::Message::text).collect();
    assert_eq!(said, ["It was sent.", "{}"], "results stand in the order of their calls");
    let spent = play.session.spent();
    assert_eq!((spent.tool_calls, spent.model_calls), (2, 4), "what the agent spent is spent");
    play.answer(reporting("All is well."));
    let report = play.report();
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
    let mut play = Play::begin(with_agent(5, 5));
    play.answer(calling(&[("agent__researcher", r#"{"input": "x"}"#)]));
    play.answer(failing);
    assert_eq!(last_result(&play), "(agent failed: I could not.)");
    play.answer(calling(&[("agent__researcher", "{}")]));
    assert!(last_result(&play).contains("`input` is missing"), "{}", last_result(&play));
    play.answer(calling(&[("agent__researcher", r#"{"input": "x"}"#)]));
    play.fail_with(reknit_dialogue::ErrorClass::AuthError);
    assert!(last_result(&play).starts_with("(agent failed: The session ended without an answer"));
    assert_eq!(play.session.report(), None, "who called it goes on");
    let done: Vec<bool> = play
        .session
        .records()
        .iter()
        .filter_map(|record| match record {
            Record::Child(child) => Some(child.done),
            _ => None,
        })
        .collect();
    assert_eq!(done, [false, false]);
}

#[test]
fn an_agent_spends_no_more_than_it_may_and_no_more_than_falls_to_it() {
    for (own, left, expected) in [(3, 25, 3), (25, 8, 3)] {
        let mut started = with_agent(5, own);
        let mut policy = started.policy.as_ref().clone();
        policy.limits.model_calls = left;
        started.policy = Arc::new(policy);
        let mut play = Play::begin(started);
        play.answer(calling(&[("agent__researcher", r#"{"input": "x"}"#), ("agent__researcher", r#"{"input": "y"}"#)]));
        let mut asked = 0;
        while play.session.view().turn == 1 && play.due().iter().any(|id| id.starts_with("turn-1/call-1/")) {
            play.answer(saying("words"));
            asked += 1;
        }
        assert_eq!(asked, expected, "own {own}, left {left}");
        assert!(play.session.spent().model_calls <= left);
    }
}

#[test]
fn agents_that_are_called_together_share_what_is_left() {
    let mut started = with_agent(9, 9);
    let mut policy = started.policy.as_ref().clone();
    policy.limits.tool_calls = 2;
    started.policy = Arc::new(policy);
    let mut play = Play::begin(started);
    play.answer(calling(&[("agent__researcher", r#"{"input": "x"}"#), ("agent__researcher", r#"{"input": "y"}"#)]));
    for _ in 0..2 {
        play.answer(calling(&[("shop__look_up", "{}"), ("shop__look_up", r#"{"id": 8}"#)]));
    }
    let mut due: Vec<String> = play.calls().iter().map(|call| call.id.to_string()).collect();
    due.sort();
    assert_eq!(due, ["turn-1/call-1/turn-1/call-1/call/1", "turn-1/call-2/turn-1/call-1/call/1"]);
}

#[test]
fn agents_in_agents_have_names_and_budgets_inside_each_other() {
    let inner = with_agent(9, 9);
    let mut outer = started();
    outer.agents = vec![SubAgent { name: "manager".to_owned(), description: String::new(), session: inner }];
    let mut play = Play::begin(outer);
    play.answer(calling(&[("agent__manager", r#"{"input": "x"}"#)]));
    play.answer(calling(&[("agent__researcher", r#"{"input": "y"}"#)]));
    assert_eq!(play.asked().0, "turn-1/call-1/turn-1/call-1/turn-1/ask/1");
    play.answer(calling(&[("shop__order", "{}")]));
    let call = play.calls().remove(0);
    assert_eq!(call.id.to_string(), "turn-1/call-1/turn-1/call-1/turn-1/call-1/call/1");
    play.reply(&call.id.to_string(), 200, "{}");
    for _ in 0..3 {
        play.answer(reporting("done"));
    }
    assert_eq!(play.report().children[0].children[0].name, "agent__researcher");
    assert_eq!(play.report().spent.model_calls, 6);
}

#[test]
fn who_stops_a_session_lets_its_agents_report_first() {
    let mut play = Play::begin(with_agent(5, 5));
    play.answer(calling(&[("agent__researcher", r#"{"input": "x"}"#)]));
    play.happen(What::Stopped);
    assert_eq!(play.shown(), ["agent__final_report"], "the agent is in its last turn");
    play.answer(reporting("Half of it."));
    assert_eq!(last_result(&play), "Half of it.");
    assert_eq!(play.session.view().forced_final_reason, Some(ForcedReason::UserStop));
    play.answer(reporting("Half of it, says the researcher."));
    assert_eq!(play.report().exit, Exit::UserStop);
}

#[test]
fn who_cancels_a_session_ends_its_agents_and_plans_at_once() {
    let mut started = with_agent(5, 5);
    started.rules.plans = Plans::Allowed;
    let mut play = Play::begin(started);
    play.answer(calling(&[("agent__researcher", r#"{"input": "x"}"#), (PLAN_TOOL, PLAN)]));
    play.happen(What::Cancelled);
    for effect in ["turn-1/call-2/one/call/1", "turn-1/call-2/three/call/1"] {
        play.happen(What::Interrupted { effect: effect.parse().unwrap() });
    }
    assert_eq!(play.report().exit, Exit::SignalReceived);
    assert_eq!(play.report().children.len(), 2);
}

#[test]
fn steps_of_a_plan_are_seen_while_it_runs() {
    let mut play = Play::begin(with_plans());
    play.answer(calling(&[(PLAN_TOOL, PLAN)]));
    let Doing::Calling { children, .. } = play.session.view().doing else { panic!("it calls") };
    let ChildDoing::Plan(steps) = &children[0].doing else { panic!("it is a plan") };
    assert_eq!(steps.len(), 3);
    assert!(matches!(steps[0].state, StepState::Running), "{:?}", steps[0].state);
}

#[test]
fn a_call_that_may_have_happened_is_made_again_by_no_plan_and_no_agent() {
    let mut started = with_agent(9, 9);
    started.rules.plans = Plans::Allowed;
    let mut play = Play::begin(started);
    play.answer(calling(&[("shop__refund", r#"{"of": 7}"#)]));
    play.happen(What::Interrupted { effect: "turn-1/call-1/call/1".parse().unwrap() });
    let (effect, hash) = play
        .session
        .pending()
        .into_iter()
        .find_map(|effect| if let Effect::AskPerson(ask) = effect { Some((ask.id, ask.hash)) } else { None })
        .expect("a person is asked");
    play.happen(What::PersonDecided { effect, hash, decision: Decision::Deny });
    let steps = r#"{"steps": [{"id": "a", "tool": "shop__refund", "with": {"of": 7}}, {"id": "b", "tool": "shop__refund", "with": {"of": 8}}]}"#;
    play.answer(calling(&[(PLAN_TOOL, steps), ("agent__researcher", r#"{"input": "x"}"#)]));
    play.answer(calling(&[("shop__refund", r#"{"of": 7}"#)]));
    let sent: Vec<String> = play.calls().iter().map(|call| call.parameters.to_string()).collect();
    assert_eq!(sent, [r#"{"of":8}"#]);
}
