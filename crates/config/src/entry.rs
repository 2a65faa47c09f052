//! An entry of a list such as `[[tools]]`, `[[models]]` or `[[checks]]`.

use std::collections::BTreeMap;

use reknit_engine::IfAbsent;
use reknit_mend::ErrorsInSuccess;
use reknit_models::{FormatSupport, Provider};
use reknit_protocol::{Object, SideEffect, Value, redact_url};
use reknit_tools::{BodyFormat, CommandOutput, ComponentType, SandboxMode, is_secret_name, is_secret_value};

use super::SettingOrigin;
use super::error::ConfigError;
use super::field::Field;
use super::kind::SettingKind::{
    self, AnyTemplate, ParameterTable, Price, Switch, Table, Templates, Text, TextList, TextTable, Word,
};
use super::kind::{COUNT, PORT, POSITIVE, POSITIVE_DURATION, word};
use super::tools::{Authentication, McpAuthentication};

/// A key of an entry.
#[derive(Debug, Clone, Copy)]
pub(super) struct EntryKey {
    pub(super) name: &'static str,
    pub(super) kind: SettingKind,
    pub(super) is_required: bool,
    pub(super) description: &'static str,
}

const fn optional(name: &'static str, kind: SettingKind, description: &'static str) -> EntryKey {
    EntryKey { name, kind, is_required: false, description }
}

const fn required(name: &'static str, description: &'static str) -> EntryKey {
    EntryKey { name, kind: Text, is_required: true, description }
}

pub(super) const TOOL_KEYS: [EntryKey; 4] = [
    required("name", "Name of the tool in plans."),
    required("url", "Base URL, like `http://127.0.0.1:8085`; its query is sent with every request."),
    optional(
        "type",
        Word(component_types),
        "What it is: an `agent` gets the parameters of a call inside `data`; the default is what it announces, else `tool`.",
    ),
    optional(
        "errors-in-success",
        word::<ErrorsInSuccess>(),
        "Whether a reply with status 2xx that reports an error is a failure; docs/tool-errors.md has the rule.",
    ),
];

pub(super) const OPENAPI_KEYS: [EntryKey; 12] = [
    required("name", "Name of the tool in plans."),
    required("document", "File or address of the API description: OpenAPI 3 or Swagger 2, JSON or YAML."),
    optional("url", Text, "Address of the service, instead of the servers that the document names."),
    optional("server-variables", TextTable, "Values of variables in the addresses that the document names."),
    optional("allow-hosts", TextList, "Hosts besides that of the document to which requests may go."),
    optional("tags", TextList, "Only operations with one of these tags."),
    optional("paths", TextList, "Only operations whose path begins so, or matches: `/pets`, `/pets/*`, `/pets/**`."),
    optional("methods", TextList, "Only operations with one of these methods of HTTP."),
    optional("operations", TextList, "Only operations with one of these ids."),
    optional(
        "schemes",
        TextTable,
        "Environment variable with the key of each security scheme, by its name in the document.",
    ),
    optional(
        "trusted",
        Switch,
        "Whether `x-reknit-effect` is believed also where it says that an operation does less than its method; the default is `false`.",
    ),
    optional(
        "errors-in-success",
        word::<ErrorsInSuccess>(),
        "Whether a reply with status 2xx that reports an error is a failure; docs/tool-errors.md has the rule.",
    ),
];

