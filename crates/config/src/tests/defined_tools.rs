//! `[[http]]` and `[[command]]`.

use std::fs;

use reknit_protocol::{SideEffect, Value};
use reknit_tools::discover;

use super::*;

const HTTP: &str = r#"
[[http]]
name = "shop"
capability = "get_order"
url = "http://127.0.0.1:9/v1"
path = "/orders/{order_id}"
parameters = { order_id = "string" }
"#;

const COMMAND: &str = r#"
[[command]]
name = "files"
command = ["grep", "-c", "--", "{pattern}", "{file}"]
parameters = { pattern = "string", file = { type = "string", description = "a path" } }
"#;

#[tokio::test]
async fn every_entry_is_one_capability_with_its_class_and_its_schema() {
    let text = format!(
        "{HTTP}description = \"Reads an order\"\n{}effect = \"keyed\"\n{}{COMMAND}",
        HTTP.replace("get_order", "pay").replace("path", "method = \"POST\"\npath"),
        HTTP.replace("get_order", "cancel").replace("path", "method = \"delete\"\npath"),
    );
    let config = read(&text);
    let found = discover(&config.tool_sources(&SourceOpener::new().expect("a client")).expect("usable")).await;
    assert_eq!(found.problems, []);
    let classes: Vec<(String, SideEffect)> = found
        .catalogue
        .tools
        .iter()
        .flat_map(|tool| tool.capabilities.iter().map(|entry| (tool.key(entry), entry.capability.effect)))
        .collect();
    let expected = [
        ("shop/get_order", SideEffect::Read),
        ("shop/pay", SideEffect::Keyed),
        ("shop/cancel", SideEffect::Idempotent),
        ("files/run", SideEffect::Unknown),
    ];
    assert_eq!(classes, expected.map(|(key, class)| (key.to_owned(), class)));
    let entry = found.catalogue.entry("shop", "get_order").expect("a capability");
    assert_eq!(
        (entry.capability.description.as_str(), entry.required_parameters()),
        ("Reads an order", vec!["order_id".to_owned()])
    );
    let schema = found.catalogue.entry("files", "run").expect("a capability").json_schema().expect("a schema");
    let expected = r#"{"type":"object","properties":{"pattern":{"type":"string"},"file":{"type":"string","description":"a path"}},"required":["pattern","file"],"additionalProperties":false}"#;
    assert_eq!(schema.get("properties"), Value::parse(expected).expect("JSON").get("properties"));
}

#[tokio::test]
async fn the_word_undeclared_gives_no_command_and_no_http_tool_idempotency_keys() {
    let text = format!("{}effect = \"undeclared\"\n{COMMAND}effect = \"undeclared\"\n", HTTP.replace("GET", "POST"));
    let config = read(&format!("effects.classes = {{ files = \"undeclared\" }}\n{text}"));
    let found = discover(&config.tool_sources(&SourceOpener::new().expect("a client")).expect("usable")).await;
    for (tool, capability) in [("shop", "get_order"), ("files", "run")] {
        let declared = found.catalogue.entry(tool, capability).expect("a capability").capability.effect;
        assert_eq!(declared, SideEffect::Unknown, "{tool}");
        assert_eq!(config.policy.effects.class(tool, capability, declared), SideEffect::Unknown, "{tool}");
    }
}

#[test]
fn what_is_shown_means_the_same_when_it_is_read() {
    let text =
        format!("{HTTP}query = {{ q = \"{{order_id}}\" }}\n{}{COMMAND}time = \"5s\"\n", HTTP.replace("get_order", "b"));
    let config = read(&text);
    let shown = config.to_toml(ShowSettings::Changed);
    assert!(
        shown.contains("[[http]]  # reknit.toml, line 2") && shown.contains("[[http]]  # reknit.toml, line 10"),
        "{shown}"
    );
    assert!(shown.contains("[[command]]  # reknit.toml, line 17"), "{shown}");
    assert_eq!(read(&shown).to_value(ShowSettings::Changed), config.to_value(ShowSettings::Changed));
}

