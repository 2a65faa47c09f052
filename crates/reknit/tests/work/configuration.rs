//! Configurations and variables that cannot be used.

use crate::world::{World, plan};

/// What `run` says with this configuration.
fn with(config: &str) -> String {
    World::new().file("reknit.toml", config).file("plan.json", &plan(&[("price", "{}")])).reknit(&["run", "plan.json"])
}

#[test]
fn a_configuration_that_was_named_must_be_there() {
    let world = World::new();
    insta::assert_snapshot!(world.reknit(&["runs", "list", "--config", "mine.toml"]), @"
    exit status 2
    --- stderr
    error: cannot read `mine.toml`
      caused by: No such file or directory (os error 2)

    hint: see what is there with `ls .`
    ");
    insta::assert_snapshot!(world.reknit_with(&[("REKNIT_CONFIG", "mine.toml")], &["runs", "list"]), @"
    exit status 2
    --- stderr
    error: cannot read `mine.toml`
      caused by: No such file or directory (os error 2)

    hint: see what is there with `ls .`
    ");
}

#[test]
fn what_is_no_toml_is_shown_where_it_stops_being_one() {
    insta::assert_snapshot!(with("[limits\ntool-calls = 3\n"), @"
    exit status 2
    --- stderr
    error: cannot use the configuration
      caused by: `reknit.toml` cannot be read at line 1, `[limits`: unclosed table, expected `]`
    ");
}

#[test]
fn an_unknown_key_is_an_error_and_not_a_default() {
    insta::assert_snapshot!(with("[limits]\ntool-cals = 3\n"), @"
    exit status 2
    --- stderr
    error: cannot use the configuration
      caused by: `reknit.toml` cannot be read at line 2, `tool-cals = 3`: unknown field `tool-cals`, expected one of `tool-calls`, `model-calls`, `active-time`, `calls-at-once`, `call-time`, `drain-time`, `person-time…
    ");
}

#[test]
fn a_value_of_another_kind_is_an_error() {
    insta::assert_snapshot!(with("[limits]\ntool-calls = \"many\"\n"), @r#"
    exit status 2
    --- stderr
    error: cannot use the configuration
      caused by: `reknit.toml` cannot be read at line 2, `tool-calls = "many"`: invalid type: string "many", expected a whole number from 0 to 4294967295, without quotes
    "#);
    insta::assert_snapshot!(with("[limits]\ntool-calls = -1\n"), @"
    exit status 2
    --- stderr
    error: cannot use the configuration
      caused by: `reknit.toml` cannot be read at line 2, `tool-calls = -1`: invalid value: integer `-1`, expected a whole number from 0 to 4294967295, without quotes
    ");
}

#[test]
fn a_value_that_cannot_be_used_says_what_would_do() {
    insta::assert_snapshot!(with("[limits]\ncall-time = \"soon\"\n"), @r#"
    exit status 2
    --- stderr
    error: cannot use the configuration
      caused by: in `reknit.toml`: `limits.call-time` is "soon"; write a time with its unit, like `500ms`, `30s` or `2 min`
    "#);
    insta::assert_snapshot!(with("[journal]\ndurability = \"very\"\n"), @r#"
    exit status 2
    --- stderr
    error: cannot use the configuration
      caused by: in `reknit.toml`: `journal.durability` is "very"; write one of `full`, `normal`, `off`
    "#);
    insta::assert_snapshot!(with("[[tools]]\nname = \"shop\"\nurl = \"shop.example\"\n"), @r#"
    exit status 2
    --- stderr
    error: cannot use the configuration
      caused by: in `reknit.toml`: `tools.url` is "shop.example"; write an http or https address, like `http://127.0.0.1:8085`
    "#);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_that_is_not_in_the_environment_is_missed_before_anything_begins() {
    let shop = crate::endings::shop().await;
    let model = "[[models]]\nname = \"m\"\nurl = \"http://127.0.0.1:9/v1\"\nmodel = \"m\"\nkey-env = \"MY_KEY\"\n";
    let world = World::new().configured(&[&shop], model);
    insta::assert_snapshot!(world.reknit(&["ask", "order tea"]), @"
    exit status 2
    --- stderr
    error: cannot use the configuration
      caused by: the key of model `m` should be in the variable `MY_KEY`, which is not set
    ");
    insta::assert_snapshot!(world.reknit(&["runs", "list"]), @"
    exit status 0
    --- stderr
    there is no run yet

    hint: make one: `reknit demo`
    ");
}

#[test]
fn a_variable_that_cannot_be_used_is_named() {
    let world = World::new().file("plan.json", &plan(&[("price", "{}")]));
    let arguments = ["run", "plan.json"];
    insta::assert_snapshot!(world.reknit_with(&[("REKNIT_AGENT_MAX_RETRIES", "often")], &arguments), @r#"
    exit status 2
    --- stderr
    error: cannot use the configuration
      caused by: the variable `REKNIT_AGENT_MAX_RETRIES` is "often"; write a whole number that is not negative
    "#);
    insta::assert_snapshot!(world.reknit_with(&[("GOMIND_PLAN_RETRY_ENABLED", "maybe")], &arguments), @r#"
    exit status 2
    --- stderr
    error: cannot use the configuration
      caused by: the variable `GOMIND_PLAN_RETRY_ENABLED` is "maybe"; write `true` or `false`
    "#);
}

#[test]
fn the_journal_needs_a_place() {
    let world = World::new();
    let output = world.command(&["runs", "list"]).env_remove("XDG_DATA_HOME").output().expect("the command can be run");
    insta::assert_snapshot!(world.show(&output), @"
    exit status 2
    --- stderr
    error: there is no place for the journal: neither XDG_DATA_HOME nor HOME is set

    hint: name one: `--journal FILE`
    ");
}

#[test]
fn what_is_no_journal_is_not_touched() {
    let world = World::new().file("notes.txt", "these are my notes, and they are longer than a header would be; see?");
    insta::assert_snapshot!(world.reknit(&["runs", "list", "--journal", "notes.txt"]), @"
    exit status 1
    --- stderr
    error: cannot open the journal
      caused by: `DIR/notes.txt` is not a journal

    hint: choose another place for the journal; this file was not touched
    ");
    let notes = std::fs::read_to_string(world.path().join("notes.txt")).expect("the file is there");
    assert!(notes.starts_with("these are my notes"));
}
