//! An entry of a list such as `[[tools]]`, `[[models]]` or `[[checks]]`.

use std::collections::BTreeMap;

use reknit_engine::{IfAbsent, ParameterRole};
use reknit_mend::ErrorsInSuccess;
use reknit_models::{FormatSupport, Provider};
use reknit_protocol::{Object, SideEffect, Value, redact_url};
use reknit_tools::{BodyFormat, CommandOutput, ComponentType, SandboxMode, is_secret_name, is_secret_value};

use super::SettingOrigin;
use super::authentication::{Authentication, McpAuthentication};
use super::error::ConfigError;
use super::field::Field;
use super::kind::SettingKind::{
    self, AnyTemplate, ParameterTable, Price, Switch, Table, Templates, Text, TextList, TextTable, Word,
};
use super::kind::{COUNT, PORT, POSITIVE, POSITIVE_DURATION, word};

/// A key of an entry.
#[derive(Debug, Clone, Copy)]
pub(super) struct EntryKey {
    pub(super) name: &'static str,
    pub(super) kind: SettingKind,
    pub(super) is_required: bool,
    pub(super) description: &'static str,
}

/// Defines lists of keys, each with its description, which the reference page shows.
macro_rules! keys {
    ($($(#[doc = $about:literal])* $list:ident {
        $(#[doc = $description:literal] $name:literal: $kind:expr $(, $required:ident)?;)*
    })*) => {$(
        $(#[doc = $about])*
        pub(super) const $list: &[EntryKey] = &[$(EntryKey {
            name: $name,
            kind: $kind,
            is_required: !stringify!($($required)?).is_empty(),
            description: $description.trim_ascii(),
        }),*];
    )*};
}

keys! {
    TOOL_KEYS {
        /// Name of the tool in plans.
        "name": Text, required;
        /// Base URL, like `http://127.0.0.1:8085`; its query is sent with every request.
        "url": Text, required;
        /// What it is: an `agent` gets the parameters of a call inside `data`; the default is what it announces, else `tool`.
        "type": Word(component_types);
        /// Whether a reply with status 2xx that reports an error is a failure; docs/tool-errors.md has the rule.
        "errors-in-success": word::<ErrorsInSuccess>();
    }

    OPENAPI_KEYS {
        /// Name of the tool in plans.
        "name": Text, required;
        /// File or address of the API description: OpenAPI 3 or Swagger 2, JSON or YAML.
        "document": Text, required;
        /// Address of the service, instead of the servers that the document names.
        "url": Text;
        /// Values of variables in the addresses that the document names.
        "server-variables": TextTable;
        /// Hosts besides that of the document to which requests may go.
        "allow-hosts": TextList;
        /// Only operations with one of these tags.
        "tags": TextList;
        /// Only operations whose path begins so, or matches: `/pets`, `/pets/*`, `/pets/**`.
        "paths": TextList;
        /// Only operations with one of these methods of HTTP.
        "methods": TextList;
        /// Only operations with one of these ids.
        "operations": TextList;
        /// Environment variable with the key of each security scheme, by its name in the document.
        "schemes": TextTable;
        /// Whether `x-reknit-effect` is believed also where it says that an operation does less than its method; the default is `false`.
        "trusted": Switch;
        /// Whether a reply with status 2xx that reports an error is a failure; docs/tool-errors.md has the rule.
        "errors-in-success": word::<ErrorsInSuccess>();
    }

    MCP_KEYS {
        /// Name of the tool in plans.
        "name": Text, required;
        /// Program and arguments of a server that is started here, like `["mcp-server-time"]`.
        "command": TextList;
        /// Environment variables to pass to it; it gets no others of ours than the usual ones like `PATH`.
        "environment": TextList;
        /// Its working folder; the default is the current one.
        "folder": Text;
        /// Address of a server with streamable HTTP, like `http://127.0.0.1:3001/mcp`.
        "url": Text;
        /// Environment variable with its bearer token.
        "key-env": Text;
        /// File with its bearer token.
        "key-file": Text;
        /// How we are let in: with a `bearer` token (the default), or with `oauth`: a person signs in once with `reknit tools sign-in NAME`.
        "auth": word::<McpAuthentication>();
        /// Environment variable with the id of a client that is registered for `oauth`; the default is to register one.
        "client-id-env": Text;
        /// Environment variable with the secret of that client.
        "client-secret-env": Text;
        /// Scopes to ask for at a sign-in; the default is what the server proposes.
        "scopes": TextList;
        /// Port of 127.0.0.1 to which the browser is sent back; the default is any free one.
        "redirect-port": PORT;
        /// Environment variable with the key that encrypts the stored tokens; the default is a random key in a file of its own.
        "token-key-env": Text;
        /// Other headers of every request, without secrets.
        "headers": TextTable;
        /// File with certificates (PEM) of authorities to trust besides those of the system.
        "ca-file": Text;
        /// File with the certificate and the key (PEM) of the client.
        "certificate-file": Text;
        /// Address of a proxy for all requests.
        "proxy": Text;
        /// Whether what it says about the side effects of its tools is believed; the default is `false`.
        "trusted": Switch;
        /// Only these of its tools; `*` stands for any text.
        "tools": TextList;
        /// None of these of its tools.
        "except": TextList;
        /// Time limit of a call, if it is shorter than `limits.call-time`.
        "time": POSITIVE_DURATION;
        /// Size limit of one message.
        "max-bytes": POSITIVE;
        /// Whether a result without an error mark that reports an error is a failure; docs/tool-errors.md has the rule.
        "errors-in-success": word::<ErrorsInSuccess>();
    }

    PLAIN_HTTP_KEYS {
        /// Name of the tool in plans. Several entries may have one name; each is a capability of its own.
        "name": Text, required;
        /// Name of the capability.
        "capability": Text, required;
        /// Base URL, like `https://api.example.com/v1`; its query is sent with every request.
        "url": Text, required;
        /// Method of HTTP; the default is `GET`.
        "method": Text;
        /// Path below the URL, like `/orders/{order_id}/items`.
        "path": Text;
        /// Query: names and texts, like `{ q = "{city}" }`. A list is sent as one pair for each item.
        "query": TextTable;
        /// Headers with placeholders. Credentials belong to `auth`, fixed headers to `headers`.
        "request-headers": TextTable;
        /// Body: a table or a text. `"{amount}"` alone keeps the type of the parameter; what needs a missing one is left out.
        "body": AnyTemplate;
        /// How the body is sent: `json` (the default), `form` or `text`.
        "body-format": word::<BodyFormat>();
        /// Where the result is in the response, like `data.items`; the default is the whole body. If it is not there, the call fails.
        "result": Text;
    }

    COMMAND_KEYS {
        /// Name of the tool in plans. Several entries may have one name; each is a capability of its own.
        "name": Text, required;
        /// Name of the capability; the default is `run`.
        "capability": Text;
        /// Program and arguments, like `["grep", "-c", "--", "{pattern}", "{file}"]`; there is no shell. A value that begins with `-` is refused unless a `--` stands before it.
        "command": TextList, required;
        /// Standard input: a text with placeholders, or `json` for all parameters as an object.
        "stdin": Text;
        /// Time limit of a call, if it is shorter than `limits.call-time`.
        "time": POSITIVE_DURATION;
        /// Size limit of the output; the default is 16777216.
        "max-bytes": POSITIVE;
        /// Working folder; the default is the current one.
        "folder": Text;
        /// Environment variables to pass beside `PATH`, `HOME` and `LANG`; there are no others.
        "environment": TextList;
        /// What the output is: `json`, `text` or `lines`; the default is JSON if it is valid JSON, else text.
        "output": word::<CommandOutput>();
    }

    /// The keys of every capability that the configuration defines in full.
    DEFINED_KEYS {
        /// What the capability is for, for people and models.
        "description": Text;
        /// Side effect of a call; the default is that of the method (`GET` reads, `PUT` and `DELETE` are idempotent, others unsafe), for a command `unknown`.
        "effect": Word(side_effects);
        /// Parameters by name: a type like `string`, or a JSON Schema as a table. Each has a placeholder like `{city}`.
        "parameters": ParameterTable;
        /// Names of the parameters that a call must have; the default is all of them.
        "required": TextList;
        /// File with the JSON Schema of the parameters, instead of `parameters` and `required`.
        "schema": Text;
        /// Whether a reply without an error status that reports an error is a failure; docs/tool-errors.md has the rule.
        "errors-in-success": word::<ErrorsInSuccess>();
    }

    /// The keys of every service over HTTP.
    HTTP_KEYS {
        /// How the key is sent: as a `bearer` token (the default), as the password of `basic`, in a `header`, the `query` or a `cookie`, or as the secret of `client-credentials`, for which a token is fetched (OAuth 2).
        "auth": word::<Authentication>();
        /// Name of the header, query parameter or cookie that holds the key.
        "auth-name": Text;
        /// Name of the user for `auth = "basic"`, id of the client for `auth = "client-credentials"`.
        "user": Text;
        /// Where a token is fetched for `auth = "client-credentials"`.
        "token-url": Text;
        /// Scopes of that token.
        "scopes": TextList;
        /// Environment variable with the key, token or password.
        "key-env": Text;
        /// File with the key, token or password.
        "key-file": Text;
        /// Other headers of every request, without secrets.
        "headers": TextTable;
        /// File with certificates (PEM) of authorities to trust besides those of the system.
        "ca-file": Text;
        /// File with the certificate and the key (PEM) of the client.
        "certificate-file": Text;
        /// Address of a proxy for all requests.
        "proxy": Text;
        /// Time limit of a call, if it is shorter than `limits.call-time`.
        "time": POSITIVE_DURATION;
        /// Size limit of a response; the default is 16777216.
        "max-bytes": POSITIVE;
    }

    /// The keys of every program that is started here.
    SANDBOX_KEYS {
        /// Whether the program is confined with Landlock: `off`, `auto` (as far as the kernel can) or `required`; the default is `auto` for MCP servers and `off` for commands.
        "sandbox": word::<SandboxMode>();
        /// What it may read, beside the system and what it may write; the default is everything.
        "read": TextList;
        /// What it may write, beside its working folder, `/tmp`, `/dev` and the caches of package runners like `npx` and `uvx`.
        "write": TextList;
        /// Whether it may use TCP; the default is `true`.
        "network": Switch;
    }

    /// The keys of every tool.
    LIMIT_KEYS {
        /// How many calls to it may be in progress at the same time, instead of `limits.calls-per-tool`.
        "max-concurrent": POSITIVE;
        /// How many calls to it may be started per second, minute or hour, like `10/s`, `100/m` or `1000/h`; others wait.
        "rate": Text;
    }

    MODEL_KEYS {
        /// Name of the model in this configuration.
        "name": Text, required;
        /// Name of the model at its provider.
        "model": Text, required;
        /// Wire format; `compatible` is that of OpenAI at any URL.
        "provider": Word(providers);
        /// Base URL; the default is that of the provider. Azure, Vertex AI and Bedrock need one, as docs/models.md says.
        "url": Text;
        /// Environment variable with the API key; the default is the usual one of the provider.
        "key-env": Text;
        /// File with the API key.
        "key-file": Text;
        /// Whether answers are streamed.
        "streaming": Switch;
        /// What the server can enforce about the form of an answer.
        "format": word::<FormatSupport>();
        /// Size of the context window in tokens.
        "max-context": POSITIVE;
        /// What the model takes besides text: `image`, `document`, `audio`; the default is all that the provider has a place for.
        "inputs": TextList;
        /// Share of probability from which tokens are sampled, above 0 and at most 1.
        "top-p": Price;
        /// Most tokens of reasoning, where the provider has such a limit; 0 turns reasoning off.
        "thinking-tokens": COUNT;
        /// Whether the model may call several tools in one answer.
        "parallel-tool-calls": Switch;
        /// Whether the provider is asked to keep the stable part of requests in its cache; the default is `true`.
        "prompt-caching": Switch;
        /// Other fields of every request, like `{ top_k = 40 }`. They replace ours.
        "body": Table;
        /// Fields that are not sent, like `["stream_options"]`.
        "body-without": TextList;
        /// Other headers of every request, without secrets.
        "headers": TextTable;
        /// Query of every request, like `{ api-version = "2024-10-21" }`.
        "query": TextTable;
        /// Timeout for connecting.
        "connect-time": POSITIVE_DURATION;
        /// Timeout for the first byte; the default is `first-token-time`.
        "first-byte-time": POSITIVE_DURATION;
        /// Timeout for the first token: 2 min, or 12 s if another model follows, it streams and its reasoning is not hidden.
        "first-token-time": POSITIVE_DURATION;
        /// Timeout between two tokens: 60 s, or 30 s if another model follows.
        "idle-time": POSITIVE_DURATION;
        /// Timeout for the whole answer.
        "total-time": POSITIVE_DURATION;
        /// Price per million input tokens.
        "price-input": Price;
        /// Price per million output tokens.
        "price-output": Price;
        /// Price per million input tokens read from the provider's cache.
        "price-cached": Price;
        /// Price per million input tokens written to the provider's cache.
        "price-cache-written": Price;
    }

    CHECK_KEYS {
        /// Capability whose calls are checked, like `refunds/create`.
        "of": Text, required;
        /// Capability that is called after an unknown outcome, like `refunds/find`; it must change nothing.
        "call": Text, required;
        /// Its parameters: `{{call.order_id}}` is a parameter of the call that is checked, `{{key}}` its idempotency key.
        "parameters": Templates;
        /// Whether the call took effect: an expression over `reply`, `status`, `call` and `key`.
        "happened": Text, required;
        /// Result of the call: an expression over the same names; the default is the whole reply.
        "result": Text;
        /// What to do if it did not: `ask` a person, because the call may still be under way, or `send-again`.
        "if-absent": word::<IfAbsent>();
    }

    KEY_KEYS {
        /// Capability whose calls are identified, like `shop/refund`; it must not only read.
        "capability": Text, required;
        /// Parameters that identify the deed, like `["order_id", "price.amount"]`. A call without a value for one of them has no key.
        "fields": TextList, required;
        /// How long after a deed an equal call is the same deed, in whole seconds; the default is `24h`.
        "window": POSITIVE_DURATION;
    }

    CONFIRM_KEYS {
        /// Capability whose results are confirmed, like `bank/refund`.
        "capability": Text, required;
        /// Whether a result is as wished: an expression over `result`, like `result.amount > 0`.
        "expect": Text;
        /// Capability that is called after each call, like `bank/get_refund`; it must change nothing.
        "verify": Text;
        /// Its parameters: `{{result.id}}` is a field of the result.
        "with": Templates;
        /// Whether its reply confirms the effect: an expression over `reply` and `result`.
        "reply": Text;
        /// Time between two replies, like `5 s`, for effects that take a while; needs `times`.
        "wait": Text;
        /// How many replies are asked for at most; needs `wait`.
        "times": POSITIVE;
    }

    APPROVE_KEYS {
        /// Calls of this capability, like `payments/refund`; `*` stands for any text: `payments/*`.
        "capability": Text;
        /// Calls with this side effect.
        "class": word::<SideEffect>();
        /// Calls for which this expression over their parameters holds, like `amount > 100`.
        "when": Text;
    }

    ROLE_KEYS {
        /// Capability that has the parameter, like `bank/transfer`; `*` stands for any text: `bank/*`.
        "capability": Text, required;
        /// The parameter, or a part of it like `payment.to.iban`. An entry for a part or a list counts for all that is in it.
        "parameter": Text, required;
        /// What it is for: who, where or which (`target`), how much (`quantity`), what the call does (`switch`), or what it says (`content`).
        "role": word::<ParameterRole>(), required;
    }

    TRUST_KEYS {
        /// Capability whose results are trusted, like `crm/find_customer`; `*` stands for any text: `crm/*`.
        "capability": Text, required;
        /// The fields that are trusted, like `["customer.email"]`; the default is the whole result.
        "fields": TextList;
    }
}

/// A list of entries in a file.
#[derive(Debug)]
pub(super) struct EntryList {
    pub(super) name: &'static str,
    /// What the reference page says about it.
    pub(super) about: &'static str,
    /// Its own keys, then those that it shares with other lists.
    pub(super) keys: &'static [&'static [EntryKey]],
}

/// All lists, in the order of the reference page.
pub(super) const LISTS: [EntryList; 12] = [
    EntryList {
        name: "tools",
        about: "Services that speak the tool protocol, each in a `[[tools]]` of its own.",
        keys: &[TOOL_KEYS, HTTP_KEYS, LIMIT_KEYS],
    },
    EntryList {
        name: "openapi",
        about: "Services that an API description describes, each in an `[[openapi]]` of its own. Every operation is a capability.",
        keys: &[OPENAPI_KEYS, HTTP_KEYS, LIMIT_KEYS],
    },
    EntryList {
        name: "mcp",
        about: "MCP servers, each in an `[[mcp]]` of its own: a program that is started here, or an address.",
        keys: &[MCP_KEYS, SANDBOX_KEYS, LIMIT_KEYS],
    },
    EntryList {
        name: "http",
        about: "Services over HTTP without an API description, each capability in an `[[http]]` of its own; docs/tools.md explains them.",
        keys: &[PLAIN_HTTP_KEYS, DEFINED_KEYS, HTTP_KEYS, LIMIT_KEYS],
    },
    EntryList {
        name: "command",
        about: "Commands of this machine, each in a `[[command]]` of its own; docs/tools.md explains them.",
        keys: &[COMMAND_KEYS, DEFINED_KEYS, SANDBOX_KEYS, LIMIT_KEYS],
    },
    EntryList {
        name: "models",
        about: "Models, each in a `[[models]]` of its own, the preferred one first.",
        keys: &[MODEL_KEYS],
    },
    EntryList {
        name: "checks",
        about: "Checks of calls with an unknown outcome, each in a `[[checks]]` of its own.",
        keys: &[CHECK_KEYS],
    },
    EntryList {
        name: "keys",
        about: "Business keys: which parameters identify a deed, each in a `[[keys]]` of its own. A call whose deed another call has \
                done is not sent: its result is the receipt of that call. docs/tools.md explains them.",
        keys: &[KEY_KEYS],
    },
    EntryList {
        name: "confirm",
        about: "What is expected of the results of a capability, each in a `[[confirm]]` of its own, as `expect` and `verify` of a step \
                say it. What a step says itself counts instead. docs/plans.md explains them.",
        keys: &[CONFIRM_KEYS],
    },
    EntryList {
        name: "approve",
        about: "Calls that a person approves before they are sent, each in an `[[approve]]` of its own. A call matches if \
                all keys hold; at least one key is required. An expression without a value for a call matches.",
        keys: &[APPROVE_KEYS],
    },
    EntryList {
        name: "roles",
        about: "What parameters are for, each in a `[[roles]]` of its own. It counts instead of `x-reknit-role` in the schema of the \
                tool and instead of a guess, and decides which changed or found values a person approves. The first entry that \
                matches counts. docs/approvals.md explains them.",
        keys: &[ROLE_KEYS],
    },
    EntryList {
        name: "trust",
        about: "Results that you vouch for, each in a `[[trust]]` of its own. A value that a model finds in one of their fields \
                is sent and told, where a person would be asked about a value from any other result.",
        keys: &[TRUST_KEYS],
    },
];

/// The lists that contain tools.
pub(super) const TOOL_LISTS: [&str; 5] = ["tools", "openapi", "mcp", "http", "command"];

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

    pub(super) fn list(&self) -> &'static str {
        self.list
    }

    pub(super) fn text(&self, key: &str) -> Option<&str> {
        self.values.get(key).and_then(|(value, _)| value.as_str())
    }

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
