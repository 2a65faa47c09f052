//! What a server says when it does not answer.

use reknit_dialogue::Evidence;
use serde_json::Value;

/// Everything that a body tells about a failure, in whichever of the usual shapes it comes.
pub(crate) fn evidence(status: Option<u16>, body: &[u8]) -> Evidence {
    match serde_json::from_slice(body) {
        Ok(json) => from_json(status, &json),
        Err(_not_json) => {
            Evidence { status, message: from_text(&String::from_utf8_lossy(body)), ..Evidence::default() }
        }
    }
}

fn from_json(status: Option<u16>, json: &Value) -> Evidence {
    // Some wrap the object in an array.
    let json = json.get(0).unwrap_or(json);
    let error = json.get("error").filter(|error| !error.is_null()).unwrap_or(json);
    let text = |key: &str| error.get(key).and_then(Value::as_str).map(str::to_owned);
    let code = match error.get("code") {
        Some(Value::String(code)) => Some(code.clone()),
        Some(Value::Number(code)) => Some(code.to_string()),
        _ => None,
    };
    // A name says more than a number that repeats the HTTP status.
    let name = text("status").filter(|_| code.as_deref().is_none_or(|code| code.parse::<u16>().is_ok()));
    Evidence { code: name.or(code), status, kind: text("type"), message: message(error) }
}

fn message(error: &Value) -> String {
    let places = ["", "/message", "/detail", "/detail/0/msg", "/errors/0/message", "/msg"];
    let found = places.iter().filter_map(|place| error.pointer(place)?.as_str()).find(|text| !text.trim().is_empty());
    let message = found.map_or_else(|| error.to_string(), str::to_owned);
    // A router says that somebody else has failed, and keeps that one's words here.
    match error.pointer("/metadata/raw").and_then(Value::as_str) {
        Some(raw) => format!("{message}: {}", from_text(raw)),
        None => message,
    }
}

/// Text as it is; of a web page only the title, for the rest is decoration.
fn from_text(text: &str) -> String {
    let text = text.trim();
    if !text.starts_with('<') {
        return text.to_owned();
    }
    match title(text) {
        Some(title) => format!("a web page: {title}"),
        None => "a web page".to_owned(),
    }
}

fn title(page: &str) -> Option<&str> {
    // ASCII only, so that places in one are places in the other.
    let lower = page.to_ascii_lowercase();
    let start = lower.find("<title")?;
    let start = start + lower.get(start..)?.find('>')? + 1;
    let end = start + lower.get(start..)?.find("</title")?;
    page.get(start..end).map(str::trim).filter(|title| !title.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(body: &str) -> (Option<String>, Option<String>, String) {
        let Evidence { code, kind, message, .. } = evidence(Some(400), body.as_bytes());
        (code, kind, message)
    }

    #[test]
    fn the_words_are_found_in_every_usual_shape() {
        for (body, expected) in [
            (r#"{"error":{"message":"no","type":"t","code":"c"}}"#, "no"),
            (r#"{"error":"no"}"#, "no"),
            (r#"{"message":"no"}"#, "no"),
            (r#"{"detail":"no"}"#, "no"),
            (r#"{"detail":[{"loc":["body"],"msg":"no"}]}"#, "no"),
            (r#"{"errors":[{"message":"no"}]}"#, "no"),
            (r#"[{"error":{"message":"no"}}]"#, "no"),
            (
                r#"{"error":{"message":"Provider returned error","metadata":{"raw":"no"}}}"#,
                "Provider returned error: no",
            ),
            (r#"{"error":{"reason":7}}"#, r#"{"reason":7}"#),
            (r#""no""#, "no"),
            ("no", "no"),
            ("  no \n", "no"),
            ("", ""),
            (
                "<html><head><TITLE lang=en> 502 Bad Gateway </TITLE></head><body>x</body></html>",
                "a web page: 502 Bad Gateway",
            ),
            ("<html><title></title>", "a web page"),
            ("<html><title", "a web page"),
        ] {
            assert_eq!(read(body).2, expected, "{body}");
        }
    }

    #[test]
    fn code_and_type_are_found_and_a_name_beats_a_number() {
        let some = |text: &str| Some(text.to_owned());
        for (body, code, kind) in [
            (r#"{"error":{"message":"m","type":"t","code":"c"}}"#, some("c"), some("t")),
            (r#"{"error":{"message":"m","type":"t","code":null}}"#, None, some("t")),
            (r#"{"error":{"message":"m","code":429}}"#, some("429"), None),
            (r#"{"error":{"message":"m","code":429,"status":"RESOURCE_EXHAUSTED"}}"#, some("RESOURCE_EXHAUSTED"), None),
            (r#"{"error":{"message":"m","code":"c","status":"s"}}"#, some("c"), None),
            (
                r#"{"object":"error","message":"m","type":"BadRequestError","code":400}"#,
                some("400"),
                some("BadRequestError"),
            ),
        ] {
            let (found_code, found_kind, _) = read(body);
            assert_eq!((found_code, found_kind), (code, kind), "{body}");
        }
    }
}
