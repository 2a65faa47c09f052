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
fn without_tools_there_is_nothing_to_check() {
    insta::assert_snapshot!(World::new().reknit(&["tools", "check"]), @"
    exit status 2
    --- stderr
    error: there is no tool to ask

    hint: name one: `--tool NAME=URL`, or `[[tools]]` in reknit.toml
    ");
}
