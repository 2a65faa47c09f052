//! Edge cases of configurations: each is accepted, or refused in one line that says where the error is and what to write.
#![cfg(test)]

use reknit_config::Config;

/// The error of an invalid configuration.
fn refused(text: &str) -> String {
    match Config::read(text, "reknit.toml", &|_| None) {
        Ok(config) => panic!("{text:?} was accepted as {config:?}"),
        Err(error) => error.to_string(),
    }
}

fn with_variable(name: &str, value: &str) -> Result<Config, String> {
    Config::from_environment(&|wanted| (wanted == name).then(|| value.to_owned())).map_err(|error| error.to_string())
}

#[test]
fn a_duplicate_key_is_refused() {
    let errors =
        ["[limits]\ntool-calls = 1\ntool-calls = 2\n", "[limits]\ntool-calls = 1\n[limits]\nmodel-calls = 2\n"];
    insta::assert_snapshot!(errors.map(refused).join("\n"), @"
    reknit.toml, line 3: cannot read `tool-calls = 2`: duplicate key
    reknit.toml, line 3: cannot read `[limits]`: duplicate key
    ");
}

#[test]
fn a_section_that_is_not_a_table_is_refused() {
    let errors = [
        "tools = \"http://127.0.0.1:8085\"",
        "[tools]\nweather = \"http://127.0.0.1:8085\"",
        "limits = 3",
        "[[limits]]\ntool-calls = 3",
        "[effects.classes]\n\"shop/buy\" = true",
        "[journal]\npath = 5",
    ];
    insta::assert_snapshot!(errors.map(refused).join("\n"), @r#"
    reknit.toml, line 1: `tools` is "http://127.0.0.1:8085"; write each of them as `[[tools]]`
    reknit.toml, line 1: `tools` is [tools]; write each of them as `[[tools]]`
    reknit.toml, line 1: `limits` is 3; write a section: `[limits]`
    reknit.toml, line 1: `limits` is [[limits]]; write a section: `[limits]`
    reknit.toml, line 1: `effects.classes` is { "shop/buy" = true }; write a class for each name: `read`, `idempotent`, `keyed`, `undeclared`, `unknown` or `unsafe`
    reknit.toml, line 2: `journal.path` is 5; write a text that is not empty, in quotes
    "#);
}

#[test]
fn numbers_and_times_out_of_range_are_refused() {
    let errors = [
        "[limits]\ntool-calls = 4294967296",
        "[limits]\ntool-calls = 2.5",
        "[limits]\ntool-calls = 99999999999999999999",
        "[limits]\ncall-time = \"-1s\"",
        "[limits]\ncall-time = \"1.5ms\"",
        "[limits]\ncall-time = \"99999999999999 days\"",
        "[limits]\ncall-time = \"\"",
        "[limits]\ncall-time = \"1 fortnight\"",
        "[mending]\ncontext-statuses = [400, 70000]",
    ];
    insta::assert_snapshot!(errors.map(refused).join("\n"), @r#"
    reknit.toml, line 2: `limits.tool-calls` is 4294967296; write a whole number from 0 to 4294967295
    reknit.toml, line 2: `limits.tool-calls` is 2.5; write a whole number from 0 to 4294967295
    reknit.toml, line 2: `limits.tool-calls` is 99999999999999999999; write a whole number from 0 to 4294967295
    reknit.toml, line 2: `limits.call-time` is "-1s"; write a time that is not 0, with its unit, like `500ms`, `30s` or `2 min`
    reknit.toml, line 2: `limits.call-time` is "1.5ms"; write a time that is not 0, with its unit, like `500ms`, `30s` or `2 min`
    reknit.toml, line 2: `limits.call-time` is "99999999999999 days"; write a time that is not 0, with its unit, like `500ms`, `30s` or `2 min`
    reknit.toml, line 2: `limits.call-time` is ""; write a time that is not 0, with its unit, like `500ms`, `30s` or `2 min`
    reknit.toml, line 2: `limits.call-time` is "1 fortnight"; write a time that is not 0, with its unit, like `500ms`, `30s` or `2 min`
    reknit.toml, line 2: `mending.context-statuses` is [400, 70000]; write a list of statuses from 400 to 599
    "#);
}

#[test]
fn the_line_of_an_error_is_right_whatever_is_before_it() {
    for (case, before, line) in [
        ("nothing", "", 2),
        ("blank lines and comments", "# one\n\n# three\n", 5),
        ("Windows line ends", "# one\r\n# two\r\n", 4),
        ("characters of several bytes", "# 서울\n", 3),
    ] {
        let error = refused(&format!("{before}[limits]\nnone = 1\n"));
        assert!(error.starts_with(&format!("reknit.toml, line {line}: there is no setting ")), "{case}: {error}");
    }
}

#[test]
fn every_error_is_one_line() {
    for text in ["[", "a\nb\nc", "x = \"\"\"\nnever closed", "[limits]\ntool-calls = \n", "\u{1}", "name = 'a\nb'"] {
        let error = refused(text);
        assert_eq!(error.lines().count(), 1, "{text:?}: {error}");
    }
}

#[test]
fn durations_may_be_written_in_several_ways() {
    for (text, ms) in [
        ("250ms", 250),
        ("30s", 30_000),
        (" 2 min ", 120_000),
        ("1h", 3_600_000),
        ("1 d", 86_400_000),
        ("1h 30m", 5_400_000),
    ] {
        let config = Config::read(&format!("[limits]\ncall-time = \"{text}\"\n"), "reknit.toml", &|_| None);
        assert_eq!(config.expect("the duration is valid").policy.limits.call_ms, ms, "{text}");
    }
}

#[test]
fn a_variable_with_an_invalid_value_is_refused() {
    let errors = [
        ("REKNIT_AGENT_MAX_RETRIES", "-1"),
        ("REKNIT_AGENT_MAX_RETRIES", " 5"),
        ("REKNIT_AGENT_MAX_RETRIES", "5.0"),
        ("REKNIT_AGENT_MAX_RETRIES", "4294967296"),
        ("REKNIT_AGENT_RETRY_BACKOFF_MS", "1s"),
        ("REKNIT_PLAN_RETRY_ENABLED", "1"),
        ("REKNIT_SEMANTIC_RETRY_ENABLED", "on"),
        ("GOMIND_SEMANTIC_RETRY_MAX_ATTEMPTS", "two\nor three"),
    ]
    .map(|(name, value)| with_variable(name, value).expect_err("the value is invalid"));
    insta::assert_snapshot!(errors.join("\n"), @r#"
    REKNIT_AGENT_MAX_RETRIES: `resend.times` is "-1"; write a whole number from 0 to 4294967295
    REKNIT_AGENT_MAX_RETRIES: `resend.times` is " 5"; write a whole number from 0 to 4294967295
    REKNIT_AGENT_MAX_RETRIES: `resend.times` is "5.0"; write a whole number from 0 to 4294967295
    REKNIT_AGENT_MAX_RETRIES: `resend.times` is "4294967296"; write a whole number from 0 to 4294967295
    REKNIT_AGENT_RETRY_BACKOFF_MS: `resend.first-wait` is "1s"; write a whole number of milliseconds
    REKNIT_PLAN_RETRY_ENABLED: `plan.retry-enabled` is "1"; write `true` or `false`
    REKNIT_SEMANTIC_RETRY_ENABLED: `mending.context-enabled` is "on"; write `true` or `false`
    GOMIND_SEMANTIC_RETRY_MAX_ATTEMPTS: `mending.context` is "two\nor three"; write a whole number from 0 to 4294967295
    "#);
}

#[test]
fn an_unknown_variable_is_ignored() {
    let config = with_variable("REKNIT_AGENT_MAX_RETRY", "many").expect("the variable is ignored");
    assert_eq!(config.policy, reknit_engine::Policy::default());
}

#[test]
fn an_empty_api_key_counts_as_missing() {
    let text = "[[models]]\nname = \"a\"\nurl = \"http://x/v1\"\nmodel = \"m\"\nkey-env = \"KEY\"\n";
    let config = Config::read(text, "reknit.toml", &|_| Some(String::new())).expect("the configuration is valid");
    let error = config.check_keys().expect_err("the key is missing").to_string();
    insta::assert_snapshot!(error, @"the key of model `a` should be in the variable `KEY`, which is not set");
}

#[test]
fn an_api_key_is_never_shown() {
    let text = "[[models]]\nname = \"a\"\nurl = \"http://x/v1\"\nmodel = \"m\"\nkey-env = \"KEY\"\n";
    let config = Config::read(text, "reknit.toml", &|name| (name == "KEY").then(|| "s3cret".to_owned()));
    assert!(!format!("{:?}", config.expect("the configuration is valid")).contains("s3cret"));
}
