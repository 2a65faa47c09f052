//! A server that is a program.

use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use reknit_mcp::{McpConnection, McpOptions, McpProgram, McpSource, ProtocolEra, ToolFilter};
use reknit_protocol::{Delivery, JobRequest, Number, Object, SideEffect, ToolJob, TransportKind, Value};
use reknit_tools::{Sandbox, SandboxMode, ToolSource, discover};

use crate::faults::{self, GOOD_LIST};
use crate::outside_folder::{outside_folder, say_skipped};
use crate::support::{call, call_with, json, list, route, scripted, value};

/// When a test that waits has failed.
const PATIENCE: Duration = Duration::from_mins(2);

#[tokio::test]
async fn a_program_lists_its_tools_page_by_page_and_reports_the_broken_ones() {
    let source = McpSource::new(McpOptions { trusted: true, ..scripted("") });
    let listing = list(&source).await;
    let names: Vec<&str> = listing.capabilities.iter().map(|listed| listed.entry.capability.name.as_str()).collect();
    assert_eq!(names[..3], ["echo", "environment", "fail"]);
    assert_eq!(listing.capabilities[0].entry.capability.effect, SideEffect::Read);
    assert_eq!(listing.description, "Echoes.");
    assert_eq!(
        listing.problems,
        [
            "tool `no_schema` has no `inputSchema`",
            r"the name of tool `bad\nname` has a control character",
            "a tool has no name",
        ]
    );
}

#[tokio::test]
async fn a_program_that_is_not_trusted_declares_no_class_and_has_only_the_tools_of_the_filter() {
    let filter = ToolFilter { only: vec!["e*".to_owned()], except: vec!["exit".to_owned()] };
    let listing = list(&McpSource::new(McpOptions { filter, ..scripted("") })).await;
    let names: Vec<&str> = listing.capabilities.iter().map(|listed| listed.entry.capability.name.as_str()).collect();
    assert_eq!(names, ["echo", "environment"]);
    assert_eq!(listing.capabilities[0].entry.capability.effect, SideEffect::Undeclared);
}

#[tokio::test]
async fn a_list_without_an_end_and_one_that_is_too_long_are_cut() {
    let listing = list(&McpSource::new(scripted("endless-list"))).await;
    assert_eq!(listing.problems, ["the server lists the same page again; the rest is left out"]);
    let listing = list(&McpSource::new(scripted("large-list"))).await;
    assert_eq!(listing.capabilities.len(), 10_000);
    assert_eq!(listing.problems, ["the server lists more than 10000 tools; the rest is left out"]);
}

#[tokio::test]
async fn a_call_carries_its_key_its_trace_and_a_progress_token() {
    let source = McpSource::new(scripted(""));
    let echo = route(&list(&source).await, "echo");
    let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let received = json(echo.call(&call("echo", r#"{"a": 1}"#), Some(trace)).await.expect("it is answered"));
    let meta = received.get("params").and_then(|params| params.get("_meta")).expect("there is metadata");
    assert_eq!(meta.get("reknit/idempotency-key"), Some(&Value::from("key-1")));
    assert_eq!(meta.get("traceparent"), Some(&Value::from(trace)));
    assert!(meta.get("progressToken").is_some(), "{meta}");
}

/// Arbitrary JSON, with numbers that no machine number can hold.
fn any_json() -> impl Strategy<Value = Value> {
    let number = "-?(0|[1-9][0-9]{0,30})(\\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?"
        .prop_map(|text| Value::Number(Number::parse(&text).expect("it is a number")));
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        number,
        any::<String>().prop_map(Value::String),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        let object = prop::collection::vec((any::<String>(), inner.clone()), 0..6);
        prop_oneof![
            prop::collection::vec(inner, 0..6).prop_map(Value::Array),
            object.prop_map(|members| Value::Object(members.into_iter().collect::<Object>())),
        ]
    })
}

#[test]
fn a_program_receives_exactly_the_parameters_that_were_bound() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let source = McpSource::new(scripted(""));
    let echo = route(&runtime.block_on(list(&source)), "echo");
    let mut runner = TestRunner::new(ProptestConfig { cases: 200, ..ProptestConfig::default() });
    let outcome = runner.run(&any_json(), |json_value| {
        let parameters = Object::from([("value", json_value)]);
        let expected = parameters.to_string();
        let reply = runtime.block_on(echo.call(&call_with("echo", parameters), None)).expect("it is answered");
        let received = json(reply);
        let arguments = received.get("params").and_then(|params| params.get("arguments")).expect("arguments");
        prop_assert_eq!(arguments.to_string(), expected);
        Ok(())
    });
    outcome.expect("every value arrives");
}

