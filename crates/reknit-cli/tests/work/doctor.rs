//! `reknit doctor`.

use reknit_fakes::model::{RequestMatcher, Script};
use reknit_fakes::{Reply, ScriptedModel};

use crate::exit_status::shop;
use crate::world::{World, assert_contains, plan};

/// The page without what differs between machines.
fn masked(page: &str) -> String {
    let line = |line: &str| match line {
        line if line.contains("  disk  ") => "disk\n".to_owned(),
        line if line.contains("  clock  ") => "clock\n".to_owned(),
        line => format!("{line}\n"),
    };
    page.lines().map(line).collect()
}

#[test]
fn without_a_configuration_the_first_steps_are_named() {
    insta::assert_snapshot!(masked(&World::new().reknit(&["doctor"])), @"
    exit status 1 --- stdout
    ok       configuration  no file; every setting has its default: 0 tools, 0 models
    note     models         no model is configured, and none was found; only plans that you write can run
                            type: reknit models --help
    problem  tools          no tool is configured, so no call can be made
                            type: reknit tools add URL
    ok       journal        `DIR/data/reknit/journal.db` is created by the first run
    disk
    clock

    1 problem
    ");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_machine_in_order_has_no_problems() {
    let shop = shop().await;
    let script = Script::new().on(RequestMatcher::any(), Reply::text("ok"));
    let model = ScriptedModel::start(script).await.expect("the model starts");
    let models = format!("[[models]]\nname = \"local\"\nurl = \"{}\"\nmodel = \"m\"\n", model.base_url());
    let world = World::new().configured(&[&shop], &models).file("plan.json", &plan(&[("pay", "{}")]));
    world.reknit(&["run", "plan.json"]);
    let page = masked(&world.reknit(&["doctor"]));
    insta::assert_snapshot!(page, @"
    exit status 0 --- stdout
    ok       configuration  `reknit.toml`: 1 tool, 1 model
    ok       keys           model `local` is used without a key
    ok       models         `local` answered in N ms, 6 tokens
    ok       tools          `shop`: 4 capabilities
    ok       journal        `DIR/data/reknit/journal.db`: 1 run
    note     journal        1 of the runs wait for approval
                            type: reknit runs list --status waiting
    disk
    clock

    everything is in order
    ");
    assert_contains(
        &world.reknit(&["doctor", "--json"]),
        r#"{"ok":true,"findings":[{"area":"configuration","level":"ok","#,
    );
}

#[test]
fn each_problem_has_a_command_to_type() {
    let config = "[[tools]]\nname = \"gone\"\nurl = \"http://127.0.0.1:9\"\n\
        [[models]]\nname = \"main\"\nprovider = \"anthropic\"\nmodel = \"m\"\n";
    let world = World::new().configured(&[], config);
    insta::assert_snapshot!(masked(&world.reknit(&["doctor"])), @"
    exit status 1 --- stdout
    ok       configuration  `reknit.toml`: 1 tool, 1 model
    problem  keys           the key of model `main` is missing: ANTHROPIC_API_KEY is not set
                            type: export ANTHROPIC_API_KEY=...
    problem  models         `main`: not asked: ANTHROPIC_API_KEY is not set (set it: `export ANTHROPIC_API_KEY=...`)
                            type: reknit models check
    problem  tools          tool `gone` at http://127.0.0.1:9/: connection refused; is the tool running?
                            type: reknit tools check
    ok       journal        `DIR/data/reknit/journal.db` is created by the first run
    disk
    clock

    3 problems
    ");
    let offline = world.reknit(&["doctor", "--offline", "--json"]);
    assert!(offline.starts_with("exit status 1 ") && !offline.contains("tools check"), "{offline}");
}

#[test]
fn a_configuration_that_cannot_be_read_is_a_finding() {
    let world = World::new().configured(&[], "[limits]\ntool-calls = -1\n");
    insta::assert_snapshot!(masked(&world.reknit(&["doctor"])), @"
    exit status 1 --- stdout
    problem  configuration  cannot use the configuration: reknit.toml, line 2: `limits.tool-calls` is -1; write a whole number from 0 to 4294967295
                            type: reknit config reference
    clock

    1 problem
    ");
}
