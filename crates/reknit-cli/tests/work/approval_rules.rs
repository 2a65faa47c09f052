//! Calls that a person approves before they are sent, because `[[approve]]` or `--ask` says so.

use reknit_fakes::model::{self, Script};
use reknit_fakes::tool::{CallMatcher, RunningTool};
use reknit_fakes::{Reply, ScriptedModel, ScriptedTool};
use reknit_protocol::{SideEffect, Value};

use crate::world::{World, assert_bad_config, assert_contains, assert_refused, plan};

const RULE: &str = "[[approve]]\ncapability = \"shop/pay\"\nwhen = \"amount > 100\"\n";
const PAY: [(&str, &str); 2] = [("price", "{}"), ("pay", r#"{"amount": "{{price.price}}", "to": "ann"}"#)];

/// A shop whose payments succeed.
async fn shop() -> RunningTool {
    let data = |text: &str| Reply::data(Value::parse(text).expect("JSON"));
    let schema = r#"{"type": "object", "required": ["amount"], "additionalProperties": false, "properties":
        {"amount": {"type": "number", "exclusiveMinimum": 0}, "to": {"type": "string"}}}"#;
    let tool = ScriptedTool::new("shop")
        .capability("price", SideEffect::Read)
        .capability("pay", SideEffect::Unsafe)
        .schema(Value::parse(schema).expect("JSON"))
        .on("price", CallMatcher::any(), data(r#"{"price": 150}"#))
        .on("pay", CallMatcher::any(), data(r#"{"paid": true}"#));
    tool.start().await.expect("the tool starts")
}

fn payments(shop: &RunningTool) -> Vec<String> {
    shop.calls_of("pay").into_iter().map(|call| call.parameters.to_string()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_matches_a_rule_waits_and_is_sent_once_it_is_approved() {
    let shop = shop().await;
    let world = World::new().configured(&[&shop], RULE).file("plan.json", &plan(&PAY));
    insta::assert_snapshot!(world.reknit(&["run", "--answer", "template", "plan.json"]), @r#"
    exit status 6 --- stderr
    > price  price  running
    · pay    pay    waiting for price
    ✓ price  price  done
    ? pay    pay    waiting for approval


    waiting for approval:
    - pay: call:   `pay` of `shop` (unsafe) with {"amount":150,"to":"ann"}
      reason: rule: shop/pay, amount > 100
      values: amount from price at $.data.price; to from the plan

    hint: decide with `reknit runs approve RUN` or `reknit runs deny RUN`, then continue with `reknit runs resume RUN`
    "#);
    assert!(payments(&shop).is_empty(), "nothing is paid before a person approved it");
    insta::assert_snapshot!(world.reknit(&["runs", "show", "last", "--step", "pay"]), @r#"
    exit status 0 --- stdout
    run      RUN
    request  shopping
    status   waiting for approval
    spent    1 tool call, 0 model calls, 2 events

    ✓ price  price  done
    ? pay    pay    waiting for approval

    pay (pay of shop)
      parameter  amount = 150   (from price at $.data.price)
      parameter  to = "ann"   (from the plan)
      approval   call:   `pay` of `shop` (unsafe) with {"amount":150,"to":"ann"}
                 reason: rule: shop/pay, amount > 100
                 values: amount from price at $.data.price; to from the plan
    "#);
    world.reknit(&["runs", "approve", "last"]);
    insta::assert_snapshot!(world.reknit(&["runs", "resume", "last"]), @r#"
    exit status 0 --- stdout
    Everything was done.

    Done:
    - price (price): {"price":150}
    - pay (pay): {"paid":true}

    Approved:
    - pay: approved by a person (rule: shop/pay, amount > 100)
    --- stderr
    ✓ price  price  done
    > pay    pay    running
    ✓ pay    pay    done


    complete: 2 of 2 steps done, 2 tool calls, 0 model calls, N s

    hint: see each attempt with `reknit runs show RUN`
    "#);
    assert_eq!(payments(&shop), [r#"{"amount":150,"to":"ann"}"#]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_edits_and_approves_a_call() {
    let shop = shop().await;
    let world = World::new().configured(&[&shop], RULE).file("plan.json", &plan(&PAY));
    world.reknit(&["run", "--answer", "template", "plan.json"]);
    assert_refused(
        &world.reknit(&["runs", "approve", "last", "--set", "amount=-1"]),
        "the corrected parameters do not fit the schema: `$.amount`: expected more than 0, found -1",
        "change the parameters and approve again; nothing was sent",
    );
    assert_refused(
        &world.reknit(&["runs", "approve", "last", "--edit", "amount: 5"]),
        "the parameters are not JSON: line 1, column 1: expected a value, found `a`",
        "write all parameters as a JSON object, or change one with `--set NAME=VALUE`",
    );
    insta::assert_snapshot!(world.reknit(&["runs", "approve", "last", "--set", "amount=120"]), @r#"
    exit status 0 --- stdout
    edited:
      call:   `pay` of `shop` (unsafe) with {"amount":150,"to":"ann"}
      reason: rule: shop/pay, amount > 100
      values: amount from price at $.data.price; to from the plan
      with:   {"amount":120,"to":"ann"}
    --- stderr

    hint: continue with `reknit runs resume RUN`
    "#);
    insta::assert_snapshot!(world.reknit(&["runs", "resume", "last"]), @r#"
    exit status 0 --- stdout
    Everything was done.

    Done:
    - price (price): {"price":150}
    - pay (pay): {"paid":true}

    Approved:
    - pay: edited and approved by a person: amount: 150 -> 120 (rule: shop/pay, amount > 100)
    --- stderr
    ✓ price  price  done
    > pay    pay    running
    ✓ pay    pay    done


    complete: 2 of 2 steps done, 2 tool calls, 0 model calls, N s

    hint: see each attempt with `reknit runs show RUN`
    "#);
    assert_eq!(payments(&shop), [r#"{"amount":120,"to":"ann"}"#]);
    insta::assert_snapshot!(world.reknit(&["runs", "show", "last", "--step", "pay"]), @r#"
    exit status 0 --- stdout
    run      RUN
    request  shopping
    status   complete
    spent    2 tool calls, 0 model calls, 5 events

    ✓ price  price  done
    ✓ pay    pay    done

    pay (pay of shop)
      parameter  amount = 120   (written by a person)
      parameter  to = "ann"   (from the plan)
      edited     by a person, and approved: {"amount":120,"to":"ann"}
      attempt 1  accepted <- {"amount":120,"to":"ann"}  (N ms)
      result     {"success":true,"data":{"paid":true}}
    "#);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_rejects_a_call_with_a_reason() {
    let shop = shop().await;
    let world = World::new().configured(&[&shop], RULE).file("plan.json", &plan(&PAY));
    world.reknit(&["run", "--answer", "template", "plan.json"]);
    insta::assert_snapshot!(world.reknit(&["runs", "reject", "last", "--reason", "too much"]), @r#"
    exit status 0 --- stdout
    denied:
      call:   `pay` of `shop` (unsafe) with {"amount":150,"to":"ann"}
      reason: rule: shop/pay, amount > 100
      values: amount from price at $.data.price; to from the plan
      because: too much
    --- stderr

    hint: continue with `reknit runs resume RUN`
    "#);
    insta::assert_snapshot!(world.reknit(&["runs", "resume", "last"]), @r#"
    exit status 3 --- stdout
    Some steps were done.

    Missing:
    - pay (pay): failed: the call is not sent, because it was not approved: too much

    Done:
    - price (price): {"price":150}
    --- stderr
    ✓ price  price  done
    ✗ pay    pay    failed: the call is not sent, because it was not approved: too much


    partial: 1 of 2 steps done, 1 tool call, 0 model calls, N s

    hint: see each attempt with `reknit runs show RUN`
    "#);
    assert!(payments(&shop).is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn yes_approves_what_rules_ask_and_says_so() {
    let shop = shop().await;
    let world = World::new().configured(&[&shop], RULE).file("plan.json", &plan(&PAY));
    let run = world.reknit(&["run", "--answer", "template", "--yes", "plan.json"]);
    assert_eq!(payments(&shop), [r#"{"amount":150,"to":"ann"}"#], "{run}");
    insta::assert_snapshot!(run, @r#"
    exit status 0 --- stdout
    Everything was done.

    Done:
    - price (price): {"price":150}
    - pay (pay): {"paid":true}

    Approved:
    - pay: approved by `--yes` (rule: shop/pay, amount > 100)
    --- stderr
    > price  price  running
    · pay    pay    waiting for price
    ✓ price  price  done
    ? pay    pay    waiting for approval

    ✓ price  price  done
    > pay    pay    running
    ✓ pay    pay    done


    complete: 2 of 2 steps done, 2 tool calls, 0 model calls, N s

    hint: see each attempt with `reknit runs show RUN`
    "#);
    let events = world.reknit(&["runs", "show", "last", "--events", "--json"]);
    assert!(events.contains(r#""by":"yes_flag""#), "the journal says who approved: {events}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn yes_does_not_send_a_call_again_that_may_have_taken_effect() {
    let shop = crate::exit_status::shop().await;
    let world = World::with_tools(&[&shop]).file("plan.json", &plan(&[("pay", r#"{"amount": 12.50}"#)]));
    let run = world.output(&["run", "--answer", "template", "--ask", "all", "--yes", "plan.json"]);
    assert_eq!(run.status.code(), Some(6), "it waits for a person");
    assert_eq!(shop.call_count(), 1);
    let resumed = world.output(&["runs", "resume", "--yes", "last"]);
    assert_eq!((resumed.status.code(), shop.call_count()), (Some(6), 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ask_all_asks_about_every_call_that_does_not_only_read() {
    let shop = shop().await;
    let steps = [("price", "{}"), ("pay", r#"{"amount": 1}"#)];
    let world = World::with_tools(&[&shop]).file("plan.json", &plan(&steps));
    insta::assert_snapshot!(world.reknit(&["run", "--answer", "template", "--ask", "all", "plan.json"]), @r#"
    exit status 6 --- stderr
    > price  price  running
    ? pay    pay    waiting for approval
    ✓ price  price  done


    waiting for approval:
    - pay: call:   `pay` of `shop` (unsafe) with {"amount":1}
      reason: every call that does not only read needs approval
      values: amount from the plan

    hint: decide with `reknit runs approve RUN` or `reknit runs deny RUN`, then continue with `reknit runs resume RUN`
    "#);
    assert_eq!(shop.call_count(), 1, "only the read is made");
    assert_refused(
        &world.reknit(&["runs", "resume", "--ask", "all", "last"]),
        "which calls of run `RUN` are approved was decided when it started",
        "leave out `--ask`; `--yes` approves what its rules ask about",
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_model_of_an_agent_reads_why_its_call_was_rejected() {
    let shop = shop().await;
    let script = Script::new()
        .once(model::RequestMatcher::any(), Reply::tool_call("shop__pay", r#"{"amount": 150}"#))
        .on(model::RequestMatcher::any(), Reply::tool_call("agent__final_report", r#"{"report_content": "not paid"}"#));
    let model = ScriptedModel::start(script).await.expect("the model starts");
    let models = format!("[[models]]\nname = \"local\"\nurl = \"{}\"\nmodel = \"scripted\"\n", model.base_url());
    let agent = "---\ntools: [shop]\nmaxTurns: 3\n---\nYou pay.\n";
    let world = World::new().configured(&[&shop], &(models + RULE)).file("clerk.md", agent);
    assert_contains(&world.reknit(&["agent", "clerk.md", "Pay."]), "reason: rule: shop/pay, amount > 100");
    world.reknit(&["runs", "reject", "last", "--reason", "pay 50 at most"]);
    assert!(world.reknit(&["runs", "resume", "last"]).contains("--- stdout\nnot paid\n"));
    let last = model.requests().last().map(|request| request.body.to_string()).unwrap_or_default();
    assert!(last.contains("it was not approved: pay 50 at most"), "{last}");
    assert_eq!(shop.call_count(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rule_that_names_no_capability_of_its_tool_is_an_error_at_its_line() {
    let shop = shop().await;
    let rule = "[[approve]]\ncapability = \"shop/pya\"\n";
    let world = World::new().configured(&[&shop], rule).file("plan.json", &plan(&PAY));
    assert_bad_config(
        &world.reknit(&["run", "plan.json"]),
        "reknit.toml, line 4: `approve.capability` names `shop/pya`, but there is no capability `pya` of tool `shop`; did you mean `shop/pay`?",
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_plan_is_approved_from_a_preview_of_its_calls() {
    let shop = shop().await;
    let world = World::with_tools(&[&shop]).file("plan.json", &plan(&PAY));
    insta::assert_snapshot!(world.reknit(&["run", "--answer", "template", "--ask", "plan", "plan.json"]), @r#"
    exit status 6 --- stderr
    · price  price  waiting for approval of the plan
    · pay    pay    waiting for price


    waiting for approval:
    - plan: call:   price: `price` of `shop` (read) with {}
      call:   pay: `pay` of `shop` (unsafe) with {"amount":"{{price.price}}","to":"ann"}
      limit:  50 tool calls

    hint: decide with `reknit runs approve RUN` or `reknit runs deny RUN`, then continue with `reknit runs resume RUN`
    "#);
    assert_eq!(shop.call_count(), 0);
    assert_contains(
        &world.reknit(&["runs", "show", "last"]),
        "plan     call:   price: `price` of `shop` (read) with {}",
    );
    let edit = world.output(&["runs", "approve", "last", "--set", "amount=5"]);
    assert_eq!(edit.status.code(), Some(2), "a plan is not edited");
    world.reknit(&["runs", "approve", "last"]);
    let resumed = world.reknit(&["runs", "resume", "last"]);
    assert_eq!(payments(&shop), [r#"{"amount":150,"to":"ann"}"#], "{resumed}");
    assert!(resumed.contains("- pay: approved by a person (as part of the plan)"), "{resumed}");
}
