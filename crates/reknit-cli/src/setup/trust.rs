//! Decides which configuration files that were only found may run commands and decide where data and keys go.
//!
//! A file that a person names is trusted. One that lies in the current folder may come from anybody, such as a cloned
//! repository. The person has to trust it once if it runs a command, sends requests or results to another machine (other than the
//! host of a provider of models), sends a key anywhere else than from the provider's own variable to the provider's own host, or
//! names files that take part in runs: prompts, learned rules, accepted definitions, the journal; or has `[[roles]]` or `[[trust]]`. The trust is kept by path and
//! digest, so a changed file has to be trusted again.

use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

#[cfg(feature = "mcp")]
use reknit_mcp::McpConnection;
use reknit_models::{Target, detect};
use reknit_protocol::{Sha256, Value, hex, redact_url};
use reknit_runtime::config::{Config, ConfiguredSource, ConfiguredTool, KeySource, SettingOrigin};

use crate::environment::{state_folder, variable};
use crate::output::{Failure, Input};
use crate::setup::{DEFAULT_CONFIG, FileReaders, MAX_CONFIG_BYTES, found_config, replace_file};

/// Trusts a file as it is now. Returns its full path and what it says. Fails if it cannot be read.
pub(crate) fn trust_file(path: &Path) -> Result<(String, Config), Failure> {
    let input = Input::File(path.to_owned());
    let text = input.read_regular_up_to(MAX_CONFIG_BYTES)?;
    let name = canonical(path).map_err(|source| Failure::Input { input, source })?;
    let config = Config::read(&text, &path.display().to_string(), &variable)?;
    TrustStore::of_user()?.add(TrustedFile { digest: sha256_hex(&text), path: name.clone() })?;
    Ok((name, config))
}

pub(crate) fn is_trusted(path: &Path, text: &str) -> Result<bool, Failure> {
    let Ok(name) = canonical(path) else { return Ok(false) };
    let digest = sha256_hex(text);
    Ok(TrustStore::of_user()?.read()?.iter().any(|known| known.path == name && known.digest == digest))
}

/// Fails if the configuration was only found, is not trusted, and runs a command or decides where data or keys go or what needs a
/// person. `file` is that of `--config`. Call it before the first request.
pub(crate) fn check_trust(config: &Config, file: Option<&Path>) -> Result<(), Failure> {
    require_trust(&uses_of(config, is_there), file)
}

/// What a configuration runs and sends, with the keys that `counts`.
pub(crate) fn uses_of(config: &Config, counts: fn(&KeySource) -> bool) -> Vec<String> {
    let mut uses = model_uses(config, counts);
    uses.extend(webhook_use(config));
    uses.extend(config.tools.iter().flat_map(|tool| tool_uses(tool, counts)));
    uses.extend(config.tools.iter().filter_map(|tool| calls_use(config, tool, counts)));
    uses.extend(callback_use(config));
    uses.extend(gate_uses(config));
    uses.extend(PLACES.iter().filter_map(|(setting, meaning)| place_use(config, setting, meaning)));
    uses
}

/// What lets calls go out without a person that needs one otherwise.
fn gate_uses(config: &Config) -> impl Iterator<Item = String> {
    let effects = &config.policy.effects;
    let roles = effects.roles.iter().map(|rule| {
        let role = rule.role.as_str();
        format!(
            "[[roles]]: `{}` of `{}` is {role} when it is decided what needs a person",
            rule.parameter, rule.capability
        )
    });
    let trust = effects.trust.iter().map(|rule| {
        format!("[[trust]]: what `{}` returns is sent in calls for which a person is asked otherwise", rule.capability)
    });
    roles.chain(trust)
}

/// Settings that name a place which takes part in runs, and what it does.
const PLACES: [(&str, &str); 5] = [
    ("prompts.folder", "models are instructed by the templates in"),
    ("rules.file", "calls are corrected by the learned rules in"),
    ("catalogue.folder", "definitions of tools are accepted by what is in"),
    ("journal.path", "requests, results and open questions are kept in"),
    ("discovery.redis", "tools are those that are registered at"),
];

