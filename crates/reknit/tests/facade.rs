//! The library as a program uses it: functions as tools, a scripted model, handles of runs.
#![cfg(test)]
#![expect(clippy::float_cmp, reason = "these numbers are exact")]

use std::time::Duration;

use reknit::engine::{ApprovalRule, Outcome};
use reknit::mend::{Fate, Rung};
use reknit::model_api::{ErrorClass, Message, ModelFailure};
use reknit::plan::read_plan_file;
use reknit::protocol::{Category, SideEffect};
use reknit::tool_service::CallContext;
use reknit::{
    AgentError, Decision, EventCursor, ModelScript, Object, Plan, Reknit, ReknitBuilder, RunEventKind, RunHandle,
    RunResult, Status, TextPiece, ToolError, Value,
};

/// The price of an article.
///
/// Only tea is sold.
#[reknit::tool(read, service = "shop")]
async fn price(
    /// The article, such as `tea`.
    article: String,
    count: Option<u32>,
) -> Result<f64, ToolError> {
    if article == "tea" {
        Ok(4.5 * f64::from(count.unwrap_or(1)))
    } else {
        Err(ToolError::new("NO_SUCH_ARTICLE", format!("there is no `{article}`"), Category::NotFound))
    }
}

/// Converts euros to won.
#[reknit::tool(read, name = "to-won")]
fn in_won(euros: f64) -> f64 {
    euros * 1500.0
}

/// Orders tea.
#[reknit::tool(unsafe, service = "shop")]
async fn order(context: CallContext, count: u32) -> String {
    let has_key = context.idempotency_key().is_some();
    format!("{count} cups, {}", if has_key { "once" } else { "perhaps twice" })
}

fn plan(text: &str) -> Plan {
    read_plan_file(text).expect("it is a plan").0
}

fn two_cups() -> Plan {
    plan("steps:\n  - {id: order, tool: shop/order, with: {count: 2}}\n")
}

async fn started(builder: ReknitBuilder) -> Reknit {
    let reknit = builder.tools([price(), in_won(), order()]).start().await.expect("it starts");
    assert!(reknit.problems().is_empty(), "{:?}", reknit.problems());
    reknit
}

fn tea() -> Plan {
    plan(
        "steps:\n  - {id: tea, tool: shop/price, with: {article: tea, count: '3'}}\n  \
         - {id: won, tool: functions/to-won, with: {euros: '{{tea.data}}'}}\n",
    )
}

#[test]
fn the_doc_comment_and_the_arguments_of_a_function_become_description_and_schema() {
    let tool = price();
    let announced = tool.definition().announcement();
    assert_eq!(announced.description, "The price of an article.\n\nOnly tea is sold.");
    assert_eq!((tool.to_string().as_str(), announced.effect), ("shop/price", SideEffect::Read));
    assert_eq!(in_won().to_string(), "functions/to-won");
    let summary = format!("{:?}", announced.input_summary);
    assert!(summary.contains("The article, such as `tea`."), "{summary}");
    assert_eq!(order().definition().announcement().effect, SideEffect::Unsafe);
}

#[tokio::test]
async fn a_plan_over_functions_has_a_typed_output_and_says_what_was_mended() {
    let reknit = started(Reknit::builder()).await;
    let answer = reknit.run_plan(tea(), Object::new()).await.expect("it succeeds");
    assert_eq!(answer.output::<f64>().expect("a number"), 20_250.0);
    assert_eq!(answer.step_result::<f64>("tea").expect("a number"), 13.5);
    let mends = answer.mends();
    assert_eq!((mends[0].call.as_str(), mends[0].rung), ("tea", Rung::Schema));
    let error = answer.output::<Vec<String>>().expect_err("it is a number");
    assert_eq!(error.to_string(), "20250.0 does not have the type that the program expects");
    assert_eq!(answer.step_result::<f64>("gone").unwrap_err().to_string(), "the run has no result of step `gone`");
}

#[tokio::test]
async fn the_outputs_and_inputs_of_a_plan_are_those_of_the_program() {
    let reknit = started(Reknit::builder()).await;
    let plan = plan(
        "inputs:\n  cups: {type: integer}\nsteps:\n  - {id: tea, tool: shop/price, with: {article: tea, count: \
         '{{inputs.cups}}'}}\noutputs:\n  euros: '{{tea.data}}'\n",
    );
    let answer = reknit.run_plan(plan, Object::from([("cups", 2.into())])).await.expect("it succeeds");
    let outputs: std::collections::BTreeMap<String, f64> = answer.output().expect("numbers by name");
    assert_eq!(outputs["euros"], 9.0);
}

