//! The tools that a server lists, as capabilities.

use reknit_plan::CatalogueEntry;
use reknit_protocol::schema::{FieldHint, Summary, unknown_types};
use reknit_protocol::{Capability, SideEffect, Value, is_hidden, truncate};

use crate::options::McpOptions;

/// The longest name of a tool, in characters; the limit of the protocol.
const MAX_NAME: usize = 128;
/// The longest description of a tool, in bytes.
const MAX_DESCRIPTION: usize = 16 << 10;
/// The largest schema of a tool, in bytes of its JSON.
const MAX_SCHEMA: usize = 256 << 10;

#[derive(Debug)]
pub(crate) struct ReadTool {
    pub(crate) entry: CatalogueEntry,
    pub(crate) notes: Vec<String>,
}

/// Reads one tool; `None` if the filter leaves it out. Fails with the reason if it cannot be used.
pub(crate) fn read_tool(tool: &Value, options: &McpOptions) -> Result<Option<ReadTool>, String> {
    let name = tool.get("name").and_then(Value::as_str).ok_or("a tool has no name")?;
    check_name(name)?;
    if !options.filter.allows(name) {
        return Ok(None);
    }
    let task_support = tool.get("execution").and_then(|execution| execution.get("taskSupport")).and_then(Value::as_str);
    if task_support == Some("required") {
        return Err(format!("tool `{name}` runs only as a task of MCP, which is not supported"));
    }
    let schema = tool.get("inputSchema").ok_or_else(|| format!("tool `{name}` has no `inputSchema`"))?;
    if !matches!(schema, Value::Object(_)) {
        return Err(format!("the `inputSchema` of tool `{name}` is not an object"));
    }
    check_size("inputSchema", name, schema)?;
    let mut notes: Vec<String> =
        unknown_types(schema).iter().map(|unknown| format!("schema of `{name}`: {unknown}")).collect();
    let mut capability = Capability::new(name);
    capability.description = describe(tool, name, &mut notes);
    capability.effect = if options.trusted { declared_effect(tool.get("annotations")) } else { SideEffect::Undeclared };
    if let Some(output) = tool.get("outputSchema") {
        check_size("outputSchema", name, output)?;
        capability.output_summary = summary_of(output);
        capability.extra.insert("output_schema", output.clone());
    }
    let entry = CatalogueEntry::new(capability, Some(schema.clone()))
        .map_err(|error| format!("invalid `inputSchema` of tool `{name}`: {error}"))?;
    Ok(Some(ReadTool { entry, notes }))
}

/// A name is shown to people and models, so it must not deceive them.
fn check_name(name: &str) -> Result<(), String> {
    if name.trim().is_empty() {
        return Err("a tool has an empty name".to_owned());
    }
    if name.chars().count() > MAX_NAME {
        let start: String = name.chars().take(40).flat_map(char::escape_default).collect();
        return Err(format!("the name of tool `{start}…` has more than {MAX_NAME} characters"));
    }
    if name.chars().any(|char| char.is_control() || is_hidden(char)) {
        let shown: String = name.chars().flat_map(char::escape_default).collect();
        return Err(format!("the name of tool `{shown}` has a control character"));
    }
    Ok(())
}

fn check_size(part: &str, name: &str, schema: &Value) -> Result<(), String> {
    let size = schema.to_string().len();
    if size > MAX_SCHEMA {
        return Err(format!("the `{part}` of tool `{name}` has {size} bytes; the limit is {MAX_SCHEMA}"));
    }
    Ok(())
}

fn describe(tool: &Value, name: &str, notes: &mut Vec<String>) -> String {
    let text = |key: &str| tool.get(key).and_then(Value::as_str).filter(|text| !text.trim().is_empty());
    let text = text("description").or_else(|| text("title")).unwrap_or_default();
    if text.len() > MAX_DESCRIPTION {
        notes.push(format!("the description of `{name}` has {} bytes and is cut", text.len()));
    }
    truncate(text.to_owned(), MAX_DESCRIPTION)
}

fn declared_effect(annotations: Option<&Value>) -> SideEffect {
    let hint = |name: &str| annotations.and_then(|annotations| annotations.get(name)).and_then(Value::as_bool);
    match (hint("readOnlyHint"), hint("idempotentHint"), hint("destructiveHint")) {
        (Some(true), ..) => SideEffect::Read,
        (_, Some(true), _) => SideEffect::Idempotent,
        (_, _, Some(true)) => SideEffect::Unsafe,
        _ => SideEffect::Undeclared,
    }
}

