//! `reknit runs explain` and `reknit plan draw`.

use crate::exit_status::{PRICE_AND_ORDER, shop, shopping};
use crate::terminal::in_terminal;
use crate::world::{World, assert_refused, plan, text};

/// The page without times, which differ between runs.
fn untimed(page: &str) -> String {
    let line = |line: &str| {
        let line = line.split(", started on ").next().unwrap_or_default();
        let line = match line.strip_prefix("  +") {
            Some(rest) => format!("  +N  {}", rest.split_once("  ").map_or(rest, |(_, text)| text.trim_start())),
            None if line.starts_with("  Time: ") => "  Time: N".to_owned(),
            None => line.to_owned(),
        };
        match line.rsplit_once(" (") {
            Some((before, took)) if took.ends_with(" ms)") || took.ends_with(" s)") => format!("{before} (N)\n"),
            _ => line + "\n",
        }
    };
    page.lines().map(line).collect()
}

#[test]
fn a_run_is_explained_with_graph_times_and_cost() {
    let world = World::new();
    world.reknit(&["demo"]);
    let page = untimed(&world.reknit(&["runs", "explain", "last"]));
    let (events, _) = page.split_once("\nFailed:\n").expect("something failed");
    insta::assert_snapshot!(events, @r#"
    exit status 0 --- stdout
    Run RUN

    Asked:
      I want to sell 100 Tesla shares to pay for a trip to Seoul. How much is that in won, and what is the weather like there? And what does a share of Hanok Tours cost?

    Outcome:
      A part was done: 4 of 5 steps have a result.

    Plan:
      A model planned the request.
      +N  Model scripted was asked for a plan: 963 tokens sent, 197 received. (N)
      The text of the plan was repaired: dropped an extra comma; took the JSON from a fenced block.

    Steps:
      ✓    step-1  stock-tool/get_stock_quote
      │ ✓  step-2  geocoding-tool/geocode
      │ │
      │ ✓  step-3  weather-tool/get_weather
      ✓    step-4  currency-tool/convert_currency
      ✗    step-5  stock-tool/get_stock_quote

    step-1 (get_stock_quote of stock-tool: Get the price of a Tesla share): done
      +N  Call 1 was sent with {"symbol":"TSLA"}; the tool accepted it. (N)

    step-2 (geocode of geocoding-tool: Find the coordinates of Seoul): done
      +N  Call 1 was sent with {"location":"Seoul"}; the tool accepted it. (N)

    step-3 (get_weather of weather-tool: Get the weather in Seoul): done, after it was mended
      +N  Changed by schema (code made the values fit their schema): $.lat: "37.5665" -> 37.5665; $.lon: "126.978" -> 126.978
      +N  Call 1 was sent with {"lat":37.5665,"lon":126.978}; it failed: 429 RATE_LIMIT_EXCEEDED: too many requests for the weather (N)
      +N  The same call is sent again after N ms, for 429 RATE_LIMIT_EXCEEDED: too many requests for the weather
      +N  Waited before the next attempt. (N)
      +N  Call 2 was sent with {"lat":37.5665,"lon":126.978}; the tool accepted it. (N)

    step-4 (convert_currency of currency-tool: Convert the proceeds of 100 Tesla shares to won): done, after it was mended
      +N  Call 1 was sent with {"from":"USD","to":"KRW","amount":0}; it failed: 400 INVALID_AMOUNT: amount must be greater than 0 (N)
      +N  Model scripted was asked to correct the call, shown its error (feedback): 388 tokens sent, 20 received. (N)
      +N  No help by feedback: The amount must be positive, but nothing here says what it should be.
      +N  Model scripted was asked to correct the call, shown all that is known (context): 434 tokens sent, 26 received. (N)
      +N  Changed by context (a model was shown all that is known): amount: 0 -> 46828.5: The user sells 100 shares and step-1 has the price of one, so the amount is their product.
      +N  Call 2 was sent with {"from":"USD","to":"KRW","amount":46828.5}; the tool accepted it. (N)

    step-5 (get_stock_quote of stock-tool: Get the price of a share of Hanok Tours): failed
      +N  Call 1 was sent with {"symbol":"HANOK"}; it failed: 404 SYMBOL_NOT_FOUND: no share is traded as `HANOK` (N)
      +N  Model scripted was asked to correct the call, shown its error (feedback): 387 tokens sent, 24 received. (N)
      +N  No help by feedback: Hanok Tours is not among the known symbols; another symbol would be the price of another company.
      +N  Model scripted was asked to correct the call, shown all that is known (context): 419 tokens sent, 24 received. (N)
      +N  No help by context: Neither the request nor any result names a symbol for Hanok Tours. It does not seem to be listed.
    "#);
}

#[test]
fn an_explanation_ends_with_failures_repairs_decisions_and_cost() {
    let world = World::new();
    world.reknit(&["demo"]);
    let page = untimed(&world.reknit(&["runs", "explain", "last"]));
    let (_, account) = page.split_once("\nFailed:\n").expect("something failed");
    insta::assert_snapshot!(account, @r#"
      step-3, which went on: 429 RATE_LIMIT_EXCEEDED: too many requests for the weather
      step-4, which went on: 400 INVALID_AMOUNT: amount must be greater than 0
      step-5: 404 SYMBOL_NOT_FOUND: no share is traded as `HANOK`; Neither the request nor any result names a symbol for Hanok Tours. It does not seem to be listed.

    Mended:
      step-3 by schema (code made the values fit their schema): $.lat: "37.5665" -> 37.5665; $.lon: "126.978" -> 126.978
      step-3 by resend (the same call was sent again): sent again after N ms, for 429 RATE_LIMIT_EXCEEDED: too many requests for the weather
      step-4 by context (a model was shown all that is known): amount: 0 -> 46828.5: The user sells 100 shares and step-1 has the price of one, so the amount is their product.

    Missing:
      The result of step-5, which failed: 404 SYMBOL_NOT_FOUND: no share is traded as `HANOK`; Neither the request nor any result names a symbol for Hanok Tours. It does not seem to be listed.

    Decided:
      The plan: a model wrote it.
      The answer: a model wrote it from the results.

    Cost:
      Time: N
      Calls: 7 to tools, 6 to models (2830 tokens sent, 327 received).
      Models: the cost is not known; they have no prices.
    "#);
}

#[test]
fn an_explanation_in_json_has_the_same_parts() {
    let world = World::new();
    world.reknit(&["demo"]);
    let page = text(&world.output(&["runs", "explain", "last", "--json"]).stdout);
    for part in ["asked", "outcome", "planning", "steps", "failed", "mended", "missing", "decided", "cost"] {
        assert!(page.contains(&format!("\"{part}\":")), "{part} is missing in {page}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_explanation_says_who_decided() {
    let (_shop, world) = shopping(&[("pay", r#"{"amount": 12.50}"#)]).await;
    world.reknit(&["run", "plan.json"]);
    insta::assert_snapshot!(untimed(&world.reknit(&["runs", "explain", "last"])), @r#"
    exit status 0 --- stdout
    Run RUN

    Asked:
      shopping

    Outcome:
      The run has not ended (waiting); so far 0 of 1 step has a result.

    Plan:
      The plan was given; no model planned it.

    Steps:
      ·  pay  shop/pay

    pay (pay of shop): waiting for approval
      +N  Call 1 was sent with {"amount":12.50}; it failed: `shop` broke the connection: Connection reset by peer (os error 104) (N)

    Failed:
      pay, so far: `shop` broke the connection: Connection reset by peer (os error 104)

    Decided:
      The plan: it was given with the request.

    Cost:
      Time: N
      Calls: 1 to tools, 0 to models.
      Models: no cost, none was asked.
    "#);
    world.reknit(&["runs", "approve", "last"]);
    world.reknit(&["runs", "resume", "last"]);
    insta::assert_snapshot!(untimed(&world.reknit(&["runs", "explain", "last"])), @r#"
    exit status 0 --- stdout
    Run RUN

    Asked:
      shopping

    Outcome:
      Everything was done: 1 of 1 step has a result.

    Plan:
      The plan was given; no model planned it.

    Steps:
      ✓  pay  shop/pay

    pay (pay of shop): done
      +N  Call 1 was sent with {"amount":12.50}; it failed: `shop` broke the connection: Connection reset by peer (os error 104) (N)
      +N  Approved by a person. (N)
      +N  Call 2 was sent with {"amount":12.50}; the tool accepted it. (N)

    Failed:
      pay, which went on: `shop` broke the connection: Connection reset by peer (os error 104)

    Decided:
      The plan: it was given with the request.
      pay: Approved by a person.
      The answer: code listed the results.

    Cost:
      Time: N
      Calls: 2 to tools, 0 to models.
      Models: no cost, none was asked.
    "#);
}

fn without_colours(text: &str) -> String {
    let mut pieces = text.split("\x1b[");
    let first = pieces.next().unwrap_or_default();
    let rest = pieces.map(|piece| piece.split_once('m').map_or(piece, |(_, rest)| rest));
    std::iter::once(first).chain(rest).collect()
}

#[test]
fn a_page_is_broken_to_the_width_of_the_terminal() {
    for columns in [80, 120] {
        let world = World::new();
        world.reknit(&["demo"]);
        for arguments in ["runs explain last", "plan draw last", "runs list"] {
            let Some(seen) = in_terminal(&world, columns, 24, arguments) else { return };
            let plain = without_colours(&seen);
            let widest = plain.lines().map(|line| unicode_width::UnicodeWidthStr::width(line.trim_end())).max();
            assert!(widest <= Some(columns), "`{arguments}` has {widest:?} columns:\n{seen}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_plan_and_a_run_are_drawn() {
    let shop = shop().await;
    let steps = [PRICE_AND_ORDER[0], PRICE_AND_ORDER[1], ("find", "{}")];
    let world = World::with_tools(&[&shop])
        .file("plan.json", &plan(&steps))
        .file("bad.yaml", "steps: [{id: a, tool: t, after: b}]");
    insta::assert_snapshot!(world.reknit(&["plan", "draw", "plan.json"]), @"
    exit status 0 --- stdout
    ○  price  shop/price
    │
    ○  order  shop/order
    ○  find   shop/find
    ");
    world.reknit(&["run", "plan.json"]);
    insta::assert_snapshot!(world.reknit(&["plan", "draw", "last"]), @"
    exit status 0 --- stdout
    ✓  price  shop/price
    │
    ✓  order  shop/order
    ✗  find   shop/find
    ");
    let svg = text(&world.output(&["plan", "draw", "last", "--svg"]).stdout);
    assert!(svg.starts_with("<svg ") && svg.contains("class=\"failed\""), "{svg}");
    insta::assert_snapshot!(world.reknit(&["plan", "draw", "bad.yaml"]), @"
    exit status 2 --- stderr
    error: cannot run the plan
      - line 1, column 26: step `a`: the step depends on `b`, but there is no such step (did you mean `a`?)
    ");
    assert_refused(
        &world.reknit(&["plan", "draw", "missing.yaml"]),
        "there is no file `missing.yaml`",
        "name a plan file, a run, or `last`",
    );
    assert_refused(
        &world.reknit(&["plan", "draw", "0123"]),
        "there is no run `0123`",
        "list your runs with `reknit runs list`",
    );
}
