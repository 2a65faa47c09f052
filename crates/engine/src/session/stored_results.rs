//! Results that are too long for the conversation: the model gets a reference and a tool to read and search them. It looks at images,
//! sound and files instead of reading their bytes.

use reknit_expressions::abridge;
use reknit_model_api::{Attachment, ToolDefinition};
use reknit_protocol::{Object, Value};
use serde::{Deserialize, Serialize};

/// The tool that reads a stored result.
pub const READ_TOOL: &str = "agent__read_result";

/// The beginning of every reference to a stored result.
const REFERENCE_PREFIX: &str = "(stored as `result-";

/// The number of bytes per page if the model does not say how many.
const DEFAULT_PAGE_BYTES: usize = 4_000;

/// The maximum number of matches that a search shows, and the context around each.
const MAX_MATCHES: usize = 10;
const MATCH_CONTEXT_BYTES: usize = 80;

/// The stored results, in order: `result-1` is the first.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct StoredResults(Vec<String>);

impl StoredResults {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// Stores a text and returns a reference with an outline. The same text is stored only once.
    pub(super) fn store(&mut self, text: String, outline_bytes: usize) -> String {
        let outline = outline(&text, outline_bytes);
        let bytes = text.len();
        let index = self.0.iter().position(|stored| *stored == text).unwrap_or_else(|| {
            self.0.push(text);
            self.0.len() - 1
        });
        format!("{REFERENCE_PREFIX}{}`, {bytes} bytes; read or search it with `{READ_TOOL}`) {outline}", index + 1)
    }

    /// The stored text that a reference is for, or the text itself. A tool that returns such a reference gets the stored text attributed
    /// to it, which it could have returned as well.
    pub(super) fn full_text<'a>(&'a self, text: &'a str) -> &'a str {
        let number = text.strip_prefix(REFERENCE_PREFIX).and_then(|rest| rest.split_once('`')?.0.parse::<usize>().ok());
        let stored = number.and_then(|number| self.0.get(number.checked_sub(1)?));
        stored.map_or(text, String::as_str)
    }

    /// Stores a text; if the text is a reference already, shortens its outline instead.
    pub(super) fn store_or_shorten(&mut self, text: String, outline_bytes: usize) -> String {
        if !text.starts_with(REFERENCE_PREFIX) {
            return self.store(text, outline_bytes);
        }
        let end = text.find(") ").map_or(0, |at| at + 2).saturating_add(outline_bytes);
        format!("{}…", text.get(..text.floor_char_boundary(end)).unwrap_or_default())
    }

    /// Answers a call of the read tool with at most `limit` bytes of the result. Fails with the reason.
    pub(super) fn read(&self, parameters: &Object, limit: usize) -> Result<String, String> {
        let name = parameters.get("result").and_then(Value::as_str).unwrap_or_default();
        let text = self.find(name).ok_or_else(|| match self.0.len() {
            0 => "nothing is stored".to_owned(),
            count => format!("there is no `{name}`; there is `result-1` to `result-{count}`"),
        })?;
        if let Some(words) = parameters.get("search").and_then(Value::as_str).filter(|words| !words.is_empty()) {
            return Ok(search(text, words));
        }
        let number = |name: &str| parameters.get(name).and_then(whole_number);
        let max_bytes = number("bytes").unwrap_or(DEFAULT_PAGE_BYTES).clamp(1, limit.max(1));
        page(text, number("from").unwrap_or(0), max_bytes)
    }

    fn find(&self, name: &str) -> Option<&String> {
        let digits = name.trim().trim_start_matches("result").trim_start_matches(['-', '_', ' ']);
        self.0.get(digits.parse::<usize>().ok()?.checked_sub(1)?)
    }
}

fn whole_number(value: &Value) -> Option<usize> {
    match value {
        Value::String(text) => text.trim().parse().ok(),
        other => other.to_string().parse().ok(),
    }
}

/// The outline of a text: the keys and types of JSON, the beginning of other text.
fn outline(text: &str, max_bytes: usize) -> String {
    match Value::parse(text) {
        Ok(value @ (Value::Object(_) | Value::Array(_))) => abridge(&value, max_bytes, &[]).to_string(),
        _ => format!("It begins: {}…", text.get(..text.floor_char_boundary(max_bytes)).unwrap_or_default()),
    }
}