pub(super) const MCP_KEYS: [EntryKey; 23] = [
    required("name", "Name of the tool in plans."),
    optional(
        "command",
        TextList,
        "Program and arguments of a server that is started here, like `[\"mcp-server-time\"]`.",
    ),
    optional(
        "environment",
        TextList,
        "Environment variables to pass to it; it gets no others of ours than the usual ones like `PATH`.",
    ),
    optional("folder", Text, "Its working folder; the default is the current one."),
    optional("url", Text, "Address of a server with streamable HTTP, like `http://127.0.0.1:3001/mcp`."),
    optional("key-env", Text, "Environment variable with its bearer token."),
    optional("key-file", Text, "File with its bearer token."),
    optional(
        "auth",
        word::<McpAuthentication>(),
        "How we are let in: with a `bearer` token (the default), or with `oauth`: a person signs in once with `reknit tools sign-in NAME`.",
    ),
    optional(
        "client-id-env",
        Text,
        "Environment variable with the id of a client that is registered for `oauth`; the default is to register one.",
    ),
    optional("client-secret-env", Text, "Environment variable with the secret of that client."),
    optional("scopes", TextList, "Scopes to ask for at a sign-in; the default is what the server proposes."),
    optional(
        "redirect-port",
        PORT,
        "Port of 127.0.0.1 to which the browser is sent back; the default is any free one.",
    ),
    optional(
        "token-key-env",
        Text,
        "Environment variable with the key that encrypts the stored tokens; the default is a random key in a file of its own.",
    ),
    optional("headers", TextTable, "Other headers of every request, without secrets."),
    optional("ca-file", Text, "File with certificates (PEM) of authorities to trust besides those of the system."),
    optional("certificate-file", Text, "File with the certificate and the key (PEM) of the client."),
    optional("proxy", Text, "Address of a proxy for all requests."),
    optional(
        "trusted",
        Switch,
        "Whether what it says about the side effects of its tools is believed; the default is `false`.",
    ),
    optional("tools", TextList, "Only these of its tools; `*` stands for any text."),
    optional("except", TextList, "None of these of its tools."),
    optional("time", POSITIVE_DURATION, "Time limit of a call, if it is shorter than `limits.call-time`."),
    optional("max-bytes", POSITIVE, "Size limit of one message."),
    optional(
        "errors-in-success",
        word::<ErrorsInSuccess>(),
        "Whether a result without an error mark that reports an error is a failure; docs/tool-errors.md has the rule.",
    ),
];

pub(super) const PLAIN_HTTP_KEYS: [EntryKey; 10] = [
    required("name", "Name of the tool in plans. Several entries may have one name; each is a capability of its own."),
    required("capability", "Name of the capability."),
    required("url", "Base URL, like `https://api.example.com/v1`; its query is sent with every request."),
    optional("method", Text, "Method of HTTP; the default is `GET`."),
    optional("path", Text, "Path below the URL, like `/orders/{order_id}/items`."),
    optional(
        "query",
        TextTable,
        "Query: names and texts, like `{ q = \"{city}\" }`. A list is sent as one pair for each item.",
    ),
    optional(
        "request-headers",
        TextTable,
        "Headers with placeholders. Credentials belong to `auth`, fixed headers to `headers`.",
    ),
    optional(
        "body",
        AnyTemplate,
        "Body: a table or a text. `\"{amount}\"` alone keeps the type of the parameter; what needs a missing one is left out.",
    ),
    optional("body-format", word::<BodyFormat>(), "How the body is sent: `json` (the default), `form` or `text`."),
    optional(
        "result",
        Text,
        "Where the result is in the response, like `data.items`; the default is the whole body. If it is not there, the call fails.",
    ),
];

pub(super) const COMMAND_KEYS: [EntryKey; 9] = [
    required("name", "Name of the tool in plans. Several entries may have one name; each is a capability of its own."),
    optional("capability", Text, "Name of the capability; the default is `run`."),
    EntryKey {
        name: "command",
        kind: TextList,
        is_required: true,
        description: "Program and arguments, like `[\"grep\", \"-c\", \"--\", \"{pattern}\", \"{file}\"]`; there is no shell. A value that \
                      begins with `-` is refused unless a `--` stands before it.",
    },
    optional("stdin", Text, "Standard input: a text with placeholders, or `json` for all parameters as an object."),
    optional("time", POSITIVE_DURATION, "Time limit of a call, if it is shorter than `limits.call-time`."),
    optional("max-bytes", POSITIVE, "Size limit of the output; the default is 16777216."),
    optional("folder", Text, "Working folder; the default is the current one."),
    optional(
        "environment",
        TextList,
        "Environment variables to pass beside `PATH`, `HOME` and `LANG`; there are no others.",
    ),
    optional(
        "output",
        word::<CommandOutput>(),
        "What the output is: `json`, `text` or `lines`; the default is JSON if it is valid JSON, else text.",
    ),
];

/// The keys of every capability that the configuration defines in full.
pub(super) const DEFINED_KEYS: [EntryKey; 6] = [
    optional("description", Text, "What the capability is for, for people and models."),
    optional(
        "effect",
        Word(side_effects),
        "Side effect of a call; the default is that of the method (`GET` reads, `PUT` and `DELETE` are idempotent, others unsafe), \
         for a command `undeclared`.",
    ),
    optional(
        "parameters",
        ParameterTable,
        "Parameters by name: a type like `string`, or a JSON Schema as a table. Each has a placeholder like `{city}`.",
    ),
    optional("required", TextList, "Names of the parameters that a call must have; the default is all of them."),
    optional("schema", Text, "File with the JSON Schema of the parameters, instead of `parameters` and `required`."),
    optional(
        "errors-in-success",
        word::<ErrorsInSuccess>(),
        "Whether a reply without an error status that reports an error is a failure; docs/tool-errors.md has the rule.",
    ),
];

