//! What a configuration means, and how one is told that it cannot be meant.

use std::time::Duration;

use reknit_dialogue::{OnAuthError, Policy as RotationPolicy, Rules};
use reknit_engine::{People, Policy, Synthesis, Undeclared};
use reknit_models::{FormatSupport, Streaming};
use reknit_protocol::Effect;
use secrecy::ExposeSecret;

use super::*;

const NOTHING_SET: Lookup<'static> = &|_| None;

fn read(text: &str) -> Config {
    Config::read(text, "reknit.toml", NOTHING_SET).expect("the configuration is good")
}

fn error(text: &str) -> String {
    Config::read(text, "reknit.toml", NOTHING_SET).expect_err("the configuration is bad").to_string()
}

fn set(variables: &[(&str, &str)], text: &str) -> Result<Policy, String> {
    let lookup =
        |wanted: &str| variables.iter().find(|(name, _)| *name == wanted).map(|(_, value)| (*value).to_owned());
    Config::read(text, "reknit.toml", &lookup).map(|config| config.policy).map_err(|error| error.to_string())
}

#[test]
fn an_empty_file_means_the_defaults() {
    let config = read("");
    assert_eq!(config.policy, Policy::default());
    assert_eq!((config.tools.len(), config.models.len(), config.journal), (0, 0, None));
    assert_eq!(config.durability, Durability::Full);
}

#[test]
fn every_section_is_understood() {
    let config = read(
        r#"
        tools = [{ name = "weather-tool", url = "http://127.0.0.1:8085/v1" }]
        limits = { tool-calls = 7, model-calls = 0, active-time = "2 min", calls-at-once = 3, call-time = "10s", drain-time = "0s", person-time = "1h", calls-in-all = 9, calls-per-tool = 2, calls-per-model = 4 }
        resend = { times = 1, first-wait = "10ms", longest-wait = "1s", ceiling = "5s" }
        mending = { feedback = 1, context = 3, context-statuses = [422], resolution = false, independent-steps = false }
        rotation = { policy = "prefer-primary", attempts = 5, on-auth-error = "skip", short-wait = "2s", longest-wait = "9s" }
        breaker = { calls = 4, percent = 75, window = "10s", rest = "20s", first-rest = "3s", longest-cool-down = "0s" }
        plan = { retries = 4 }
        answer = { by = "template" }
        effects = { undeclared = "ask", classes = { "shop/buy" = "unsafe", shop = "keyed" } }
        people = { ask = false }
        journal = { path = "runs.db", durability = "off" }
        "#,
    );
    assert_eq!(config.tools[0].to_string(), "http://127.0.0.1:8085/v1");
    let limits = config.call_limits;
    assert_eq!((limits.in_all, limits.per_tool, limits.per_model), (9, 2, 4));
    for gate in [&config.rests.tools, &config.rests.models] {
        assert_eq!((gate.calls, gate.percent, gate.window_ms, gate.rest_ms), (4, 75, 10_000, 20_000));
        assert_eq!((gate.first_rest_ms, gate.longest_cool_down_ms), (3_000, 0));
    }
    assert_eq!((config.journal.as_deref(), config.durability), (Some("runs.db"), Durability::Off));
    let policy = config.policy;
    assert_eq!((policy.limits.tool_calls, policy.limits.model_calls, policy.limits.calls_at_once), (7, 0, 3));
    assert_eq!((policy.limits.active_ms, policy.limits.call_ms), (120_000, 10_000));
    assert_eq!((policy.limits.drain_ms, policy.limits.person_ms), (0, 3_600_000));
    assert_eq!((policy.resend.times, policy.resend.base_ms), (1, 10));
    assert_eq!((policy.resend.max_ms, policy.resend.ceiling_ms), (1_000, 5_000));
    assert_eq!((policy.mending.feedback, policy.mending.context), (1, 3));
    assert_eq!(policy.mending.context_statuses, [422]);
    let rotation = &policy.rotation;
    assert_eq!((rotation.policy, rotation.on_auth_error), (RotationPolicy::PreferPrimary, OnAuthError::Skip));
    assert_eq!((rotation.attempts, rotation.short_wait_ms, rotation.max_wait_ms), (5, 2_000, 9_000));
    assert_eq!(policy.planning.retries, 4);
    assert_eq!((policy.synthesis, policy.people), (Synthesis::Template, People::Nobody));
    assert_eq!(policy.effects.undeclared, Undeclared::Ask);
    assert_eq!(policy.effects.class("shop", "buy", Effect::Read), Effect::Unsafe);
    assert_eq!(policy.effects.class("shop", "look", Effect::Read), Effect::Keyed);
}

