//! `reknit demo` in a pipe.

use crate::world::{World, assert_refused};

/// Sorts the progress lines, whose order differs between runs.
fn sorted_progress(shown: &str) -> String {
    let is_progress =
        |line: &&str| -> bool { "·>~+?✓✗-".chars().any(|mark| line.starts_with(&format!("{mark} step-"))) };
    let mut lines: Vec<&str> = shown.lines().collect();
    let stderr = lines.iter().position(|line| *line == "--- stderr").expect("there is output on standard error");
    let first = stderr + lines[stderr..].iter().position(is_progress).expect("there is progress");
    let count = lines[first..].iter().take_while(|line| is_progress(line)).count();
    lines[first..first + count].sort_by_key(|line| (line.split_whitespace().nth(1), *line));
    // A countdown is printed again whenever another step changes.
    lines.dedup_by(|line, before| line == before && line.contains("retrying in"));
    lines.join("\n")
}

#[test]
fn the_demo_prints_changes_in_a_pipe() {
    let shown = World::new().reknit(&["demo"]);
    insta::assert_snapshot!(sorted_progress(&shown), @r#"
    exit status 0 --- stdout
    100 Tesla shares bring 46,828.5 US dollars, which is 65,150,150.625 won. In Seoul it is clear, at 14.5 °C. No price was found for a share of Hanok Tours, which does not seem to be listed.

    Mended:
    - step-3 by schema: $.lat: "37.5665" -> 37.5665; $.lon: "126.978" -> 126.978
    - step-3 by resend: sent again after N ms, for 429 RATE_LIMIT_EXCEEDED: too many requests for the weather
    - step-4 by context: amount: 0 -> 46828.5: The user sells 100 shares and step-1 has the price of one, so the amount is their product.

    Missing:
    - step-5 (get_stock_quote): failed: 404 SYMBOL_NOT_FOUND: no share is traded as `HANOK`; Neither the request nor any result names a symbol for Hanok Tours. It does not seem to be listed.
    --- stderr
    Four tools run on this machine. The answers of the model are scripted; everything else is real.

    Request: I want to sell 100 Tesla shares to pay for a trip to Seoul. How much is that in won, and what is the weather like there? And what does a share of Hanok Tours cost?

    planning: asking a model
    > step-1  get_stock_quote   running
    ✓ step-1  get_stock_quote   done
    > step-2  geocode           running
    ✓ step-2  geocode           done
    > step-3  get_weather       running
    > step-3  get_weather       running, call 2
    ~ step-3  get_weather       retrying in N s
    · step-3  get_weather       waiting for step-2
    ✓ step-3  get_weather       done, mended by schema, resend
    + step-4  convert_currency  mending: asking a model (context)
    + step-4  convert_currency  mending: asking a model (feedback)
    > step-4  convert_currency  running
    > step-4  convert_currency  running, call 2
    · step-4  convert_currency  waiting for step-1
    ✓ step-4  convert_currency  done, mended by context
    + step-5  get_stock_quote   mending: asking a model (context)
    + step-5  get_stock_quote   mending: asking a model (feedback)
    > step-5  get_stock_quote   running
    ✗ step-5  get_stock_quote   failed: 404 SYMBOL_NOT_FOUND: no share is traded as `HANOK`; Neither the request nor any result names a symbol for Hanok Tours. It does not seem to be listed.
    answering: asking a model


    partial: 4 of 5 steps done, 7 tool calls, 6 model calls, N s

    hint: see each attempt with `reknit runs show RUN`
    hint: list your runs with `reknit runs list`; try your own request and model with `reknit demo --serve`
    "#);
}

#[test]
fn a_live_demo_needs_a_model() {
    assert_refused(
        &World::new().reknit(&["demo", "--live"]),
        "`--live` needs a model",
        "name one with `reknit demo --live --model-url http://127.0.0.1:8080/v1`, or add `[[models]]` to reknit.toml",
    );
}

#[test]
fn the_demo_rejects_arguments_without_effect() {
    let world = World::new();
    assert_refused(
        &world.reknit(&["demo", "--tool", "shop=http://127.0.0.1:9"]),
        "`reknit demo` uses only its own tools",
        "start the demo tools with `reknit demo --serve`, and use them beside yours with `reknit ask`",
    );
    assert_refused(
        &world.reknit(&["demo", "--model-url", "http://127.0.0.1:9/v1"]),
        "`--model-url` needs `--live`",
        "add `--live`",
    );
}

#[test]
fn serve_and_live_exclude_each_other() {
    insta::assert_snapshot!(World::new().reknit(&["demo", "--live", "--serve"]), @"
    exit status 2 --- stderr
    error: the argument '--live' cannot be used with '--serve'

    Usage: reknit demo --live

    For more information, try '--help'.
    ");
}
