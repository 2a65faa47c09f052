//! What tools and models say is taken at their word neither by the run nor by the terminal.

use reknit_protocol::{Category, Effect, ToolError, Value};
use reknit_testing::model::{self, Script};
use reknit_testing::tool::{RunningTool, When};
use reknit_testing::{Reply, ScriptedModel, ScriptedTool};

use crate::masks::masked;
use crate::world::{World, plan, text};

async fn shop(reply: Reply) -> RunningTool {
    let shop = ScriptedTool::new("shop")
        .capability("price", Effect::Read)
        .capability("pay", Effect::Unsafe)
        .once("price", When::any(), reply.clone())
        .on("price", When::any(), Reply::data(12))
        .on("pay", When::any(), reply);
    shop.start().await.expect("the tool starts")
}

fn saying(body: &str) -> Reply {
    Reply::status(200).body(body).content_type("application/json")
}

const PAY: [(&str, &str); 1] = [("pay", r#"{"amount": 12.50}"#)];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refusal_that_is_not_quite_json_is_a_refusal() {
    let refusal = r#"{"success": false, "error": {"code": "NO_FUNDS", "message": "the account is empty", "category": "INPUT_ERROR"}, "rate": NaN}"#;
    let shop = shop(saying(refusal)).await;
    let world = World::with_tools(&[&shop]).file("plan.json", &plan(&PAY));
    insta::assert_snapshot!(world.reknit(&["run", "--answer", "template", "plan.json"]), @r#"
    exit status 1
    --- stdout
    Nothing could be done.

    Missing:
    - pay (pay): failed: 200 NO_FUNDS: the account is empty; there is no model to ask
    --- stderr
    > pay  pay  running
    ✗ pay  pay  failed: 200 NO_FUNDS: the account is empty; there is no model to ask


    failed: 0 of 1 step done, 1 tool call, 0 model calls, N s

    hint: see each attempt with `reknit runs show RUN`
    "#);
    insta::assert_snapshot!(world.reknit(&["runs", "show", "last"]), @r#"
    exit status 0
    --- stdout
    run      RUN
    request  shopping
    status   failed
    spent    1 tool call, 0 model calls, 2 events

    ✗ pay  pay  failed: 200 NO_FUNDS: the account is empty; there is no model to ask

    pay (pay of shop)
      parameter  amount = 12.50   (from the plan)
      attempt 1  200 NO_FUNDS: the account is empty (the JSON of the answer was mended: read NaN or an infinity as null) <- {"amount":12.50}  (N ms)
      no help    by feedback: there is no model to ask
      no help    by context: there is no model to ask
      failed     200 NO_FUNDS: the account is empty; there is no model to ask

    Nothing could be done.

    Missing:
    - pay (pay): failed: 200 NO_FUNDS: the account is empty; there is no model to ask
    "#);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_payment_whose_answer_cannot_be_read_is_in_doubt() {
    for reply in [
        saying(r#"{"success": false, "error": {"code": "NO_FU"#),
        saying("<html>fine</html>"),
        saying(r#"{"success": true}"#).header("content-encoding", "gzip"),
    ] {
        let shop = shop(reply).await;
        let world = World::with_tools(&[&shop]).file("plan.json", &plan(&PAY));
        let output = world.output(&["run", "--answer", "template", "plan.json"]);
        assert_eq!((output.status.code(), shop.count()), (Some(6), 1), "{}", text(&output.stderr));
    }
    let shop = shop(saying(r#"{"success": false, "error": {"code": "NO_FU"#)).await;
    let world = World::with_tools(&[&shop]).file("plan.json", &plan(&PAY));
    insta::assert_snapshot!(world.reknit(&["run", "--answer", "template", "plan.json"]), @r#"
    exit status 6
    --- stderr
    > pay  pay  running
    ? pay  pay  waiting for a person


    The run waits for a person:
    - pay: send `pay` of `shop` again with {"amount":12.50}, though it may have happened (key KEY)

    hint: type `reknit runs approve RUN` or `reknit runs deny RUN`, then `reknit runs resume RUN`
    "#);
    insta::assert_snapshot!(world.reknit(&["runs", "show", "last"]), @r#"
    exit status 0
    --- stdout
    run      RUN
    request  shopping
    status   waiting for a person
    spent    1 tool call, 0 model calls, 2 events

    ? pay  pay  waiting for a person

    pay (pay of shop)
      parameter  amount = 12.50   (from the plan)
      attempt 1  `shop` answered 200, but what says that it is JSON cannot be read: line 1, column 44: expected `"` at the end of the string, found the end of the text <- {"amou…  (N ms)
      asks       send `pay` of `shop` again with {"amount":12.50}, though it may have happened (key KEY)
    "#);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_read_whose_answer_cannot_be_read_is_made_again() {
    let shop = shop(saying(r#"{"price": 1"#).header("content-encoding", "br")).await;
    let world = World::with_tools(&[&shop]).file("plan.json", &plan(&[("price", "{}")]));
    insta::assert_snapshot!(world.reknit(&["run", "--answer", "template", "plan.json"]), @r#"
    exit status 0
    --- stdout
    Everything was done.

    Done:
    - price (price): 12

    Mended:
    - price by resend: sent again after N ms, for `shop` answered 200, but the answer is packed (`Content-Encoding: br`), which nobody asked for
    --- stderr
    > price  price  running
    ~ price  price  sent again in N s
    > price  price  running, call 2, mended by resend
    ✓ price  price  done, mended by resend


    complete: 1 of 1 step done, 2 tool calls, 0 model calls, N s

    hint: see each attempt with `reknit runs show RUN`
    "#);
}

/// Clears the screen, colours it, rings, and writes backwards.
const TERMINAL: &str = "\u{1b}[2J\u{1b}[31mpaid\u{7}\u{9b}0m\r\u{202e}not";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_that_tools_and_models_say_commands_the_terminal() {
    let data = Value::Object([("said".to_owned(), Value::from(TERMINAL))].into_iter().collect());
    let shop = ScriptedTool::new("shop")
        .capability("price", Effect::Read)
        .capability("price\u{1b}[2J", Effect::Read)
        .on("price", When::any(), Reply::data(data));
    let shop = shop.start().await.expect("the tool starts");
    let model = ScriptedModel::start(Script::new().on(model::When::any(), Reply::text(TERMINAL))).await;
    let model = model.expect("the model starts");
    let models = format!("[[models]]\nname = \"local\"\nurl = \"{}\"\nmodel = \"scripted\"\n", model.base_url());
    let world = World::new().configured(&[&shop], &models).file("plan.json", &plan(&[("price", "{}")]));
    for arguments in [
        &["run", "plan.json"][..],
        &["run", "--answer", "template", "plan.json"],
        &["runs", "show", "last"],
        &["runs", "resume", "last"],
        &["tools", "check"],
        &["ask", "pay"],
        &["runs", "show", "last"],
    ] {
        let output = world.output(arguments);
        let said = text(&output.stdout) + &text(&output.stderr);
        let commands: Vec<char> = said.chars().filter(|c| (c.is_control() && *c != '\n') || *c == '\u{202e}').collect();
        assert_eq!(commands, Vec::<char>::new(), "{arguments:?}: {said:?}");
        assert!(said.contains(r"\u{"), "{arguments:?}: {said}");
    }
    let output = world.output(&["run", "--json", "plan.json"]);
    let document = Value::parse(&text(&output.stdout)).expect("JSON");
    assert_eq!(document.get("answer").and_then(Value::as_str), Some(TERMINAL), "JSON is exact");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_model_forgets_to_say_stands_behind_its_words() {
    let locked = ToolError::new("LOCKED", "who are you", Category::AuthError);
    let shop = ScriptedTool::new("shop")
        .capability("price", Effect::Read)
        .capability("find", Effect::Read)
        .once("price", When::any(), Reply::status(503).retry_after(0))
        .on("price", When::any(), Reply::data(12))
        .on("find", When::any(), Reply::error(locked));
    let shop = shop.start().await.expect("the tool starts");
    let model = ScriptedModel::start(Script::new().on(model::When::any(), Reply::text("All is well."))).await;
    let model = model.expect("the model starts");
    let models = format!("[[models]]\nname = \"local\"\nurl = \"{}\"\nmodel = \"scripted\"\n", model.base_url());
    let steps = plan(&[("price", "{}"), ("find", "{}")]);
    let world = World::new().configured(&[&shop], &models).file("plan.json", &steps);
    let output = world.output(&["run", "plan.json"]);
    insta::assert_snapshot!(masked(&text(&output.stdout), world.path()), @r#"
    All is well.

    Mended:
    - price by resend: sent again after N ms, for 503: the tool answered 503 and said nothing more

    Missing:
    - find (find): failed: 401 LOCKED: who are you; the tool does not let us in; no other parameters can change that
    "#);
    let shown = world.reknit(&["runs", "show", "last"]);
    assert!(shown.ends_with(&masked(&text(&output.stdout), world.path())), "{shown}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_try_at_a_plan_is_shown_with_what_is_wrong_with_it() {
    let shop = shop(Reply::data(12)).await;
    let script = Script::new()
        .once(model::When::any(), Reply::text("I would rather not."))
        .on(model::When::any(), Reply::text(plan(&[("steal", "{}")])));
    let model = ScriptedModel::start(script).await.expect("the model starts");
    let models = format!("[[models]]\nname = \"local\"\nurl = \"{}\"\nmodel = \"scripted\"\n", model.base_url());
    let world = World::new().configured(&[&shop], &models);
    assert_eq!(world.output(&["ask", "the price of tea"]).status.code(), Some(1));
    insta::assert_snapshot!(world.reknit(&["runs", "show", "last"]), @r#"
    exit status 0
    --- stdout
    run      RUN
    request  the price of tea
    status   failed (no plan could be used after 3 tries; the last one:\n- step `steal`: `shop` has no capability `steal` (there is `price`, `pay`))
    spent    0 tool calls, 3 model calls, 4 events
    plan     try 1 was not used; it said I would rather not.
               this is no plan: the value does not fit the schema: `$`: expected an object, found the string "I would rather not."
    plan     try 2 was not used; it said {"plan_id": "p", "original_request": "shopping", "steps": [{"step_id": "steal", "agent_name": "shop", "instruction": "", "metadata": {"capability": "steal", "pa…
               step `steal`: `shop` has no capability `steal` (there is `price`, `pay`)
    plan     try 3 was not used; it said {"plan_id": "p", "original_request": "shopping", "steps": [{"step_id": "steal", "agent_name": "shop", "instruction": "", "metadata": {"capability": "steal", "pa…
               step `steal`: `shop` has no capability `steal` (there is `price`, `pay`)


    no plan could be used after 3 tries; the last one:
    - step `steal`: `shop` has no capability `steal` (there is `price`, `pay`)
    "#);
}
