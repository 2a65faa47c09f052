//! Results that do not fit into the conversation: kept whole, and handed over by name, with a tool to read and search them.

use reknit_bind::project;
use reknit_dialogue::Tool;
use reknit_protocol::{Object, Value};
use serde::{Deserialize, Serialize};

/// The tool with which a model reads a result that was kept.
pub const READ_TOOL: &str = "agent__read_result";

/// How the name of a result that was kept begins.
const NAME: &str = "(stored as `result-";

/// How much of a result that was kept is shown at once, if nobody says how much.
const PAGE: usize = 4_000;

/// How many places a search tells, and how much around each.
const MATCHES: usize = 10;
const AROUND: usize = 80;

/// Results that were kept, in order: `result-1` is the first.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct Stored(Vec<String>);

impl Stored {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Keeps a text, and says in about so many bytes what it is and where. A text that is kept already keeps its name.
    pub(super) fn keep(&mut self, text: String, room: usize) -> String {
        let shown = outline(&text, room);
        let bytes = text.len();
        let index = self.0.iter().position(|known| *known == text).unwrap_or_else(|| {
            self.0.push(text);
            self.0.len() - 1
        });
        format!("{NAME}{}`, {bytes} bytes; read or search it with `{READ_TOOL}`) {shown}", index + 1)
    }

    /// The same for a text that may be no more than the name of one that is kept: then less is said of that one.
    pub(super) fn keep_or_shorten(&mut self, text: String, room: usize) -> String {
        if !text.starts_with(NAME) {
            return self.keep(text, room);
        }
        let end = text.find(") ").map_or(0, |at| at + 2).saturating_add(room);
        format!("{}…", text.get(..text.floor_char_boundary(end)).unwrap_or_default())
    }

    /// What a call of the tool brings, or why it brings nothing. Never more than `limit` bytes of the result.
    pub(super) fn read(&self, parameters: &Object, limit: usize) -> Result<String, String> {
        let name = parameters.get("result").and_then(Value::as_str).unwrap_or_default();
        let text = self.find(name).ok_or_else(|| match self.0.len() {
            0 => "nothing is stored".to_owned(),
            count => format!("there is no `{name}`; there is `result-1` to `result-{count}`"),
        })?;
        if let Some(words) = parameters.get("search").and_then(Value::as_str).filter(|words| !words.is_empty()) {
            return Ok(search(text, words));
        }
        let number = |name: &str| parameters.get(name).and_then(whole);
        let most = number("bytes").unwrap_or(PAGE).clamp(1, limit.max(1));
        page(text, number("from").unwrap_or(0), most)
    }

    fn find(&self, name: &str) -> Option<&String> {
        let digits = name.trim().trim_start_matches("result").trim_start_matches(['-', '_', ' ']);
        self.0.get(digits.parse::<usize>().ok()?.checked_sub(1)?)
    }
}

fn whole(value: &Value) -> Option<usize> {
    match value {
        Value::String(text) => text.trim().parse().ok(),
        other => other.to_string().parse().ok(),
    }
}

/// What a text is about, in so many bytes: JSON by its names and kinds, other text by its beginning.
fn outline(text: &str, room: usize) -> String {
    match Value::parse(text) {
        Ok(value @ (Value::Object(_) | Value::Array(_))) => project(&value, room, &[]).to_string(),
        _ => format!("It begins: {}…", text.get(..text.floor_char_boundary(room)).unwrap_or_default()),
    }
}

/// The bytes of a text from one to another, moved so that no letter is cut.
fn page(text: &str, from: usize, most: usize) -> Result<String, String> {
    if from >= text.len() {
        return Err(format!("it has only {} bytes", text.len()));
    }
    let from = text.floor_char_boundary(from);
    // At least one letter, however little is wanted.
    let to = text.floor_char_boundary(from.saturating_add(most)).max(text.ceil_char_boundary(from + 1));
    let more = if to < text.len() { format!("; go on with `from: {to}`") } else { String::new() };
    Ok(format!("(bytes {from} to {to} of {}{more})\n{}", text.len(), text.get(from..to).unwrap_or_default()))
}

/// Where the words stand in the text, in any case of ASCII letters.
fn search(text: &str, words: &str) -> String {
    let (lower, wanted) = (text.to_ascii_lowercase(), words.to_ascii_lowercase());
    let found: Vec<usize> = lower.match_indices(&wanted).map(|(at, _)| at).collect();
    let line = |at: &usize| {
        let from = text.floor_char_boundary(at.saturating_sub(AROUND));
        let to = text.ceil_char_boundary((at + wanted.len() + AROUND).min(text.len()));
        format!("at {at}: {}", text.get(from..to).unwrap_or_default())
    };
    let shown: Vec<String> = found.iter().take(MATCHES).map(line).collect();
    let count = found.len();
    match count {
        0 => format!("`{words}` does not occur in it"),
        _ if count > MATCHES => format!("{count} places, the first {MATCHES}:\n{}", shown.join("\n")),
        _ => format!("{count} {}:\n{}", if count == 1 { "place" } else { "places" }, shown.join("\n")),
    }
}

/// The tool as models see it.
pub(super) fn read_tool() -> Tool {
    let schema = r#"{"type": "object", "required": ["result"], "properties": {
        "result": {"type": "string", "description": "The name of the stored result, like `result-1`."},
        "from": {"type": "integer", "description": "The first byte that is shown; 0 if it is not given."},
        "bytes": {"type": "integer", "description": "How many bytes are shown."},
        "search": {"type": "string", "description": "Tells where these words stand instead."}}}"#;
    Tool {
        name: READ_TOOL.to_owned(),
        description: "Reads a part of a result that was stored because it is too long, or searches it.".to_owned(),
        // It is a constant, and a test reads it.
        schema: Value::parse(schema).unwrap_or(Value::Null),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(stored: &Stored, parameters: &str) -> Result<String, String> {
        stored.read(Value::parse(parameters).unwrap().as_object().unwrap(), 50)
    }

    #[test]
    fn what_was_kept_can_be_read_in_parts_without_a_byte_missing() {
        let text = (0..200).map(|number| format!("{number}: äöü\n")).collect::<Vec<_>>().concat();
        let mut stored = Stored::default();
        let told = stored.keep(text.clone(), 20);
        assert!(told.starts_with("(stored as `result-1`, 2290 bytes; read"), "{told}");
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
    fn reading_is_forgiving_about_names_and_honest_about_ends() {
        let mut stored = Stored::default();
        assert_eq!(read(&stored, "{}"), Err("nothing is stored".to_owned()));
        stored.keep("one two one".to_owned(), 9);
        assert_eq!(stored.keep("one two one".to_owned(), 9).matches("result-1").count(), 1, "it is kept once");
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
    fn a_result_in_json_is_told_by_its_names() {
        let mut stored = Stored::default();
        let items = (0..900).map(|number| format!(r#"{{"id": {number}}}"#)).collect::<Vec<_>>().join(", ");
        let told = stored.keep(format!(r#"{{"total": 900, "orders": [{items}]}}"#), 120);
        assert!(told.contains(r#""total":900"#) && told.contains("more items"), "{told}");
        assert!(told.len() < 260, "{told}");
        assert!(read_tool().schema.get("properties").is_some());
    }
}