#[tokio::test]
async fn calls_at_the_same_time_share_one_process_and_get_their_own_answers() {
    let source = McpSource::new(scripted(""));
    let listing = list(&source).await;
    let echo = route(&listing, "echo");
    let answers = (0..100).map(|number| {
        let echo = Arc::clone(&echo);
        async move {
            let parameters = Object::from([("number", Value::from(number))]);
            let received = json(echo.call(&call_with("echo", parameters), None).await.expect("it is answered"));
            let arguments = received.get("params").and_then(|params| params.get("arguments")).expect("arguments");
            assert_eq!(arguments.get("number"), Some(&Value::from(number)));
        }
    });
    futures_util::future::join_all(answers).await;
    assert_eq!(source.generation(), 0, "nothing was started again");
}

#[tokio::test]
async fn a_result_keeps_its_digits() {
    let source = McpSource::new(scripted(""));
    let digits = route(&list(&source).await, "digits");
    let result = json(digits.call(&call("digits", "{}"), None).await.expect("it is answered"));
    assert_eq!(result.to_string(), r#"{"id":12345678901234567890123,"price":1.10}"#);
}

#[tokio::test]
async fn a_program_gets_only_basic_variables_and_those_that_are_named() {
    let mut options = scripted("");
    if let McpConnection::Stdio(program) = &mut options.connection {
        program.environment.push(("REGION".to_owned(), "eu-west-1".to_owned()));
        program.secrets.push(("API_TOKEN".to_owned(), "t0ken-value".into()));
    }
    assert!(!format!("{options:?}").contains("t0ken-value"));
    let source = McpSource::new(options);
    let environment = route(&list(&source).await, "environment");
    let variables = json(environment.call(&call("environment", "{}"), None).await.expect("it is answered"));
    let variables = variables.as_object().expect("an object");
    assert_eq!(variables.get("REGION"), Some(&Value::from("eu-west-1")));
    assert_eq!(variables.get("API_TOKEN"), Some(&Value::from("[redacted]")), "a secret does not come back");
    assert!(variables.contains_key("PATH"));
    // Cargo sets this for every test.
    assert!(std::env::var("CARGO_MANIFEST_DIR").is_ok());
    assert!(!variables.contains_key("CARGO_MANIFEST_DIR"), "{variables}");
}

#[tokio::test]
async fn a_program_in_a_sandbox_writes_only_where_it_may() {
    let sandbox = Sandbox::new(SandboxMode::Required);
    if !sandbox.describe().starts_with("sandboxed: ") {
        return say_skipped("the kernel cannot enforce a sandbox");
    }
    let Some(folder) = outside_folder() else {
        return say_skipped("this user can write only where a sandbox allows it");
    };
    let file = folder.path().join("file").display().to_string();
    let at_call =
        r#"if echo x > "$FILE"; then answer '"result":{"content":[]}'; else answer '"result":{"isError":true}'; fi"#;
    let allowed = Sandbox { write: vec![folder.path().to_owned()], ..sandbox.clone() };
    for (sandbox, writes) in [(None, true), (Some(allowed), true), (Some(sandbox), false)] {
        let mut options = faults::program(GOOD_LIST, at_call);
        let McpConnection::Stdio(program) = &mut options.connection else { panic!("it is a program") };
        program.environment.push(("FILE".to_owned(), file.clone()));
        program.sandbox.clone_from(&sandbox);
        let echo = route(&list(&McpSource::new(options)).await, "echo");
        let status = echo.call(&call("echo", "{}"), None).await.expect("it is answered").status;
        assert_eq!(status == 200, writes, "{sandbox:?}");
    }
}

#[tokio::test]
async fn a_program_that_says_nothing_is_given_up() {
    let silent = McpProgram { program: "sleep".into(), arguments: vec!["1000".to_owned()], ..McpProgram::default() };
    let options = McpOptions::new("silent", McpConnection::Stdio(silent));
    let source = McpSource::new(McpOptions { connect_limit: Duration::from_millis(500), ..options });
    assert_eq!(source.list().await.expect_err("it is silent"), "it did not get ready within 500ms");
}

#[tokio::test]
async fn failures_of_a_tool_and_unknown_tools_are_replies_with_a_status() {
    let source = McpSource::new(scripted(""));
    let listing = list(&source).await;
    let reply = route(&listing, "fail").call(&call("fail", "{}"), None).await.expect("it is answered");
    let expected = value(r#"{"success":false,"error":{"code":"MCP_TOOL_ERROR","message":"no such city"}}"#);
    assert_eq!((reply.status, reply.body.to_value()), (400, expected));
    let failure = route(&listing, "odd").call(&call("odd", "{}"), None).await.expect_err("it cannot be read");
    assert_eq!((failure.kind, failure.delivery), (TransportKind::Unreadable, Delivery::Possible));
}

#[tokio::test]
async fn a_program_that_ends_during_a_call_leaves_its_outcome_open_and_is_started_again() {
    let source = McpSource::new(scripted(""));
    let listing = list(&source).await;
    let failure = route(&listing, "exit").call(&call("exit", "{}"), None).await.expect_err("it ends");
    assert_eq!((failure.kind, failure.delivery), (TransportKind::Reset, Delivery::Possible));
    assert_eq!(
        failure.message,
        "`scripted` broke the connection: it ended (exit status: 3); its last output: running 1 test | the disk is full"
    );
    let before = source.generation();
    let reply = route(&listing, "echo").call(&call("echo", "{}"), None).await;
    assert_eq!(json(reply.expect("it is started again")).get("id").map(Value::kind), Some(Value::from(1).kind()));
    assert_eq!(source.generation(), before + 1, "the tools may have changed");
}

#[tokio::test]
async fn a_program_that_does_not_start_is_tried_again_after_growing_waits() {
    let source = McpSource::new(scripted("broken"));
    let first = source.list().await.expect_err("it does not start");
    assert!(first.contains(r"exit status: 4); its last output: "), "{first}");
    assert!(first.contains(r"cannot open the \u{1b}[31mdatabase"), "{first}");
    // The second start follows at once, the third after a second.
    source.list().await.expect_err("it does not start");
    let waiting = source.list().await.expect_err("it is not started yet");
    assert!(waiting.starts_with("it is started again in 1 s: it did not agree on the protocol"), "{waiting}");
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(1)).await;
    tokio::time::resume();
    let third = source.list().await.expect_err("it does not start");
    assert!(third.starts_with("it did not agree"), "{third}");
    let waiting = source.list().await.expect_err("it is not started yet");
    assert!(waiting.starts_with("it is started again in "), "{waiting}");
}

#[tokio::test]
async fn a_server_that_fails_hides_only_its_own_tools() {
    let missing = McpProgram { program: "no-such-program-anywhere".into(), ..McpProgram::default() };
    let missing = McpSource::new(McpOptions::new("missing", McpConnection::Stdio(missing)));
    let sources: [Arc<dyn ToolSource>; 2] = [Arc::new(missing), Arc::new(McpSource::new(scripted("")))];
    let discovery = discover(&sources).await;
    assert!(discovery.catalogue.entry("scripted", "echo").is_some());
    let problem = discovery.problems.iter().find(|problem| problem.tool == "missing").expect("it is reported");
    assert!(problem.message.starts_with("the program `no-such-program-anywhere` cannot be started"), "{problem}");
}

#[tokio::test]
async fn a_call_that_is_given_up_is_cancelled_at_the_server() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("cancelled");
    let mut options = scripted("");
    if let McpConnection::Stdio(program) = &mut options.connection {
        let path = file.to_str().expect("a path").to_owned();
        program.environment.push(("REKNIT_TEST_FILE".to_owned(), path));
    }
    let source = McpSource::new(options);
    let listing = list(&source).await;
    let hanging = reknit_protocol::CallTool { timeout_ms: 50, ..call("hang", "{}") };
    let failure = route(&listing, "hang").call(&hanging, None).await.expect_err("it takes too long");
    assert_eq!((failure.kind, failure.delivery), (TransportKind::TimedOut, Delivery::Possible));
    // The next answer comes after the server has read the cancellation.
    let echo = route(&listing, "echo");
    let cancelled = async {
        while !file.exists() {
            echo.call(&call("echo", "{}"), None).await.expect("it is answered");
        }
    };
    tokio::time::timeout(PATIENCE, cancelled).await.expect("the server is told");
}