fn place_use(config: &Config, setting: &str, meaning: &str) -> Option<String> {
    let set = config.effective().iter().find(|effective| effective.setting.name == setting)?;
    let place = set.value.as_str().filter(|_| is_from_file(&set.origin))?;
    (!detect::is_on_this_machine(place)).then(|| format!("{setting}: {meaning} {}", redact_url(place)))
}

fn is_from_file(origin: &SettingOrigin) -> bool {
    matches!(origin, SettingOrigin::File { .. })
}

/// What a tool runs, and where its keys go.
fn tool_uses(tool: &ConfiguredTool, counts: fn(&KeySource) -> bool) -> impl Iterator<Item = String> {
    command_of(tool).into_iter().chain(key_uses(tool, counts))
}

/// The same for what only asks models.
pub(crate) fn check_model_trust(config: &Config, file: Option<&Path>) -> Result<(), Failure> {
    require_trust(&model_uses(config, is_there), file)
}

/// The same for what only lists tools: their keys are sent and MCP servers are started, but no command is run.
pub(crate) fn check_listing_trust(config: &Config, file: Option<&Path>) -> Result<(), Failure> {
    let is_command = |tool: &&ConfiguredTool| matches!(tool.source, ConfiguredSource::Command(_));
    let services = config.tools.iter().filter(|tool| !is_command(tool));
    require_trust(&services.flat_map(|tool| tool_uses(tool, is_there)).collect::<Vec<_>>(), file)
}

/// Where questions to a person go.
fn webhook_use(config: &Config) -> Option<String> {
    let (url, key) = config.webhook_key()?;
    let signed = place_of(key).filter(|_| matches!(key, KeySource::Variable(_) | KeySource::UnsetVariable(_)));
    let signed = signed.map(|place| format!(", signed with the key in {place}")).unwrap_or_default();
    Some(format!("approvals: each question to a person is sent to {url}{signed}"))
}

fn is_there(source: &KeySource) -> bool {
    matches!(source, KeySource::Variable(_) | KeySource::File(_))
}

/// Where a key is: `the variable X`; `None` if there is no key.
fn place_of(source: &KeySource) -> Option<String> {
    match source {
        KeySource::Variable(name) | KeySource::UnsetVariable(name) => Some(format!("the variable `{name}`")),
        KeySource::File(path) | KeySource::UnusableFile { path, .. } => Some(format!("the file `{path}`")),
        KeySource::None => None,
    }
}

fn require_trust(uses: &[String], file: Option<&Path>) -> Result<(), Failure> {
    let Some(path) = found_config(file).filter(|_| !uses.is_empty()) else { return Ok(()) };
    let input = Input::File(path.clone());
    let text = input.read_regular_up_to(MAX_CONFIG_BYTES)?;
    let name = canonical(&path).map_err(|source| Failure::Input { input, source })?;
    if is_trusted(&path, &text)? {
        return Ok(());
    }
    let is_known = TrustStore::of_user()?.read()?.iter().any(|known| known.path == name);
    let problem =
        if is_known { "has changed since it was trusted" } else { "was found in this folder and is not trusted" };
    let uses = use_lines(uses);
    Err(Failure::usage(
        format!(
            "`{name}` {problem}, and it runs commands, decides where data and keys go, or what needs a person:\n{}",
            uses.trim_end()
        ),
        format!("if that is right, type `reknit trust`, or name the file: `--config {DEFAULT_CONFIG}`"),
    ))
}