/// The keys of every service over HTTP.
pub(super) const HTTP_KEYS: [EntryKey; 13] = [
    optional(
        "auth",
        word::<Authentication>(),
        "How the key is sent: as a `bearer` token (the default), as the password of `basic`, in a `header`, the `query` or a `cookie`, or as the secret of `client-credentials`, for which a token is fetched (OAuth 2).",
    ),
    optional("auth-name", Text, "Name of the header, query parameter or cookie that holds the key."),
    optional(
        "user",
        Text,
        "Name of the user for `auth = \"basic\"`, id of the client for `auth = \"client-credentials\"`.",
    ),
    optional("token-url", Text, "Where a token is fetched for `auth = \"client-credentials\"`."),
    optional("scopes", TextList, "Scopes of that token."),
    optional("key-env", Text, "Environment variable with the key, token or password."),
    optional("key-file", Text, "File with the key, token or password."),
    optional("headers", TextTable, "Other headers of every request, without secrets."),
    optional("ca-file", Text, "File with certificates (PEM) of authorities to trust besides those of the system."),
    optional("certificate-file", Text, "File with the certificate and the key (PEM) of the client."),
    optional("proxy", Text, "Address of a proxy for all requests."),
    optional("time", POSITIVE_DURATION, "Time limit of a call, if it is shorter than `limits.call-time`."),
    optional("max-bytes", POSITIVE, "Size limit of a response; the default is 16777216."),
];

/// The keys of every program that is started here.
pub(super) const SANDBOX_KEYS: [EntryKey; 4] = [
    optional(
        "sandbox",
        word::<SandboxMode>(),
        "Whether the program is confined with Landlock: `off`, `auto` (as far as the kernel can) or `required`; the default is `auto` for \
         MCP servers and `off` for commands.",
    ),
    optional("read", TextList, "What it may read, beside the system and what it may write; the default is everything."),
    optional(
        "write",
        TextList,
        "What it may write, beside its working folder, `/tmp`, `/dev` and the caches of package runners like `npx` and `uvx`.",
    ),
    optional("network", Switch, "Whether it may use TCP; the default is `true`."),
];

/// The keys of every tool.
pub(super) const LIMIT_KEYS: [EntryKey; 2] = [
    optional(
        "max-concurrent",
        POSITIVE,
        "How many calls to it may be in progress at the same time, instead of `limits.calls-per-tool`.",
    ),
    optional(
        "rate",
        Text,
        "How many calls to it may be started per second, minute or hour, like `10/s`, `100/m` or `1000/h`; others wait.",
    ),
];