#[tokio::test]
async fn a_list_that_changed_raises_the_generation_and_progress_has_no_effect() {
    let source = McpSource::new(scripted(""));
    let change = route(&list(&source).await, "change");
    let mut changes = source.changes();
    assert_eq!(source.generation(), 0);
    change.call(&call("change", "{}"), None).await.expect("it is answered");
    let first_change = changes.wait_for(|generation| *generation == 1);
    tokio::time::timeout(PATIENCE, first_change).await.expect("it is told").expect("the source lives");
}

#[tokio::test]
async fn what_a_program_started_ends_with_the_source() {
    let source = McpSource::new(scripted(""));
    let listing = list(&source).await;
    let reply = route(&listing, "start_child").call(&call("start_child", "{}"), None).await;
    let pid = json(reply.expect("it is answered")).to_string();
    let stat = format!("/proc/{pid}/stat");
    let is_running = || std::fs::read_to_string(&stat).is_ok_and(|stat| !stat.contains(") Z "));
    assert!(is_running());
    drop((source, listing));
    let ended = async {
        while is_running() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::time::timeout(PATIENCE, ended).await.expect("the child ends");
}

#[tokio::test]
async fn a_message_that_is_too_large_ends_the_connection() {
    let source = McpSource::new(McpOptions { max_message: 50_000, ..scripted("") });
    let listing = list(&source).await;
    let failure = route(&listing, "large").call(&call("large", "{}"), None).await.expect_err("it is too large");
    assert!(failure.message.ends_with("it sent a message of more than 50000 bytes"), "{failure}");
    assert_eq!((failure.kind, failure.delivery), (TransportKind::TooLarge, Delivery::Possible));
    route(&listing, "echo").call(&call("echo", "{}"), None).await.expect("it is started again");
}

#[tokio::test]
async fn both_eras_of_the_protocol_are_spoken() {
    for (script, era) in [
        ("modern", ProtocolEra::Detect),
        ("modern", ProtocolEra::Stateless),
        ("", ProtocolEra::Handshake),
        ("exits-on-discover", ProtocolEra::Detect),
    ] {
        let source = McpSource::new(McpOptions { era, ..scripted(script) });
        let echo = route(&list(&source).await, "echo");
        let received = json(echo.call(&call("echo", "{}"), None).await.expect("it is answered"));
        let meta = received.get("params").and_then(|params| params.get("_meta")).expect("there is metadata");
        let version = meta.get("io.modelcontextprotocol/protocolVersion").and_then(Value::as_str);
        assert_eq!(version, (script == "modern").then_some("2026-07-28"), "case: {script} {era:?}");
        source.close().await;
    }
}

#[tokio::test]
async fn a_call_that_became_a_task_is_a_job_whose_state_is_asked_for_until_it_ends() {
    let source = McpSource::new(scripted("modern"));
    let task = route(&list(&source).await, "task");
    let reply = task.call(&call("task", "{}"), None).await.expect("it is answered");
    let running = Some(ToolJob::Ask { handle: "t1".to_owned() });
    assert_eq!((reply.status, reply.retry_after_ms, &reply.job), (202, Some(1), &running));
    let ask = JobRequest::Ask("t1".to_owned());
    for _ in 0..2 {
        assert_eq!(task.job(&call("task", "{}"), &ask).await.expect("it is answered").job, running);
    }
    let ended = task.job(&call("task", "{}"), &ask).await.expect("it is answered");
    assert_eq!((ended.status, ended.job, ended.body.to_value()), (200, None, Value::from("done")));
}

#[tokio::test]
async fn a_task_that_the_server_does_not_know_any_more_is_lost() {
    let source = McpSource::new(scripted("modern"));
    let task = route(&list(&source).await, "task");
    let ask = JobRequest::Ask("t2".to_owned());
    let reply = task.job(&call("task", "{}"), &ask).await.expect("it is answered");
    let Some(ToolJob::Lost { reason }) = reply.job else { panic!("it is lost: {reply:?}") };
    assert_eq!(reason, "the server does not know its task any more: no task t2");
}

#[tokio::test]
async fn a_task_that_ends_without_a_result_is_a_failed_call() {
    let source = McpSource::new(scripted("modern"));
    let task = route(&list(&source).await, "task");
    for (id, status, message) in [
        ("failed", 400, "no paper"),
        ("cancelled", 500, "the task was cancelled: by its owner"),
        ("input_required", 400, "input"),
    ] {
        let reply = task.job(&call("task", "{}"), &JobRequest::Ask(id.to_owned())).await.expect("it is answered");
        assert_eq!((reply.status, &reply.job), (status, &None), "{id}: {reply:?}");
        assert!(reply.body.to_value().to_string().contains(message), "{id}: {reply:?}");
    }
}

#[tokio::test]
async fn a_server_that_does_not_tell_the_state_of_a_task_has_not_lost_it() {
    let source = McpSource::new(scripted("modern"));
    let task = route(&list(&source).await, "task");
    let failure = task.job(&call("task", "{}"), &JobRequest::Ask("busy".to_owned())).await.expect_err("no state");
    assert_eq!((failure.kind, failure.delivery), (TransportKind::Reset, Delivery::Possible));
    assert!(failure.message.ends_with("does not tell the state of its task: ask later"), "{failure}");
}

#[tokio::test]
async fn a_task_can_be_cancelled() {
    let source = McpSource::new(scripted("modern"));
    let task = route(&list(&source).await, "task");
    let cancelled = |id: &str| JobRequest::Cancel(id.to_owned());
    assert_eq!(task.job(&call("task", "{}"), &cancelled("t1")).await.expect("it is answered").status, 200);
    let reply = task.job(&call("task", "{}"), &cancelled("t2")).await.expect("it is answered");
    assert!(reply.status >= 400, "{reply:?}");
}