/// The keys of models that do not go from the provider's own variable to the provider's own host, and the models that get requests
/// and results on other machines than those of the providers. A key that is not there is not sent; its absence is reported elsewhere.
fn model_uses(config: &Config, counts: fn(&KeySource) -> bool) -> Vec<String> {
    let key_of = |target: &Target| {
        let source = config.keys.get(&target.name).filter(|source| counts(source))?;
        if let KeySource::Variable(name) | KeySource::UnsetVariable(name) = source
            && detect::is_own_host(name, &target.base_url)
        {
            return None;
        }
        Some(format!("the key in {} is sent", place_of(source)?))
    };
    let data_of = |target: &Target| {
        let is_elsewhere = !detect::is_on_this_machine(&target.base_url) && !detect::is_hosted(&target.base_url);
        let is_found = is_from_file(&config.origin_of_model(&target.name));
        (is_elsewhere && is_found).then(|| "requests and results are sent".to_owned())
    };
    let use_of = |target: &Target| {
        let what = key_of(target).or_else(|| data_of(target))?;
        Some(format!("model `{}`: {what} to {}", target.name, redact_url(&target.base_url)))
    };
    config.models.iter().filter_map(use_of).collect()
}

/// Where tools are asked to send the results of jobs.
fn callback_use(config: &Config) -> Option<String> {
    let url = config.callbacks.url.as_deref()?;
    Some(format!("callbacks: tools may send results to {}", redact_url(url)))
}

/// The same for one tool, whose key or token is used.
#[cfg(feature = "mcp")]
pub(crate) fn check_tool_trust(tool: &ConfiguredTool, file: Option<&Path>) -> Result<(), Failure> {
    require_trust(&tool_uses(tool, is_there).collect::<Vec<_>>(), file)
}

/// What a tool runs, or the token that it is sent: `tool, command`.
fn command_of(tool: &ConfiguredTool) -> Option<String> {
    match &tool.source {
        ConfiguredSource::Command(command) => {
            Some(format!("tool `{}`: the command `{}` is run", tool.name, command.command_line()))
        }
        #[cfg(feature = "mcp")]
        ConfiguredSource::Mcp(options) => match &options.connection {
            McpConnection::Stdio(program) => {
                let line = [&[program.program.display().to_string()], &program.arguments[..]].concat().join(" ");
                Some(format!("tool `{}`: the MCP server `{line}` is started", tool.name))
            }
            McpConnection::Http(endpoint) => endpoint.oauth.as_ref().map(|_| {
                let (url, through) = (redact_url(&endpoint.url), through_proxy(tool));
                format!("tool `{}`: the token of its sign-in is sent to {url}{through}", tool.name)
            }),
        },
        ConfiguredSource::Service { .. }
        | ConfiguredSource::OpenApi(_)
        | ConfiguredSource::PlainHttp(_)
        | ConfiguredSource::Program(_) => None,
    }
}

fn through_proxy(tool: &ConfiguredTool) -> String {
    let proxy = tool.shown().get("proxy").and_then(Value::as_str);
    proxy.map(|proxy| format!(", through the proxy {proxy}")).unwrap_or_default()
}

/// Where calls of a tool go that leave this machine, unless the places of its keys say that.
fn calls_use(config: &Config, tool: &ConfiguredTool, counts: fn(&KeySource) -> bool) -> Option<String> {
    let text = |key: &str| tool.shown().get(key).and_then(Value::as_str);
    let addresses = ["url", "document", "token-url", "proxy"].into_iter().filter_map(text);
    let mut elsewhere = addresses.filter(|address| address.contains("://") && !detect::is_on_this_machine(address));
    let leaves = elsewhere.next().is_some() || tool.shown().get("allow-hosts").is_some();
    let is_new = is_from_file(&config.origin_of_tool(tool)) && key_uses(tool, counts).is_empty();
    (leaves && is_new).then(|| format!("tool `{}`: calls are {}", tool.name, sent_to(tool)))
}

