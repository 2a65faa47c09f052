//! The tools of a new configuration.

use std::path::{Path, PathBuf};

use reknit_runtime::config::Config;
use reknit_salvage::{ReadOptions, Reading};

use super::InitArguments;
use super::client_config::{ClientServers, read_servers};
use super::demo_entries;
use crate::commands::tools::document_entry;
use crate::environment::variable;
use crate::output::{Failure, Input, Questions, count, one_line};
use crate::setup::{DEFAULT_CONFIG, MAX_CONFIG_BYTES};

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
        entries.section = demo_entries::entries()?;
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