#[test]
fn a_model_has_its_key_from_the_environment_and_its_limits_from_the_file() {
    let text = r#"
        [[models]]
        name = "local"
        url = "http://127.0.0.1:8080/v1"
        model = "small"
        key-env = "LOCAL_KEY"
        streaming = false
        format = "text"
        max-context = 4096
        connect-time = "1s"
        idle-time = "2s"
        total-time = "30 min"
        first-token-time = "3s"
    "#;
    let lookup = |name: &str| (name == "LOCAL_KEY").then(|| "secret".to_owned());
    let config = Config::read(text, "reknit.toml", &lookup).unwrap();
    config.check_keys().unwrap();
    let target = &config.models[0];
    assert_eq!(target.key.as_ref().map(ExposeSecret::expose_secret), Some("secret"));
    assert_eq!((target.format, target.streaming), (FormatSupport::Text, Streaming::Off));
    assert_eq!(target.max_context, Some(4096));
    let limits = target.limits;
    assert_eq!((limits.connect, limits.idle), (Duration::from_secs(1), Duration::from_secs(2)));
    assert_eq!((limits.total, limits.first_byte), (Duration::from_mins(30), Duration::from_mins(30)));
    assert_eq!(limits.first_token, Duration::from_secs(3));
}

#[test]
fn the_policy_of_rotation_decides_how_often_is_asked_and_who_rests_soon() {
    let usual = read("");
    assert_eq!((usual.policy.rotation, usual.rests), (Rules::default(), Rests::default()));
    let prefers = read("[rotation]\npolicy = \"prefer-primary\"");
    assert_eq!(prefers.policy.rotation, Rules::prefer_primary());
    assert_eq!(prefers.rests.models.in_a_row, Some(2));
}

#[test]
fn the_windows_of_models_are_known_to_the_rotation() {
    let model = |name: &str, rest: &str| {
        format!("[[models]]\nname = \"{name}\"\nurl = \"http://x/v1\"\nmodel = \"m\"\n{rest}\n")
    };
    let config = read(&(model("a", "max-context = 8192") + &model("b", "")));
    assert_eq!(config.policy.rotation.windows, [("a".into(), 8192)].into());
}

#[test]
fn a_key_that_is_not_set_stops_only_who_wants_to_ask() {
    let text = "[[models]]\nname = \"a\"\nurl = \"http://x/v1\"\nmodel = \"m\"\nkey-env = \"NO_SUCH_KEY\"\n";
    let config = read(text);
    let error = config.check_keys().unwrap_err().to_string();
    insta::assert_snapshot!(error, @"the key of model `a` should be in the variable `NO_SUCH_KEY`, which is not set");
    config.with_models(Vec::new()).check_keys().unwrap();
}