pub(super) const MODEL_KEYS: [EntryKey; 27] = [
    required("name", "Name of the model in this configuration."),
    required("model", "Name of the model at its provider."),
    optional("provider", Word(providers), "Wire format; `compatible` is that of OpenAI at any URL."),
    optional(
        "url",
        Text,
        "Base URL; the default is that of the provider. Azure, Vertex AI and Bedrock need one, as docs/models.md says.",
    ),
    optional("key-env", Text, "Environment variable with the API key; the default is the usual one of the provider."),
    optional("key-file", Text, "File with the API key."),
    optional("streaming", Switch, "Whether answers are streamed."),
    optional("format", word::<FormatSupport>(), "What the server can enforce about the form of an answer."),
    optional("max-context", POSITIVE, "Size of the context window in tokens."),
    optional(
        "inputs",
        TextList,
        "What the model takes besides text: `image`, `document`, `audio`; the default is all that the provider has a place for.",
    ),
    optional("top-p", Price, "Share of probability from which tokens are sampled, above 0 and at most 1."),
    optional(
        "thinking-tokens",
        COUNT,
        "Most tokens of reasoning, where the provider has such a limit; 0 turns reasoning off.",
    ),
    optional("parallel-tool-calls", Switch, "Whether the model may call several tools in one answer."),
    optional(
        "prompt-caching",
        Switch,
        "Whether the provider is asked to keep the stable part of requests in its cache; the default is `true`.",
    ),
    optional("body", Table, "Other fields of every request, like `{ top_k = 40 }`. They replace ours."),
    optional("body-without", TextList, "Fields that are not sent, like `[\"stream_options\"]`."),
    optional("headers", TextTable, "Other headers of every request, without secrets."),
    optional("query", TextTable, "Query of every request, like `{ api-version = \"2024-10-21\" }`."),
    optional("connect-time", POSITIVE_DURATION, "Timeout for connecting."),
    optional("first-byte-time", POSITIVE_DURATION, "Timeout for the first byte; the default is `first-token-time`."),
    optional(
        "first-token-time",
        POSITIVE_DURATION,
        "Timeout for the first token: 2 min, or 12 s if another model follows, it streams and its reasoning is not hidden.",
    ),
    optional("idle-time", POSITIVE_DURATION, "Timeout between two tokens: 60 s, or 30 s if another model follows."),
    optional("total-time", POSITIVE_DURATION, "Timeout for the whole answer."),
    optional("price-input", Price, "Price per million input tokens."),
    optional("price-output", Price, "Price per million output tokens."),
    optional("price-cached", Price, "Price per million input tokens read from the provider's cache."),
    optional("price-cache-written", Price, "Price per million input tokens written to the provider's cache."),
];

pub(super) const CHECK_KEYS: [EntryKey; 6] = [
    required("of", "Capability whose calls are checked, like `refunds/create`."),
    required(
        "call",
        "Capability that is called after an unknown outcome, like `refunds/find`; it must change nothing.",
    ),
    optional(
        "parameters",
        Templates,
        "Its parameters: `{{call.order_id}}` is a parameter of the call that is checked, `{{key}}` its idempotency key.",
    ),
    required("happened", "Whether the call took effect: an expression over `reply`, `status`, `call` and `key`."),
    optional("result", Text, "Result of the call: an expression over the same names; the default is the whole reply."),
    optional(
        "if-absent",
        word::<IfAbsent>(),
        "What to do if it did not: `ask` a person, because the call may still be under way, or `send-again`.",
    ),
];

pub(super) const KEY_KEYS: [EntryKey; 3] = [
    required("capability", "Capability whose calls are identified, like `shop/refund`; it must not only read."),
    EntryKey {
        name: "fields",
        kind: TextList,
        is_required: true,
        description: "Parameters that identify the deed, like `[\"order_id\", \"price.amount\"]`. A call without a value for one of \
                      them has no key.",
    },
    optional(
        "window",
        POSITIVE_DURATION,
        "How long after a deed an equal call is the same deed, in whole seconds; the default is `24h`.",
    ),
];

pub(super) const CONFIRM_KEYS: [EntryKey; 7] = [
    required("capability", "Capability whose results are confirmed, like `bank/refund`."),
    optional("expect", Text, "Whether a result is as wished: an expression over `result`, like `result.amount > 0`."),
    optional(
        "verify",
        Text,
        "Capability that is called after each call, like `bank/get_refund`; it must change nothing.",
    ),
    optional("with", Templates, "Its parameters: `{{result.id}}` is a field of the result."),
    optional("reply", Text, "Whether its reply confirms the effect: an expression over `reply` and `result`."),
    optional("wait", Text, "Time between two replies, like `5 s`, for effects that take a while; needs `times`."),
    optional("times", POSITIVE, "How many replies are asked for at most; needs `wait`."),
];

pub(super) const APPROVE_KEYS: [EntryKey; 3] = [
    optional(
        "capability",
        Text,
        "Calls of this capability, like `payments/refund`; `*` stands for any text: `payments/*`.",
    ),
    optional("class", word::<SideEffect>(), "Calls with this side effect."),
    optional("when", Text, "Calls for which this expression over their parameters holds, like `amount > 100`."),
];

fn component_types() -> Vec<&'static str> {
    ComponentType::ALL.iter().map(|component| component.as_str()).collect()
}

fn side_effects() -> Vec<&'static str> {
    SideEffect::ALL.iter().map(|effect| effect.as_str()).collect()
}

fn providers() -> Vec<&'static str> {
    Provider::ALL.iter().map(|provider| provider.as_str()).collect()
}

