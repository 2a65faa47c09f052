//! Errors that a tool reports with the status of a success. `docs/tool-errors.md` states the rule.

use reknit_protocol::{Object, ReplyBody, SideEffect, Value};

use super::denied_access::is_denial_code;
use crate::is_listed;

/// Nouns that follow `Error` in the titles of documents and in statistics.
const COMPOUNDS: &str = "analysis bar bars boundaries boundary budget budgets codes correction count counts \
    detection estimate estimates estimation free handler handlers handling log logging logs management margin \
    messages model monitoring prevention propagation rate rates recovery report reporting reports statistics \
    tracking types";
/// Texts that say that there is no error.
const NO_ERROR: [&str; 9] = ["none", "null", "nil", "no", "0", "false", "n/a", "no error", "ok"];
/// Members under which a tool returns a text and nothing else.
const TEXT_MEMBERS: [&str; 5] = ["result", "output", "text", "content", "response"];
/// Members of a GraphQL or JSON:API reply without data.
const ERROR_LIST_MEMBERS: [&str; 6] = ["errors", "data", "extensions", "meta", "links", "jsonapi"];
/// Members with a message, beside an `error` that is a number.
const MESSAGE_MEMBERS: [&str; 5] = ["message", "msg", "detail", "description", "error_description"];
/// Levels of log lines other than errors.
const OTHER_LEVELS: [&str; 6] = ["INFO", "WARN", "WARNING", "DEBUG", "TRACE", "NOTICE"];

/// Whether the body of a reply with status 2xx reports an error. `announces_data` is whether the capability announces an
/// object or a list as its result. A call that reads is made for its result: without the one that was promised it failed.
pub(super) fn reports_error(body: &ReplyBody, announces_data: bool, class: SideEffect) -> bool {
    match body {
        ReplyBody::Empty => announces_data && class == SideEffect::Read,
        ReplyBody::Repaired { value: Value::Null, fixes } if fixes.iter().any(|fix| fix == ReplyBody::EMPTY_JSON) => {
            class == SideEffect::Read
        }
        ReplyBody::Text(text) => is_error_text(text) || (announces_data && is_html(text)),
        ReplyBody::Repaired { value: Value::String(text), fixes } => {
            let is_page = announces_data || !fixes.iter().all(|fix| fix == ReplyBody::INVALID_UTF8);
            is_error_text(text) || (is_page && is_html(text))
        }
        ReplyBody::Json(Value::String(text)) => is_error_text(text),
        ReplyBody::Json(value) | ReplyBody::Repaired { value, .. } => value.as_object().is_some_and(is_error_object),
    }
}

fn is_error_object(body: &Object) -> bool {
    let flag = |name: &str| body.get(name).and_then(Value::as_bool);
    if flag("success") == Some(true) {
        return false;
    }
    let is_marked = flag("isError") == Some(true) || flag("is_error") == Some(true);
    is_marked || has_error(body) || has_only_errors(body) || has_only_error_text(body) || has_denial(body)
}

/// A member `error` that is not empty. A number is an error code only beside a message; alone it is a measured error.
fn has_error(body: &Object) -> bool {
    match body.get("error") {
        None => false,
        Some(error) if is_empty(error) => false,
        Some(Value::Number(_)) => has_message(body),
        Some(_) => true,
    }
}

fn has_message(body: &Object) -> bool {
    MESSAGE_MEMBERS.iter().any(|name| body.get(name).is_some_and(|text| !is_empty(text)))
}

/// A `code` of denied access beside a message, and no data.
fn has_denial(body: &Object) -> bool {
    let is_denial = body.get("code").is_some_and(is_denial_code);
    is_denial && has_message(body) && body.get("data").is_none_or(is_empty)
}

/// A list `errors` of objects with messages, and no data: GraphQL and JSON:API.
fn has_only_errors(body: &Object) -> bool {
    let has_message = |error: &Value| {
        ["message", "detail", "title"].iter().any(|name| error.get(name).is_some_and(|text| text.as_str().is_some()))
    };
    let errors = body.get("errors").and_then(Value::as_array).unwrap_or_default();
    !errors.is_empty()
        && errors.iter().all(has_message)
        && body.get("data").is_none_or(Value::is_null)
        && body.keys().all(|name| ERROR_LIST_MEMBERS.contains(&name))
}

