//! Configurations at their edges, through the public door: each is understood, or refused in one line that says where
//! and what to write.
#![cfg(test)]

use reknit_runtime::config::Config;

/// What is wrong with it.
fn refused(text: &str) -> String {
    match Config::read(text, "reknit.toml", &|_| None) {
        Ok(config) => panic!("this was understood: {text:?} as {config:?}"),
        Err(error) => error.to_string(),
    }
}

fn with_variable(name: &str, value: &str) -> Result<Config, String> {
    Config::from_environment(&|wanted| (wanted == name).then(|| value.to_owned())).map_err(|error| error.to_string())
}

#[test]
fn what_is_written_twice_is_refused() {
    let errors =
        ["[limits]\ntool-calls = 1\ntool-calls = 2\n", "[limits]\ntool-calls = 1\n[limits]\nmodel-calls = 2\n"];
    insta::assert_snapshot!(errors.map(refused).join("\n"), @"
    `reknit.toml` cannot be read at line 3, `tool-calls = 2`: duplicate key
    `reknit.toml` cannot be read at line 3, `[limits]`: duplicate key
    ");
}

#[test]
fn a_section_of_another_shape_is_refused() {
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
    reknit.toml, line 1: `effects.classes` is { "shop/buy" = true }; write a class for each name: `read`, `idempotent`, `keyed`, `undeclared` or `unsafe`
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
        "[limits]\ncall-time = \"1.5s\"",
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
    reknit.toml, line 2: `limits.call-time` is "1.5s"; write a time that is not 0, with its unit, like `500ms`, `30s` or `2 min`
    reknit.toml, line 2: `limits.call-time` is "99999999999999 days"; write a time that is not 0, with its unit, like `500ms`, `30s` or `2 min`
    reknit.toml, line 2: `limits.call-time` is ""; write a time that is not 0, with its unit, like `500ms`, `30s` or `2 min`
    reknit.toml, line 2: `limits.call-time` is "1 fortnight"; write a time that is not 0, with its unit, like `500ms`, `30s` or `2 min`
    reknit.toml, line 2: `mending.context-statuses` is [400, 70000]; write a list of statuses from 400 to 599
    "#);
}

#[test]
fn the_line_of_a_problem_is_right_whatever_stands_before_it() {
    for (case, before, line) in [
        ("nothing", "", 2),
        ("blank lines and remarks", "# one\n\n# three\n", 5),
        ("lines as other systems end them", "# one\r\n# two\r\n", 4),
        ("letters of several bytes", "# 서울\n", 3),
    ] {
        let error = refused(&format!("{before}[limits]\nnone = 1\n"));
        assert!(error.starts_with(&format!("reknit.toml, line {line}: there is no setting ")), "{case}: {error}");
    }
}

#[test]
fn every_refusal_is_one_line() {
    for text in ["[", "a\nb\nc", "x = \"\"\"\nnever closed", "[limits]\ntool-calls = \n", "\u{1}", "name = 'a\nb'"] {
        let error = refused(text);
        assert_eq!(error.lines().count(), 1, "{text:?}: {error}");
    }
}

#[test]
fn times_may_be_written_as_people_write_them() {
    for (text, ms) in [("250ms", 250), ("30s", 30_000), (" 2 min ", 120_000), ("1h", 3_600_000), ("1 d", 86_400_000)] {
        let config = Config::read(&format!("[limits]\ncall-time = \"{text}\"\n"), "reknit.toml", &|_| None);
        assert_eq!(config.expect("it is a time").policy.limits.call_ms, ms, "{text}");
    }
}

#[test]
fn variables_at_their_edges() {
    let errors = [
        ("REKNIT_AGENT_MAX_RETRIES", " 5"),
        ("REKNIT_AGENT_MAX_RETRIES", "5.0"),
        ("REKNIT_AGENT_MAX_RETRIES", "4294967296"),
        ("REKNIT_AGENT_RETRY_BACKOFF_MS", "1s"),
        ("REKNIT_PLAN_RETRY_ENABLED", "1"),
        ("REKNIT_SEMANTIC_RETRY_ENABLED", "on"),
        ("GOMIND_SEMANTIC_RETRY_MAX_ATTEMPTS", "two\nor three"),
    ]
    .map(|(name, value)| with_variable(name, value).expect_err("it cannot be used"));
    insta::assert_snapshot!(errors.join("\n"), @r#"
    the variable `REKNIT_AGENT_MAX_RETRIES` is " 5"; write a whole number from 0 to 4294967295
    the variable `REKNIT_AGENT_MAX_RETRIES` is "5.0"; write a whole number from 0 to 4294967295
    the variable `REKNIT_AGENT_MAX_RETRIES` is "4294967296"; write a whole number from 0 to 4294967295
    the variable `REKNIT_AGENT_RETRY_BACKOFF_MS` is "1s"; write a whole number of milliseconds
    the variable `REKNIT_PLAN_RETRY_ENABLED` is "1"; write `true` or `false`
    the variable `REKNIT_SEMANTIC_RETRY_ENABLED` is "on"; write `true` or `false`
    the variable `GOMIND_SEMANTIC_RETRY_MAX_ATTEMPTS` is "two\nor three"; write a whole number from 0 to 4294967295
    "#);
}

#[test]
fn a_variable_of_another_program_is_nobodys() {
    let config = with_variable("REKNIT_AGENT_MAX_RETRY", "many").expect("nobody reads it");
    assert_eq!(config.policy, reknit_engine::Policy::default());
}

#[test]
fn a_key_that_is_empty_is_no_key() {
    let text = "[[models]]\nname = \"a\"\nurl = \"http://x/v1\"\nmodel = \"m\"\nkey-env = \"KEY\"\n";
    let config = Config::read(text, "reknit.toml", &|_| Some(String::new())).expect("it can be read");
    let error = config.check_keys().expect_err("an empty key is none").to_string();
    insta::assert_snapshot!(error, @"the key of model `a` should be in the variable `KEY`, which is not set");
}

#[test]
fn a_key_is_never_shown() {
    let text = "[[models]]\nname = \"a\"\nurl = \"http://x/v1\"\nmodel = \"m\"\nkey-env = \"KEY\"\n";
    let config = Config::read(text, "reknit.toml", &|name| (name == "KEY").then(|| "s3cret".to_owned()));
    assert!(!format!("{:?}", config.expect("it can be read")).contains("s3cret"));
}
