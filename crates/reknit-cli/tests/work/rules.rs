//! Rules that runs have learned: listed, accepted and forgotten by a person.

use reknit_fakes::model::{RequestMatcher, Script};
use reknit_fakes::tool::{CallMatcher, RunningTool};
use reknit_fakes::{Reply, ScriptedModel, ScriptedTool};
use reknit_protocol::{SideEffect, Value};

use crate::world::{World, assert_contains, assert_refused};

fn json(text: &str) -> Value {
    Value::parse(text).expect("JSON")
}

/// A tool that quotes prices, and takes an amount in one call that must not happen twice and in one without a declared class.
async fn bank() -> RunningTool {
    let schema = r#"{"type": "object", "required": ["amount"], "properties": {"amount": {"type": "number"}}}"#;
    ScriptedTool::new("bank")
        .capability("quote", SideEffect::Read)
        .capability("reserve", SideEffect::Undeclared)
        .schema(json(schema))
        .capability("pay", SideEffect::Unsafe)
        .schema(json(schema))
        .on("quote", CallMatcher::any(), Reply::data(json(r#"{"price": 12.50}"#)))
        .on("reserve", CallMatcher::any(), Reply::data(json(r#"{"ok": true}"#)))
        .on("pay", CallMatcher::any(), Reply::data(json(r#"{"ok": true}"#)))
        .start()
        .await
        .expect("the tool starts")
}

/// A plan that leaves the amount open.
fn plan(capability: &str) -> String {
    format!(
        "request: pay\nsteps:\n  - {{id: quote, tool: bank/quote}}\n  - {{id: last, tool: bank/{capability}, after: [quote]}}\n"
    )
}

async fn world(bank: &RunningTool) -> (World, ScriptedModel) {
    let answer = || Reply::text(r#"{"amount": "{{quote.data.price}}"}"#);
    let model =
        ScriptedModel::start(Script::new().on(RequestMatcher::any(), answer())).await.expect("the model starts");
    let config = format!("[[models]]\nname = \"main\"\nurl = \"{}\"\nmodel = \"m-1\"\n", model.base_url());
    let world =
        World::new().configured(&[bank], &config).file("reserve.yaml", &plan("reserve")).file("pay.yaml", &plan("pay"));
    (world, model)
}

fn calls(bank: &RunningTool, capability: &str) -> usize {
    bank.calls().iter().filter(|call| call.capability.as_str() == capability).count()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rule_is_inferred_until_it_is_accepted_and_can_be_forgotten() {
    let bank = bank().await;
    let (world, model) = world(&bank).await;
    insta::assert_snapshot!(world.reknit(&["rules", "list"]), @r#"
    exit status 0 --- stderr
    there are no rules: no run in the journal has found a value that its plan left open, or corrected a call with a model in a way that holds for other calls
    "#);
    let run = |plan: &str| world.reknit(&["run", "--answer", "template", plan]);
    assert!(run("reserve.yaml").starts_with("exit status 0"));
    assert_eq!((model.requests().len(), calls(&bank, "reserve")), (1, 1), "the model found the amount in a result");
    insta::assert_snapshot!(world.reknit(&["rules", "list"]), @r#"
    exit status 0 --- stdout
    7246e0aba8  inferred  `amount` of bank/reserve is `it.data.price` of the result of bank/quote
    "#);
    insta::assert_snapshot!(world.reknit(&["rules", "list", "--json"]), @r#"
    exit status 0 --- stdout
    {"rule":"7246e0aba8","status":"inferred","consumer":"bank/reserve","parameter":"amount","producer":"bank/quote","expression":"it.data.price","learned_ms":0}
    "#);

    assert!(run("reserve.yaml").starts_with("exit status 6"), "nobody has accepted the rule");
    assert_eq!((model.requests().len(), calls(&bank, "reserve")), (1, 1));

    assert_refused(
        &world.reknit(&["rules", "accept", "0000000000"]),
        "there is no rule `0000000000`",
        "list the rules with `reknit rules list`",
    );
    let listed = world.reknit(&["rules", "list", "--json"]);
    let id: String = listed.split_once("\"rule\":\"").expect("a rule").1.chars().take(10).collect();
    let near = format!("{}{}", &id[..9], if id.ends_with('0') { '1' } else { '0' });
    let unknown = world.reknit(&["rules", "forget", &near]);
    assert!(unknown.starts_with("exit status 2") && unknown.contains(&format!("did you mean `{id}`?")), "{unknown}");
    insta::assert_snapshot!(world.reknit(&["rules", "accept", &id[..4]]), @r#"
    exit status 0 --- stdout
    7246e0aba8  accepted  `amount` of bank/reserve is `it.data.price` of the result of bank/quote
    "#);

    assert!(run("reserve.yaml").starts_with("exit status 0"));
    assert_eq!((model.requests().len(), calls(&bank, "reserve")), (1, 2), "neither a model nor a person is asked");
    assert_contains(&world.reknit(&["runs", "show", "last", "--step", "last"]), "accepted mapping");

    insta::assert_snapshot!(world.reknit(&["rules", "forget", &id, "--json"]), @r#"
    exit status 0 --- stdout
    {"rule":"7246e0aba8","status":"accepted","consumer":"bank/reserve","parameter":"amount","producer":"bank/quote","expression":"it.data.price","learned_ms":0,"accepted_ms":0}
    "#);
    assert_refused(
        &world.reknit(&["rules", "forget", &id]),
        "there is no rule `7246e0aba8`",
        "list the rules with `reknit rules list`",
    );
    assert!(run("reserve.yaml").starts_with("exit status 0"));
    assert_eq!(model.requests().len(), 2, "the model is asked again");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_accepted_rule_does_not_reach_an_unsafe_call_without_approval() {
    let bank = bank().await;
    let (world, model) = world(&bank).await;
    let run = || world.reknit(&["run", "--answer", "template", "pay.yaml"]);
    assert!(run().starts_with("exit status 6"), "a model found the amount");
    assert_eq!(calls(&bank, "pay"), 0);
    world.reknit(&["runs", "approve", "last"]);
    assert!(world.reknit(&["runs", "resume", "last"]).starts_with("exit status 0"));
    assert_eq!(calls(&bank, "pay"), 1);
    let listed = world.reknit(&["rules", "list"]);
    assert!(listed.contains("inferred"), "an approved call that succeeds accepts no rule: {listed}");
    let id = listed.lines().nth(1).and_then(|line| line.split(' ').next()).expect("a rule").to_owned();
    for _ in 0..2 {
        assert!(run().starts_with("exit status 6"));
        assert_eq!((calls(&bank, "pay"), model.requests().len()), (1, 1));
        world.reknit(&["rules", "accept", &id]);
    }
    insta::assert_snapshot!(world.reknit(&["runs", "approve", "last"]), @r#"
    exit status 0 --- stdout
    approved:
      failed: not sent: the plan gives no value for amount
      change: amount: nothing -> 12.50
      reason: `amount` is not added without approval: it was found by an accepted rule, and the call is unsafe
      call:   `pay` of `bank` (unsafe) with {"amount":12.50}
      values: amount from quote at $.data.price, accepted mapping
    --- stderr

    hint: continue with `reknit runs resume RUN`
    "#);
}