fn has_only_error_text(body: &Object) -> bool {
    let mut members = body.iter();
    match (members.next(), members.next()) {
        (Some((name, Value::String(text))), None) => TEXT_MEMBERS.contains(&name) && is_error_text(text),
        _ => false,
    }
}

/// Whether a value says nothing: null, false, 0, an empty text, list or object, or one of only such values.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(is_error) => !is_error,
        Value::Number(number) => number.as_u64() == Some(0),
        Value::String(text) => {
            let text = text.trim().to_lowercase();
            text.is_empty() || NO_ERROR.contains(&text.as_str())
        }
        Value::Array(items) => items.iter().all(is_empty),
        Value::Object(members) => members.values().all(is_empty),
    }
}

/// Whether a text begins with the word `Error`, and not with a compound such as `Error rate`.
fn is_error_text(text: &str) -> bool {
    let is_mark = |letter: char| letter.is_whitespace() || "*_`\"'[(!❌⚠🚫⛔✗✖\u{fe0f}\u{feff}".contains(letter);
    let text = text.trim_start_matches(is_mark);
    let Some(rest) = ["Error", "ERROR", "error"].iter().find_map(|word| text.strip_prefix(word)) else { return false };
    !is_log(text) && is_error_rest(rest.trim_start_matches(['*', '`', '"', ']', ')']))
}

/// Decides by what follows the word `Error`.
fn is_error_rest(rest: &str) -> bool {
    let line = rest.lines().next().unwrap_or_default();
    let spaced = line.trim_start();
    let Some(first) = spaced.chars().next() else { return true };
    let is_apart = spaced.len() < line.len();
    match first {
        ':' => !NO_ERROR.contains(&spaced.trim_matches([':', '*', ' ', '.']).to_lowercase().as_str()),
        '!' | '#' => true,
        '.' => spaced.chars().nth(1).is_none_or(char::is_whitespace),
        '-' | '–' | '—' | '(' | '[' => is_apart,
        first if !is_apart || !first.is_alphanumeric() => false,
        _ => is_error_sentence(spaced),
    }
}

/// Decides by the word behind `Error`: `Error while paying` is an error, `Error rate` is not. `Error code` and `Error message`
/// are, if they state one.
fn is_error_sentence(words: &str) -> bool {
    let end = words.find(|letter: char| !letter.is_alphanumeric()).unwrap_or(words.len());
    let (word, rest) = words.split_at(end);
    let word = word.to_lowercase();
    match word.as_str() {
        "code" | "message" => rest.trim_start().starts_with(|letter: char| letter == ':' || letter.is_ascii_digit()),
        word => !is_listed(COMPOUNDS, word),
    }
}

/// Whether the lines are those of a log: some have another level.
fn is_log(text: &str) -> bool {
    let level = |line: &str| {
        let line = line.trim_start_matches(|letter: char| !letter.is_alphabetic());
        OTHER_LEVELS.iter().any(|level| line.starts_with(level))
    };
    text.lines().skip(1).any(level)
}

