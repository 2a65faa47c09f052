//! What a configuration means, and the errors of one that cannot be used.

use std::path::Path;
use std::time::Duration;

use reknit_engine::Templates;
use reknit_model_api::Money;
use reknit_models::{FormatSupport, Provider, Streaming};
use secrecy::ExposeSecret;

use super::*;

pub(super) mod builder;
mod capability_rules;
mod defined_tools;
mod discovery;
mod every_setting;
mod models;

const NOTHING_SET: EnvironmentLookup<'static> = &|_| None;

fn read(text: &str) -> Config {
    Config::read(text, "reknit.toml", NOTHING_SET).expect("the configuration is valid")
}

fn error(text: &str) -> String {
    Config::read(text, "reknit.toml", NOTHING_SET).expect_err("the configuration is invalid").to_string()
}

/// An entry of `[[models]]`.
fn model(name: &str, rest: &str) -> String {
    format!("[[models]]\nname = \"{name}\"\nurl = \"http://x/v1\"\nmodel = \"m\"\n{rest}\n")
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
fn an_error_names_the_file_the_line_the_key_the_value_and_what_to_write() {
    let tool = |name: &str, url: &str| format!("[[tools]]\nname = \"{name}\"\nurl = \"{url}\"\n");
    let errors = [
        "tool-calls = 3".to_owned(),
        "[limits]\ntool-cals = 3".to_owned(),
        "[limits]\ntool-calls = \"three\"".to_owned(),
        "[limits]\ntool-calls = -3".to_owned(),
        "[limits]\ntool-calls = 3 calls".to_owned(),
        "[limits]\ncalls-at-once = 0".to_owned(),
        "[limits]\ncall-time = 30".to_owned(),
        "[limits]\ncall-time = \"30\"".to_owned(),
        "[mending]\ncontext-statuses = [200]".to_owned(),
        "[rotation]\non-auth-error = \"stop\"".to_owned(),
        "[breaker]\npercent = 101".to_owned(),
        "[answer]\nby = \"magic\"".to_owned(),
        "[effects]\nclasses = { \"a/b\" = \"harmless\" }".to_owned(),
        "[people]\nask = \"yes\"".to_owned(),
        tool("", "http://x"),
        tool("a", "x:1"),
        tool("a", "http://x") + &tool("a", "http://y"),
        "[[tools]]\nname = \"a\"".to_owned(),
        model("a", "format = \"yaml\""),
        model("a", "idle-time = \"0 s\""),
        model("a", "") + &model("a", ""),
    ]
    .map(|text| error(&text));
    insta::assert_snapshot!(errors.join("\n"), @r#"
    reknit.toml, line 1: there is no setting `tool-calls`; did you mean `limits.tool-calls`?
    reknit.toml, line 2: there is no setting `limits.tool-cals`; did you mean `limits.tool-calls`?
    reknit.toml, line 2: `limits.tool-calls` is "three"; write a whole number from 0 to 4294967295, without quotes
    reknit.toml, line 2: `limits.tool-calls` is -3; write a whole number from 0 to 4294967295
    reknit.toml, line 2: cannot read `tool-calls = 3 calls`: string values must be quoted, expected literal string
    reknit.toml, line 2: `limits.calls-at-once` is 0; write a whole number from 1 to 4294967295
    reknit.toml, line 2: `limits.call-time` is 30; write a time that is not 0, with its unit, like `500ms`, `30s` or `2 min`, in quotes
    reknit.toml, line 2: `limits.call-time` is "30"; write a time that is not 0, with its unit, like `500ms`, `30s` or `2 min`
    reknit.toml, line 2: `mending.context-statuses` is [200]; write a list of statuses from 400 to 599
    reknit.toml, line 2: `rotation.on-auth-error` is "stop"; write one of `end`, `skip`
    reknit.toml, line 2: `breaker.percent` is 101; write a whole number from 1 to 100
    reknit.toml, line 2: `answer.by` is "magic"; write one of `model`, `template`, `raw`
    reknit.toml, line 2: `effects.classes` is { "a/b" = "harmless" }; write a class for each name: `read`, `idempotent`, `keyed`, `undeclared`, `unknown` or `unsafe`
    reknit.toml, line 2: `people.ask` is "yes"; write `true` or `false`, without quotes
    reknit.toml, line 2: `tools.name` is ""; write a text that is not empty
    reknit.toml, line 3: `tools.url` is "x:1"; write an http or https address, like `http://127.0.0.1:8085`
    reknit.toml, line 5: `tools.name` is "a"; another one has this name; write a different one
    reknit.toml, line 1: `tools.url` is missing; write a text that is not empty
    reknit.toml, line 5: `models.format` is "yaml"; write one of `schema`, `json`, `text`
    reknit.toml, line 5: `models.idle-time` is "0 s"; write a time that is not 0, with its unit, like `500ms`, `30s` or `2 min`
    reknit.toml, line 7: `models.name` is "a"; another one has this name; write a different one
    "#);
}

#[test]
fn the_environment_overrides_the_file() {
    let file = "[resend]\ntimes = 1\n[mending]\ncontext-enabled = false\nfeedback = 1\n[plan]\nretry-enabled = false\n";
    for (variable, value, expected) in [
        ("REKNIT_AGENT_MAX_RETRIES", "5", (5, 1_000, 1, 0, 0)),
        ("REKNIT_AGENT_RETRY_BACKOFF_MS", "250", (1, 250, 1, 0, 0)),
        ("REKNIT_AGENT_USE_AI_CORRECTION", "False", (1, 1_000, 0, 0, 0)),
        ("REKNIT_AGENT_USE_AI_CORRECTION", "true", (1, 1_000, 1, 0, 0)),
        ("REKNIT_SEMANTIC_RETRY_ENABLED", "TRUE", (1, 1_000, 1, 2, 0)),
        ("REKNIT_SEMANTIC_RETRY_MAX_ATTEMPTS", "4", (1, 1_000, 1, 0, 0)),
        ("REKNIT_PLAN_RETRY_ENABLED", "true", (1, 1_000, 1, 0, 2)),
        ("GOMIND_VALIDATION_FEEDBACK_ENABLED", "false", (1, 1_000, 0, 0, 0)),
        ("GOMIND_VALIDATION_FEEDBACK_MAX", "3", (1, 1_000, 3, 0, 0)),
        ("REKNIT_PLAN_RETRY_MAX", "", (1, 1_000, 1, 0, 0)),
    ] {
        let policy = set(&[(variable, value)], file).expect("the value is accepted");
        let mending = &policy.mending;
        let found =
            (policy.resend.times, policy.resend.base_ms, mending.feedback, mending.context, policy.planning.retries);
        assert_eq!(found, expected, "case: {variable}={value}");
    }
}

#[test]
fn turning_off_feedback_turns_off_the_context_rung_unless_that_is_turned_on() {
    let feedback = ("REKNIT_VALIDATION_FEEDBACK_ENABLED", "false");
    for (variables, expected) in [
        (&[feedback][..], (0, 0)),
        (&[feedback, ("REKNIT_SEMANTIC_RETRY_ENABLED", "true")], (0, 2)),
        (&[feedback, ("REKNIT_SEMANTIC_RETRY_ENABLED", "false")], (0, 0)),
        (&[("REKNIT_VALIDATION_FEEDBACK_ENABLED", "true")], (2, 2)),
    ] {
        let mending = set(variables, "").expect("the values are accepted").mending;
        assert_eq!((mending.feedback, mending.context), expected, "{variables:?}");
    }
}

#[test]
fn a_tool_says_whether_errors_are_looked_for_in_its_successes() {
    let file = "[[tools]]\nname = \"logs\"\nurl = \"http://127.0.0.1:1\"\nerrors-in-success = \"ignore\"\n\n\
                [[tools]]\nname = \"shop\"\nurl = \"http://127.0.0.1:2\"\n";
    let policy = set(&[], file).expect("the file is accepted");
    let set_by_tool: Vec<_> = policy.errors_in_success.iter().map(|(tool, set)| (tool.as_str(), *set)).collect();
    assert_eq!(set_by_tool, [("logs", reknit_mend::ErrorsInSuccess::Ignore)]);
    assert!(set(&[], &file.replace("ignore", "perhaps")).is_err());
}

#[test]
fn every_kind_of_tool_may_limit_its_calls() {
    let limits = "max-concurrent = 4\nrate = \"10/s\"\n";
    let entries = [
        "[[tools]]\nname = \"a\"\nurl = \"http://127.0.0.1:1\"\n",
        "[[openapi]]\nname = \"a\"\ndocument = \"api.yaml\"\n",
        "[[mcp]]\nname = \"a\"\ncommand = [\"server\"]\n",
        "[[http]]\nname = \"a\"\ncapability = \"c\"\nurl = \"http://127.0.0.1:1\"\n",
        "[[command]]\nname = \"a\"\ncommand = [\"date\"]\n",
    ];
    let expected = crate::ToolLimits { concurrent: Some(4), rate: "10/s".parse().ok() };
    for entry in entries {
        let config = read(&format!("{entry}{limits}"));
        assert_eq!(config.tool_limits.get("a"), Some(&expected), "{entry}");
        for wrong in ["rate = \"10/d\"", "rate = 10", "max-concurrent = 0"] {
            assert!(set(&[], &format!("{entry}{wrong}\n")).is_err(), "{entry}{wrong}");
        }
    }
    let two = |one: &str, other: &str| {
        let command = |name: &str, limits: &str| {
            format!("[[command]]\nname = \"a\"\ncapability = \"{name}\"\ncommand = [\"date\"]\n{limits}\n")
        };
        Config::read(&(command("one", one) + &command("other", other)), "reknit.toml", &|_| None)
    };
    let both = two("rate = \"10/s\"", "max-concurrent = 4").expect("the entries agree");
    assert_eq!(both.tool_limits.get("a"), Some(&expected), "one of them is enough");
    for (one, other) in [("rate = \"10/s\"", "rate = \"9/s\""), ("max-concurrent = 4", "max-concurrent = 5")] {
        let error = two(one, other).expect_err("they differ").to_string();
        assert!(error.ends_with("another entry of this tool says otherwise; write the same"), "{error}");
    }
}

#[test]
fn programs_that_are_started_here_may_be_confined() {
    let mode = |file: &str| {
        let sandbox = read(file).tools.first().and_then(ConfiguredTool::sandbox).expect("it is a program");
        (sandbox.mode.as_str(), sandbox.network, sandbox.read, sandbox.write)
    };
    let command = "[[command]]\nname = \"a\"\ncommand = [\"date\"]\n";
    let mcp = "[[mcp]]\nname = \"a\"\ncommand = [\"server\", \"--db=/usr/none.db\", \"/etc\", \"/\"]\n";
    assert_eq!(mode(command), ("off", true, vec![], vec![]));
    assert_eq!(mode(mcp), ("auto", true, vec![], vec!["/usr".into(), "/etc".into()]), "what its arguments name");
    let keys = "sandbox = \"required\"\nread = [\"/r\"]\nwrite = [\"/w\"]\nnetwork = false\n";
    for entry in [command, mcp] {
        assert_eq!(mode(&format!("{entry}{keys}")), ("required", false, vec!["/r".into()], vec!["/w".into()]));
        assert_eq!(mode(&format!("{entry}sandbox = \"off\"\n")).0, "off");
        assert!(set(&[], &format!("{entry}sandbox = \"off\"\nnetwork = false\n")).is_err(), "it has no effect");
        assert!(set(&[], &format!("{entry}sandbox = \"perhaps\"\n")).is_err());
    }
    let service = "[[mcp]]\nname = \"a\"\nurl = \"http://127.0.0.1:1/mcp\"\nsandbox = \"auto\"\n";
    assert!(set(&[], service).is_err(), "it is not started here");
}

#[test]
fn a_switch_overrides_a_number_and_our_prefix_overrides_the_other_one() {
    let policy = set(&[("REKNIT_SEMANTIC_RETRY_ENABLED", "false"), ("REKNIT_SEMANTIC_RETRY_MAX_ATTEMPTS", "9")], "");
    assert_eq!(policy.unwrap().mending.context, 0);
    let policy = set(&[("REKNIT_AGENT_MAX_RETRIES", "1"), ("GOMIND_AGENT_MAX_RETRIES", "9")], "");
    assert_eq!(policy.unwrap().resend.times, 1);
}

#[test]
fn prompts_in_a_folder_replace_the_built_in_ones_and_an_error_names_the_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let config = Config { prompts: Some(folder.path().to_owned()), ..read("") };
    assert_eq!(config.templates().expect("the folder is empty"), Templates::default());

    let words = "Which of these?\n---\n{{ tools }} for {{ request }}";
    std::fs::write(folder.path().join("choice.txt"), words).expect("the file is written");
    assert_eq!(config.templates().expect("the template is complete").choice, words);

    for (file, text) in [("choice.txt", "Which?"), ("plans.txt", words), ("plan.md", words)] {
        let path = folder.path().join(file);
        std::fs::write(&path, text).expect("the file is written");
        let error = config.templates().expect_err("the template is invalid").to_string();
        assert_eq!(error, format!("cannot use the prompt in `{}`", path.display()));
        std::fs::remove_file(&path).expect("the file is removed");
    }
    let config = Config { prompts: Some(folder.path().join("none")), ..config };
    assert!(config.templates().is_err());
}

#[test]
fn prompts_from_code_are_checked_when_the_configuration_is_built() {
    let polite = |name: &str, current: &str| (name == "answer").then(|| format!("Be polite.\n{current}"));
    let config = Config::builder().prompts(polite).plan_retries(1).build().expect("the template is complete");
    assert!(config.templates().expect("the templates were checked").answer.starts_with("Be polite.\n"));
    let incomplete = |name: &str, _: &str| (name == "answer").then(|| "Answer.".to_owned());
    let error = Config::builder().prompts(incomplete).build().expect_err("the request is missing");
    assert_eq!(error.to_string(), "cannot use a prompt of the program");
}
