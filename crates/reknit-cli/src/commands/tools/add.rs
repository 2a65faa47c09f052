//! `reknit tools add`: finds out what a service is, and writes its entry into the configuration.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueHint};
use reknit_protocol::Value;
use reknit_runtime::config::Config;
use reknit_tools::Client;

use super::found_service::{FoundService, Wanted};
use super::probe::probe;
use super::probe_mcp::probe_command;
use crate::environment::variable;
use crate::output::{Failure, Input, count, one_line, print_data, print_message};
use crate::setup::{
    DEFAULT_CONFIG, FileReaders, MAX_CONFIG_BYTES, is_trusted, named_config, replace_file, toml_text, trust_file,
    unless_ended, uses_of,
};

const HAS_MCP: bool = cfg!(feature = "mcp");

const DETAILS: &str = "\
TARGET is the address of a service, or an OpenAPI or Swagger document (a file or an address). At an address, Reknit looks for the
tool protocol (`/api/capabilities`), for an API description (`/openapi.json`, `/swagger.json` and other usual places)";
const EXAMPLES: &str = "\
Examples:
  reknit tools add http://127.0.0.1:8000
  reknit tools add https://api.example.com/openapi.yaml --name shop --key-env SHOP_TOKEN
  reknit tools add petstore.yaml --url https://petstore.example.com/v3 --dry-run";

/// The end of the help page. A build without the feature `mcp` does not advertise it.
fn details(has_mcp: bool) -> String {
    if !has_mcp {
        return format!("{DETAILS}.\n\n{EXAMPLES}");
    }
    format!(
        "{DETAILS}, and for an\nMCP server. Behind `--` stands the command line of an MCP server that Reknit starts.\n\n{EXAMPLES}\n  \
         reknit tools add --name time -- uvx mcp-server-time --local-timezone Asia/Seoul"
    )
}

#[derive(Debug, Args)]
#[command(after_help = details(HAS_MCP))]
pub(crate) struct AddArguments {
    /// The address of a service, or an API description
    #[arg(value_name = "TARGET", value_hint = ValueHint::AnyPath, required_unless_present = "command")]
    target: Option<String>,
    /// The command line of an MCP server
    #[arg(last = true, hide = !HAS_MCP, value_name = "COMMAND", conflicts_with_all = ["target", "url", "key_env"])]
    command: Vec<String>,
    /// The name of the tool in plans [default: made from the title or the address]
    #[arg(long)]
    name: Option<String>,
    /// The address of the service, instead of the one that the document names
    #[arg(long, value_hint = ValueHint::Url)]
    url: Option<String>,
    /// The environment variable that holds its key
    #[arg(long, value_name = "VARIABLE")]
    key_env: Option<String>,
    /// Print the entry, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// The configuration file [default: reknit.toml in the current folder]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    config: Option<PathBuf>,
}

const SHOWN_PROBLEMS: usize = 10;

pub(super) async fn run(arguments: &AddArguments) -> Result<ExitCode, Failure> {
    let path = named_config(arguments.config.as_deref()).unwrap_or_else(|| PathBuf::from(DEFAULT_CONFIG));
    let text = read(&path)?;
    let known = Config::read(&text, &path.display().to_string(), &variable)?;
    let client = Client::new().map_err(Failure::start("the HTTP client"))?;
    let key = arguments.key_env.as_deref().and_then(variable).map(Into::into);
    let found = match &arguments.target {
        Some(target) => unless_ended(probe(&Wanted { target, url: arguments.url.as_deref(), key }, &client)).await??,
        None => unless_ended(probe_command(&arguments.command)).await??,
    };
    let name = match &arguments.name {
        Some(name) => name.clone(),
        None => free_name(&found.title, &known),
    };
    if known.tools.iter().any(|tool| tool.name.as_str() == name) {
        let message = format!("`{}` has a tool `{name}` already", path.display());
        return Err(Failure::usage(message, "choose another name with `--name`, or remove the old entry"));
    }
    let entry = entry(&name, &found, arguments.key_env.as_deref());
    print_findings(&found);
    print_message(&format!("{}\n", destination(&found, arguments)));
    let summary = summary(&found);
    if found.listing.capabilities.is_empty() {
        let hint = "see the messages above; filters, `--url` or a key may be missing";
        return Err(Failure::usage("nothing of it can be called, so nothing was added", hint));
    }
    if arguments.dry_run {
        print_message(&format!("found {summary}; this entry would be added to {}:\n", path.display()));
        return print_data(&entry).map(|()| ExitCode::SUCCESS);
    }
    let separator = if text.is_empty() || text.ends_with("\n\n") { "" } else { "\n" };
    let new = format!("{text}{separator}{entry}");
    // A file that cannot be read again is not written.
    let config = Config::read(&new, &path.display().to_string(), &variable)?;
    let was_trusted = is_trusted(&path, &text)?;
    replace_file(&path, &new, FileReaders::AsBefore)
        .map_err(|source| Failure::Input { input: Input::File(path.clone()), source })?;
    // The person who types this knows what is added.
    if was_trusted {
        trust_file(&path)?;
    }
    print_data(&format!("added `{name}` to {}: {summary}\n", path.display()))?;
    // A file that was found, and not named, decides nothing about programs, data and keys until somebody trusts it.
    let needs_trust = arguments.config.is_none() && !was_trusted && !uses_of(&config, |_| true).is_empty();
    let first = match (needs_trust, &arguments.target) {
        (true, None) => "allow the program to start with `reknit trust`, ",
        (true, Some(_)) => "allow what the file decides with `reknit trust`, ",
        (false, _) => "",
    };
    print_message(&format!(
        "hint: {first}list them with `reknit tools list`, try one with `reknit tools call {name}/...`\n"
    ));
    Ok(ExitCode::SUCCESS)
}