#[tokio::test]
async fn a_failed_run_tells_status_code_fault_fate_and_every_attempt() {
    let reknit = started(Reknit::builder()).await;
    let plan = plan("steps:\n  - {id: milk, tool: shop/price, with: {article: milk}}\n");
    let error = reknit.run_plan(plan, Object::new()).await.expect_err("there is no milk");
    let failure = error.failure().expect("it ended");
    assert_eq!(failure.status, Status::Failed);
    let [step] = failure.steps.as_slice() else { panic!("one step failed: {:?}", failure.steps) };
    assert_eq!((step.code(), step.fate, step.attempts.len()), ("NO_SUCH_ARTICLE", Fate::Rejected, 1));
    assert_eq!(step.fault().map(|fault| fault.message.as_str()), Some("there is no `milk`"));
    assert_eq!(step.attempts[0].parameters, Object::from([("article", "milk".into())]));
    let RunResult::Answer(answer) = &failure.result else { panic!("it is a run") };
    assert!(matches!(answer.steps[0].outcome, Outcome::Failed { .. }));
}

const MODEL_PLAN: &str = r#"{"steps": [{"step_id": "tea", "agent_name": "shop", "instruction": "the price",
    "metadata": {"capability": "price", "parameters": {"article": "tea"}}}]}"#;

#[tokio::test]
async fn a_request_is_planned_by_a_model_and_its_text_is_streamed() {
    let model = ModelScript::new().answer(MODEL_PLAN).answer("One cup costs 4.5 euros.");
    let reknit = started(Reknit::builder().model_client(model.clone())).await;
    let run = reknit.ask("What does a cup of tea cost?");
    let mut pieces = Vec::new();
    let mut text = run.text();
    while let Some(piece) = text.next().await {
        pieces.push(piece);
    }
    assert_eq!(pieces[..2], [TextPiece::Text("One ".to_owned()), TextPiece::Text("cup ".to_owned())]);
    assert_eq!(pieces.iter().filter_map(TextPiece::as_text).collect::<String>(), "One cup costs 4.5 euros.");
    let answer = run.await.expect("it succeeds");
    assert_eq!(answer.text(), "One cup costs 4.5 euros.");
    assert_eq!((model.requests().len(), answer.spent().model_calls), (2, 2));
    assert!(model.requests()[0].messages.iter().map(Message::text).any(|text| text.contains("Only tea is sold.")));
}

#[tokio::test]
async fn the_second_model_answers_if_the_first_fails() {
    let failing = ModelScript::new().failure(ModelFailure::new(ErrorClass::ModelError, "overloaded").with_status(503));
    let second = ModelScript::new().answer(MODEL_PLAN).answer("4.5 euros.");
    let reknit = started(Reknit::builder().model_client(failing).model_client(second)).await;
    let run = reknit.ask("What does a cup of tea cost?");
    assert_eq!(run.outcome().await.expect("it succeeds").text(), "4.5 euros.");
    let mut failures = Vec::new();
    let mut events = run.events();
    while let Some(event) = events.next().await {
        if let RunEventKind::ModelFailed { reason } = event.kind {
            failures.push(reason);
        }
    }
    assert!(failures[0].contains("overloaded"), "{failures:?}");
}

async fn lines(run: &RunHandle, cursor: EventCursor) -> Vec<String> {
    let mut lines = Vec::new();
    let mut events = run.events_after(cursor);
    while let Some(event) = events.next().await {
        lines.push(event.to_string());
    }
    lines
}

#[tokio::test]
async fn events_go_on_after_a_cursor_also_in_another_process() {
    let folder = tempfile::tempdir().expect("a folder");
    let journal = folder.path().join("runs.db");
    let reknit = started(Reknit::builder().journal(&journal)).await;
    let run = reknit.run_plan(tea(), Object::new());
    let mut events = run.events();
    let second = loop {
        let event = events.next().await.expect("there are more than two");
        if event.cursor == EventCursor(2) {
            break event;
        }
    };
    let (all, rest) = (lines(&run, EventCursor::default()).await, lines(&run, second.cursor).await);
    assert_eq!(all[2..], rest);
    assert_eq!((all[0].as_str(), all.last().map(String::as_str)), ("started: ", Some("ended: complete")));
    let id = run.id.clone();
    drop((reknit, run, events));
    let again = started(Reknit::builder().journal(&journal)).await.resume(&id);
    assert_eq!(lines(&again, second.cursor).await, rest);
    assert_eq!(again.await.expect("it is stored").output::<f64>().expect("a number"), 20_250.0);
}