/// Where the calls and keys of a service are sent.
fn sent_to(tool: &ConfiguredTool) -> String {
    let text = |key: &str| tool.shown().get(key).and_then(Value::as_str).map(str::to_owned);
    let hosts = tool.shown().get("allow-hosts").map(ToString::to_string);
    let address = text("url").or_else(|| text("document")).unwrap_or_else(|| "the service".to_owned());
    let others = [
        text("token-url").map(|url| format!(", to {url} for a token")),
        hosts.map(|hosts| format!(", to the hosts {hosts}")),
    ];
    format!("sent to {address}{}{}", others.into_iter().flatten().collect::<String>(), through_proxy(tool))
}

/// Where the keys of a tool go: `tool, source, URL`.
fn key_uses(tool: &ConfiguredTool, counts: fn(&KeySource) -> bool) -> Vec<String> {
    let goal = match &tool.source {
        ConfiguredSource::Command(_) => "passed to the command".to_owned(),
        #[cfg(feature = "mcp")]
        ConfiguredSource::Mcp(options) if matches!(options.connection, McpConnection::Stdio(_)) => {
            "passed to the MCP server".to_owned()
        }
        _ => sent_to(tool),
    };
    let places = tool.keys.iter().filter(|source| counts(source)).filter_map(place_of);
    places.map(|place| format!("tool `{}`: the key in {place} is {goal}", tool.name)).collect()
}

pub(crate) fn use_lines(uses: &[String]) -> String {
    uses.iter().map(|line| format!("- {line}\n")).collect::<Vec<_>>().concat()
}

pub(crate) fn canonical(path: &Path) -> io::Result<String> {
    Ok(path.canonicalize()?.display().to_string())
}

fn sha256_hex(text: &str) -> String {
    hex(&Sha256::digest(text))
}

/// A file that is trusted as long as it does not change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TrustedFile {
    digest: String,
    pub(crate) path: String,
}

/// The trusted files: one line each, a digest and a path, as `sha256sum` writes them.
#[derive(Debug)]
pub(crate) struct TrustStore {
    file: PathBuf,
}

impl TrustStore {
    /// `reknit/trusted` in the state folder of the user.
    pub(crate) fn of_user() -> Result<Self, Failure> {
        let folder = state_folder().ok_or_else(|| {
            Failure::usage(
                "no folder for trusted files: neither XDG_STATE_HOME nor HOME is an absolute path",
                format!("name the configuration file: `--config {DEFAULT_CONFIG}`"),
            )
        })?;
        Ok(Self { file: folder.join("reknit/trusted") })
    }

    pub(crate) fn read(&self) -> Result<Vec<TrustedFile>, Failure> {
        let text = match fs::read_to_string(&self.file) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(source) => return Err(Failure::Input { input: Input::File(self.file.clone()), source }),
        };
        let entry = |line: &str| {
            let (digest, path) = line.split_once("  ")?;
            Some(TrustedFile { digest: digest.to_owned(), path: path.to_owned() })
        };
        Ok(text.lines().filter_map(entry).collect())
    }

    fn add(&self, new: TrustedFile) -> Result<(), Failure> {
        if new.path.contains(['\n', '\r']) {
            return Err(Failure::usage("a path with a line break cannot be trusted", "rename the folder"));
        }
        let mut entries = self.read()?;
        entries.retain(|known| known.path != new.path);
        entries.push(new);
        self.write(&entries)
    }

    pub(crate) fn forget(&self, path: &str) -> Result<bool, Failure> {
        let mut entries = self.read()?;
        let before = entries.len();
        entries.retain(|known| known.path != path);
        if entries.len() < before {
            self.write(&entries)?;
        }
        Ok(entries.len() < before)
    }

    /// Replaces the file in one step. Only the user can read it.
    fn write(&self, entries: &[TrustedFile]) -> Result<(), Failure> {
        let text = entries.iter().fold(String::new(), |text, entry| text + &entry.digest + "  " + &entry.path + "\n");
        let folder = self.file.parent().unwrap_or(Path::new("/"));
        let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
        made.and_then(|()| replace_file(&self.file, &text, FileReaders::Owner)).map_err(Failure::Write)
    }
}
