//! `reknit chat` with a scripted model and a scripted tool.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Command, Stdio};
use std::time::Duration;

use reknit_fakes::model::{RequestMatcher, Script};
use reknit_fakes::tool::{CallMatcher, RunningTool, ScriptedTool};
use reknit_fakes::{Reply, ScriptedModel};
use reknit_protocol::{SideEffect, Value};

use crate::interrupt::interrupt;
use crate::world::{World, assert_refused, plan, text};

const CLERK: &str = "---\ntools: [shop]\n---\nYou work for a shop.\n";

async fn shop() -> RunningTool {
    let sent = Value::parse(r#"{"state": "sent"}"#).expect("JSON");
    let shop = ScriptedTool::new("shop").capability("look_up", SideEffect::Read);
    shop.on("look_up", CallMatcher::any(), Reply::data(sent)).start().await.expect("the shop opens")
}

/// A model that looks up an order, and answers the next messages from what it knows.
async fn model() -> ScriptedModel {
    let script = Script::new()
        .once(RequestMatcher::any(), Reply::tool_call("shop__look_up", r#"{"id": 7}"#))
        .once(RequestMatcher::any(), Reply::text("Order 7 was sent."))
        .on(RequestMatcher::any().says("thank you"), Reply::text("You are welcome."))
        .on(RequestMatcher::any(), Reply::text("Ask me about orders."));
    ScriptedModel::start(script).await.expect("the model starts")
}

fn configured(shop: &RunningTool, model: &ScriptedModel) -> World {
    let models = format!("[[models]]\nname = \"local\"\nurl = \"{}\"\nmodel = \"scripted\"\n", model.base_url());
    World::new().configured(&[shop], &models).file("clerk.md", CLERK)
}

/// Runs `reknit chat` with these lines on standard input.
fn chat(world: &World, arguments: &[&str], lines: &str) -> String {
    let mut command = world.command(&[&["chat"], arguments].concat());
    let mut child = command.stdin(Stdio::piped()).spawn().expect("the command can be run");
    child.stdin.take().expect("it is piped").write_all(lines.as_bytes()).expect("it reads");
    world.show(&child.wait_with_output().expect("it ends"))
}

#[tokio::test(flavor = "multi_thread")]
async fn each_line_gets_an_answer_and_the_conversation_is_one_run() {
    let (shop, model) = (shop().await, model().await);
    let world = configured(&shop, &model);
    insta::assert_snapshot!(chat(&world, &["clerk.md"], "Where is order 7?\n\nthank you\n"), @"
    exit status 0 --- stdout
    Order 7 was sent.
    You are welcome.
    --- stderr
    > turn 1  asking local
    > turn 1  calling tools
      > call-1  look_up  running
    ✓ turn 1  called tools
    > turn 2  asking local
    ✓ turn 2  wrote the report

    > turn 3  asking local
    ✓ turn 3  wrote the report
    ");
    insta::assert_snapshot!(world.reknit(&["runs", "show", "last"]), @r#"
    exit status 0 --- stdout
    session  RUN
    agent    clerk
    input    Where is order 7?
    status   final answer
    spent    1 tool call, 3 model calls, 6 events

    ✓ turn 1  called tools
    ✓ turn 2  wrote the report
    ✓ turn 3  wrote the report

    attempt 1.1  local  tool_calls, N s, 94 tokens in, 0 out
    attempt 2.1  local  final_report, N s, 95 tokens in, 4 out
    asked    message 2: thank you
    attempt 3.1  local  final_report, N s, 101 tokens in, 3 out

    call     shop__look_up {"id": 7}
    result   shop__look_up: {"state":"sent"}
    said     Order 7 was sent.
    asked    thank you
    said     You are welcome.

    You are welcome.
    "#);
    let requests = model.requests();
    let last = requests.last().expect("there are requests");
    for part in ["Where is order 7?", "Order 7 was sent.", "thank you"] {
        assert!(last.body.to_string().contains(part), "{part}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_goes_on_in_another_process() {
    let (shop, model) = (shop().await, model().await);
    let world = configured(&shop, &model).file("plan.json", &plan(&[("look_up", "{}")]));
    chat(&world, &["clerk.md"], "Where is order 7?\n");
    // The newest run is not a conversation.
    world.output(&["run", "plan.json"]);
    insta::assert_snapshot!(chat(&world, &["--continue"], "thank you\n"), @"
    exit status 0 --- stdout
    You are welcome.
    --- stderr
    going on with run RUN, message 1: Where is order 7?

    > turn 3  asking local
    ✓ turn 3  wrote the report
    ");
    let body = model.requests().last().expect("there are requests").body.to_string();
    assert!(body.contains("Order 7 was sent."), "{body}");
    insta::assert_snapshot!(chat(&world, &["--continue", "last", "clerk.md"], ""), @"
    exit status 2 --- stderr
    error: the argument '--continue [<RUN>]' cannot be used with '[FILE]'

    Usage: reknit chat --continue [<RUN>] [FILE]

    For more information, try '--help'.
    ");
}

#[tokio::test(flavor = "multi_thread")]
async fn only_a_session_can_be_talked_to() {
    let (shop, model) = (shop().await, model().await);
    let world = configured(&shop, &model).file("plan.json", &plan(&[("look_up", "{}")]));
    assert_refused(
        &chat(&world, &["--continue"], "hello\n"),
        "there is no conversation to go on with",
        "start one with `reknit chat`",
    );
    world.output(&["run", "--run-id", "r-1", "plan.json"]);
    insta::assert_snapshot!(chat(&world, &["--continue", "r-1"], "hello\n"), @"
    exit status 2 --- stderr
    error: run `r-1` is not the session of an agent, so nobody can talk to it

    hint: see what it did with `reknit runs show r-1`
    ");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupt_stops_the_answer_and_not_the_chat() {
    let shop = shop().await;
    let script = Script::new()
        .on(RequestMatcher::any().says("thank you"), Reply::text("You are welcome."))
        .on(RequestMatcher::any(), Reply::silence());
    let model = ScriptedModel::start(script).await.expect("the model starts");
    let world = configured(&shop, &model);
    let mut child = world.command(&["chat", "clerk.md"]).stdin(Stdio::piped()).spawn().expect("the command can be run");
    let mut input = child.stdin.take().expect("it is piped");
    writeln!(input, "Where is order 7?").expect("it reads");
    let mut progress = BufReader::new(child.stderr.take().expect("it is piped")).lines();
    assert!(progress.by_ref().any(|line| line.expect("a line").contains("asking local")));
    interrupt(&child);
    assert!(progress.by_ref().any(|line| line.expect("a line").contains("stopping")));
    writeln!(input, "thank you").expect("it reads");
    drop(input);
    let rest: Vec<String> = progress.map(|line| line.expect("a line")).collect();
    let output = child.wait_with_output().expect("it ends");
    insta::assert_snapshot!(text(&output.stdout), @"
    The session ended without an answer in turn 1: the session was cancelled.
    You are welcome.
    ");
    assert_eq!(output.status.code(), Some(0), "{rest:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_without_an_answer_gets_one_after_a_crash() {
    let shop = shop().await;
    let script = Script::new()
        .once(RequestMatcher::any(), Reply::silence())
        .on(RequestMatcher::any().says("thank you"), Reply::text("You are welcome."))
        .on(RequestMatcher::any(), Reply::text("Order 7 was sent."));
    let model = ScriptedModel::start(script).await.expect("the model starts");
    let world = configured(&shop, &model);
    let mut child = world.command(&["chat", "clerk.md"]).stdin(Stdio::piped()).spawn().expect("the command can be run");
    writeln!(child.stdin.as_ref().expect("it is piped"), "Where is order 7?").expect("it reads");
    while model.requests().is_empty() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    child.kill().expect("it can be killed");
    child.wait().expect("it ends");
    insta::assert_snapshot!(chat(&world, &["--continue"], "thank you\n"), @"
    exit status 0 --- stdout
    Order 7 was sent.
    You are welcome.
    --- stderr
    going on with run RUN, message 1: Where is order 7?

    > turn 1  asking local
    ✓ turn 1  wrote the report

    > turn 2  asking local
    ✓ turn 2  wrote the report
    ");
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_are_no_messages() {
    let (shop, model) = (shop().await, model().await);
    let world = configured(&shop, &model);
    insta::assert_snapshot!(chat(&world, &["clerk.md"], "/help\n/nothing\n/exit\nnot sent\n"), @"
    exit status 0 --- stderr
    Each line is a message to the agent.
      /help   print this
      /exit   leave; the conversation is saved
    Ctrl-C stops an answer, and at the prompt it leaves. Ctrl-D leaves.
    there is no command `/nothing`; /help lists them
    ");
    assert!(model.requests().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_is_drawn_while_it_is_written_and_then_printed_once() {
    let shop = shop().await;
    let pause = Duration::from_millis(120);
    let words = "Order 7 was sent to Seoul and arrives on Friday.";
    let script = Script::new().on(RequestMatcher::any(), Reply::text(words).event_interval(pause));
    let model = ScriptedModel::start(script).await.expect("the model starts");
    let world = configured(&shop, &model);
    let typed = format!("stty cols 80 rows 24 && '{}' chat clerk.md", env!("CARGO_BIN_EXE_reknit"));
    let child = world.around(Command::new("script"), &["-qec", &typed, "/dev/null"]).stdin(Stdio::piped()).spawn();
    let Ok(mut child) = child.inspect_err(|error| eprintln!("not tried: there is no `script` ({error})")) else {
        return;
    };
    let mut input = child.stdin.take().expect("it is piped");
    writeln!(input, "Where is order 7?").expect("it reads");
    // The end of input would be Ctrl-D, which counts only at the prompt.
    let mut output = child.stdout.take().expect("it is piped");
    let (mut seen, mut piece) = (Vec::new(), [0; 4096]);
    while !String::from_utf8_lossy(&seen).contains(words) {
        let read = output.read(&mut piece).expect("it can be read");
        assert!(read > 0, "the answer is not printed: {:?}", String::from_utf8_lossy(&seen));
        seen.extend_from_slice(&piece[..read]);
    }
    writeln!(input, "/exit").expect("it reads");
    output.read_to_end(&mut seen).expect("it can be read");
    child.wait().expect("it ends");
    let seen = text(&seen);
    let mut parts = (7..words.len()).filter_map(|end| words.get(..end));
    assert!(parts.any(|part| seen.contains(&format!("{part}\r\n"))), "a part of the answer is drawn:\n{seen:?}");
    let (_, after) = seen.rsplit_once("\x1b[J").expect("the drawing is removed");
    assert_eq!(after.matches(words).count(), 1, "{after:?}");
    assert!(after.contains("hint: go on with `reknit chat --continue"), "{after:?}");
}
