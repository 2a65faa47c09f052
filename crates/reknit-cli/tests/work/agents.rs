//! `reknit agent` with an agent file, a scripted model and a scripted tool.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use reknit_fakes::model::{RequestMatcher, Script};
use reknit_fakes::tool::{self, RunningTool, ScriptedTool};
use reknit_fakes::{Reply, ScriptedModel};
use reknit_protocol::{Category, SideEffect, ToolError, Value};

use crate::interrupt::interrupt;
use crate::world::{World, assert_contains, assert_refused};

const CLERK: &str = "---\ntools: [shop]\nmaxTurns: 3\n---\nYou work for a shop.\n";

async fn shop() -> RunningTool {
    let sent = Value::parse(r#"{"state": "sent"}"#).expect("JSON");
    let shop = ScriptedTool::new("shop").capability("look_up", SideEffect::Read);
    shop.on("look_up", tool::CallMatcher::any(), Reply::data(sent)).start().await.expect("the shop opens")
}

fn look_up() -> Reply {
    Reply::tool_call("shop__look_up", r#"{"id": 7}"#)
}

fn report(arguments: &str) -> Reply {
    Reply::tool_call("agent__final_report", arguments)
}

/// A model that looks up the order and then reports.
async fn model() -> ScriptedModel {
    let script = Script::new()
        .once(RequestMatcher::any(), look_up())
        .on(RequestMatcher::any(), report(r##"{"report_content": "# Order 7\n\nIt was sent."}"##));
    ScriptedModel::start(script).await.expect("the model starts")
}

fn configured(shop: &RunningTool, model: &ScriptedModel) -> World {
    let models = format!("[[models]]\nname = \"local\"\nurl = \"{}\"\nmodel = \"scripted\"\n", model.base_url());
    World::new().configured(&[shop], &models)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_becomes_a_test_that_notices_a_changed_prompt() {
    let (shop, model) = (shop().await, model().await);
    let world = configured(&shop, &model).file("clerk.md", CLERK);
    world.reknit(&["agent", "clerk.md", "Where is order 7?"]);
    world.reknit(&["test", "record", "last", "--agent", "clerk.md", "-o", "tests/clerk.yaml"]);
    drop((shop, model));
    let passed = world.reknit(&["test"]);
    assert!(passed.contains("1 test: 1 passed, 0 failed"), "{passed}");
    let world = world.file("clerk.md", &CLERK.replace("a shop", "another shop"));
    assert_contains(&world.reknit(&["test"]), "unexpected question");
    let updated = world.reknit(&["test", "--update", "--yes"]);
    assert!(updated.contains("+     digest: ") && world.reknit(&["test"]).contains("1 passed"), "{updated}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_calls_tools_and_reports() {
    let (shop, model) = (shop().await, model().await);
    let world = configured(&shop, &model).file("clerk.md", CLERK);
    insta::assert_snapshot!(world.reknit(&["agent", "clerk.md", "Where is order 7?"]), @"
    exit status 0 --- stdout
    # Order 7

    It was sent.
    --- stderr
    > turn 1  asking local
    > turn 1  calling tools
      > call-1  look_up  running
    ✓ turn 1  called tools
    > turn 2  asking local
    ✓ turn 2  wrote the report


    final answer: 2 turns, 1 tool call, 2 model calls, N s

    hint: see each attempt with `reknit runs show RUN`
    ");
    insta::assert_snapshot!(world.reknit(&["runs", "show", "last"]), @r##"
    exit status 0 --- stdout
    session  RUN
    agent    clerk
    input    Where is order 7?
    status   final answer
    spent    1 tool call, 2 model calls, 4 events

    ✓ turn 1  called tools
    ✓ turn 2  wrote the report

    attempt 1.1  local  tool_calls, N s, 91 tokens in, 0 out
    attempt 2.1  local  final_report, N s, 92 tokens in, 0 out

    call     shop__look_up {"id": 7}
    result   shop__look_up: {"state":"sent"}
    call     agent__final_report {"report_content": "# Order 7\n\nIt was sent."}

    # Order 7

    It was sent.
    "##);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_payment_that_is_reported_and_was_refused_is_told_also_with_quiet() {
    let refused = ToolError::new("NO_ACCOUNT", "ann has no account", Category::InputError);
    let bank = ScriptedTool::new("bank").capability("pay", SideEffect::Unsafe);
    let bank = bank.on("pay", tool::CallMatcher::any(), Reply::error(refused)).start().await.expect("the bank opens");
    let script = Script::new()
        .once(RequestMatcher::any(), Reply::tool_call("bank__pay", r#"{"to": "ann", "amount": 5}"#))
        .on(RequestMatcher::any(), report(r#"{"report_content": "Paid ann 5 dollars."}"#));
    let model = ScriptedModel::start(script).await.expect("the model starts");
    let world = configured(&bank, &model).file("clerk.md", "You pay bills.\n");
    insta::assert_snapshot!(world.reknit(&["agent", "--quiet", "clerk.md", "Pay ann 5 dollars."]), @r#"
    exit status 3 --- stdout
    Paid ann 5 dollars.
    --- stderr
    warning: not done: `pay` of `bank` with {"to":"ann","amount":5} failed: 400 NO_ACCOUNT: ann has no account
    note: the status of the report is `partial`
    "#);
    assert_eq!(bank.call_count(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_report_as_json_is_complete() {
    let shop = shop().await;
    let script =
        Script::new().on(RequestMatcher::any(), report(r#"{"content_json": {"state": "sent"}, "status": "partial"}"#));
    let model = ScriptedModel::start(script).await.expect("the model starts");
    let schema = r#"{"type": "object", "required": ["state"], "properties": {"state": {"type": "string"}}}"#;
    let agent = "---\noutput: {format: json, schema: state.json}\n---\nYou work for a shop.\n";
    let world = configured(&shop, &model).file("clerk.md", agent).file("state.json", schema);
    let output = world.output(&["agent", "clerk.md", "--json", "Where is order 7?"]);
    let value = Value::parse(&crate::world::text(&output.stdout)).expect("JSON");
    assert_eq!(value.get("content_json"), Some(&Value::parse(r#"{"state": "sent"}"#).expect("JSON")));
    for (key, expected) in
        [("exit", "EXIT-FINAL-ANSWER"), ("source", "tool-call"), ("status", "partial"), ("format", "json")]
    {
        assert_eq!(value.get(key).and_then(Value::as_str), Some(expected), "{key}");
    }
    assert_eq!(output.status.code(), Some(3), "the report says that it is partial");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupt_during_a_wait_for_a_rate_limit_still_asks_for_the_report() {
    let shop = shop().await;
    let script = Script::new()
        .once(RequestMatcher::any(), Reply::status(429).retry_after(40))
        .on(RequestMatcher::any().says("wants you to stop"), report(r#"{"report_content": "Nothing yet."}"#));
    let model = ScriptedModel::start(script).await.expect("the model starts");
    let world = configured(&shop, &model).file("clerk.md", CLERK);
    let mut child = world.spawn(&["agent", "clerk.md", "Where is order 7?"]);
    let mut lines = BufReader::new(child.stderr.take().expect("it is piped")).lines();
    let waits = lines.by_ref().map(|line| line.expect("a line")).find(|line| line.contains("rate limited"));
    assert!(waits.is_some(), "the wait is announced before it begins");
    interrupt(&child);
    let rest: Vec<String> = lines.map(|line| line.expect("a line")).collect();
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(crate::world::text(&output.stdout), "Nothing yet.\n", "{rest:#?}");
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(model.requests().len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_file_can_be_executed() {
    let (shop, model) = (shop().await, model().await);
    let program = env!("CARGO_BIN_EXE_reknit");
    let world = configured(&shop, &model).file("clerk.md", &format!("#!/usr/bin/env -S \"{program}\" agent\n{CLERK}"));
    let path = world.path().join("clerk.md");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it can be made a program");
    let output = world.around(Command::new(&path), &["Where is order 7?"]).output().expect("it can be run");
    assert_eq!(crate::world::text(&output.stdout), "# Order 7\n\nIt was sent.\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_session_exit_has_its_exit_status() {
    let shop = shop().await;
    for (script, name, code) in [
        (Script::new().on(RequestMatcher::any(), Reply::status(401)), "auth failure", 7),
        (Script::new().on(RequestMatcher::any(), Reply::status(402)), "quota exceeded", 8),
        (Script::new().on(RequestMatcher::any(), Reply::text("")), "max retries", 1),
        (Script::new().on(RequestMatcher::any(), look_up()), "max turns no response", 1),
    ] {
        let model = ScriptedModel::start(script).await.expect("the model starts");
        let world = configured(&shop, &model).file("clerk.md", CLERK);
        let output = world.output(&["agent", "clerk.md", "Where is order 7?"]);
        assert_eq!(output.status.code(), Some(code), "{name}");
        let said = crate::world::text(&output.stderr);
        assert!(said.contains(&format!("{name}: ")) && said.contains("no model wrote this report"), "{said}");
        assert!(crate::world::text(&output.stdout).starts_with("The session ended without an answer"), "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_configuration_has_the_defaults_of_agent_settings() {
    let shop = shop().await;
    for (case, session, file, turns) in [
        ("nobody says", "", "", "10 turns"),
        ("the configuration says", "[session]\nmax-turns = 2\n", "", "2 turns"),
        ("the file says", "[session]\nmax-turns = 2\n", "maxTurns: 3\n", "3 turns"),
    ] {
        let model =
            ScriptedModel::start(Script::new().on(RequestMatcher::any(), look_up())).await.expect("the model starts");
        let url = model.base_url();
        let models = format!("{session}[[models]]\nname = \"local\"\nurl = \"{url}\"\nmodel = \"scripted\"\n");
        let clerk = format!("---\ntools: [shop]\n{file}---\nYou work for a shop.\n");
        let world = World::new().configured(&[&shop], &models).file("clerk.md", &clerk);
        let shown = world.reknit(&["agent", "clerk.md", "Where is order 7?"]);
        assert!(shown.contains(&format!("max turns no response: {turns},")), "case: {case}: {shown}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bad_agent_file_is_rejected_with_all_its_problems() {
    let (shop, model) = (shop().await, model().await);
    let world = configured(&shop, &model)
        .file("bad.md", "---\nmaxTurn: 3\nllmTimeout: 600\n---\n")
        .file("tools.md", "---\ntools: [shop/fly]\n---\nx\n")
        .file("models.md", "---\ntargets: [other]\n---\nx\n")
        .file("good.md", "x\n");
    for arguments in [
        &["agent", "bad.md", "x"][..],
        &["agent", "tools.md", "x"],
        &["agent", "models.md", "x"],
        &["agent", "good.md"],
    ] {
        assert_eq!(world.output(arguments).status.code(), Some(2), "{arguments:?}");
    }
    insta::assert_snapshot!(world.reknit(&["agent", "bad.md", "x"]), @"
    exit status 2 --- stderr
    error: cannot use `bad.md` as an agent
      - line 2, column 1: `maxTurn`: there is no such setting; did you mean `maxTurns`?
      - line 3, column 1: `llmTimeout`: write a time that is not 0, with its unit, like `500ms`, `30s` or `2 min`
      - the agent has no prompt: write what it is to do below the settings

    hint: see an example of an agent file with `reknit agent --help`
    ");
    assert_refused(
        &world.reknit(&["agent", "tools.md", "x"]),
        "the agent uses the capability `shop/fly`, which does not exist",
        "available: look_up",
    );
    assert_refused(
        &world.reknit(&["agent", "models.md", "x"]),
        "the agent uses the model `other`, which does not exist",
        "available: local",
    );
    assert!(model.requests().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn one_interrupt_asks_for_the_report_and_a_second_cancels_the_session() {
    let shop = shop().await;
    let script = Script::new()
        .on(RequestMatcher::any().says("late").says("wants you to stop"), Reply::silence())
        .on(RequestMatcher::any().says("wants you to stop"), report(r#"{"report_content": "Nothing yet."}"#))
        .on(RequestMatcher::any(), Reply::silence());
    let model = ScriptedModel::start(script).await.expect("the model starts");
    let world = configured(&shop, &model).file("clerk.md", CLERK);

    let child = world.spawn(&["agent", "clerk.md", "Where is order 7?"]);
    model.wait_for_requests(1).await;
    interrupt(&child);
    let output = child.wait_with_output().expect("it ends");
    insta::assert_snapshot!(world.show(&output), @"
    exit status 0 --- stdout
    Nothing yet.
    --- stderr
    > turn 1  asking local
    stopping: one last turn for the report; press Ctrl-C again to cancel without a report
    - turn 1  stopped
    > turn 2 (last)  asking local
    ✓ turn 2  wrote the report


    user stop: 2 turns, 0 tool calls, 2 model calls, N s

    hint: see each attempt with `reknit runs show RUN`
    ");

    let child = world.spawn(&["agent", "clerk.md", "Where is the order that is late?"]);
    model.wait_for_requests(3).await;
    interrupt(&child);
    model.wait_for_requests(4).await;
    interrupt(&child);
    let output = child.wait_with_output().expect("it ends");
    insta::assert_snapshot!(world.show(&output), @"
    exit status 130 --- stdout
    The session ended without an answer in turn 2: the session was cancelled.
    --- stderr
    > turn 1  asking local
    stopping: one last turn for the report; press Ctrl-C again to cancel without a report
    - turn 1  stopped
    > turn 2 (last)  asking local
    cancelling: calls in progress may still complete; press Ctrl-C again to exit now
    - turn 2  stopped


    note: no model wrote this report
    signal received: 2 turns, 0 tool calls, 2 model calls, N s

    hint: see each attempt with `reknit runs show RUN`
    ");
}

#[tokio::test(flavor = "multi_thread")]
async fn progress_shows_an_agent_and_the_agent_it_calls() {
    let shop = shop().await;
    let script = Script::new()
        .on(RequestMatcher::any().says("You find orders.").lacks("sent"), look_up())
        .on(RequestMatcher::any().says("You find orders."), report(r#"{"report_content": "Order 7 was sent."}"#))
        .on(
            RequestMatcher::any().lacks("Order 7 was sent"),
            Reply::tool_call("agent__finder", r#"{"input": "Find order 7."}"#),
        )
        .on(RequestMatcher::any(), report(r#"{"report_content": "It was sent, says the finder."}"#));
    let model = ScriptedModel::start(script).await.expect("the model starts");
    let world = configured(&shop, &model)
        .file("clerk.md", "---\nagents: [finder.md]\ntools: []\n---\nYou ask others.\n")
        .file("finder.md", "---\ndescription: finds orders\nmaxModelCalls: 5\n---\nYou find orders.\n");
    insta::assert_snapshot!(world.reknit(&["agent", "clerk.md", "Where is order 7?"]), @"
    exit status 0 --- stdout
    It was sent, says the finder.
    --- stderr
    > turn 1  asking local
    > turn 1  calling tools
      > call-1  finder
        > turn 1  asking local
        > turn 1  calling tools
          > call-1  look_up  running
        > turn 2  asking local
    ✓ turn 1  call-1 agent__finder: final answer
    ✓ turn 1  called tools
    > turn 2  asking local
    ✓ turn 2  wrote the report


    final answer: 2 turns, 1 tool call, 4 model calls, N s

    hint: see each attempt with `reknit runs show RUN`
    ");
    let output = world.output(&["agent", "clerk.md", "--json", "Where is order 7?"]);
    let value = Value::parse(&crate::world::text(&output.stdout)).expect("JSON");
    let child = value.get("children").and_then(Value::as_array).and_then(<[Value]>::first).expect("a child");
    assert_eq!(child.get("name").and_then(Value::as_str), Some("agent__finder"));
    assert_eq!(child.get("status").and_then(Value::as_str), Some("EXIT-FINAL-ANSWER"));
}

#[tokio::test(flavor = "multi_thread")]
async fn agents_that_call_each_other_in_a_cycle_are_rejected_before_any_call() {
    let (shop, model) = (shop().await, model().await);
    let world = configured(&shop, &model)
        .file("a.md", "---\nagents: [b.md]\n---\nx\n")
        .file("b.md", "---\nagents: [c.md]\n---\nx\n")
        .file("c.md", "---\nagents: [b.md]\n---\nx\n")
        .file("lost.md", "---\nagents: [nobody.md]\n---\nx\n");
    assert_refused(
        &world.reknit(&["agent", "a.md", "x"]),
        "agents call each other in a cycle: b.md -> c.md -> b.md",
        "remove one of them from `agents` of its caller",
    );
    insta::assert_snapshot!(world.reknit(&["agent", "lost.md", "x"]), @"
    exit status 2 --- stderr
    error: cannot read `nobody.md`
      caused by: No such file or directory (os error 2)

    hint: list the files there with `ls .`
    ");
    assert!(model.requests().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn progress_shows_the_steps_of_a_plan_that_an_agent_submits() {
    let shop = shop().await;
    let steps = r#"{"steps": [{"id": "one", "tool": "shop__look_up", "with": {"id": 7}},
                              {"id": "two", "tool": "shop__look_up", "with": {"of": "{{one.state}}"}}]}"#;
    let script = Script::new()
        .once(RequestMatcher::any(), Reply::tool_call("agent__run_plan", steps))
        .on(RequestMatcher::any(), report(r#"{"report_content": "Both were sent."}"#));
    let model = ScriptedModel::start(script).await.expect("the model starts");
    let world = configured(&shop, &model).file("clerk.md", "---\nplans: true\n---\nYou plan.\n");
    insta::assert_snapshot!(world.reknit(&["agent", "clerk.md", "Where are they?"]), @"
    exit status 0 --- stdout
    Both were sent.
    --- stderr
    > turn 1  asking local
    > turn 1  calling tools
      > call-1  agent__run_plan
        > one  look_up  running
        · two  look_up  waiting for one
        ✓ one  look_up  done
        > two  look_up  running
    ✓ turn 1  call-1 agent__run_plan: complete
    ✓ turn 1  called tools
    > turn 2  asking local
    ✓ turn 2  wrote the report


    final answer: 2 turns, 2 tool calls, 2 model calls, N s

    hint: see each attempt with `reknit runs show RUN`
    ");
    assert_eq!(shop.calls()[1].parameters.to_string(), r#"{"of":"sent"}"#);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_has_metadata_which_its_model_sees_only_if_the_configuration_names_the_key() {
    for (setting, is_shown) in [("", false), ("[prompts]\nmetadata = [\"tenant\"]\n", true)] {
        let (shop, model) = (shop().await, model().await);
        let models = format!("[[models]]\nname = \"local\"\nurl = \"{}\"\nmodel = \"scripted\"\n", model.base_url());
        let world = World::new().configured(&[&shop], &(models + setting)).file("clerk.md", CLERK);
        let arguments = ["agent", "clerk.md", "Where?", "--meta", "tenant=acme", "--meta", "user=annabel"];
        assert!(world.reknit(&arguments).starts_with("exit status 0"));
        assert_contains(&world.reknit(&["runs", "show", "last"]), "\nmeta     tenant=acme, user=annabel\n");
        assert_contains(
            &world.reknit(&["runs", "show", "last", "--json"]),
            r#""meta":{"tenant":"acme","user":"annabel"}"#,
        );
        for request in model.requests() {
            let text = request.text();
            let shown = (text.contains(r#""tenant": "acme""#), text.contains("annabel"));
            assert_eq!(shown, (is_shown, false), "{setting}: {text}");
        }
    }
}
