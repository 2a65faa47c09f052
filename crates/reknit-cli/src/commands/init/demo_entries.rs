//! The tools of the demo as commands, which are started for each call and so need no server.

use std::path::{Path, PathBuf};

use reknit_protocol::{Object, Value};
use reknit_tool_service::LocalCapability;

use crate::environment::os_variable;
use crate::output::Failure;
use crate::setup::toml_text;

/// The entries of `[[command]]`.
pub(super) fn entries() -> Result<String, Failure> {
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
