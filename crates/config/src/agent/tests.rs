use std::collections::{BTreeMap, BTreeSet};

use reknit_engine::{AgentMending, CallsInText, Permission, Plans, ReportFormat, SessionRules, TextAnswers};
use reknit_model_api::Effort;

use super::keys::AGENT_SETTINGS;
use super::*;

fn problems(text: &str) -> Vec<String> {
    Agent::read(text, &SessionRules::default())
        .expect_err("the file is invalid")
        .iter()
        .map(ToString::to_string)
        .collect()
}

#[test]
fn a_file_without_settings_is_an_agent_with_the_default_rules() {
    let agent = Agent::read("You are a clerk.\n", &SessionRules::default()).expect("the file is valid");
    assert_eq!(agent.prompt, "You are a clerk.");
    assert_eq!(agent.rules, SessionRules::default());
    let SessionRules { max_turns, max_retries, llm_timeout_ms, .. } = agent.rules;
    assert_eq!((max_turns, max_retries, llm_timeout_ms), (10, 3, 600_000));
}

#[test]
fn every_setting_is_read() {
    let text = "#!/usr/bin/env -S reknit agent\n---\ndescription: finds orders\ntargets: [local, other]\ntools: shop\nagents: [other.md]\nplans: true\nmandate: [{capability: bank/pay, times: 1, from: {recipient: [files/read]}}, {capability: calendar}]\nmending: rules\ntextCalls: false\ntextAnswers: true\nmaxResultBytes: 500\n\
                maxTurns: 6\nmaxRetries: 2\nmaxOutputTokens: 900\nllmTimeout: 30s\ntemperature: 0.3\nreasoning: low\n\
                maxToolCalls: 7\nmaxModelCalls: 8\nmaxTime: 2 min\ntoolsAtOnce: 1\noutput:\n  format: json\n  schema: {type: object}\n\
                ---\nFind it.\n\n---\nReally.\n";
    let agent = Agent::read(text, &SessionRules::default()).expect("the file is valid");
    assert_eq!(agent.prompt, "Find it.\n\n---\nReally.", "only the first two lines of dashes enclose settings");
    assert_eq!(agent.description, "finds orders");
    assert_eq!(agent.targets, Some(vec!["local".to_owned(), "other".to_owned()]));
    assert_eq!(agent.tools, Some(vec!["shop".to_owned()]));
    assert_eq!((agent.agents.as_slice(), agent.rules.plans), (&["other.md".to_owned()][..], Plans::Allowed));
    assert_eq!(agent.rules.result_bytes, 500);
    let rules = &agent.rules;
    assert_eq!((rules.max_turns, rules.max_retries, rules.max_output_tokens), (6, 2, 900));
    assert_eq!((rules.llm_timeout_ms, rules.effort), (30_000, Some(Effort::Low)));
    assert_eq!(rules.temperature.map(|temperature| temperature.to_string()), Some("0.3".to_owned()));
    assert_eq!(rules.report.format, ReportFormat::Json);
    assert!(rules.report.schema.is_some());
    assert_eq!((rules.mending, rules.calls_in_text), (AgentMending::Rules, CallsInText::Ignored));
    assert_eq!(rules.text_answers, TextAnswers::Accepted);
    assert_eq!(rules.max_time_ms, Some(120_000));
    let mandate = rules.mandate.as_ref().map(|mandate| mandate.0.as_slice()).unwrap_or_default();
    let from = BTreeMap::from([("recipient".to_owned(), vec!["files/read".to_owned()])]);
    let pay = Permission { capability: "bank/pay".to_owned(), times: Some(1), from };
    assert_eq!(mandate, [pay, Permission { capability: "calendar".to_owned(), times: None, from: BTreeMap::new() }]);
    let limits = AgentLimits { tool_calls: Some(7), model_calls: Some(8), calls_at_once: Some(1) };
    assert_eq!(agent.limits, limits);
    for (key, _) in AGENT_SETTINGS {
        let key = key.rsplit('.').next().expect("a key has a last part");
        let is_written = text.lines().any(|line| line.trim_start().starts_with(&format!("{key}:")));
        assert!(is_written, "{key} is missing in this test");
    }
}