fn read(path: &Path) -> Result<String, Failure> {
    match Input::File(path.to_owned()).read_regular_up_to(MAX_CONFIG_BYTES) {
        Err(Failure::Input { source, .. }) if source.kind() == ErrorKind::NotFound => Ok(String::new()),
        read => read,
    }
}

/// The entry of `[[openapi]]` for an API description, whose server calls go to, with a name that `known` does not have.
pub(crate) async fn document_entry(file: &Path, known: &Config) -> Result<String, Failure> {
    let client = Client::new().map_err(Failure::start("the HTTP client"))?;
    let target = file.display().to_string();
    let found = unless_ended(probe(&Wanted { target: &target, url: None, key: None }, &client)).await??;
    Ok(entry(&free_name(&found.title, known), &found, None))
}

fn entry(name: &str, found: &FoundService, key_env: Option<&str>) -> String {
    let mut entry = format!("[[{}]]\nname = {}\n", found.list, toml_text(name));
    let key = key_env.map(|variable| ("key-env", toml_text(variable)));
    for (key, value) in found.keys.iter().cloned().chain(key) {
        let _ = writeln!(entry, "{key} = {value}");
    }
    entry
}

/// A name from a title: `Swagger Petstore - OpenAPI 3.0` gives `swagger-petstore`.
fn free_name(title: &str, known: &Config) -> String {
    let words: Vec<String> = title
        .split(|letter: char| !letter.is_ascii_alphanumeric())
        .map(str::to_ascii_lowercase)
        .filter(|word| word.chars().any(char::is_alphabetic))
        .filter(|word| !matches!(word.as_str(), "api" | "openapi" | "rest" | "the" | "service"))
        .take(2)
        .collect();
    let base = if words.is_empty() { "tool".to_owned() } else { words.join("-") };
    let is_free = |name: &String| !known.tools.iter().any(|tool| tool.name.as_str() == name);
    let numbered = (2..).map(|number| format!("{base}-{number}"));
    std::iter::once(base.clone()).chain(numbered).find(is_free).unwrap_or(base)
}

/// Where calls and the key go, so that nobody sends a key to a host that a document has chosen.
fn destination(found: &FoundService, arguments: &AddArguments) -> String {
    let text = |name: &str| {
        let value = found.keys.iter().find(|(key, _)| *key == name).map(|(_, value)| value.as_str())?;
        Value::parse(value).ok()?.as_str().map(str::to_owned)
    };
    let Some(address) = text("url").or_else(|| text("document")).filter(|address| address.contains("://")) else {
        return match found.list {
            "mcp" => "calls go to a program on this machine".to_owned(),
            _ => "calls go to the hosts that the document names and `allow-hosts` allows".to_owned(),
        };
    };
    let host = address.split("://").nth(1).unwrap_or_default().split(['/', '?', '#']).next().unwrap_or_default();
    let host = one_line(host.rsplit('@').next().unwrap_or_default(), usize::MAX);
    match &arguments.key_env {
        Some(variable) => format!("calls, with the key in `{variable}`, go to {host}"),
        None => format!("calls go to {host}"),
    }
}

fn print_findings(found: &FoundService) {
    for (word, list) in [("warning", &found.listing.problems), ("note", &found.listing.notes)] {
        for message in list.iter().take(SHOWN_PROBLEMS) {
            print_message(&format!("{word}: {}\n", one_line(message, usize::MAX)));
        }
        if let Some(rest @ 1..) = list.len().checked_sub(SHOWN_PROBLEMS) {
            print_message(&format!("{word}: {rest} more like this; `reknit tools check` lists all\n"));
        }
    }
}

/// `3 capabilities (2 read, 1 unsafe)`.
fn summary(found: &FoundService) -> String {
    let mut classes: BTreeMap<&str, usize> = BTreeMap::new();
    for listed in &found.listing.capabilities {
        let class = listed.entry.capability.effect.of_tool(found.has_keys);
        *classes.entry(class.as_str()).or_default() += 1;
    }
    let classes: Vec<String> = classes.iter().map(|(class, number)| format!("{number} {class}")).collect();
    format!("{} ({})", count(found.listing.capabilities.len(), "capability"), classes.join(", "))
}

#[test]
fn the_help_of_a_build_without_mcp_does_not_advertise_it() {
    assert!(details(true).contains("MCP"));
    let without = details(false);
    assert!(!without.contains("MCP") && !without.contains("mcp"), "{without}");
}
