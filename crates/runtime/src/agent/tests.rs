use reknit_dialogue::Effort;
use reknit_engine::{Plans, ReportFormat, SessionRules};

use super::keys::KEYS;
use super::*;

fn problems(text: &str) -> Vec<String> {
    Agent::read(text, &SessionRules::default()).expect_err("it is wrong").iter().map(ToString::to_string).collect()
}

#[test]
fn a_file_of_words_alone_is_an_agent_with_the_usual_rules() {
    let agent = Agent::read("You are a clerk.\n", &SessionRules::default()).expect("it is one");
    assert_eq!(agent.prompt, "You are a clerk.");
    assert_eq!(agent.rules, SessionRules::default());
    let SessionRules { max_turns, max_retries, llm_timeout_ms, .. } = agent.rules;
    assert_eq!((max_turns, max_retries, llm_timeout_ms), (10, 3, 600_000));
}

#[test]
fn every_setting_is_read() {
    let text = "#!/usr/bin/env -S reknit agent\n---\ndescription: finds orders\ntargets: [local, other]\ntools: shop\nagents: [other.md]\nplans: true\nmaxResultBytes: 500\n\
                maxTurns: 6\nmaxRetries: 2\nmaxOutputTokens: 900\nllmTimeout: 30s\ntemperature: 0.3\nreasoning: low\n\
                maxToolCalls: 7\nmaxModelCalls: 8\nmaxTime: 2 min\ntoolsAtOnce: 1\noutput:\n  format: json\n  schema: {type: object}\n\
                ---\nFind it.\n\n---\nReally.\n";
    let agent = Agent::read(text, &SessionRules::default()).expect("it is one");
    assert_eq!(agent.prompt, "Find it.\n\n---\nReally.", "only the first two lines of dashes are settings");
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
    let limits =
        AgentLimits { tool_calls: Some(7), model_calls: Some(8), active_ms: Some(120_000), calls_at_once: Some(1) };
    assert_eq!(agent.limits, limits);
    let written = KEYS.iter().filter(|key| text.contains(&format!("\n{key}:"))).count();
    assert_eq!(written, KEYS.len(), "a new key belongs in this test");
}

#[test]
fn everything_that_is_wrong_is_said_at_once_with_its_place() {
    let text = "#!reknit\n---\nmaxTurn: 3\nmaxRetries: 0\nllmTimeout: 600\noutput:\n  format: pdf\n  shema: {}\n---\n";
    insta::assert_snapshot!(problems(text).join("\n"), @r#"
    line 3, column 1: `maxTurn`: there is no such setting; did you mean `maxTurns`?
    line 4, column 1: `maxRetries`: write a whole number that is 1 or more
    line 5, column 1: `llmTimeout`: write a time with its unit, like `30s` or `10 min`
    line 7, column 3: `output.format`: write `text`, `markdown` or `json`
    line 8, column 3: `output.shema`: there is no such setting; did you mean `schema`?
    the agent is told nothing: write what it is to do below the settings
    "#);
}

#[test]
fn settings_that_cannot_be_settings_are_refused() {
    for (text, expected) in [
        ("---\nmaxTurns: 3\n", "have no end"),
        ("---\n- a\n---\nx", "the settings are an array"),
        ("---\noutput: {schema: {type: object}}\n---\nx", "only a report in JSON has a schema"),
        ("---\noutput: {format: json, schema: {type: 3}}\n---\nx", "output.schema"),
        ("---\ntemperature: hot\n---\nx", "write a number from 0 to 2"),
        ("---\nmaxTurns: 3\nmaxTurns: 4\n---\nx", "stands twice"),
        ("", "the agent is told nothing"),
    ] {
        let problems = problems(text);
        assert!(problems.iter().any(|problem| problem.contains(expected)), "{text:?}: {problems:?}");
    }
}

#[test]
fn a_schema_may_be_in_a_file_of_its_own() {
    let agent = Agent::read("---\noutput: {format: json, schema: order.json}\n---\nx", &SessionRules::default())
        .expect("it is one");
    assert_eq!(agent.schema_file.as_deref(), Some("order.json"));
}

#[test]
fn what_a_file_does_not_say_is_as_the_configuration_has_it() {
    let usual = SessionRules { max_turns: 4, max_retries: 2, ..SessionRules::default() };
    let agent = Agent::read("---\nmaxTurns: 6\n---\nx", &usual).expect("it is one");
    assert_eq!((agent.rules.max_turns, agent.rules.max_retries), (6, 2));
}

#[test]
fn the_page_about_agents_has_a_row_for_every_setting_and_no_other() {
    let page = include_str!("../../../../docs/agents.md");
    let rows: Vec<&str> = page
        .split("| setting | usual |")
        .nth(1)
        .and_then(|rest| rest.split("\n\n").next())
        .expect("a table")
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split('`').next())
        .collect();
    let (mut rows, mut keys) = (rows, KEYS.to_vec());
    rows.sort_unstable();
    keys.sort_unstable();
    assert_eq!(rows, keys);
    let usual = SessionRules::default();
    for (key, value) in [
        ("maxTurns", usual.max_turns.to_string()),
        ("maxRetries", usual.max_retries.to_string()),
        ("maxOutputTokens", usual.max_output_tokens.to_string()),
        ("maxResultBytes", usual.result_bytes.to_string()),
    ] {
        assert!(page.contains(&format!("| `{key}` | {value} |")), "{key}");
    }
    let agent = page.split("```yaml\n").nth(1).and_then(|rest| rest.split("```").next()).expect("an agent is shown");
    assert!(Agent::read(agent, &usual).is_ok());
}