#[test]
fn a_schema_can_be_in_a_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("order.json");
    fs::write(&path, r#"{"properties": {"order_id": {"type": "integer"}}, "required": ["order_id"]}"#)
        .expect("it is written");
    let entry = HTTP.replace("parameters = { order_id = \"string\" }", &format!("schema = \"{}\"", path.display()));
    assert_eq!(read(&entry).tools.len(), 1);
    fs::write(&path, r#"{"properties": {"order": {"type": "integer"}}}"#).expect("it is written");
    assert!(error(&entry).contains("`{order_id}` is not one of the parameters"), "{}", error(&entry));
    fs::write(&path, "[]").expect("it is written");
    assert!(error(&entry).contains("the schema must have `properties`"), "{}", error(&entry));
    assert!(error(&entry.replace("order.json", "none.json")).contains("it cannot be read"));
    assert!(error(&format!("{entry}required = []\n")).contains("`schema` is set as well"));
}

#[test]
fn a_command_gets_only_the_usual_variables_and_those_that_are_named() {
    let entry = format!("{COMMAND}environment = [\"TOKEN\"]\n");
    let lookup = |name: &str| matches!(name, "PATH" | "TOKEN").then(|| "value-1".to_owned());
    let config = Config::read(&entry, "reknit.toml", &lookup).expect("it is valid");
    assert_eq!(config.tools[0].keys, [KeySource::Variable("TOKEN".to_owned())]);
    assert!(!format!("{:?}", config.tools).contains("value-1"), "values are secret");
    let missing = read(&entry).tool_sources(&SourceOpener::new().expect("a client")).expect_err("it is not set");
    assert!(missing.to_string().contains("variable `TOKEN`, which is not set"), "{missing}");
}

#[test]
fn a_mistake_is_an_error_that_says_where_it_is() {
    let errors = [
        HTTP.replace("{order_id}", "{order}"),
        HTTP.replace("\"string\"", "\"strin\""),
        HTTP.replace("\"string\"", "5"),
        HTTP.replace("path = \"/orders/{order_id}\"\n", ""),
        format!("{HTTP}required = []\n"),
        format!("{HTTP}method = \"GOT\"\n"),
        format!("{HTTP}body-format = \"form\"\n"),
        format!("{HTTP}effect = \"safe\"\n"),
        format!("{HTTP}{HTTP}"),
        format!("{HTTP}[[tools]]\nname = \"shop\"\nurl = \"http://127.0.0.1:9\"\n"),
        format!(
            "{HTTP}errors-in-success = \"ignore\"\n{}errors-in-success = \"detect\"\n",
            HTTP.replace("get_order", "b")
        ),
        format!("{HTTP}stdin = \"json\"\n"),
        COMMAND.replace("[\"grep\"", "[\"{file}\""),
        COMMAND.replace("command = [", "command = [1, "),
        format!("{COMMAND}environment = [\"A=1\"]\n"),
        format!("{COMMAND}key-env = \"A\"\n"),
        format!("{COMMAND}{COMMAND}"),
    ]
    .map(|text| error(&text))
    .join("\n");
    insta::assert_snapshot!(errors, @r#"
    reknit.toml, line 6: `http.path` is "/orders/{order}"; `{order}` is not one of the parameters; did you mean `{order_id}`?
    reknit.toml, line 7: `http.parameters` is {"order_id":"strin"}; unknown type `strin` at `$.properties.order_id` allows any value; did you mean `string`?
    reknit.toml, line 7: `http.parameters` is { "order_id" = 5 }; write a type or a JSON Schema for each name, like `{ city = "string", days = { type = "integer" } }`
    reknit.toml, line 6: `http.parameters` is {"order_id":"string"}; nothing uses `order_id`; write `{order_id}` where its value belongs, or remove it
    reknit.toml, line 6: `http.path` is "/orders/{order_id}"; `order_id` must be required, because it is a part of the path
    reknit.toml, line 8: `http.method` is "GOT"; write a method of HTTP: GET, PUT, POST, DELETE, OPTIONS, HEAD, PATCH, TRACE
    reknit.toml, line 8: `http.body-format` is "form"; it has no effect without `body`; remove it, or write a body
    reknit.toml, line 8: `http.effect` is "safe"; write one of `read`, `idempotent`, `keyed`, `undeclared`, `unknown`, `unsafe`
    reknit.toml, line 11: `http.capability` is "get_order"; another entry of this tool has it; write a different one
    reknit.toml, line 3: `http.name` is "shop"; another one has this name; write a different one
    reknit.toml, line 16: `http.errors-in-success` is "detect"; another entry of this tool says otherwise; write the same
    reknit.toml, line 8: there is no setting `http.stdin`; there is: name, capability, url, method, path, query, request-headers, body, body-format, result, description, effect, parameters, required, schema, errors-in-success, auth, auth-name, user, token-url, scopes, key-env, key-file, headers, ca-file, certificate-file, proxy, time, max-bytes, max-concurrent, rate
    reknit.toml, line 4: `command.command` is ["{file}","-c","--","{pattern}","{file}"]; the program cannot be a parameter
    reknit.toml, line 4: `command.command` is [1, "grep", "-c", "--", "{pattern}", "{file}"]; write a list of texts, like `["orders", "refunds"]`
    reknit.toml, line 6: `command.environment` is hidden; write the names of variables, without values
    reknit.toml, line 6: there is no setting `command.key-env`; there is: name, capability, command, stdin, time, max-bytes, folder, environment, output, description, effect, parameters, required, schema, errors-in-success, sandbox, read, write, network, max-concurrent, rate
    reknit.toml, line 7: `command.capability` is missing; another entry of this tool has it; write a different one
    "#);
}
