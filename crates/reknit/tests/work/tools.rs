//! `reknit tools check`.

use reknit_protocol::Effect;
use reknit_testing::ScriptedTool;

use crate::endings::shop;
use crate::world::World;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_tools_can_do_is_listed() {
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
async fn what_does_not_say_what_it_does_is_pointed_out() {
    let mute = ScriptedTool::new("mute").capability("act", Effect::Undeclared).capability("look", Effect::Undeclared);
    let mute = mute.start().await.expect("the tool starts");
    let world = World::new().configured(&[&mute], "[effects.classes]\n\"mute/look\" = \"read\"\n");
    insta::assert_snapshot!(world.reknit(&["tools", "check"]), @r#"
    exit status 0
    --- stdout
    mute
      act: undeclared
      look: read (by configuration)
    --- stderr

    note: 1 of them do not say what they do to the world; after a crash they are sent again under the same key
    hint: say it in reknit.toml: `[effects.classes]` with `"tool/capability" = "read"`
    "#);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tool_that_does_not_answer_is_an_error() {
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
    error: tool `gone` at http://127.0.0.1:9/: nobody answers there; is it running?
    ");
}

#[test]
fn what_is_secret_in_the_address_of_a_tool_is_never_shown() {
    for (tool, status, shown) in [
        (
            "gone=http://me:s3cret@127.0.0.1:9/v1?key=s3cret",
            1,
            "at http://[redacted]@127.0.0.1:9/v1?[redacted]: nobody",
        ),
        ("gone=http://me:s3cret@127.0.0.1:nine", 2, "`http://[redacted]@127.0.0.1:nine` is no address"),
        ("http://me:s3cret@127.0.0.1:9", 2, "`--tool http://[redacted]@127.0.0.1:9` has no `=`"),
        ("http://127.0.0.1:9?key=s3cret", 2, "`--tool http://127.0.0.1:9?[redacted]` has no name before its `=`"),
    ] {
        let told = World::new().reknit(&["tools", "check", "--tool", tool]);
        assert!(told.starts_with(&format!("exit status {status}")) && told.contains(shown), "{told}");
        assert!(!told.contains("s3cret"), "{told}");
    }
}

#[test]
fn without_tools_there_is_nothing_to_check() {
    insta::assert_snapshot!(World::new().reknit(&["tools", "check"]), @"
    exit status 2
    --- stderr
    error: there is no tool to ask

    hint: name one: `--tool NAME=URL`, or `[[tools]]` in reknit.toml
    ");
}
