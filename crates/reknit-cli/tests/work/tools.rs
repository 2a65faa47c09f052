//! `reknit tools`.

use reknit_fakes::ScriptedTool;
use reknit_protocol::{Capability, SideEffect, Value};

use crate::exit_status::shop;
use crate::world::{World, assert_refused};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tools_check_lists_capabilities() {
    let shop = shop().await;
    let world = World::with_tools(&[&shop]);
    insta::assert_snapshot!(world.reknit(&["tools", "check"]), @"
    exit status 0 --- stdout
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
    exit status 0 --- stdout
    mute
      act: undeclared
      look: read (by configuration)
    --- stderr

    note: capabilities that declare no side effect class: 1; if the outcome of a call is unknown, it is called again with the same idempotency key
    hint: declare the class in reknit.toml: `[effects.classes]` with `"tool/capability" = "read"`
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
    exit status 0 --- stdout
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
    exit status 1 --- stdout
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
    assert_refused(
        &World::new().reknit(&["tools", "check"]),
        "no tool is configured",
        "connect one with `reknit tools add URL`, or name one with `--tool NAME=URL`",
    );
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

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tools_list_shows_every_capability_with_its_class() {
    let shop = shop().await;
    let world = World::with_tools(&[&shop]);
    insta::assert_snapshot!(world.reknit(&["tools", "list"]), @"
    exit status 0 --- stdout
    shop/price  read
    shop/order  keyed
    shop/find   read
    shop/pay    unsafe
    ");
    insta::assert_snapshot!(world.reknit(&["tools", "list", "--json"]), @r#"
    exit status 0 --- stdout
    {"capability":"shop/price","class":"read","description":""}
    {"capability":"shop/order","class":"keyed","description":""}
    {"capability":"shop/find","class":"read","description":""}
    {"capability":"shop/pay","class":"unsafe","description":""}
    "#);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tools_search_finds_capabilities_by_words() {
    let shop = shop().await;
    let world = World::with_tools(&[&shop]);
    insta::assert_snapshot!(world.reknit(&["tools", "search", "what", "is", "the", "prices"]), @"
    exit status 0 --- stdout
    shop/price  read
    ");
    insta::assert_snapshot!(world.reknit(&["tools", "search", "zebra"]), @"
    exit status 1 --- stderr
    no capability matches `zebra`
    ");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tools_show_lists_parameters_and_a_wrong_name_gets_a_hint() {
    let shop = shop().await;
    let world = World::with_tools(&[&shop]);
    insta::assert_snapshot!(world.reknit(&["tools", "show", "shop/price"]), @"
    exit status 0 --- stdout
    shop/price  (read)

    It says nothing about its parameters.

    Its results are data: a person decides about a target or quantity that a model takes from them.

    Call it:
      reknit tools call shop/price
    ");
    assert_refused(
        &world.reknit(&["tools", "show", "shop/prise"]),
        "there is no capability `shop/prise`",
        "did you mean `shop/price`?",
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tools_call_makes_one_journalled_call() {
    let shop = shop().await;
    let world = World::with_tools(&[&shop]);
    insta::assert_snapshot!(world.reknit(&["tools", "call", "shop/price", "of=tea"]), @r#"
    exit status 0 --- stdout
    {"price":12.50}
    --- stderr
    > call  price  running
    ✓ call  price  done


    complete: 1 of 1 step done, 1 tool call, 0 model calls, N s

    hint: see each attempt with `reknit runs show RUN`
    "#);
    insta::assert_snapshot!(world.reknit(&["tools", "call", "price", r#"{"of": "tea"}"#]), @r#"
    exit status 0 --- stdout
    {"price":12.50}
    --- stderr
    > call  price  running
    ✓ call  price  done


    complete: 1 of 1 step done, 1 tool call, 0 model calls, N s

    hint: see each attempt with `reknit runs show RUN`
    "#);
    assert_refused(
        &world.reknit(&["tools", "call", "price", "tea"]),
        "`tea` has no name and `=` before its value",
        r#"write `name=value`, or one JSON object: `'{"name": "value"}'`"#,
    );
    insta::assert_snapshot!(world.reknit(&["runs", "list"]), @r#"
    exit status 0 --- stdout
    RUN                                      STARTED  STATUS    REQUEST
    RUN  AGE  complete  shop/price {"of": "tea"}
    RUN  AGE  complete  shop/price of=tea
    "#);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tools_add_writes_the_entry_of_a_service_and_of_a_document() {
    let shop = shop().await;
    let document = r#"{"openapi": "3.1.0", "info": {"title": "Pet Store API", "version": "1"},
      "servers": [{"url": "https://pets.example.com/v1"}],
      "paths": {"/pets": {"get": {"operationId": "pets", "responses": {}}, "post": {"operationId": "add", "responses": {}}}}}"#;
    let world = World::new().file("pets.json", document).file("reknit.toml", "# mine\n[limits]\ncall-time = \"9s\"\n");
    insta::assert_snapshot!(world.reknit(&["tools", "add", &shop.base_url(), "--name", "shop", "--dry-run"]), @r#"
    exit status 0 --- stdout
    [[tools]]
    name = "shop"
    url = "http://127.0.0.1:PORT"
    --- stderr
    calls go to 127.0.0.1:PORT
    found 4 capabilities (1 keyed, 2 read, 1 unsafe); this entry would be added to reknit.toml:
    "#);
    insta::assert_snapshot!(world.reknit(&["tools", "add", &shop.base_url(), "--name", "shop"]), @"
    exit status 0 --- stdout
    added `shop` to reknit.toml: 4 capabilities (1 keyed, 2 read, 1 unsafe)
    --- stderr
    calls go to 127.0.0.1:PORT
    hint: list them with `reknit tools list`, try one with `reknit tools call shop/...`
    ");
    insta::assert_snapshot!(world.reknit(&["tools", "add", "pets.json"]), @"
    exit status 0 --- stdout
    added `pet-store` to reknit.toml: 2 capabilities (1 read, 1 unsafe)
    --- stderr
    calls go to pets.example.com
    hint: allow what the file decides with `reknit trust`, list them with `reknit tools list`, try one with `reknit tools call pet-store/...`
    ");
    assert_refused(
        &world.reknit(&["tools", "add", "pets.json", "--name", "pet-store"]),
        "`reknit.toml` has a tool `pet-store` already",
        "choose another name with `--name`, or remove the old entry",
    );
    let written = std::fs::read_to_string(world.path().join("reknit.toml")).expect("it is there");
    insta::assert_snapshot!(crate::masks::masked(&written, world.path()), @r#"
    # mine
    [limits]
    call-time = "9s"

    [[tools]]
    name = "shop"
    url = "http://127.0.0.1:PORT"

    [[openapi]]
    name = "pet-store"
    document = "pets.json"
    url = "https://pets.example.com/v1"
    "#);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_trusted_file_stays_trusted_when_tools_add_changes_it() {
    let shop = shop().await;
    let clock = "[[command]]\nname = \"clock\"\ncapability = \"now\"\ncommand = [\"date\"]\nparameters = {}\n";
    let world = World::new().file("reknit.toml", clock);
    let add = |name: &str| world.reknit(&["tools", "add", &shop.base_url(), "--name", name]);
    add("before");
    assert!(world.reknit(&["tools", "call", "clock/now"]).contains("is not trusted"));
    world.reknit(&["trust"]);
    add("after");
    let called = world.reknit(&["tools", "call", "clock/now"]);
    assert!(!called.contains("trusted"), "{called}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tools_add_says_what_it_tried_and_changes_nothing() {
    let world = World::new().file("notes.txt", "buy milk");
    assert_refused(
        &world.reknit(&["tools", "add", "notes.txt"]),
        "`notes.txt` is not an API description: the text is not an API description: it has neither `openapi` nor `swagger` at its top",
        "name an OpenAPI or Swagger file, or an address that begins with `http://` or `https://`",
    );
    assert_refused(
        &world.reknit(&["tools", "add", "http://127.0.0.1:1"]),
        "nothing listens at `http://127.0.0.1:1`",
        "start the service, or check its port",
    );
    assert!(!world.path().join("reknit.toml").exists());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tool_that_is_down_makes_a_failing_call_and_not_an_invalid_plan() {
    let shop = shop().await;
    let world = World::with_tools(&[&shop]);
    world.reknit(&["tools", "list"]);
    drop(shop);
    let shown = world.reknit_with(&[("REKNIT_AGENT_MAX_RETRIES", "0")], &["tools", "call", "shop/price", "of=tea"]);
    insta::assert_snapshot!(shown, @"
    exit status 1 --- stdout
    {}
    --- stderr
    warning: tool `shop` at http://127.0.0.1:PORT/: connection refused; is the tool running? (its last known capabilities are used)
    > call  price  running
    ✗ call  price  failed: `shop` cannot be reached: Connection refused (os error 111); the call is not sent again (`times` in `[resend]` is 0)


    failed: 0 of 1 step done, 1 tool call, 0 model calls, N s

    hint: see each attempt with `reknit runs show RUN`
    ");
}
