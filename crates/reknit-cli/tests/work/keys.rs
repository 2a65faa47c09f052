//! Business keys: listed, settled and forgotten by a person, and wrong ones explained.

use reknit_fakes::tool::{CallMatcher, RunningTool};
use reknit_fakes::{Reply, ScriptedTool};
use reknit_protocol::{KeyRule, SideEffect, Value};

use crate::world::{World, assert_bad_config, assert_refused};

const KEYS: &str = "\n[[keys]]\ncapability = \"shop/refund\"\nfields = [\"order_id\", \"amount\"]\n";

/// A shop whose second refund is lost on its way.
async fn shop(key: Option<KeyRule>) -> RunningTool {
    let schema = r#"{"type": "object", "properties": {"order_id": {"type": "integer"}, "amount": {"type": "number"}}}"#;
    let mut capability = reknit_protocol::Capability::new("refund");
    capability.effect = SideEffect::Unsafe;
    capability.business_key = key;
    ScriptedTool::new("shop")
        .announce(capability)
        .schema(Value::parse(schema).expect("JSON"))
        .capability("find", SideEffect::Read)
        .once("refund", CallMatcher::any(), Reply::data(Value::from(1)))
        .once("refund", CallMatcher::any(), Reply::reset())
        .on("refund", CallMatcher::any(), Reply::data(Value::from(3)))
        .start()
        .await
        .expect("the tool starts")
}

fn refund(world: &World, amount: &str) -> String {
    let amount = format!("amount={amount}");
    world.reknit(&["tools", "call", "shop/refund", "order_id=7", &amount, "--answer", "raw"])
}

/// The masked list of keys, with what the key of each deed begins with.
fn listed(world: &World, arguments: &[&str]) -> String {
    world.reknit(&[&["keys"], arguments].concat())
}