/// What tells an entry from the others of its list: its name, and its capability if it has one.
pub(super) fn entry_name(entry: &Object) -> String {
    let text = |key: &str| entry.get(key).and_then(Value::as_str);
    let name = text("name").or_else(|| text("of")).unwrap_or_default();
    match text("capability") {
        Some(capability) if name.is_empty() => capability.to_owned(),
        Some(capability) => format!("{name}/{capability}"),
        None => name.to_owned(),
    }
}

/// Headers without the values that look like secrets. A secret belongs to `key-env`, but people write it here as well.
pub(super) fn redacted_headers(headers: &Value) -> Value {
    let Value::Object(headers) = headers else { return headers.clone() };
    let shown = |(name, value): (&str, &Value)| {
        let is_secret = is_secret_name(name) || value.as_str().is_some_and(is_secret_value);
        (name.to_owned(), if is_secret { "[redacted]".into() } else { value.clone() })
    };
    Value::Object(headers.iter().map(shown).collect())
}

/// An entry as it is written in a file. The kind of each key accepts its value.
#[derive(Debug)]
pub(super) struct Entry {
    list: &'static str,
    origin: SettingOrigin,
    values: BTreeMap<&'static str, (Value, SettingOrigin)>,
}

impl Entry {
    #[cfg(feature = "config-file")]
    pub(super) fn new(list: &'static str, origin: SettingOrigin) -> Self {
        Self { list, origin, values: BTreeMap::new() }
    }

    #[cfg(feature = "config-file")]
    pub(super) fn insert(&mut self, key: &'static str, value: Value, origin: SettingOrigin) {
        self.values.insert(key, (value, origin));
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.values.contains_key(key)
    }

    pub(super) fn get<T: Field>(&self, key: &str) -> Option<T> {
        self.values.get(key).and_then(|(value, _)| T::from_value(value))
    }

    pub(super) fn value(&self, key: &str) -> Option<&Value> {
        self.values.get(key).map(|(value, _)| value)
    }

    /// The texts of a list; none if it is not written.
    pub(super) fn texts(&self, key: &str) -> Vec<String> {
        let list = self.value(key).and_then(Value::as_array).unwrap_or_default();
        list.iter().filter_map(Value::as_str).map(str::to_owned).collect()
    }

    /// The name of its list.
    pub(super) fn list(&self) -> &'static str {
        self.list
    }

    pub(super) fn text(&self, key: &str) -> Option<&str> {
        self.values.get(key).and_then(|(value, _)| value.as_str())
    }

    /// What was written, without secrets.
    pub(super) fn shown(&self) -> Object {
        let shown = |(key, (value, _)): (&&'static str, &(Value, SettingOrigin))| {
            let value = match value.as_str() {
                Some(text) if matches!(*key, "url" | "document" | "token-url" | "proxy") => redact_url(text).into(),
                _ if matches!(*key, "headers" | "request-headers") => redacted_headers(value),
                _ => value.clone(),
            };
            ((*key).to_owned(), value)
        };
        self.values.iter().map(shown).collect()
    }

    /// Its list and name, and where it is written.
    pub(super) fn origin(&self) -> ((&'static str, String), SettingOrigin) {
        ((self.list, entry_name(&self.shown())), self.origin.clone())
    }

    /// Its name. Fails if another entry has it.
    pub(super) fn name(&self, is_taken: impl Fn(&str) -> bool) -> Result<&str, ConfigError> {
        let name = self.text("name").unwrap_or_default();
        if is_taken(name) {
            return Err(self.invalid("name", "another one has this name; write a different one"));
        }
        Ok(name)
    }

    /// The error that the value of a key is invalid and must not be shown.
    pub(super) fn hidden(&self, key: &str, expected: &str) -> ConfigError {
        let origin = self.values.get(key).map_or(&self.origin, |(_, origin)| origin);
        ConfigError::invalid_value(origin.clone(), &format!("{}.{key}", self.list), "hidden", expected)
    }

    /// The error that the value of a key is invalid or missing.
    pub(super) fn invalid(&self, key: &str, expected: &str) -> ConfigError {
        let (written, origin) = match self.values.get(key) {
            Some((Value::String(url), origin)) if key == "url" => (Value::from(redact_url(url)).to_string(), origin),
            Some((value, origin)) => (value.to_string(), origin),
            None => ("missing".to_owned(), &self.origin),
        };
        ConfigError::invalid_value(origin.clone(), &format!("{}.{key}", self.list), &written, expected)
    }
}
