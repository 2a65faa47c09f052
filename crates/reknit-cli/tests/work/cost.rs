//! The cost limit, and the cost in the summary.

use reknit_fakes::model::{RequestMatcher, Script};
use reknit_fakes::{Reply, ScriptedModel};

use crate::exit_status::{PRICE_AND_ORDER, shop};
use crate::world::{World, assert_bad_config, plan};

fn model(url: &str, rest: &str) -> String {
    format!("[[models]]\nname = \"main\"\nurl = \"{url}\"\nmodel = \"m-1\"\n{rest}\n")
}

const PRICES: &str = "price-input = 1\nprice-output = 10";

#[test]
fn a_cost_limit_needs_the_price_of_every_model() {
    let world = World::new().configured(&[], &(model("http://127.0.0.1:9/v1", "") + "[limits]\nmoney = 0.5\n"));
    assert_bad_config(
        &world.reknit(&["ask", "buy tea"]),
        "`limits.money` is set, but the price of model `main` is unknown; write `price-input` and `price-output` per million tokens in its `[[models]]`, 0 if it is free",
    );
    let world = World::new().configured(&[], "[limits]\nmoney = -1\n");
    assert_bad_config(
        &world.reknit(&["ask", "buy tea"]),
        "reknit.toml, line 2: `limits.money` is -1; write an amount from 0 to 1000000000",
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_summary_shows_the_cost_and_its_estimated_part() {
    let shop = shop().await;
    let words = || Reply::text("Tea costs 12.50 a pound.");
    let script =
        Script::new().once(RequestMatcher::any(), words().cut_after_events(2)).on(RequestMatcher::any(), words());
    let model_server = ScriptedModel::start(script).await.expect("the model starts");
    let config = model(&model_server.base_url(), PRICES) + "[limits]\nmoney = 0.5\n";
    let world = World::new().configured(&[&shop], &config).file("plan.json", &plan(&PRICE_AND_ORDER));
    insta::assert_snapshot!(world.reknit(&["run", "--answer", "model", "plan.json"]), @"
    exit status 0 --- stdout
    Tea costs 12.50 a pound.
    --- stderr
    > price  price  running
    · order  order  waiting for price
    ✓ price  price  done
    > order  order  running
    ✓ order  order  done
    answering: asking a model
    - model main: network error: the connection broke: unexpected EOF during chunk size line after 7 characters of the answer
    answering: asking a model in 1 s
    answering: asking a model


    complete: 2 of 2 steps done, 2 tool calls, 2 model calls, 0.021786 for models (0.021633 of it estimated), N s

    hint: see each attempt with `reknit runs show RUN`
    ");
    insta::assert_snapshot!(world.reknit(&["run", "--answer", "model", "--json", "plan.json"]), @r#"
    exit status 0 --- stdout
    {"run":"RUN","status":"complete","answer":"Tea costs 12.50 a pound.","written_by":"model","reason":null,"steps":[{"step":"price","agent":"shop","capability":"price","outcome":{"done":{"success":true,"data":{"price":12.50}}},"mends":[],"calls":1},{"step":"order","agent":"shop","capability":"order","outcome":{"done":{"success":true,"data":{"order":"o-1"}}},"mends":[],"calls":1}],"spent":{"tool_calls":2,"model_calls":1,"input_tokens":103,"output_tokens":5,"wasted_tokens":0,"cost":0.000153,"active_ms":0}}
    --- stderr
    > price  price  running
    · order  order  waiting for price
    ✓ price  price  done
    > order  order  running
    ✓ order  order  done
    answering: asking a model


    complete: 2 of 2 steps done, 2 tool calls, 1 model call, 0.000153 for models, N s

    hint: see each attempt with `reknit runs show RUN`
    "#);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_model_call_that_could_exceed_the_cost_limit_is_not_sent() {
    let shop = shop().await;
    let model_server = ScriptedModel::start(Script::new()).await.expect("the model starts");
    let config = model(&model_server.base_url(), PRICES) + "[limits]\nmoney = 0.02\n";
    let world = World::new().configured(&[&shop], &config).file("plan.json", &plan(&PRICE_AND_ORDER));
    insta::assert_snapshot!(world.reknit(&["run", "--answer", "model", "plan.json"]), @r#"
    exit status 0 --- stdout
    Everything was done.

    Done:
    - price (price): {"price":12.50}
    - order (order): {"order":"o-1"}
    --- stderr
    > price  price  running
    · order  order  waiting for price
    ✓ price  price  done
    > order  order  running
    ✓ order  order  done


    note: the answer was built from a template: the cost limit of 0.02 is reached: the next model call may cost 0.021633, and 0.02 is left after reserving for the final answer
    complete: 2 of 2 steps done, 2 tool calls, 0 model calls, N s

    hint: see each attempt with `reknit runs show RUN`
    "#);
    insta::assert_snapshot!(world.reknit(&["ask", "buy tea"]), @"
    exit status 5 --- stdout
    the cost limit of 0.02 is reached: the next model call may cost 0.028671, and 0 is left after reserving for the final answer
    --- stderr

    budget exhausted: 0 of 0 steps done, 0 tool calls, 0 model calls, N s

    hint: see each attempt with `reknit runs show RUN`
    ");
    assert_eq!(model_server.requests().len(), 0);
}
