//! `reknit tools check`.

use reknit_protocol::{Capability, SideEffect, Value};
use reknit_testing::ScriptedTool;

use crate::exit_status::shop;
use crate::world::World;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tools_check_lists_capabilities() {
    let shop = shop().await;
    let world = World::with_tools(&[&shop]);
    insta::assert_snapshot!(world.reknit(&["tools", "check"]), @"
    exit status 0
    --- stdout
    shop
      price: read
      order: keyed
      find: read
      pay: unsafe
    ");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tools_check_notes_capabilities_without_a_side_effect_class() {
    let mute =
        ScriptedTool::new("mute").capability("act", SideEffect::Undeclared).capability("look", SideEffect::Undeclared);
    let mute = mute.start().await.expect("the tool starts");
    let world = World::new().configured(&[&mute], "[effects.classes]\n\"mute/look\" = \"read\"\n");
    insta::assert_snapshot!(world.reknit(&["tools", "check"]), @r#"
    exit status 0
    --- stdout
    mute
      act: undeclared
      look: read (by configuration)
    --- stderr

    note: capabilities without a side effect class: 1; after a crash they are called again with the same idempotency key
    hint: declare it in reknit.toml: `[effects.classes]` with `"tool/capability" = "read"`
    "#);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tools_check_notes_unknown_keys_of_summaries() {
    let capability = r#"{"name": "act", "effect": "read", "input_summary": {"requred": [], "required": [
        {"name": "colour", "type": "string", "enum": ["red", "blue"]}]}}"#;
    let capability = Capability::from_value(&Value::parse(capability).expect("JSON")).expect("a capability");
    let tool = ScriptedTool::new("paint").announce(capability).start().await.expect("the tool starts");
    let world = World::with_tools(&[&tool]);
    insta::assert_snapshot!(world.reknit(&["tools", "check"]), @"
    exit status 0
    --- stdout
    paint
      act: read
    --- stderr
    note: tool `paint` at http://127.0.0.1:PORT/: unknown key `input_summary.requred` of `act` has no effect
    note: tool `paint` at http://127.0.0.1:PORT/: unknown key `input_summary.required[0].enum` of `act` has no effect
    ");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tools_check_fails_if_a_tool_does_not_answer() {
    let shop = shop().await;
    let world = World::with_tools(&[&shop]);
    insta::assert_snapshot!(world.reknit(&["tools", "check", "--tool", "gone=http://127.0.0.1:9"]), @"
    exit status 1
    --- stdout
    shop
      price: read
      order: keyed
      find: read
      pay: unsafe
    --- stderr
    error: tool `gone` at http://127.0.0.1:9/: connection refused; is the tool running?
    ");
}

#[test]
fn secrets_in_the_url_of_a_tool_are_never_shown() {
    for (tool, status, shown) in [
        (
            "gone=http://me:s3cret@127.0.0.1:9/v1?key=s3cret",
            1,
            "at http://[redacted]@127.0.0.1:9/v1?[redacted]: connection refused",
        ),
        ("gone=http://me:s3cret@127.0.0.1:nine", 2, "`http://[redacted]@127.0.0.1:nine` is not the address"),
        ("http://me:s3cret@127.0.0.1:9", 2, "`--tool http://[redacted]@127.0.0.1:9` has no `=`"),
        ("http://127.0.0.1:9?key=s3cret", 2, "`--tool http://127.0.0.1:9?[redacted]` has no name before the `=`"),
    ] {
        let output = World::new().reknit(&["tools", "check", "--tool", tool]);
        assert!(output.starts_with(&format!("exit status {status}")) && output.contains(shown), "{output}");
        assert!(!output.contains("s3cret"), "{output}");
    }
}

#[test]
fn tools_check_needs_a_tool() {
    insta::assert_snapshot!(World::new().reknit(&["tools", "check"]), @"
    exit status 2
    --- stderr
    error: no tool is configured

    hint: name one with `--tool NAME=URL`, or add `[[tools]]` to reknit.toml
    ");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_side_effect_class_for_an_unknown_name_is_an_error_with_a_suggestion() {
    let shop = ScriptedTool::new("shop").capability("price", SideEffect::Read).start().await.expect("the tool starts");
    let plan = crate::world::plan(&[("price", "{}")]);
    let all: [&[&str]; 3] =
        [&["run", "--answer", "template", "plan.json"], &["tools", "check"], &["config", "show", "--changed"]];
    for (name, problem, commands) in [
        ("shpo/price", "names `shpo/price`, but there is no tool `shpo`; did you mean `shop`?", &all[..]),
        ("bank", "names `bank`, but there is no tool `bank`; there is: shop", &all[..]),
        (
            "shop/prize",
            "names `shop/prize`, but there is no capability `prize` of tool `shop`; did you mean `shop/price`?",
            &all[..2],
        ),
    ] {
        let classes = format!("[effects.classes]\n\"{name}\" = \"unsafe\"\n");
        let world = World::new().configured(&[&shop], &classes).file("plan.json", &plan);
        for command in commands {
            let shown = world.reknit(command);
            assert!(shown.starts_with("exit status 2") && shown.contains(problem), "{command:?}: {shown}");
            assert!(shown.contains("reknit.toml, line 4"), "{command:?}: {shown}");
        }
    }
    assert_eq!(shop.call_count(), 0, "nothing is called");
    let world =
        World::new().configured(&[&shop], "[effects.classes]\n\"shop\" = \"read\"\n\"shop/price\" = \"read\"\n");
    for command in &all[1..] {
        assert!(world.reknit(command).starts_with("exit status 0"), "{command:?}");
    }
    assert!(world.reknit(&["demo"]).starts_with("exit status 0"), "the demo has other tools");
}