#[test]
fn the_agent_with_a_mandate_in_the_documentation_is_valid() {
    let page = include_str!("../../../../docs/hostile-data.md");
    let text = page.split("```yaml\n").nth(1).and_then(|rest| rest.split("```").next()).expect("an agent");
    let agent = Agent::read(text, &SessionRules::default()).expect("the file is valid");
    let mandate = agent.rules.mandate.expect("a mandate");
    assert_eq!(mandate.to_string(), "bank/pay once (recipient from files/read), calendar");
}

#[test]
fn an_empty_list_of_models_is_refused() {
    let expected = "`targets`: name at least one model, or leave `targets` out, so that all models are asked";
    let found = problems("---\ntargets: []\n---\nHello.\n");
    assert!(found.len() == 1 && found[0].ends_with(expected), "{found:?}");
}

#[test]
fn all_errors_are_reported_with_their_places() {
    let text = "#!reknit\n---\nmaxTurn: 3\nmaxRetries: 0\nllmTimeout: 600\noutput:\n  format: pdf\n  shema: {}\n---\n";
    insta::assert_snapshot!(problems(text).join("\n"), @r#"
    line 3, column 1: `maxTurn`: there is no such setting; did you mean `maxTurns`?
    line 4, column 1: `maxRetries`: write a whole number from 1 to 4294967295
    line 5, column 1: `llmTimeout`: write a time that is not 0, with its unit, like `500ms`, `30s` or `2 min`
    line 7, column 3: `output.format`: write `text`, `markdown` or `json`
    line 8, column 3: `output.shema`: there is no such setting; did you mean `output.schema`?
    the agent has no prompt: write what it is to do below the settings
    "#);
}

#[test]
fn invalid_settings_are_rejected() {
    for (text, expected) in [
        ("---\nmaxTurns: 3\n", "have no end"),
        ("---\n- a\n---\nx", "the settings are an array"),
        ("---\noutput: {schema: {type: object}}\n---\nx", "only a report in JSON has a schema"),
        ("---\noutput: {format: json, schema: {type: 3}}\n---\nx", "output.schema"),
        ("---\ntemperature: hot\n---\nx", "write a number from 0 to 2"),
        ("---\nmandate: pay\n---\nx", "each entry with `capability: tool/capability`"),
        ("---\nmandate: [{capability: pay, often: 1}]\n---\nx", "each entry with `capability: tool/capability`"),
        ("---\nmandate: [{capability: pay, times: -1}]\n---\nx", "each entry with `capability: tool/capability`"),
        ("---\nmaxTurns: 3\nmaxTurns: 4\n---\nx", "duplicate key"),
        ("", "the agent has no prompt"),
    ] {
        let problems = problems(text);
        assert!(problems.iter().any(|problem| problem.contains(expected)), "{text:?}: {problems:?}");
    }
}

#[test]
fn a_schema_may_be_in_another_file() {
    let agent = Agent::read("---\noutput: {format: json, schema: order.json}\n---\nx", &SessionRules::default())
        .expect("the file is valid");
    assert_eq!(agent.schema_file.as_deref(), Some("order.json"));
}

#[test]
fn the_configuration_has_the_defaults_of_an_agent() {
    let defaults = SessionRules { max_turns: 4, max_retries: 2, ..SessionRules::default() };
    let agent = Agent::read("---\nmaxTurns: 6\n---\nx", &defaults).expect("the file is valid");
    assert_eq!((agent.rules.max_turns, agent.rules.max_retries), (6, 2));
}

#[test]
fn the_documentation_of_agents_lists_every_setting() {
    let page = include_str!("../../../../docs/agents.md");
    let rows: BTreeSet<&str> = page
        .split("| setting | usual |")
        .nth(1)
        .and_then(|rest| rest.split("\n\n").next())
        .expect("the page has a table")
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split('`').next())
        .collect();
    let keys: BTreeSet<&str> = AGENT_SETTINGS.iter().filter_map(|(key, _)| key.split('.').next()).collect();
    assert_eq!(rows, keys);
    let defaults = SessionRules::default();
    for (key, value) in [
        ("maxTurns", defaults.max_turns.to_string()),
        ("maxRetries", defaults.max_retries.to_string()),
        ("maxOutputTokens", defaults.max_output_tokens.to_string()),
        ("maxResultBytes", defaults.result_bytes.to_string()),
    ] {
        assert!(page.contains(&format!("| `{key}` | {value} |")), "{key}");
    }
    let agent =
        page.split("```yaml\n").nth(1).and_then(|rest| rest.split("```").next()).expect("the page shows an agent");
    assert!(Agent::read(agent, &defaults).is_ok());
}