fn is_html(text: &str) -> bool {
    let start: String = text.trim_start().chars().take(15).collect::<String>().to_ascii_lowercase();
    start.starts_with("<!doctype html") || start.starts_with("<html")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(text: &str) -> ReplyBody {
        Value::parse(text).map_or_else(|_| ReplyBody::Text(text.to_owned()), ReplyBody::Json)
    }

    #[test]
    fn a_body_that_reports_an_error_is_found() {
        for text in [
            "Error: payment amount does not add up",
            r#""Error: payment amount does not add up""#,
            "Error",
            " error: no such file",
            "ERROR - not found",
            "Error!",
            "Error. Try again.",
            "Error 404",
            "Error (E12): no",
            "Error executing tool book: no seats",
            "Error from server (NotFound): pods",
            "Error while paying",
            "Error code: 42",
            "Error code 42",
            "Error message: declined",
            "**Error:** declined",
            "❌ Error: declined",
            "[ERROR] declined",
            "Error: a\nError: b",
            r#"{"error": "declined"}"#,
            r#"{"error": true, "message": "declined"}"#,
            r#"{"error": 17, "message": "declined"}"#,
            r#"{"error": {"message": "declined"}}"#,
            r#"{"error": ["declined"], "data": null}"#,
            r#"{"error": "declined", "booking": "B7"}"#,
            r#"{"isError": true, "content": [{"type": "text", "text": "declined"}]}"#,
            r#"{"errors": [{"message": "declined", "path": ["pay"]}], "data": null}"#,
            r#"{"errors": [{"title": "declined"}]}"#,
            r#"{"result": "Error: declined"}"#,
        ] {
            assert!(reports_error(&body(text), false, SideEffect::Unsafe), "{text}");
        }
    }

    #[test]
    fn a_result_that_only_speaks_of_errors_is_a_success() {
        for text in [
            "",
            "done",
            "Errors were 3 in the log",
            "Errors: 0",
            "Error(s): 0",
            "Error: none",
            "Error: 0\nPaid: 5",
            "Error handling in Rust\n\nUse `Result`.",
            "Error Handling: a guide",
            "Error rate: 0.1",
            "Error codes and what they mean",
            "Error message guidelines",
            "Error-free run",
            "Error.prototype.stack is not standard",
            "Error/warning summary: 0/0",
            "error,count\nE1,3",
            "Errorless",
            "error_rate 0.1",
            "ERROR disk full\nINFO rotated",
            "No error occurred",
            "The payment failed with Error: declined",
            r##""# Error handling""##,
            r#"{"error": null, "data": {"id": 1}}"#,
            r#"{"error": false, "id": 1}"#,
            r#"{"error": "", "id": 1}"#,
            r#"{"error": {}, "id": 1}"#,
            r#"{"error": [], "id": 1}"#,
            r#"{"error": {"code": "", "message": ""}, "id": 1}"#,
            r#"{"error": "none", "id": 1}"#,
            r#"{"error": 0, "message": "paid"}"#,
            r#"{"error": 0.05, "estimate": 3}"#,
            r#"{"errors": [], "data": {"id": 1}}"#,
            r#"{"errors": [{"message": "one field failed"}], "data": {"id": 1}}"#,
            r#"{"errors": ["line 3: missing semicolon"]}"#,
            r#"{"errors": [{"message": "unused"}], "file": "a.rs"}"#,
            r#"{"errors": 3}"#,
            r#"{"error_rate": 0.1}"#,
            r#"{"title": "Error handling", "text": "Use Result."}"#,
            r#"{"title": "Error: declined", "id": 1}"#,
            r#"{"isError": false, "content": []}"#,
            r#"{"success": true, "error": "a warning"}"#,
            r#"{"result": "Error rate: 0.1"}"#,
            r#"[{"error": "declined"}, {"id": 1}]"#,
            "17",
            "null",
            "<html><p>a page</p></html>",
        ] {
            assert!(!reports_error(&body(text), false, SideEffect::Unsafe), "{text}");
        }
    }

    #[test]
    fn a_page_is_an_error_only_where_data_was_announced() {
        let page = " <!DOCTYPE html><title>Log in</title>";
        let repaired =
            |text: &str| ReplyBody::Repaired { value: Value::from(text), fixes: vec![ReplyBody::HTML_PAGE.to_owned()] };
        for (body, announces_data, expected) in [
            (ReplyBody::Text(page.to_owned()), true, true),
            (ReplyBody::Text(page.to_owned()), false, false),
            (ReplyBody::Text("<html>".to_owned()), true, true),
            (ReplyBody::Text("<htmlx>".to_owned()), false, false),
            (ReplyBody::Text("a <html> tag".to_owned()), true, false),
            (repaired(page), false, true),
            (ReplyBody::Empty, true, false),
        ] {
            assert_eq!(reports_error(&body, announces_data, SideEffect::Unsafe), expected, "{body:?}");
        }
    }

    #[test]
    fn a_promised_result_that_is_not_there_is_an_error_of_a_call_that_reads() {
        let empty = ReplyBody::Repaired { value: Value::Null, fixes: vec![ReplyBody::EMPTY_JSON.to_owned()] };
        for (body, announces_data, class, expected) in [
            (&empty, false, SideEffect::Read, true),
            (&empty, true, SideEffect::Keyed, false),
            (&empty, false, SideEffect::Undeclared, false),
            (&ReplyBody::Empty, true, SideEffect::Read, true),
            (&ReplyBody::Empty, false, SideEffect::Read, false),
            (&ReplyBody::Json(Value::Null), true, SideEffect::Read, false),
        ] {
            assert_eq!(reports_error(body, announces_data, class), expected, "{body:?} {class}");
        }
    }
}