/// One page of a text, moved to character boundaries.
fn page(text: &str, from: usize, max_bytes: usize) -> Result<String, String> {
    if from >= text.len() {
        return Err(format!("it has only {} bytes", text.len()));
    }
    let from = text.floor_char_boundary(from);
    // At least one character, however few bytes are requested.
    let to = text.floor_char_boundary(from.saturating_add(max_bytes)).max(text.ceil_char_boundary(from + 1));
    let more = if to < text.len() { format!("; go on with `from: {to}`") } else { String::new() };
    Ok(format!("(bytes {from} to {to} of {}{more})\n{}", text.len(), text.get(from..to).unwrap_or_default()))
}

/// The matches in the text, ignoring the case of ASCII letters.
fn search(text: &str, words: &str) -> String {
    let (lower, wanted) = (text.to_ascii_lowercase(), words.to_ascii_lowercase());
    let matches: Vec<usize> = lower.match_indices(&wanted).map(|(at, _)| at).collect();
    let line = |at: &usize| {
        let from = text.floor_char_boundary(at.saturating_sub(MATCH_CONTEXT_BYTES));
        let to = text.ceil_char_boundary((at + wanted.len() + MATCH_CONTEXT_BYTES).min(text.len()));
        format!("at {at}: {}", text.get(from..to).unwrap_or_default())
    };
    let shown: Vec<String> = matches.iter().take(MAX_MATCHES).map(line).collect();
    let count = matches.len();
    match count {
        0 => format!("`{words}` does not occur in it"),
        _ if count > MAX_MATCHES => format!("{count} places, the first {MAX_MATCHES}:\n{}", shown.join("\n")),
        _ => format!("{count} {}:\n{}", if count == 1 { "place" } else { "places" }, shown.join("\n")),
    }
}

/// The definition that models are shown.
pub(super) fn read_tool() -> ToolDefinition {
    let schema = r#"{"type": "object", "required": ["result"], "properties": {
        "result": {"type": "string", "description": "The name of the stored result, like `result-1`."},
        "from": {"type": "integer", "description": "The first byte that is shown; 0 if it is not given."},
        "bytes": {"type": "integer", "description": "How many bytes are shown."},
        "search": {"type": "string", "description": "Tells where these words stand instead."}}}"#;
    ToolDefinition {
        name: READ_TOOL.to_owned(),
        description: "Reads a part of a result that was stored because it is too long, or searches it.".to_owned(),
        // The text is a constant that the tests parse.
        schema: Value::parse(schema).unwrap_or(Value::Null),
    }
}

/// More of them stay in the text.
const MAX_ATTACHMENTS: usize = 8;
/// What stands in the text instead of the bytes.
const ATTACHED: &str = "(attached)";

/// Takes the images, the sound and the files out of a result in the format of MCP. The text stays as it is if there are none.
pub(super) fn take_attachments(text: String) -> (String, Vec<Attachment>) {
    if !text.contains("\"mimeType\"") {
        return (text, Vec::new());
    }
    let Ok(mut value) = Value::parse(&text) else { return (text, Vec::new()) };
    let mut attachments = Vec::new();
    if let Value::Object(result) = &mut value
        && let Some(Value::Array(blocks)) = result.get_mut("content")
    {
        for block in blocks.iter_mut().take(MAX_ATTACHMENTS) {
            attachments.extend(take_from_block(block));
        }
    }
    if attachments.is_empty() { (text, attachments) } else { (value.to_string(), attachments) }
}

fn take_from_block(block: &mut Value) -> Option<Attachment> {
    let Value::Object(block) = block else { return None };
    match block.get("type").and_then(Value::as_str)? {
        "image" | "audio" => take_bytes(block, "data"),
        "resource" => {
            let Some(Value::Object(resource)) = block.get_mut("resource") else { return None };
            let uri = resource.get("uri").and_then(Value::as_str).map(str::to_owned);
            let name = uri.and_then(|uri| uri.rsplit('/').next().map(str::to_owned)).filter(|name| !name.is_empty());
            take_bytes(resource, "blob").map(|attachment| Attachment { name, ..attachment })
        }
        _ => None,
    }
}