#[tokio::test]
async fn a_run_waits_for_a_decision_and_goes_on() {
    let reknit = started(asking(Reknit::builder())).await;
    let run = reknit.run_plan(two_cups(), Object::new());
    let questions = run.questions().await.expect("it can be read");
    assert_eq!(questions[0].question.call().expect("a call").parameters, Object::from([("count", 2.into())]));
    run.decide(&questions[0], Decision::Approve).await.expect("it is stored");
    assert_eq!(run.questions().await.expect("it can be read"), []);
    assert_eq!(run.await.expect("it succeeds").output::<String>().expect("a text"), "2 cups, once");

    let denied = reknit.run_plan(two_cups(), Object::new());
    let questions = denied.questions().await.expect("it can be read");
    let reason = Some("too much".to_owned());
    denied.decide(&questions[0], Decision::Deny { reason }).await.expect("it is stored");
    let second = denied.decide(&questions[0], Decision::Approve).await.expect_err("the first decision counts");
    assert_eq!(second.code().as_str(), "already_decided");
    assert!(denied.await.unwrap_err().failure().expect("it ended").steps[0].reason.contains("too much"));
}

#[tokio::test]
async fn a_run_that_waits_can_be_cancelled() {
    let reknit = started(asking(Reknit::builder())).await;
    let run = reknit.run_plan(two_cups(), Object::new());
    assert_eq!(run.questions().await.expect("it can be read").len(), 1);
    run.cancel().await.expect("it is stored");
    assert_eq!(run.await.unwrap_err().failure().expect("it ended").status, Status::Cancelled);
}

