//! Steps that run an agent, as the machine decides about them: which session a call is, what its report means, what it may spend.

use std::sync::Arc;

use reknit_engine::{
    EventKind, MACHINE_VERSION, Metadata, Outcome, Policy, Run, SessionRequest, SessionRules, SessionStarted,
    SessionTexts, Started, Status, SubAgent, Templates,
};
use reknit_model_api::{Money, Price, Prices};
use reknit_plan::{AGENT_TOOL, AgentAnnouncement};
use reknit_protocol::{RunId, Step};

use crate::world::{Play, failure_reason, object, plan, policy, started};

fn agent(name: &str) -> SubAgent {
    let session = SessionStarted {
        run: RunId::new(""),
        agent: name.to_owned(),
        prompt: "You are a clerk.".to_owned(),
        input: String::new(),
        attachments: Vec::new(),
        metadata: Metadata::default(),
        agents: Vec::new(),
        catalogue: Arc::default(),
        unavailable: Vec::new(),
        targets: vec!["a".into()],
        rules: SessionRules::default(),
        policy: Arc::new(Policy::default()),
        templates: Arc::new(Templates::default()),
        words: Arc::new(SessionTexts::default()),
        seed: 0,
        trace_parent: None,
        fork: None,
        machine_version: MACHINE_VERSION,
    };
    SubAgent { name: name.to_owned(), description: String::new(), session }
}

fn clerk(id: &str) -> Step {
    Step::new(id, AGENT_TOOL, "clerk", "").with_parameters(object(r#"{"task": "Where is it?"}"#))
}

fn begin(steps: Vec<Step>, policy: Policy) -> Play {
    let started = started(Some(plan(steps)), policy);
    let announced = AgentAnnouncement { name: "clerk".to_owned(), description: String::new(), report_type: "string" };
    let catalogue = started.catalogue.with_agents([announced]).expect("no tool is called `agent`");
    let metadata = Metadata::from_pairs([("tenant", "acme")]).expect("valid metadata");
    Play::begin(Started { catalogue: Arc::new(catalogue), agents: vec![agent("clerk")], metadata, ..started })
}

fn session(play: &Play, effect: &str) -> SessionStarted {
    match play.run.session_call(&play.call(effect)).map(|call| call.request) {
        Some(SessionRequest::Start(session)) => *session,
        other => panic!("no session is started: {other:?}"),
    }
}

fn report(status: &str, cost: u64) -> String {
    format!(
        r#"{{"report": "In Seoul.", "status": "{status}", "session": "s", "spent": {{"tool_calls": 2, "model_calls": 3,
            "input_tokens": 10, "output_tokens": 5, "cost": {cost}, "active_ms": 7}}}}"#
    )
}

#[test]
fn a_call_of_an_agent_is_a_session_whose_id_follows_from_the_run_and_the_step() {
    let play = begin(vec![clerk("a"), clerk("b")], policy());
    let (one, other) = (session(&play, "a/call/1"), session(&play, "b/call/1"));
    assert_eq!((one.input.as_str(), one.agent.as_str()), ("Where is it?", "clerk"));
    assert_eq!(one.metadata.iter().collect::<Vec<_>>(), [("tenant", "acme")]);
    assert!(one.run.as_str().starts_with("run-1.") && one.run != other.run, "{} {}", one.run, other.run);
    let replayed = Run::begin(&play.events[0]).expect("the run begins").0;
    let again = Play { run: replayed, ..play.clone() };
    assert_eq!(session(&again, "a/call/1"), one);
    // A call of a tool is none.
    let tool = begin(vec![crate::world::step("t", "read", "{}")], policy());
    assert_eq!(tool.run.session_call(&tool.call("t/call/1")), None);
}