#[test]
fn an_error_names_the_file_the_key_the_value_and_what_to_write() {
    let tool = |name: &str, url: &str| format!("[[tools]]\nname = \"{name}\"\nurl = \"{url}\"\n");
    let model = |rest: &str| format!("[[models]]\nname = \"a\"\nurl = \"http://x/v1\"\nmodel = \"m\"\n{rest}\n");
    let errors = [
        "tool-calls = 3".to_owned(),
        "[limits]\ntool-cals = 3".to_owned(),
        "[limits]\ntool-calls = \"three\"".to_owned(),
        "[limits]\ntool-calls = -3".to_owned(),
        "[limits]\ntool-calls = 3 calls".to_owned(),
        "[limits]\ncalls-at-once = 0".to_owned(),
        "[limits]\ncall-time = 30".to_owned(),
        "[limits]\ncall-time = \"30\"".to_owned(),
        "[limits]\nactive-time = \"0s\"".to_owned(),
        "[mending]\ncontext-statuses = [200]".to_owned(),
        "[rotation]\non-auth-error = \"stop\"".to_owned(),
        "[rotation]\npolicy = \"primary\"".to_owned(),
        "[breaker]\npercent = 101".to_owned(),
        "[breaker]\nrest = \"0s\"".to_owned(),
        "[answer]\nby = \"magic\"".to_owned(),
        "[effects]\nclasses = { \"a/b\" = \"harmless\" }".to_owned(),
        "[people]\nask = \"yes\"".to_owned(),
        "[journal]\ndurability = \"some\"".to_owned(),
        tool("", "http://x"),
        tool("a", "x:1"),
        tool("a", "http://x") + &tool("a", "http://y"),
        "[[tools]]\nname = \"a\"".to_owned(),
        model("format = \"yaml\""),
        model("idle-time = \"0 s\""),
        model("") + &model(""),
    ]
    .map(|text| error(&text));
    insta::assert_snapshot!(errors.join("\n"), @r#"
    `reknit.toml` cannot be read at line 1, `tool-calls = 3`: unknown field `tool-calls`, expected one of `tools`, `models`, `limits`, `resend`, `mending`, `rotation`, `breaker`, `plan`, `prompts`, `answer`, `effects`, `people`, `journal`
    `reknit.toml` cannot be read at line 2, `tool-cals = 3`: unknown field `tool-cals`, expected one of `tool-calls`, `model-calls`, `active-time`, `calls-at-once`, `call-time`, `drain-time`, `person-time`, `calls-in-all`, `calls-per-tool`, `calls-per-model`
    `reknit.toml` cannot be read at line 2, `tool-calls = "three"`: invalid type: string "three", expected a whole number from 0 to 4294967295, without quotes
    `reknit.toml` cannot be read at line 2, `tool-calls = -3`: invalid value: integer `-3`, expected a whole number from 0 to 4294967295, without quotes
    `reknit.toml` cannot be read at line 2, `tool-calls = 3 calls`: string values must be quoted, expected literal string
    in `reknit.toml`: `limits.calls-at-once` is "0"; nothing could ever begin; write 1 or more
    `reknit.toml` cannot be read at line 2, `call-time = 30`: invalid type: integer `30`, expected a time with its unit, in quotes, like "30s"
    in `reknit.toml`: `limits.call-time` is "30"; write a time with its unit, like `500ms`, `30s` or `2 min`
    in `reknit.toml`: `limits.active-time` is "0s"; nothing is done in no time; write a longer one, like `30s`
    in `reknit.toml`: `mending.context-statuses` is "200"; write statuses from 400 to 599
    in `reknit.toml`: `rotation.on-auth-error` is "stop"; write one of `end`, `skip`
    in `reknit.toml`: `rotation.policy` is "primary"; write one of `advance`, `prefer-primary`
    in `reknit.toml`: `breaker.percent` is "101"; write how many of a hundred calls must fail, from 1 to 100
    in `reknit.toml`: `breaker.rest` is "0s"; nothing is done in no time; write a longer one, like `30s`
    in `reknit.toml`: `answer.by` is "magic"; write one of `model`, `template`
    in `reknit.toml`: `effects.classes."a/b"` is "harmless"; write `read`, `idempotent`, `keyed`, `undeclared` or `unsafe`
    `reknit.toml` cannot be read at line 2, `ask = "yes"`: invalid type: string "yes", expected a boolean
    in `reknit.toml`: `journal.durability` is "some"; write one of `full`, `normal`, `off`
    in `reknit.toml`: `tools.name` is ""; write a name
    in `reknit.toml`: `tools.url` is "x:1"; write an http or https address, like `http://127.0.0.1:8085`
    in `reknit.toml`: `tools.name` is "a"; another one has this name; write a different one
    `reknit.toml` cannot be read at line 1, `[[tools]]`: missing field `url`
    in `reknit.toml`: `models.format` is "yaml"; write one of `schema`, `json`, `text`
    in `reknit.toml`: `models.idle-time` is "0 s"; nothing is done in no time; write a longer one, like `30s`
    in `reknit.toml`: `models.name` is "a"; another one has this name; write a different one
    "#);
}

#[test]
fn the_environment_beats_the_file() {
    let file = "[resend]\ntimes = 1\n[mending]\ncontext = 0\nfeedback = 1\n[plan]\nretries = 0\n";
    for (variable, value, expected) in [
        ("REKNIT_AGENT_MAX_RETRIES", "5", (5, 1_000, 1, 0, 0)),
        ("REKNIT_AGENT_RETRY_BACKOFF_MS", "250", (1, 250, 1, 0, 0)),
        ("REKNIT_AGENT_USE_AI_CORRECTION", "False", (1, 1_000, 0, 0, 0)),
        ("REKNIT_AGENT_USE_AI_CORRECTION", "true", (1, 1_000, 1, 0, 0)),
        ("REKNIT_SEMANTIC_RETRY_ENABLED", "TRUE", (1, 1_000, 1, 2, 0)),
        ("REKNIT_SEMANTIC_RETRY_MAX_ATTEMPTS", "4", (1, 1_000, 1, 4, 0)),
        ("REKNIT_PLAN_RETRY_ENABLED", "true", (1, 1_000, 1, 0, 2)),
        ("REKNIT_PLAN_RETRY_MAX", "3", (1, 1_000, 1, 0, 3)),
        ("GOMIND_PLAN_RETRY_MAX", "3", (1, 1_000, 1, 0, 3)),
        ("REKNIT_PLAN_RETRY_MAX", "", (1, 1_000, 1, 0, 0)),
    ] {
        let policy = set(&[(variable, value)], file).expect("the value is good");
        let mending = &policy.mending;
        let found =
            (policy.resend.times, policy.resend.base_ms, mending.feedback, mending.context, policy.planning.retries);
        assert_eq!(found, expected, "case: {variable}={value}");
    }
}

#[test]
fn what_is_switched_off_stays_off_and_our_own_name_comes_first() {
    let policy = set(&[("REKNIT_SEMANTIC_RETRY_ENABLED", "false"), ("REKNIT_SEMANTIC_RETRY_MAX_ATTEMPTS", "9")], "");
    assert_eq!(policy.unwrap().mending.context, 0);
    let policy = set(&[("REKNIT_AGENT_MAX_RETRIES", "1"), ("GOMIND_AGENT_MAX_RETRIES", "9")], "");
    assert_eq!(policy.unwrap().resend.times, 1);
}

#[test]
fn a_variable_that_cannot_be_used_is_named_with_its_value() {
    let errors = [
        ("REKNIT_AGENT_MAX_RETRIES", "-1"),
        ("GOMIND_AGENT_MAX_RETRIES", "many"),
        ("REKNIT_AGENT_USE_AI_CORRECTION", "yes"),
        ("GOMIND_SEMANTIC_RETRY_INDEPENDENT_STEPS", "0"),
    ]
    .map(|variable| set(&[variable], "").expect_err("the value is bad"));
    insta::assert_snapshot!(errors.join("\n"), @r#"
    the variable `REKNIT_AGENT_MAX_RETRIES` is "-1"; write a whole number that is not negative
    the variable `GOMIND_AGENT_MAX_RETRIES` is "many"; write a whole number that is not negative
    the variable `REKNIT_AGENT_USE_AI_CORRECTION` is "yes"; write `true` or `false`
    the variable `GOMIND_SEMANTIC_RETRY_INDEPENDENT_STEPS` is "0"; write `true` or `false`
    "#);
}

#[test]
fn every_variable_in_the_list_is_looked_up() {
    let asked = std::cell::RefCell::new(Vec::new());
    let lookup = |name: &str| {
        asked.borrow_mut().push(name.to_owned());
        None
    };
    Config::from_environment(&lookup).unwrap();
    // Where the files are is asked by the command line, which has to know it before there is a configuration.
    for variable in VARIABLES.iter().filter(|variable| !["CONFIG", "JOURNAL"].contains(&variable.name)) {
        for prefix in ["REKNIT_", "GOMIND_"] {
            let name = format!("{prefix}{}", variable.name);
            assert!(asked.borrow().contains(&name), "{name} is in the list and nobody asks for it");
        }
    }
    assert_eq!(asked.borrow().len(), 2 * (VARIABLES.len() - 2), "a variable is read that is not in the list");
}

#[test]
fn a_folder_of_prompts_takes_the_place_of_ours_and_a_bad_one_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let config = Config { prompts: Some(folder.path().display().to_string()), ..read("") };
    assert_eq!(config.templates().expect("nothing is in it"), reknit_engine::Templates::default());

    let words = "Which of these?\n---\n{{ tools }} for {{ request }}";
    std::fs::write(folder.path().join("choice.txt"), words).expect("it is written");
    assert_eq!(config.templates().expect("it is whole").choice, words);

    for (file, text) in [("choice.txt", "Which?"), ("plans.txt", words), ("plan.md", words)] {
        let path = folder.path().join(file);
        std::fs::write(&path, text).expect("it is written");
        let error = config.templates().expect_err("it is bad").to_string();
        assert_eq!(error, format!("cannot use the prompt in `{}`", path.display()));
        std::fs::remove_file(&path).expect("it is removed");
    }
    let config = Config { prompts: Some(folder.path().join("none").display().to_string()), ..config };
    assert!(config.templates().is_err());
}

#[test]
fn the_number_of_tools_from_which_some_are_chosen_can_be_set() {
    assert_eq!(read("[plan]\nchoose-from = 3").policy.planning.choose_from, 3);
    assert_eq!(read("[prompts]\nfolder = \"words\"").prompts.as_deref(), Some("words"));
}