/// The key of the deed with this amount.
fn key(world: &World, amount: &str) -> String {
    let output = world.output(&["keys", "list", "--json"]);
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let lines = text.lines().map(|line| Value::parse(line).expect("JSON"));
    let found = lines.into_iter().find(|line| {
        line.get("values").and_then(|values| values.get("amount")).is_some_and(|found| found.to_string() == amount)
    });
    found.and_then(|line| line.get("key")?.as_str().map(str::to_owned)).expect("the key is listed")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keys_are_listed() {
    let shop = shop(None).await;
    let world = World::new().configured(&[&shop], KEYS);
    insta::assert_snapshot!(listed(&world, &["list"]), @"
    exit status 0 --- stderr
    the journal has no business keys: `[[keys]]` in the configuration defines them
    ");
    assert!(refund(&world, "10").starts_with("exit status 0"));
    assert!(refund(&world, "20").starts_with("exit status 6"), "the outcome is unknown");
    insta::assert_snapshot!(listed(&world, &["list"]), @r#"
    exit status 0 --- stdout
    ee6e1fc69f  pending  shop/refund {"amount":20,"order_id":7}  run RUN, step call, since TIME until TIME
    ed97ee5dba  done     shop/refund {"amount":10,"order_id":7}  run RUN, step call, since TIME until TIME
    "#);
    insta::assert_snapshot!(listed(&world, &["list", "--json"]), @r#"
    exit status 0 --- stdout
    {"key":"KEY","state":"pending","capability":"shop/refund","values":{"amount":20,"order_id":7},"run":"RUN","step":"call","since_ms":0,"until_ms":0}
    {"key":"KEY","state":"done","capability":"shop/refund","values":{"amount":10,"order_id":7},"run":"RUN","step":"call","since_ms":0,"until_ms":0,"receipt":{"success":true,"data":1}}
    "#);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keys_are_settled_and_forgotten() {
    let shop = shop(None).await;
    let world = World::new().configured(&[&shop], KEYS);
    assert!(refund(&world, "10").starts_with("exit status 0"));
    assert!(refund(&world, "20").starts_with("exit status 6"), "the outcome is unknown");
    let (done, pending) = (key(&world, "10"), key(&world, "20"));
    assert_refused(
        &listed(&world, &["settle", &done, "--result", "1"]),
        "key `ed97ee5dba` has a receipt already",
        "look at it with `reknit keys list --json`",
    );
    assert_refused(
        &listed(&world, &["settle", &pending, "--result", "{"]),
        "the result is not valid JSON: line 1, column 2: expected a key in double quotes, found the end of the text",
        r#"write it like `--result '{"id": 7}'`"#,
    );
    insta::assert_snapshot!(listed(&world, &["settle", &pending[..8], "--result", "2"]), @r#"
    exit status 0 --- stdout
    ee6e1fc69f  done     shop/refund {"amount":20,"order_id":7}  run RUN, step call, since TIME until TIME
    "#);
    insta::assert_snapshot!(refund(&world, "20"), @"
    exit status 0 --- stdout
    2
    --- stderr
    > call  refund  running
    ✓ call  refund  done, mended by settlement


    complete: 1 of 1 step done, 0 tool calls, 0 model calls, N s

    hint: see each attempt with `reknit runs show RUN`
    ");
    assert_refused(
        &listed(&world, &["forget", "zzzz"]),
        "there is no key `zzzz`",
        "list the keys with `reknit keys list`",
    );
    insta::assert_snapshot!(listed(&world, &["forget", &done]), @r#"
    exit status 0 --- stdout
    ed97ee5dba  done     shop/refund {"amount":10,"order_id":7}  run RUN, step call, since TIME until TIME
    --- stderr
    forgot this key
    "#);
    assert_eq!(shop.call_count(), 2);
    insta::assert_snapshot!(refund(&world, "10"), @"
    exit status 0 --- stdout
    3
    --- stderr
    > call  refund  running
    ✓ call  refund  done


    complete: 1 of 1 step done, 1 tool call, 0 model calls, N s

    hint: see each attempt with `reknit runs show RUN`
    ");
    assert_eq!(shop.call_count(), 3, "a forgotten deed is done again");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_wrong_key_is_explained_by_every_command() {
    let shop = shop(None).await;
    let wrong = |from: &str, to: &str| World::new().configured(&[&shop], &KEYS.replace(from, to));
    let (tool, capability) = (wrong("shop/refund", "shopp/refund"), wrong("shop/refund", "shop/refunds"));
    let (read, field) = (wrong("shop/refund", "shop/find"), wrong("order_id", "order"));
    assert_bad_config(
        &tool.reknit(&["config", "show"]),
        "reknit.toml, line 5: `keys.capability` names `shopp/refund`, but there is no tool `shopp`; did you mean `shop`?",
    );
    assert_bad_config(
        &capability.reknit(&["tools", "check"]),
        "reknit.toml, line 5: `keys.capability` names `shop/refunds`, but there is no capability `refunds` of tool `shop`; did you mean `shop/refund`?",
    );
    assert_bad_config(
        &read.reknit(&["tools", "check"]),
        "reknit.toml, line 5: `keys.capability` names `shop/find`, but its calls only read, so there is no deed to identify: remove the key",
    );
    assert_bad_config(
        &refund(&field, "10"),
        "reknit.toml, line 5: `keys.capability` names `shop/refund`, but it has no parameter `order`; did you mean `order_id`?",
    );
    assert_eq!(shop.call_count(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tool_can_publish_its_key_and_a_wrong_one_is_reported() {
    let tool = shop(Some(KeyRule::new(["order_id"]))).await;
    let world = World::with_tools(&[&tool]);
    assert!(refund(&world, "10").starts_with("exit status 0"));
    insta::assert_snapshot!(refund(&world, "20"), @"
    exit status 0 --- stdout
    1
    --- stderr
    > call  refund  running
    ✓ call  refund  done, mended by settlement


    complete: 1 of 1 step done, 0 tool calls, 0 model calls, N s

    hint: see each attempt with `reknit runs show RUN`
    ");
    assert_eq!(tool.call_count(), 1);
    insta::assert_snapshot!(world.reknit(&["tools", "show", "shop/refund"]), @"
    exit status 0 --- stdout
    shop/refund  (unsafe)

    Parameters:
      order_id: integer
      amount: number

    Roles, by which changed and found values need a person:
      order_id: target  guessed from its name
      amount: quantity  guessed from its type

    Its results are data: a person decides about a target or quantity that a model takes from them.

    Business key:
      order_id, within 24 h

    Call it:
      reknit tools call shop/refund
    ");
    let wrong = shop(Some(KeyRule::new(["order"]))).await;
    insta::assert_snapshot!(World::with_tools(&[&wrong]).reknit(&["tools", "check"]), @"
    exit status 1 --- stdout
    shop
      refund: unsafe
      find: read
    --- stderr
    error: tool `shop` at http://127.0.0.1:PORT/: `business_key` of `refund` names `order`, which is no parameter: did you mean `order_id`?
    ");
}