#[test]
fn the_report_is_the_result_and_what_the_session_spent_counts_towards_the_answer() {
    let after = crate::world::step("after", "read", r#"{"text": "{{clerk.report}} {{clerk.status}}"}"#);
    let mut play = begin(vec![clerk("clerk"), after], policy());
    play.answer_tool("clerk/call/1", 200, &report("partial", 40));
    assert_eq!(play.call("after/call/1").parameters.to_string(), r#"{"text":"In Seoul. partial"}"#);
    play.answer_tool("after/call/1", 200, "{}");
    let answer = play.run.answer().expect("the run has ended");
    let spent = &answer.spent;
    assert_eq!((spent.tool_calls, spent.model_calls, spent.input_tokens), (4, 3, 10));
    assert_eq!((spent.cost, play.run.sessions_cost()), (Money::from_nanos(40), Money::from_nanos(40)));
    assert!(answer.steps[0].session.is_some() && answer.steps[1].session.is_none());
}

#[test]
fn a_run_whose_agent_did_not_do_everything_is_partial_and_says_what_is_missing() {
    for (shortcomings, doubt) in [
        (r#", "shortcomings": ["the mail was not sent"]"#, "the agent of clerk: the mail was not sent"),
        ("", "the agent of clerk did not do everything"),
    ] {
        let mut play = begin(vec![clerk("clerk")], policy());
        let report = report("partial", 0).replacen(r#", "session""#, &format!(r#"{shortcomings}, "session""#), 1);
        play.answer_tool("clerk/call/1", 200, &report);
        let answer = play.run.answer().expect("the run has ended");
        assert_eq!((answer.status, answer.doubts.as_slice()), (Status::Partial, &[doubt.to_owned()][..]));
    }
}

#[test]
fn a_session_without_a_usable_report_fails_its_step_and_is_not_started_again() {
    let mut play = begin(vec![clerk("clerk")], policy());
    let failed =
        report("failure", 0).replace(r#""session""#, r#""failure": "the agent reports a failure: no", "session""#);
    play.answer_tool("clerk/call/1", 200, &failed);
    let reason = failure_reason(&play);
    assert!(reason.starts_with("the agent reports a failure: no (session run-1."), "{reason}");
    assert!(reason.ends_with("; its session has ended, and is not started again"), "{reason}");
    // A retry asks for the same session: somebody may have gone on with it.
    let before = session(&begin(vec![clerk("clerk")], policy()), "clerk/call/1").run;
    play.happen(EventKind::Retried);
    assert_eq!(session(&play, "clerk/call/2").run, before);
    play.answer_tool("clerk/call/2", 200, &report("success", 0));
    let answer = play.run.answer().expect("the run has ended");
    assert_eq!((answer.status, answer.spent.model_calls), (Status::Complete, 3), "what it spent counts once");
}

#[test]
fn sessions_share_what_is_left_of_the_cost_limit() {
    let mut policy = policy();
    policy.limits.money = Some(Money::from_nanos(900));
    let prices = Prices::new(Price::from_micros(1), Price::from_micros(1));
    policy.prices.insert("a".into(), prices);
    let mut two = clerk("two");
    two.metadata.insert("foreach", "[1, 2]");
    let mut play = begin(vec![clerk("one"), two], policy);
    let share = |play: &Play, effect: &str| session(play, effect).policy.limits.money.map(Money::nanos);
    // Three sessions share 900. What one does not spend is left for those that start later.
    let shares: Vec<Option<u64>> = play.due().iter().map(|effect| share(&play, effect)).collect();
    assert!(shares.iter().flatten().sum::<u64>() <= 900, "{shares:?}");
    assert_eq!(shares.len(), 3);
    assert!(shares.iter().all(|share| share.is_some_and(|share| share >= 200)), "{shares:?}");
    for effect in play.due() {
        play.answer_tool(&effect, 200, &report("success", 100));
    }
    let answer = play.run.answer().expect("the run has ended");
    assert_eq!((answer.status, answer.spent.cost), (Status::Complete, Money::from_nanos(300)));
    assert_eq!(answer.spent.reserved_cost, Money::default());
}

#[test]
fn no_session_starts_when_nothing_is_left_of_the_cost_limit() {
    let mut policy = policy();
    policy.limits.money = Some(Money::from_nanos(100));
    let mut play = begin(vec![clerk("one"), clerk("two").after("one")], policy);
    play.answer_tool("one/call/1", 200, &report("success", 100));
    let answer = play.run.answer().expect("the run has ended");
    let Outcome::Skipped { reason } = &answer.steps[1].outcome else { panic!("{:?}", answer.steps[1]) };
    assert!(reason.starts_with("the cost limit"), "{reason}");
    assert_eq!(answer.status, Status::BudgetExhausted);
}