/// The fields of a result that is an object.
fn summary_of(schema: &Value) -> Option<Summary> {
    let properties = schema.get("properties").and_then(Value::as_object).filter(|fields| !fields.is_empty())?;
    let required = schema.get("required").and_then(Value::as_array).unwrap_or_default();
    let is_required = |name: &str| required.iter().any(|word| word.as_str() == Some(name));
    let hint = |(name, schema): (&str, &Value)| {
        let type_word = schema.get("type").and_then(Value::as_str).unwrap_or_default();
        let description = schema.get("description").and_then(Value::as_str).map(str::to_owned);
        FieldHint { description, ..FieldHint::new(name, type_word) }
    };
    let (required, optional) = properties.iter().map(hint).partition(|hint| is_required(&hint.name));
    Some(Summary { required, optional, ..Summary::default() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::{McpConnection, McpProgram, ToolFilter};

    fn options(trusted: bool) -> McpOptions {
        McpOptions { trusted, ..McpOptions::new("server", McpConnection::Stdio(McpProgram::default())) }
    }

    fn read(tool: &str, trusted: bool) -> Result<Option<ReadTool>, String> {
        read_tool(&Value::parse(tool).expect("it is JSON"), &options(trusted))
    }

    fn effect(annotations: &str, trusted: bool) -> SideEffect {
        let tool = format!(r#"{{"name":"t","inputSchema":{{"type":"object"}},"annotations":{annotations}}}"#);
        read(&tool, trusted).expect("it is usable").expect("it is used").entry.capability.effect
    }

    #[test]
    fn the_annotations_of_a_trusted_server_are_its_side_effects() {
        for (annotations, expected) in [
            (r#"{"readOnlyHint":true}"#, SideEffect::Read),
            (r#"{"readOnlyHint":false,"idempotentHint":true,"destructiveHint":true}"#, SideEffect::Idempotent),
            (r#"{"destructiveHint":true}"#, SideEffect::Unsafe),
            (r#"{"destructiveHint":false}"#, SideEffect::Undeclared),
            ("{}", SideEffect::Undeclared),
            (r#"{"readOnlyHint":"yes"}"#, SideEffect::Undeclared),
        ] {
            assert_eq!(effect(annotations, true), expected, "case: {annotations}");
            assert_eq!(effect(annotations, false), SideEffect::Undeclared, "case: {annotations}");
        }
    }

    #[test]
    fn a_tool_that_cannot_be_used_is_reported_with_the_reason() {
        let long = "n".repeat(129);
        for (tool, expected) in [
            (r#"{"inputSchema":{}}"#.to_owned(), "a tool has no name"),
            (r#"{"name":" ","inputSchema":{}}"#.to_owned(), "a tool has an empty name"),
            (format!(r#"{{"name":"{long}","inputSchema":{{}}}}"#), "has more than 128 characters"),
            (r#"{"name":"a\nb","inputSchema":{}}"#.to_owned(), r"the name of tool `a\nb` has a control character"),
            (r#"{"name":"a\u202eb","inputSchema":{}}"#.to_owned(), "has a control character"),
            (r#"{"name":"a"}"#.to_owned(), "tool `a` has no `inputSchema`"),
            (r#"{"name":"a","inputSchema":[]}"#.to_owned(), "the `inputSchema` of tool `a` is not an object"),
            (r#"{"name":"a","inputSchema":{"type":5}}"#.to_owned(), "invalid `inputSchema` of tool `a`"),
            (
                r#"{"name":"a","inputSchema":{},"execution":{"taskSupport":"required"}}"#.to_owned(),
                "tool `a` runs only as a task of MCP",
            ),
            (
                format!(r#"{{"name":"a","inputSchema":{{"description":"{}"}}}}"#, "x".repeat(MAX_SCHEMA)),
                "the limit is 262144",
            ),
        ] {
            let error = read(&tool, false).expect_err("it cannot be used");
            assert!(error.contains(expected), "case: {tool:.100}: {error}");
        }
    }

    #[test]
    fn a_tool_keeps_its_schemas_and_its_description() {
        let read = read(
            r#"{"name":"quote","title":"Quote","inputSchema":{"type":"object","required":["symbol"],
                "properties":{"symbol":{"type":"string"}}},
                "outputSchema":{"type":"object","required":["price"],"properties":{"price":{"type":"number"},"at":{}}}}"#,
            false,
        );
        let entry = read.expect("it is usable").expect("it is used").entry;
        assert_eq!(entry.capability.description, "Quote");
        assert_eq!(entry.required_parameters(), ["symbol"]);
        let output = entry.capability.output_summary.expect("there is an output schema");
        assert_eq!((output.required[0].name.as_str(), output.optional[0].name.as_str()), ("price", "at"));
        assert!(entry.capability.extra.get("output_schema").is_some());
    }

    #[test]
    fn a_tool_outside_the_filter_is_left_out() {
        let filter = ToolFilter { only: vec!["get_*".to_owned()], ..ToolFilter::default() };
        let options = McpOptions { filter, ..options(false) };
        let tool = Value::parse(r#"{"name":"set","inputSchema":{}}"#).expect("it is JSON");
        assert!(read_tool(&tool, &options).expect("it is usable").is_none());
    }
}
