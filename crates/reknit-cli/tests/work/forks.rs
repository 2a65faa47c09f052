//! `reknit runs fork`.

use reknit_fakes::model::{RequestMatcher, Script};
use reknit_fakes::tool::{CallMatcher, RunningTool, ScriptedTool};
use reknit_fakes::{Reply, ScriptedModel};
use reknit_protocol::{SideEffect, Value};

use crate::exit_status::{PRICE_AND_ORDER, shop};
use crate::world::{World, assert_contains, assert_ended, assert_refused, plan};

/// The calls that a tool got, without its announcements.
fn called(tool: &RunningTool) -> Vec<String> {
    tool.calls().iter().map(|call| call.capability.to_string()).collect()
}

/// The id of the newest run.
fn last(world: &World) -> String {
    let list = String::from_utf8(world.output(&["runs", "list", "--json"]).stdout).expect("text");
    let newest = Value::parse(list.lines().next().expect("a run")).expect("JSON");
    newest.get("run").and_then(Value::as_str).expect("an id").to_owned()
}

/// A world in which the plan for a price and an order has run.
fn ordered(shop: &RunningTool) -> World {
    let world = World::with_tools(&[shop]).file("plan.json", &plan(&PRICE_AND_ORDER));
    world.reknit(&["run", "plan.json"]);
    world
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fork_without_a_change_sends_nothing_and_does_the_same() {
    let shop = shop().await;
    let world = ordered(&shop);
    insta::assert_snapshot!(world.reknit(&["runs", "fork", "last", "--at", "order"]), @r#"
    exit status 0 --- stdout
    Everything was done.

    Done:
    - price (price): {"price":12.50}
    - order (order): {"order":"o-1"}

    compared with run RUN: no difference
    --- stderr
    run RUN is a fork of RUN, from `order` on
    ✓ price  price  done
    ✓ order  order  done


    complete: 2 of 2 steps done, 2 tool calls, 0 model calls, N s

    hint: see each attempt with `reknit runs show RUN`
    "#);
    assert_eq!(called(&shop), ["price", "order"], "nothing was called again");
    assert_contains(
        &world.reknit(&["runs", "show", "last"]),
        "fork     of RUN, from `order` on; it sends only calls that read",
    );
    assert_contains(
        &world.reknit(&["runs", "show", "last", "--json"]),
        r#""fork_of":{"run":"RUN","at":"order","sends_writes":false}"#,
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_changed_write_is_refused_and_the_two_runs_are_compared() {
    let shop = shop().await;
    let world = ordered(&shop);
    insta::assert_snapshot!(world.reknit(&["runs", "fork", "last", "--at", "order", "--set", "at=99"]), @r#"
    exit status 3 --- stdout
    Some steps were done.

    Missing:
    - order (order): failed: `shop/order` may change something, so this fork does not send it, and run `RUN` made it with other parameters; fork again with `--allow-writes` to send such calls; the tool cannot be called, and other parameters do not change that

    Done:
    - price (price): {"price":12.50}

    compared with run RUN:
      status
        run   complete
        fork  partial
      steps.order
        run   done
        fork  failed
              order: `shop/order` may change something, so this fork does not send it, and run `RUN` made it with other parameters; fork again with `--allow-writes` to send such calls; the tool cannot be called, and other parameters do not change that
      values.order.at
        run   12.50
        fork  99
    --- stderr
    run RUN is a fork of RUN, from `order` on
    ✓ price  price  done
    ✗ order  order  failed: `shop/order` may change something, so this fork does not send it, and run `RUN` made it with other parameters; fork again with `--allow-writes` to send such calls; the tool cannot be called, and other parameters do not change that


    partial: 1 of 2 steps done, 2 tool calls, 0 model calls, N s

    hint: see each attempt with `reknit runs show RUN`
    "#);
    assert_eq!(called(&shop), ["price", "order"], "nothing was sent");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn any_two_runs_are_compared_as_text_and_as_json() {
    let shop = shop().await;
    let world = ordered(&shop);
    let before = last(&world);
    world.reknit(&["runs", "fork", "last", "--at", "order", "--set", "at=99", "--allow-writes"]);
    insta::assert_snapshot!(world.reknit(&["runs", "compare", &before, "last"]), @r"
    exit status 0 --- stdout
    run RUN, compared with run RUN:
      values.order.at
        run    12.50
        other  99
    ");
    insta::assert_snapshot!(world.reknit(&["runs", "compare", &before, "last", "--json"]), @r#"
    exit status 0 --- stdout
    {"run":"RUN","other":"RUN","differences":[{"what":"values.order.at","run":"12.50","other":"99"}]}
    "#);
    insta::assert_snapshot!(world.reknit(&["runs", "compare", "last", "last"]), @r"
    exit status 0 --- stdout
    run RUN, compared with run RUN: no difference
    ");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn writes_are_sent_if_that_is_allowed() {
    let shop = shop().await;
    let world = ordered(&shop);
    assert_ended(
        &world.reknit(&["runs", "fork", "last", "--at", "order", "--set", "at=99", "--allow-writes"]),
        0,
        "values.order.at",
    );
    let calls = shop.calls();
    let sent = calls.last().expect("a call");
    assert_eq!(sent.parameters.to_string(), r#"{"at":99}"#);
    assert_eq!(called(&shop), ["price", "order", "order"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_point_that_does_not_exist_is_answered_with_those_that_do() {
    let shop = shop().await;
    let world = ordered(&shop);
    assert_refused(
        &world.reknit(&["runs", "fork", "last", "--at", "ordr"]),
        "run `RUN` has no step or turn `ordr` that called a tool or asked somebody",
        "it has: price, order",
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_of_what_happens_before_the_point_is_refused_with_the_point_where_it_begins() {
    let shop = shop().await;
    let text = "request: shopping\ninputs: {what: tea}\nsteps:\n  - {id: price, tool: shop/price, with: {of: \"{{inputs.what}}\"}}\n  \
                - {id: order, tool: shop/order, with: {at: \"{{price.price}}\"}}\n";
    let world = World::with_tools(&[&shop]).file("plan.yaml", text);
    let run = world.reknit(&["run", "plan.yaml"]);
    assert!(run.starts_with("exit status 0 "), "{run}");
    assert_refused(
        &world.reknit(&["runs", "fork", "last", "--at", "order", "--input", "what=milk"]),
        "with these changes, `price/call/1` is not what it was in the run, and it comes before `order`",
        "fork where it begins to differ: `--at price`",
    );
    assert_ended(&world.reknit(&["runs", "fork", "last", "--at", "price", "--input", "what=milk"]), 0, "fork  milk");
    assert_eq!(called(&shop), ["price", "order", "price"], "only the read was sent");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fork_that_waits_and_is_resumed_still_sends_nothing() {
    let shop = shop().await;
    let world = ordered(&shop);
    let config = std::fs::read_to_string(world.path().join("reknit.toml")).expect("the configuration");
    let world = world.file("reknit.toml", &(config + "[[approve]]\ncapability = \"shop/order\"\n"));
    let fork = ["runs", "fork", "last", "--at", "order", "--set", "at=99", "--policy"];
    assert_ended(&world.reknit(&fork), 6, "");
    world.reknit(&["runs", "approve", "last"]);
    assert_contains(&world.reknit(&["runs", "resume", "last"]), "may change something, so this fork does not send it");
    assert_eq!(called(&shop), ["price", "order"]);
}

/// Two models: the first plans the shopping and answers, the second answers in another way.
async fn models() -> (ScriptedModel, ScriptedModel) {
    let script = Script::new()
        .once(RequestMatcher::any(), Reply::text(plan(&PRICE_AND_ORDER)))
        .on(RequestMatcher::any(), Reply::text("Tea for 12.50 is ordered."));
    let other = Script::new().on(RequestMatcher::any(), Reply::text("Ordered: o-1."));
    (
        ScriptedModel::start(script).await.expect("the model starts"),
        ScriptedModel::start(other).await.expect("the model starts"),
    )
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_is_written_again_by_another_model_from_the_same_results() {
    let (shop, (one, other)) = (shop().await, models().await);
    let model = |name: &str, model: &ScriptedModel| {
        format!("[[models]]\nname = \"{name}\"\nurl = \"{}\"\nmodel = \"scripted\"\n", model.base_url())
    };
    let config = model("one", &one) + &model("other", &other);
    let world = World::new().configured(&[&shop], &config);
    let asked = world.reknit(&["ask", "Order tea"]);
    assert!(asked.contains("Tea for 12.50 is ordered."), "{asked}");
    let questions = one.requests().len();
    insta::assert_snapshot!(world.reknit(&["runs", "fork", "last", "--at", "answer", "--model", "other"]), @r"
    exit status 0 --- stdout
    Ordered: o-1.

    compared with run RUN:
      answer
        run   Tea for 12.50 is ordered.
        fork  Ordered: o-1.
    --- stderr
    run RUN is a fork of RUN, from `answer` on
    ✓ price  price  done
    ✓ order  order  done


    complete: 2 of 2 steps done, 2 tool calls, 2 model calls, N s

    hint: see each attempt with `reknit runs show RUN`
    ");
    assert_eq!((one.requests().len(), other.requests().len()), (questions, 1), "only the new model was asked");
    assert_contains(
        &world.reknit(&["runs", "fork", "last", "--at", "answer", "--model", "third"]),
        "configured are: one, other",
    );
    // The plan of a model can be changed as well: nobody is asked for it again.
    let forked = world.reknit(&["runs", "fork", "last", "--at", "order", "--set", "at=99", "--model", "other"]);
    assert!(forked.contains("does not send it") && forked.contains("values.order.at"), "{forked}");
    assert_eq!(one.requests().len(), questions);
}

const CLERK: &str = "---\ntools: [shop]\nmaxTurns: 3\n---\nYou work for a shop.\n";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_goes_on_from_a_turn_with_another_agent_file() {
    let shop = ScriptedTool::new("shop").capability("look_up", SideEffect::Read);
    let sent = Value::parse(r#"{"state": "sent"}"#).expect("JSON");
    let shop = shop.on("look_up", CallMatcher::any(), Reply::data(sent)).start().await.expect("the shop opens");
    let report = |text: &str| Reply::tool_call("agent__final_report", format!(r#"{{"report_content": "{text}"}}"#));
    let script = Script::new()
        .once(RequestMatcher::any(), Reply::tool_call("shop__look_up", r#"{"id": 7}"#))
        .once(RequestMatcher::any(), report("It was sent."))
        .on(RequestMatcher::any(), report("Order 7 is on its way."));
    let model = ScriptedModel::start(script).await.expect("the model starts");
    let models = format!("[[models]]\nname = \"local\"\nurl = \"{}\"\nmodel = \"scripted\"\n", model.base_url());
    let world = World::new().configured(&[&shop], &models).file("clerk.md", CLERK);
    world.reknit(&["agent", "clerk.md", "Where is order 7?"]);
    let world = world.file("clerk.md", &CLERK.replace("a shop", "a friendly shop"));
    let origin = last(&world);
    insta::assert_snapshot!(world.reknit(&["runs", "fork", &origin, "--at", "2", "--agent", "clerk.md"]), @r"
    exit status 0 --- stdout
    Order 7 is on its way.

    compared with run RUN:
      answer
        run   It was sent.
        fork  Order 7 is on its way.
    --- stderr
    run RUN is a fork of RUN, from `2` on
    ✓ turn 1  called tools
    ✓ turn 2  wrote the report


    final answer: 2 turns, 1 tool call, 2 model calls, N s

    hint: see each attempt with `reknit runs show RUN`
    ");
    assert_eq!(called(&shop), ["look_up"], "the first turn is not repeated");
    let asked = model.requests();
    let question: String =
        asked.last().expect("a question").messages.iter().map(|message| message.content.as_str()).collect();
    assert!(question.contains("a friendly shop") && question.contains("sent"), "{question}");
    assert_contains(
        &world.reknit(&["runs", "fork", &origin, "--at", "2", "--set", "id=8"]),
        "a session has neither parameters nor inputs",
    );
    assert_contains(&world.reknit(&["runs", "fork", &origin, "--at", "7"]), "it has: turn-1, turn-2");
}
