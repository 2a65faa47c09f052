//! Calls that wait for approval.

use reknit_fakes::model::{self, Script};
use reknit_fakes::tool::CallMatcher;
use reknit_fakes::{Reply, ScriptedModel, ScriptedTool};
use reknit_protocol::{SideEffect, Value};

use crate::exit_status::{ran, shop};
use crate::world::{World, assert_bad_config, assert_contains, assert_refused, plan, text};

const PAY: [(&str, &str); 1] = [("pay", r#"{"amount": 12.50}"#)];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn show_lists_the_calls_that_wait_for_approval() {
    let (_shop, world) = ran(&PAY).await;
    insta::assert_snapshot!(world.reknit(&["runs", "show", "last"]), @r#"
    exit status 0 --- stdout
    run      RUN
    request  shopping
    status   waiting for approval
    spent    1 tool call, 0 model calls, 2 events

    ? pay  pay  waiting for approval

    pay (pay of shop)
      parameter  amount = 12.50   (from the plan)
      attempt 1  `shop` broke the connection: Connection reset by peer (os error 104) <- {"amount":12.50}  (N ms)
      approval   failed: `shop` broke the connection: Connection reset by peer (os error 104)
                 again:  `pay` of `shop` (unsafe) with {"amount":12.50}; the first call may have taken effect (idempotency key: KEY)
                 values: amount from the plan
    "#);
    insta::assert_snapshot!(world.reknit(&["runs", "show", "last", "--json"]), @r#"
    exit status 0 --- stdout
    {"run":"RUN","status":"waiting","steps":[{"step":"pay","capability":"pay","state":"asking","parameters":{"amount":12.50},"asks":{"step":"pay","kind":"send_again","rule":"unknown-outcome","error":"`shop` broke the connection: Connection reset by peer (os error 104)","agent":"shop","capability":"pay","class":"unsafe","parameters":{"amount":12.50},"values":{"amount":"from the plan"},"expires_ms":0}}],"history":{"pay":[{"at_ms":0,"took_ms":0,"action":"called","parameters":{"amount":12.50},"status":null,"error":"`shop` broke the connection: Connection reset by peer (os error 104)"}]}}
    "#);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_decision_after_the_time_for_it_is_refused_and_the_answer_is_no() {
    let shop = shop().await;
    let world = World::new().configured(&[&shop], "[limits]\nperson-time = \"3 s\"\n");
    let world = world.file("plan.json", &plan(&PAY));
    world.reknit(&["run", "--answer", "template", "plan.json"]);
    tokio::time::sleep(std::time::Duration::from_millis(3_100)).await;
    assert_refused(
        &world.reknit(&["runs", "approve", "last"]),
        "the time for a decision about `pay` of run `RUN` is over, so the answer is no",
        "let the run go on with `reknit runs resume RUN`",
    );
    assert_contains(&world.reknit(&["runs", "resume", "--all"]), "failed");
    assert_contains(&world.reknit(&["runs", "show", "last"]), "the time to approve it ran out");
    assert_eq!(shop.call_count(), 1, "nothing was sent again");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_approved_call_is_sent_again_with_its_key() {
    let (shop, world) = ran(&PAY).await;
    insta::assert_snapshot!(world.reknit(&["runs", "approve", "last"]), @r#"
    exit status 0 --- stdout
    approved:
      failed: `shop` broke the connection: Connection reset by peer (os error 104)
      again:  `pay` of `shop` (unsafe) with {"amount":12.50}; the first call may have taken effect (idempotency key: KEY)
      values: amount from the plan
    --- stderr

    hint: continue with `reknit runs resume RUN`
    "#);
    assert_eq!(shop.call_count(), 1, "to approve is not to send");
    insta::assert_snapshot!(world.reknit(&["runs", "resume", "last"]), @r#"
    exit status 0 --- stdout
    Everything was done.

    Done:
    - pay (pay): {"paid":true}
    --- stderr
    > pay  pay  running, call 2
    ✓ pay  pay  done


    complete: 1 of 1 step done, 2 tool calls, 0 model calls, N s

    hint: see each attempt with `reknit runs show RUN`
    "#);
    let keys: Vec<Option<String>> = shop.calls().into_iter().map(|call| call.idempotency_key).collect();
    assert_eq!(keys.len(), 2);
    assert_eq!(keys[0], keys[1]);
    insta::assert_snapshot!(world.reknit(&["runs", "show", "last"]), @r#"
    exit status 0 --- stdout
    run      RUN
    request  shopping
    status   complete
    spent    2 tool calls, 0 model calls, 5 events

    ✓ pay  pay  done

    pay (pay of shop)
      parameter  amount = 12.50   (from the plan)
      attempt 1  `shop` broke the connection: Connection reset by peer (os error 104) <- {"amount":12.50}  (N ms)
      approved   by a person
      attempt 2  accepted <- {"amount":12.50}  (N ms)
      result     {"success":true,"data":{"paid":true}}

    Everything was done.

    Done:
    - pay (pay): {"paid":true}
    "#);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_denied_call_is_not_sent() {
    let (shop, world) = ran(&PAY).await;
    insta::assert_snapshot!(world.reknit(&["runs", "deny", "last", "pay"]), @r#"
    exit status 0 --- stdout
    denied:
      failed: `shop` broke the connection: Connection reset by peer (os error 104)
      again:  `pay` of `shop` (unsafe) with {"amount":12.50}; the first call may have taken effect (idempotency key: KEY)
      values: amount from the plan
    --- stderr

    hint: continue with `reknit runs resume RUN`
    "#);
    insta::assert_snapshot!(world.reknit(&["runs", "resume", "last"]), @"
    exit status 1 --- stdout
    Nothing could be done.

    Missing:
    - pay (pay): failed (the call may have taken effect): `shop` broke the connection: Connection reset by peer (os error 104); the call may have taken effect; it is not sent again, because it was not approved
    --- stderr
    ✗ pay  pay  failed: `shop` broke the connection: Connection reset by peer (os error 104); the call may have taken effect; it is not sent again, because it was not approved


    failed: 0 of 1 step done, 1 tool call, 0 model calls, N s

    hint: see each attempt with `reknit runs show RUN`
    ");
    assert_eq!(shop.call_count(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn approve_fails_if_the_run_does_not_wait() {
    let (_shop, world) = ran(&PAY).await;
    let world = world.file("ask.json", &plan(&[("price", "{}")]));
    assert_refused(
        &world.reknit(&["runs", "approve", "last", "price"]),
        "step `price` of run `RUN` does not wait for approval",
        "these steps do: pay",
    );
    world.reknit(&["run", "--answer", "template", "ask.json"]);
    assert_refused(
        &world.reknit(&["runs", "approve", "last"]),
        "run `RUN` has ended (complete)",
        "see its result with `reknit runs show RUN`",
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_step_that_may_not_ask_for_approval_fails() {
    let shop = shop().await;
    let world = World::new().configured(&[&shop], "[people]\nask = false\n").file("plan.json", &plan(&PAY));
    insta::assert_snapshot!(world.reknit(&["run", "--answer", "template", "plan.json"]), @"
    exit status 1 --- stdout
    Nothing could be done.

    Missing:
    - pay (pay): failed (the call may have taken effect): `shop` broke the connection: Connection reset by peer (os error 104); the call may have taken effect, must not take effect twice, and no person can be asked for approval
    --- stderr
    > pay  pay  running
    ✗ pay  pay  failed: `shop` broke the connection: Connection reset by peer (os error 104); the call may have taken effect, must not take effect twice, and no person can be asked for approval


    failed: 0 of 1 step done, 1 tool call, 0 model calls, N s

    hint: see each attempt with `reknit runs show RUN`
    ");
    assert_eq!(shop.call_count(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_first_decision_counts_and_another_one_is_refused() {
    let (shop, world) = ran(&PAY).await;
    world.reknit(&["runs", "deny", "last"]);
    let approved = world.reknit(&["runs", "approve", "last"]);
    let (listed, shown) = (world.reknit(&["runs", "list"]), world.reknit(&["runs", "show", "last"]));
    let asks = world.reknit(&["runs", "show", "last", "--json"]);
    let resumed = world.reknit(&["runs", "resume", "last"]);
    assert_eq!(shop.call_count(), 1, "what was denied was sent");
    assert_refused(
        &approved,
        "the question `pay/approval/1` of run `RUN` is decided already: denied",
        "the first decision counts: continue with `reknit runs resume RUN`, or cancel the run with `reknit runs cancel RUN`",
    );
    insta::assert_snapshot!(listed, @"
    exit status 0 --- stdout
    RUN                                      STARTED  STATUS   REQUEST
    RUN  AGE  waiting  shopping   (denied; continue with `reknit runs resume RUN`)
    ");
    insta::assert_snapshot!(shown, @r#"
    exit status 0 --- stdout
    run      RUN
    request  shopping
    status   waiting for approval: denied; continue with `reknit runs resume RUN`
    spent    1 tool call, 0 model calls, 2 events

    ? pay  pay  waiting for approval

    pay (pay of shop)
      parameter  amount = 12.50   (from the plan)
      attempt 1  `shop` broke the connection: Connection reset by peer (os error 104) <- {"amount":12.50}  (N ms)
      approval   failed: `shop` broke the connection: Connection reset by peer (os error 104)
                 again:  `pay` of `shop` (unsafe) with {"amount":12.50}; the first call may have taken effect (idempotency key: KEY)
                 values: amount from the plan
      denied     not read by the run yet
    "#);
    assert!(asks.contains(r#""decided":"denied""#), "{asks}");
    insta::assert_snapshot!(resumed, @"
    exit status 1 --- stdout
    Nothing could be done.

    Missing:
    - pay (pay): failed (the call may have taken effect): `shop` broke the connection: Connection reset by peer (os error 104); the call may have taken effect; it is not sent again, because it was not approved
    --- stderr
    ✗ pay  pay  failed: `shop` broke the connection: Connection reset by peer (os error 104); the call may have taken effect; it is not sent again, because it was not approved


    failed: 0 of 1 step done, 1 tool call, 0 model calls, N s

    hint: see each attempt with `reknit runs show RUN`
    ");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_is_approved_twice_is_sent_once() {
    let (shop, world) = ran(&PAY).await;
    world.reknit(&["runs", "approve", "last"]);
    insta::assert_snapshot!(world.reknit(&["runs", "approve", "last"]), @r#"
    exit status 0 --- stdout
    already approved:
      failed: `shop` broke the connection: Connection reset by peer (os error 104)
      again:  `pay` of `shop` (unsafe) with {"amount":12.50}; the first call may have taken effect (idempotency key: KEY)
      values: amount from the plan
    --- stderr

    hint: continue with `reknit runs resume RUN`
    "#);
    world.reknit(&["runs", "resume", "last"]);
    assert_eq!(shop.call_count(), 2, "one approval is one call");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn show_lists_the_calls_of_an_agent_that_wait_for_approval() {
    let shop = shop().await;
    let script = Script::new()
        .once(model::RequestMatcher::any(), Reply::tool_call("shop__pay", r#"{"amount": 12.50}"#))
        .on(model::RequestMatcher::any(), Reply::tool_call("agent__final_report", r#"{"report_content": "paid"}"#));
    let model = ScriptedModel::start(script).await.expect("the model starts");
    let models = format!("[[models]]\nname = \"local\"\nurl = \"{}\"\nmodel = \"scripted\"\n", model.base_url());
    let agent = "---\ntools: [shop]\nmaxTurns: 3\n---\nYou pay.\n";
    let world = World::new().configured(&[&shop], &models).file("clerk.md", agent);
    insta::assert_snapshot!(world.reknit(&["agent", "clerk.md", "--json", "Pay."]), @r#"
    exit status 6 --- stdout
    {"run":"RUN","status":"waiting","asks":[{"step":"call-1","kind":"send_again","rule":"unknown-outcome","error":"`shop` broke the connection: Connection reset by peer (os error 104)","agent":"shop","capability":"pay","class":"unsafe","parameters":{"amount":12.50},"values":{"amount":"written by the agent"},"expires_ms":0}]}
    --- stderr
    > turn 1  asking local
    > turn 1  calling tools
      > call-1  pay  running
      ? call-1  pay  waiting for approval


    waiting for approval:
    - call-1: failed: `shop` broke the connection: Connection reset by peer (os error 104)
      again:  `pay` of `shop` (unsafe) with {"amount":12.50}; the first call may have taken effect (idempotency key: KEY)
      values: amount written by the agent

    hint: decide with `reknit runs approve RUN` or `reknit runs deny RUN`, then continue with `reknit runs resume RUN`; `reknit runs settle --help` if you know what became of a call
    "#);
    insta::assert_snapshot!(world.reknit(&["runs", "show", "last"]), @r#"
    exit status 0 --- stdout
    session  RUN
    agent    clerk
    input    Pay.
    status   waiting for approval
    spent    1 tool call, 1 model call, 3 events

    > turn 1  calling tools
      ? call-1  pay  waiting for approval
    approval call-1: failed: `shop` broke the connection: Connection reset by peer (os error 104)
      again:  `pay` of `shop` (unsafe) with {"amount":12.50}; the first call may have taken effect (idempotency key: KEY)
      values: amount written by the agent

    attempt 1.1  local  tool_calls, N s, 85 tokens in, 0 out
    "#);
    insta::assert_snapshot!(world.reknit(&["runs", "show", "last", "--json"]), @r#"
    exit status 0 --- stdout
    {"run":"RUN","status":"waiting","turn":1,"max_turns":3,"log":[{"kind":"attempt","turn":1,"attempt":1,"target":"local","status":"tool_calls","latency_ms":0,"input_tokens":85,"output_tokens":0}],"asks":[{"step":"call-1","kind":"send_again","rule":"unknown-outcome","error":"`shop` broke the connection: Connection reset by peer (os error 104)","agent":"shop","capability":"pay","class":"unsafe","parameters":{"amount":12.50},"values":{"amount":"written by the agent"},"expires_ms":0}]}
    "#);
    world.reknit(&["runs", "approve", "last", "call-1"]);
    assert!(world.reknit(&["runs", "list"]).contains("(approved; continue with"), "the list shows the decision");
    assert!(world.reknit(&["runs", "resume", "last"]).contains("--- stdout\npaid\n"), "the agent goes on");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_can_say_that_a_call_took_effect() {
    let (shop, world) = ran(&PAY).await;
    assert_refused(
        &world.reknit(&["runs", "settle", "last", "--happened", "--result", "{paid"]),
        "the result is not JSON: line 1, column 2: expected a key in double quotes, found `p`",
        r#"a text needs quotes of its own: `--result '"done"'`; `reknit repair` reads damaged JSON"#,
    );
    assert_refused(
        &world.reknit(&["runs", "settle", "last", "--check"]),
        "no check was configured for `shop/pay` when the run started; look yourself, and say what happened",
        "decide with `reknit runs approve` or `deny`; what became of a call that may have taken effect, with `reknit runs settle` and `--happened` or `--did-not-happen`",
    );
    let settle = ["runs", "settle", "last", "pay", "--happened", "--result", r#"{"receipt": 7}"#];
    insta::assert_snapshot!(world.reknit(&settle), @r#"
    exit status 0 --- stdout
    happened:
      failed: `shop` broke the connection: Connection reset by peer (os error 104)
      again:  `pay` of `shop` (unsafe) with {"amount":12.50}; the first call may have taken effect (idempotency key: KEY)
      values: amount from the plan
    --- stderr

    hint: continue with `reknit runs resume RUN`
    "#);
    insta::assert_snapshot!(world.reknit(&["runs", "resume", "last"]), @r#"
    exit status 0 --- stdout
    Everything was done.

    Done:
    - pay (pay): {"receipt":7}

    Mended:
    - pay by settlement: a person said that the call took effect
    --- stderr
    ✓ pay  pay  done, mended by settlement


    complete: 1 of 1 step done, 1 tool call, 0 model calls, N s

    hint: see each attempt with `reknit runs show RUN`
    "#);
    assert_eq!(shop.call_count(), 1, "the payment is not sent again");
    insta::assert_snapshot!(world.reknit(&["runs", "show", "last"]), @r#"
    exit status 0 --- stdout
    run      RUN
    request  shopping
    status   complete
    spent    1 tool call, 0 model calls, 4 events

    ✓ pay  pay  done, mended by settlement

    pay (pay of shop)
      parameter  amount = 12.50   (from the plan)
      attempt 1  `shop` broke the connection: Connection reset by peer (os error 104) <- {"amount":12.50}  (N ms)
      settled    by a person: the call took effect, with {"receipt":7}
      settled    by settlement: a person said that the call took effect
      result     {"receipt":7}

    Everything was done.

    Done:
    - pay (pay): {"receipt":7}

    Mended:
    - pay by settlement: a person said that the call took effect
    "#);
}

#[test]
fn only_a_call_that_happened_has_a_result() {
    for outcome in ["--did-not-happen", "--check"] {
        for (option, value) in [("--result", "1"), ("--result-file", "result.json")] {
            let world = World::new().file("result.json", "1");
            let output = world.output(&["runs", "settle", "last", outcome, option, value]);
            let message = text(&output.stderr);
            assert_eq!(output.status.code(), Some(2), "{message}");
            assert!(message.contains("cannot be used with") && message.contains(outcome), "{message}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_did_not_happen_is_made() {
    let (shop, world) = ran(&PAY).await;
    world.reknit(&["runs", "settle", "last", "--did-not-happen"]);
    insta::assert_snapshot!(world.reknit(&["runs", "resume", "last"]), @r#"
    exit status 0 --- stdout
    Everything was done.

    Done:
    - pay (pay): {"paid":true}

    Mended:
    - pay by settlement: a person said that the call did not take effect; it is sent again
    --- stderr
    > pay  pay  running, call 2
    ✓ pay  pay  done, mended by settlement


    complete: 1 of 1 step done, 2 tool calls, 0 model calls, N s

    hint: see each attempt with `reknit runs show RUN`
    "#);
    assert_eq!(shop.call_count(), 2);
}

const CHECK: &str = r#"
[[checks]]
of = "shop/pay"
call = "shop/payments"
parameters = { amount = "{{call.amount}}", key = "{{key}}" }
happened = "len(reply.items) > 0"
result = "reply.items[0]"
"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_check_finds_out_that_a_call_took_effect() {
    let shop = ScriptedTool::new("shop")
        .capability("pay", SideEffect::Unsafe)
        .capability("payments", SideEffect::Read)
        .on("pay", CallMatcher::any(), Reply::reset())
        .on("payments", CallMatcher::any(), Reply::data(Value::parse(r#"{"items": [{"receipt": 7}]}"#).expect("JSON")));
    let shop = shop.start().await.expect("the tool starts");
    let world = World::new().configured(&[&shop], CHECK).file("plan.json", &plan(&PAY));
    insta::assert_snapshot!(world.reknit(&["run", "--answer", "template", "plan.json"]), @r#"
    exit status 0 --- stdout
    Everything was done.

    Done:
    - pay (pay): {"receipt":7}

    Mended:
    - pay by settlement: `payments` of `shop` shows that the call took effect
    --- stderr
    > pay  pay  running
    + pay  pay  checking whether the call took effect
    ✓ pay  pay  done, mended by settlement


    complete: 1 of 1 step done, 2 tool calls, 0 model calls, N s

    hint: see each attempt with `reknit runs show RUN`
    "#);
    insta::assert_snapshot!(world.reknit(&["runs", "show", "last"]), @r#"
    exit status 0 --- stdout
    run      RUN
    request  shopping
    status   complete
    spent    2 tool calls, 0 model calls, 3 events

    ✓ pay  pay  done, mended by settlement

    pay (pay of shop)
      parameter  amount = 12.50   (from the plan)
      attempt 1  `shop` broke the connection: Connection reset by peer (os error 104) <- {"amount":12.50}  (N ms)
      checked    whether the call took effect: status 200 <- shop/payments {"amount":12.50,"key":"KEY"}  (N ms)
      settled    by settlement: `payments` of `shop` shows that the call took effect
      result     {"receipt":7}

    Everything was done.

    Done:
    - pay (pay): {"receipt":7}

    Mended:
    - pay by settlement: `payments` of `shop` shows that the call took effect
    "#);
    let calls: Vec<String> = shop.calls().into_iter().map(|call| call.capability.to_string()).collect();
    assert_eq!(calls, ["pay", "payments"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_check_that_does_not_exist_or_may_change_something_is_refused_at_the_start() {
    let shop = shop().await;
    let run = |check: &str| {
        let world = World::new().configured(&[&shop], check).file("plan.json", &plan(&PAY));
        world.reknit(&["run", "--answer", "template", "plan.json"])
    };
    assert_bad_config(
        &run(&CHECK.replace("payments", "fnd")),
        "reknit.toml, line 5: `checks.call` names `shop/fnd`, but there is no capability `fnd` of tool `shop`; did you mean `shop/find`?",
    );
    assert_bad_config(
        &run(&CHECK.replace("\"shop/pay\"", "\"shop/pya\"").replace("payments", "find")),
        "reknit.toml, line 5: `checks.of` names `shop/pya`, but there is no capability `pya` of tool `shop`; did you mean `shop/pay`?",
    );
    assert_bad_config(
        &run(&CHECK.replace("payments", "order")),
        r#"reknit.toml, line 5: `checks.call` names `shop/order`, but its side effect class is `keyed`; a check must read only: name another one, or declare it with `"shop/order" = "read"` in `[effects.classes]`"#,
    );
    assert_eq!(shop.call_count(), 0);
}