#[tokio::test]
async fn an_agent_calls_tools_and_reports() {
    let value = |text: &str| Value::parse(text).expect("JSON");
    let model = ModelScript::new()
        .call("shop__price", &value(r#"{"article": "tea"}"#))
        .report(&value(r#"{"status": "success", "report_format": "json", "content_json": {"euros": 4.5}}"#));
    let reknit = started(Reknit::builder().model_client(model)).await;
    let agent = "---\noutput:\n  format: json\n  schema: {type: object, required: [euros]}\n---\nYou sell tea.";
    let answer = reknit.agent(agent, "What does tea cost?").expect("it starts").await.expect("it succeeds");
    let euros: std::collections::BTreeMap<String, f64> = answer.output().expect("the report");
    assert_eq!(euros["euros"], 4.5);

    let unknown = reknit.agent("---\ntools: [bank]\n---\nYou sell tea.", "?").expect_err("there is no bank");
    assert_eq!(unknown.to_string(), "the agent uses the tool `bank`, which does not exist");
    let files = reknit.agent("---\nagents: [other.md]\n---\nYou sell tea.", "?");
    assert!(matches!(files, Err(AgentError::Files)));
}

#[tokio::test]
async fn a_session_goes_on_with_the_next_message_and_its_report_is_streamed() {
    let report = |text: &str| Value::Object(Object::from([("report_content", Value::from(text))]));
    let model = ModelScript::new().report(&report("Tea is cheap.")).report(&report("Yes, green tea too."));
    let reknit = started(Reknit::builder().model_client(model.clone())).await;
    let first = reknit.agent("You sell tea.", "What does tea cost?").expect("it starts");
    first.outcome().await.expect("it succeeds");
    let second = reknit.follow_up(&first.id, "Also green tea?");
    assert_eq!(second.outcome().await.expect("it succeeds").text(), "Yes, green tea too.");
    let asked = model.requests().last().expect("it was asked").messages.clone();
    let texts: Vec<&str> = asked.iter().skip(1).map(Message::text).collect();
    assert_eq!(texts, ["What does tea cost?", "", "The user has read it.", "Also green tea?"]);
    let mut text = second.text();
    let mut streamed = String::new();
    while let Some(piece) = text.next().await {
        streamed.push_str(piece.as_text().unwrap_or_default());
    }
    assert_eq!(streamed, "Yes, green tea too.");

    let plan = reknit.run_plan(tea(), Object::new());
    plan.outcome().await.expect("it succeeds");
    let refused = reknit.follow_up(&plan.id, "Thanks").outcome().await.expect_err("it is not a session");
    assert!(matches!(refused, reknit::RunError::NotDriven(_)), "{refused}");
}

/// Asks a person before a call of `shop/order` is sent.
fn asking(builder: ReknitBuilder) -> ReknitBuilder {
    let rule = ApprovalRule { capability: Some("shop/order".into()), ..ApprovalRule::default() };
    builder.configure(move |config| config.approve(rule))
}

#[tokio::test]
async fn unfinished_runs_are_continued_after_a_restart() {
    let folder = tempfile::tempdir().expect("a folder");
    let journal = folder.path().join("runs.db");
    let builder = || asking(Reknit::builder().journal(&journal));
    let reknit = started(builder()).await;
    let run = reknit.run_plan(two_cups(), Object::new());
    assert_eq!(run.questions().await.expect("it can be read").len(), 1);
    let id = run.id.clone();
    drop((run, reknit));

    let reknit = started(builder()).await;
    let unfinished = reknit.resume_unfinished().await.expect("the journal can be read");
    let [run] = unfinished.as_slice() else { panic!("one run waits: {unfinished:?}") };
    assert_eq!(run.id, id);
    let questions = run.questions().await.expect("it can be read");
    run.decide(&questions[0], Decision::Approve).await.expect("it is stored");
    assert_eq!(run.outcome().await.expect("it succeeds").output::<String>().expect("a text"), "2 cups, once");
    assert_eq!(reknit.resume_unfinished().await.expect("the journal can be read").len(), 0);
}

#[tokio::test]
async fn a_question_that_nobody_answers_in_time_is_answered_with_no() {
    let builder = Reknit::builder().configure(|config| config.person_time(Duration::from_millis(50)));
    let reknit = started(asking(builder)).await;
    let run = reknit.run_plan(two_cups(), Object::new());
    let outcome = tokio::time::timeout(Duration::from_mins(2), run.outcome()).await.expect("it ends by itself");
    let failure = format!("{:?}", outcome.expect_err("nothing was ordered"));
    assert!(failure.contains("the time to approve it ran out"), "{failure}");
}

#[tokio::test]
async fn a_run_whose_tools_are_not_configured_here_is_left_for_a_process_that_has_them() {
    let folder = tempfile::tempdir().expect("a folder");
    let journal = folder.path().join("runs.db");
    let builder = || asking(Reknit::builder().journal(&journal));
    let ask = async {
        let reknit = started(builder()).await;
        let run = reknit.run_plan(two_cups(), Object::new());
        let questions = run.questions().await.expect("it can be read");
        // A run that waits for a person is given back a moment after its question can be read.
        while reknit.runtime().journal.summary(&run.id).await.expect("it is there").lease.is_some() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        (run.id.clone(), questions)
    };
    // A task of its own would go on with the run as soon as it is decided; here it ends with its tokio runtime, as with a process.
    let (id, questions) = std::thread::scope(|scope| {
        let asked = scope.spawn(|| tokio::runtime::Runtime::new().expect("a runtime").block_on(ask));
        asked.join().expect("it waits for a person")
    });

    let other = Reknit::builder().journal(&journal).start().await.expect("it starts without tools");
    assert_eq!(other.resume_unfinished().await.expect("the journal can be read").len(), 0);
    assert_eq!(other.resume_abandoned().await.expect("the journal can be read").len(), 0);
    let watched = other.follow(&id);
    watched.decide(&questions[0], Decision::Approve).await.expect("it is stored");
    let refused = other.resume(&id).outcome().await.expect_err("it has no tool");
    let reknit::RunError::NotDriven(reason) = refused else { panic!("{refused}") };
    assert_eq!(
        reason.to_string(),
        format!("`order` of tool `shop` is not configured here; go on with run `{id}` where it is")
    );
    drop((watched, other));

    let reknit = started(builder()).await;
    let unfinished = reknit.resume_unfinished().await.expect("the journal can be read");
    let [run] = unfinished.as_slice() else { panic!("one run goes on: {unfinished:?}") };
    assert_eq!(run.outcome().await.expect("it succeeds").output::<String>().expect("a text"), "2 cups, once");
}
