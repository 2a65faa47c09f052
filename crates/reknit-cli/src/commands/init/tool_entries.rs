//! The tools of a new configuration.

use std::path::{Path, PathBuf};

use reknit_protocol::{Object, Value};
use reknit_runtime::config::Config;
use reknit_salvage::{ReadOptions, Reading};
use reknit_tool_service::LocalCapability;

use super::InitArguments;
use super::client_config::{ClientServers, read_servers};
use crate::commands::tools::document_entry;
use crate::environment::{os_variable, variable};
use crate::output::{Failure, Input, Questions, count, one_line};
use crate::setup::{DEFAULT_CONFIG, MAX_CONFIG_BYTES, toml_text};

/// Where MCP clients keep the servers of a project.
const CLIENT_CONFIGS: [&str; 4] = [".mcp.json", "mcp.json", ".cursor/mcp.json", ".vscode/mcp.json"];
/// What people call the description of an API.
const DOCUMENTS: [&str; 6] =
    ["openapi.yaml", "openapi.yml", "openapi.json", "swagger.yaml", "swagger.yml", "swagger.json"];

/// The part of the configuration about tools.
#[derive(Default)]
pub(super) struct ToolEntries {
    pub(super) section: String,
    /// For people.
    pub(super) shown: String,
    /// What the person has to do besides.
    pub(super) notes: Vec<String>,
    pub(super) runs_programs: bool,
    pub(super) is_demo: bool,
}

/// The tools of the files that are named, else of those that are in the folder, else of the demo.
pub(super) async fn choose(arguments: &InitArguments, questions: &Questions) -> Result<ToolEntries, Failure> {
    let files = match &arguments.tools_from[..] {
        [] if arguments.demo => Vec::new(),
        [] => found_files(),
        named => named.to_vec(),
    };
    let mut entries = ToolEntries::default();
    let mut shown = Vec::new();
    for file in &files {
        if let Some(what) = add_file(file, questions, &mut entries).await? {
            shown.push(what);
        }
    }
    if shown.is_empty() {
        entries.section = demo_entries()?;
        (entries.runs_programs, entries.is_demo) = (true, true);
        shown.push("the tools of the demo".to_owned());
    }
    entries.shown = shown.join(", ");
    Ok(entries)
}

fn found_files() -> Vec<PathBuf> {
    CLIENT_CONFIGS.iter().chain(&DOCUMENTS).map(PathBuf::from).filter(|path| path.is_file()).collect()
}

/// Adds the tools of a file. `None` if the person does not want them.
async fn add_file(file: &Path, questions: &Questions, entries: &mut ToolEntries) -> Result<Option<String>, Failure> {
    let text = Input::File(file.to_owned()).read_regular_up_to(MAX_CONFIG_BYTES)?;
    let shown = format!("`{}`", file.display());
    // These files may have comments.
    let json = reknit_salvage::read(&text, &ReadOptions { max_bytes: text.len() }).ok().map(|read: Reading| read.value);
    let Some(servers) = json.as_ref().and_then(read_servers) else {
        let known = Config::read(&entries.section, DEFAULT_CONFIG, &variable)?;
        entries.section.push_str(&document_entry(file, &known).await?);
        entries.section.push('\n');
        return Ok(Some(format!("the API of {shown}")));
    };
    let ClientServers { section, names, programs, notes } = servers;
    if names.is_empty() {
        return Err(Failure::usage(format!("{shown} names no MCP server"), "name another file, or use `--demo`"));
    }
    if !programs.is_empty() {
        let list = programs.iter().map(|program| format!("  {}\n", one_line(program, usize::MAX)));
        let list = list.collect::<Vec<_>>().concat();
        let question = format!("{shown} starts these programs:\n{list}Use them as tools, and start them now?");
        let hint = "add `--yes` if they may be started, or use `--demo`";
        if !questions.confirm(&question, hint)? {
            return Ok(None);
        }
        entries.runs_programs = true;
    }
    entries.section += &section;
    entries.notes.extend(notes);
    Ok(Some(format!("{} of {shown}", count(names.len(), "MCP server"))))
}

/// The tools of the demo as entries of `[[command]]`: they are started for each call, and so need no server.
fn demo_entries() -> Result<String, Failure> {
    let program = program()?;
    let capabilities = reknit_demo::capabilities().map_err(Failure::start("the demo tools"))?;
    let mut text =
        "# The tools of the demo. Each call starts a program: parameters in, JSON out. Your own programs work alike.\n"
            .to_owned();
    for (tool, definition) in capabilities {
        let capability = LocalCapability::new(definition).map_err(Failure::start("the demo tools"))?;
        text += &entry(tool, &capability, &program);
    }
    Ok(text)
}

fn entry(tool: &str, capability: &LocalCapability, program: &str) -> String {
    let announced = capability.announcement();
    let (name, schema) = (announced.name.as_str(), capability.schema());
    let none = Object::new();
    let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
    let parameter = |(name, schema): (&str, &Value)| format!("{} = {}", toml_key(name), inline(schema));
    let parameters = properties.iter().map(parameter).collect::<Vec<_>>().join("\n");
    format!(
        "\n[[command]]\nname = {}\ncapability = {}\ndescription = {}\neffect = {}\ncommand = [{}, \"demo\", \"--call\", {}]\n\
         stdin = \"json\"\noutput = \"json\"\nrequired = {}\n\n[command.parameters]\n{parameters}\n",
        toml_text(tool),
        toml_text(name),
        toml_text(&announced.description),
        toml_text(announced.effect.as_str()),
        toml_text(program),
        toml_text(name),
        schema.get("required").map_or_else(|| "[]".to_owned(), inline),
    )
}

/// A value as TOML writes it in one line.
fn inline(value: &Value) -> String {
    match value {
        // TOML has no null; no schema of the demo has one.
        Value::Null => "\"null\"".to_owned(),
        Value::Array(items) => format!("[{}]", items.iter().map(inline).collect::<Vec<_>>().join(", ")),
        Value::Object(object) => {
            let members: Vec<String> =
                object.iter().map(|(key, value)| format!("{} = {}", toml_key(key), inline(value))).collect();
            format!("{{ {} }}", members.join(", "))
        }
        Value::String(text) => toml_text(text),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}

fn toml_key(key: &str) -> String {
    let is_bare = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    if is_bare { key.to_owned() } else { toml_text(key) }
}

/// This program: by its name if the shell finds it, else by its path.
fn program() -> Result<String, Failure> {
    let own = std::env::current_exe().and_then(|path| path.canonicalize()).map_err(Failure::start("this program"))?;
    let is_own = |folder: PathBuf| folder.join("reknit").canonicalize().is_ok_and(|path| path == own);
    let paths = os_variable("PATH").unwrap_or_default();
    let first = std::env::split_paths(&paths).find(|folder| is_file(&folder.join("reknit")));
    Ok(if first.is_some_and(is_own) { "reknit".to_owned() } else { own.display().to_string() })
}

fn is_file(path: &Path) -> bool {
    path.metadata().is_ok_and(|data| data.is_file())
}
