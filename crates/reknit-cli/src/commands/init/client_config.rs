//! The configuration of an MCP client as entries of `[[mcp]]`. Values of variables and headers are not copied: they may be keys.

use reknit_protocol::{Object, Value};
use reknit_tools::{is_secret_name, is_secret_value};

use crate::setup::toml_text;

#[derive(Default)]
pub(super) struct ClientServers {
    /// The entries of `[[mcp]]`.
    pub(super) section: String,
    pub(super) names: Vec<String>,
    /// The command lines of the servers that are started.
    pub(super) programs: Vec<String>,
    /// What the person has to do besides.
    pub(super) notes: Vec<String>,
}

/// The servers of a client's configuration; `None` if it is none.
pub(super) fn read_servers(config: &Value) -> Option<ClientServers> {
    let servers = ["mcpServers", "servers"].iter().find_map(|key| config.get(key)?.as_object())?;
    // An API description has a list of servers.
    let mut found = ClientServers::default();
    for (name, server) in servers {
        let Some(server) = server.as_object() else { continue };
        if server.get("disabled").and_then(Value::as_bool) != Some(true) {
            found.add(name, server);
        }
    }
    Some(found)
}

impl ClientServers {
    fn add(&mut self, name: &str, server: &Object) {
        let text = |key: &str| server.get(key).and_then(Value::as_str);
        let place = match (text("command"), text("url").or_else(|| text("serverUrl"))) {
            (Some(program), _) => {
                let arguments = server.get("args").and_then(Value::as_array).unwrap_or_default();
                let words: Vec<&str> =
                    std::iter::once(program).chain(arguments.iter().filter_map(Value::as_str)).collect();
                if let Some(word) = words.iter().find(|word| is_secret_value(word) || names_a_secret(word)) {
                    let option = word.split('=').next().unwrap_or_default();
                    let option = if is_secret_value(option) { "an argument" } else { option };
                    self.notes
                        .push(format!("`{name}` was left out: {option} looks like a secret; pass it in a variable"));
                    return;
                }
                self.programs.push(words.join(" "));
                let words: Vec<String> = words.iter().map(|word| toml_text(word)).collect();
                format!("command = [{}]\n", words.join(", "))
            }
            (None, Some(url)) => format!("url = {}\n", toml_text(url)),
            (None, None) => {
                self.notes.push(format!("`{name}` has neither a command nor a url, so it was left out"));
                return;
            }
        };
        let names_in = |key: &str| -> Vec<&str> {
            server.get(key).and_then(Value::as_object).map(|table| table.keys().collect()).unwrap_or_default()
        };
        let variables = names_in("env");
        let environment = if variables.is_empty() {
            String::new()
        } else {
            let list = variables.join(", ");
            self.notes.push(format!("`{name}` gets {list} from your environment: values of that file are not copied"));
            let quoted: Vec<String> = variables.iter().map(|variable| toml_text(variable)).collect();
            format!("environment = [{}]\n", quoted.join(", "))
        };
        let headers = names_in("headers");
        if !headers.is_empty() {
            let list = headers.join(", ");
            self.notes.push(format!(
                "the header {list} of `{name}` was not copied; `key-env` names the variable with a token"
            ));
        }
        self.section.push_str(&["[[mcp]]\nname = ", &toml_text(name), "\n", &place, &environment, "\n"].concat());
        self.names.push(name.to_owned());
    }
}

/// Whether an argument such as `--token=abc` has a secret behind its name.
fn names_a_secret(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, value)| !value.is_empty() && is_secret_name(name.trim_start_matches('-')))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn servers(text: &str) -> Option<ClientServers> {
        read_servers(&Value::parse(text).expect("it is JSON"))
    }

    #[test]
    fn servers_become_entries_without_the_values_of_variables_and_headers() {
        let found = servers(
            r#"{"mcpServers": {
                "time": {"command": "uvx", "args": ["mcp-server-time", "--tz=UTC"]},
                "hub": {"command": "npx", "args": ["hub"], "env": {"HUB_TOKEN": "secret-7"}},
                "docs": {"type": "http", "url": "https://docs.example/mcp", "headers": {"Authorization": "Bearer secret-8"}},
                "key": {"command": "npx", "args": ["key", "--api-key=secret-9"]},
                "old": {"command": "old", "disabled": true},
                "odd": {}}}"#,
        )
        .expect("they are servers");
        insta::assert_snapshot!(found.section, @r#"
        [[mcp]]
        name = "time"
        command = ["uvx", "mcp-server-time", "--tz=UTC"]

        [[mcp]]
        name = "hub"
        command = ["npx", "hub"]
        environment = ["HUB_TOKEN"]

        [[mcp]]
        name = "docs"
        url = "https://docs.example/mcp"
        "#);
        assert_eq!(found.names, ["time", "hub", "docs"]);
        assert_eq!(found.programs, ["uvx mcp-server-time --tz=UTC", "npx hub"]);
        insta::assert_snapshot!(found.notes.join("\n"), @"
        `hub` gets HUB_TOKEN from your environment: values of that file are not copied
        the header Authorization of `docs` was not copied; `key-env` names the variable with a token
        `key` was left out: --api-key looks like a secret; pass it in a variable
        `odd` has neither a command nor a url, so it was left out
        ");
    }

    #[test]
    fn the_form_of_another_client_is_read_and_an_api_description_is_none() {
        assert_eq!(servers(r#"{"servers": {"time": {"command": "t"}}}"#).expect("servers").names, ["time"]);
        assert!(servers(r#"{"openapi": "3.1.0", "servers": [{"url": "https://a.example"}]}"#).is_none());
    }
}