fn take_bytes(object: &mut Object, key: &str) -> Option<Attachment> {
    let media_type = object.get("mimeType").and_then(Value::as_str)?.to_owned();
    let Some(Value::String(bytes)) = object.get_mut(key) else { return None };
    let bytes = std::mem::replace(bytes, ATTACHED.to_owned());
    Some(Attachment::base64(media_type, bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(stored: &StoredResults, parameters: &str) -> Result<String, String> {
        stored.read(Value::parse(parameters).unwrap().as_object().unwrap(), 50)
    }

    #[test]
    fn a_stored_result_can_be_read_completely_page_by_page() {
        let text = (0..200).map(|number| format!("{number}: äöü\n")).collect::<Vec<_>>().concat();
        let mut stored = StoredResults::default();
        let reference = stored.store(text.clone(), 20);
        assert!(reference.starts_with("(stored as `result-1`, 2290 bytes; read"), "{reference}");
        let (mut from, mut whole) = (0, String::new());
        while from < text.len() {
            let page = read(&stored, &format!(r#"{{"result": "result-1", "from": {from}, "bytes": 33}}"#)).unwrap();
            let (_, part) = page.split_once('\n').unwrap();
            whole.push_str(part);
            from += part.len();
        }
        assert_eq!(whole, text);
    }

    #[test]
    fn the_read_tool_accepts_loose_names_and_reports_what_is_missing() {
        let mut stored = StoredResults::default();
        assert_eq!(read(&stored, "{}"), Err("nothing is stored".to_owned()));
        stored.store("one two one".to_owned(), 9);
        assert_eq!(
            stored.store("one two one".to_owned(), 9).matches("result-1").count(),
            1,
            "the same text is stored once"
        );
        for (parameters, expected) in [
            (r#"{"result": "result-1"}"#, Ok("(bytes 0 to 11 of 11)\none two one")),
            (r#"{"result": "1", "from": "4", "bytes": 3}"#, Ok("(bytes 4 to 7 of 11; go on with `from: 7`)\ntwo")),
            (r#"{"result": "result_1", "search": "ONE"}"#, Ok("2 places:\nat 0: one two one\nat 8: one two one")),
            (r#"{"result": "result-1", "search": "ten"}"#, Ok("`ten` does not occur in it")),
            (r#"{"result": "result-1", "from": 11}"#, Err("it has only 11 bytes")),
            (r#"{"result": "result-2"}"#, Err("there is no `result-2`; there is `result-1` to `result-1`")),
        ] {
            assert_eq!(read(&stored, parameters), expected.map(str::to_owned).map_err(str::to_owned), "{parameters}");
        }
    }

    #[test]
    fn a_stored_json_result_is_outlined_by_its_keys() {
        let mut stored = StoredResults::default();
        let items = (0..900).map(|number| format!(r#"{{"id": {number}}}"#)).collect::<Vec<_>>().join(", ");
        let reference = stored.store(format!(r#"{{"total": 900, "orders": [{items}]}}"#), 120);
        assert!(reference.contains(r#""total":900"#) && reference.contains("more items"), "{reference}");
        assert!(reference.len() < 260, "{reference}");
        assert!(read_tool().schema.get("properties").is_some());
    }

    use reknit_model_api::AttachmentKind;

    #[test]
    fn images_sound_and_files_are_taken_out_and_the_rest_stays() {
        let result = r#"{"content":[{"type":"text","text":"a chart"},{"type":"image","mimeType":"image/png","data":"YWJj"},{"type":"resource","resource":{"uri":"file:///a/b.pdf","mimeType":"application/pdf","blob":"ZGVm"}},{"type":"resource","resource":{"uri":"file:///c","mimeType":"text/plain","text":"C"}}]}"#;
        let (text, attachments) = take_attachments(result.to_owned());
        assert_eq!(text, result.replace("YWJj", ATTACHED).replace("ZGVm", ATTACHED));
        let kinds: Vec<AttachmentKind> = attachments.iter().map(Attachment::kind).collect();
        assert_eq!(kinds, [AttachmentKind::Image, AttachmentKind::Document]);
        assert_eq!(attachments[1].name.as_deref(), Some("b.pdf"));
    }

    #[test]
    fn a_result_without_them_is_not_changed() {
        for text in [
            "a text",
            r#"{"a": 1.10}"#,
            r#"{"mimeType": "image/png", "data": "YWJj"}"#,
            r#"{"content": [{"type": "image", "mimeType": "image/png"}, {"type": "image", "data": "x"}]}"#,
            r#"{"content": [{"type": "resource_link", "mimeType": "text/plain"}], "#,
        ] {
            assert_eq!(take_attachments(text.to_owned()), (text.to_owned(), Vec::new()));
        }
    }
}
