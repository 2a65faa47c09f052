//! What a tool wrote, as JSON where it is JSON.

use std::borrow::Cow;

use reknit_protocol::{ParseError, ReplyBody, Value};
use reknit_salvage::{Completeness, FixKind, ReadOptions, Reading};

/// A body that claims to be JSON and is not.
#[derive(Debug, thiserror::Error)]
#[error("the JSON body cannot be parsed: {0}")]
pub(crate) struct InvalidJson(ParseError);

/// The bytes as text, with U+FFFD for what is not UTF-8, and the description of that repair if there was any.
pub(crate) fn to_text(bytes: &[u8]) -> (Cow<'_, str>, Option<&'static str>) {
    match std::str::from_utf8(bytes) {
        Ok(text) => (Cow::Borrowed(text), None),
        Err(_) => (String::from_utf8_lossy(bytes), Some(ReplyBody::INVALID_UTF8)),
    }
}

pub(crate) fn with_fix(body: ReplyBody, fix: Option<&'static str>) -> ReplyBody {
    let Some(fix) = fix else { return body };
    let fixes = body.fixes().iter().cloned().chain([fix.to_owned()]).collect();
    ReplyBody::Repaired { value: body.to_value(), fixes }
}

/// JSON if the body parses, else text. A body that claims to be JSON must parse, if need be after repairs.
pub(crate) fn parse_body(bytes: &[u8], claims_json: bool) -> Result<ReplyBody, InvalidJson> {
    let (text, invalid) = to_text(bytes);
    parse_text(&text, claims_json).map(|body| with_fix(body, invalid))
}

fn parse_text(text: &str, claims_json: bool) -> Result<ReplyBody, InvalidJson> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim().is_empty() {
        return Ok(ReplyBody::Empty);
    }
    match Value::parse(text) {
        Ok(value) => Ok(ReplyBody::Json(value)),
        Err(_) if !claims_json => Ok(ReplyBody::Text(text.to_owned())),
        Err(error) => parse_repaired(text).ok_or(InvalidJson(error)),
    }
}

/// The value of invalid JSON whose meaning is certain: only its spelling is repaired, since the outcome of a call depends on it.
fn parse_repaired(text: &str) -> Option<ReplyBody> {
    let reading: Reading = reknit_salvage::read(text, &ReadOptions { max_bytes: text.len() }).ok()?;
    let is_certain =
        reading.completeness == Completeness::Complete && reading.fixes.iter().all(|fix| is_spelling(fix.kind));
    if !is_certain || !matches!(reading.value, Value::Object(_) | Value::Array(_)) {
        return None;
    }
    let mut fixes: Vec<String> = Vec::new();
    for fix in &reading.fixes {
        if !fixes.iter().any(|description| description == fix.kind.description()) {
            fixes.push(fix.kind.description().to_owned());
        }
    }
    Some(ReplyBody::Repaired { value: reading.value, fixes })
}

fn is_spelling(kind: FixKind) -> bool {
    matches!(
        kind,
        FixKind::ByteOrderMark
            | FixKind::Comment
            | FixKind::WhiteSpace
            | FixKind::ExtraComma
            | FixKind::Semicolon
            | FixKind::MissingComma
            | FixKind::Quotes
            | FixKind::Escape
            | FixKind::RawControl
            | FixKind::LoneSurrogate
            | FixKind::BareKey
            | FixKind::Literal
            | FixKind::NumberSpelling
            | FixKind::NotANumber
            | FixKind::DuplicateKey
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A body whose only repair is about invalid UTF-8; the argument is JSON.
    fn repaired(json: &str) -> ReplyBody {
        let fixes = vec!["replaced bytes that are not UTF-8".to_owned()];
        ReplyBody::Repaired { value: Value::parse(json).unwrap(), fixes }
    }

    #[test]
    fn a_body_is_json_text_or_empty() {
        for (bytes, expected) in [
            (&b"{\"price\": 0.10}"[..], ReplyBody::Json(Value::parse(r#"{"price": 0.10}"#).unwrap())),
            (b"\xef\xbb\xbf[1]", ReplyBody::Json(Value::parse("[1]").unwrap())),
            (b"<html>", ReplyBody::Text("<html>".to_owned())),
            (b"{\"cut\": ", ReplyBody::Text("{\"cut\": ".to_owned())),
            (b"\xff", repaired("\"\u{fffd}\"")),
            (b"{\"town\": \"K\xf6ln\"}", repaired("{\"town\": \"K\u{fffd}ln\"}")),
            (b"  \n", ReplyBody::Empty),
        ] {
            assert_eq!(parse_body(bytes, false).unwrap(), expected);
        }
    }

    #[test]
    fn a_body_that_claims_to_be_json_is_parsed_repaired_without_doubt_or_rejected() {
        for (text, expected) in [
            (r#"{"success": true}"#, Some((r#"{"success":true}"#, &[][..]))),
            (
                r#"{"success": false, "rate": NaN, "at": Infinity}"#,
                Some((r#"{"success":false,"rate":null,"at":null}"#, &["replaced NaN or an infinity with null"][..])),
            ),
            (
                "{'paid': True,}",
                Some((
                    r#"{"paid":true}"#,
                    &[
                        "replaced other quotes with double quotes",
                        "converted a literal of another language",
                        "dropped an extra comma",
                    ][..],
                )),
            ),
            (r#"{"a": 1, "a": 2}"#, Some((r#"{"a":2}"#, &["kept the last value of a duplicate key"][..]))),
            (r#"{"success": false, "error": {"code": "NO"#, None),
            (r#"{"success": false, "error": {"code": "NO_FUNDS"}"#, None),
            (r#"{"success": true, "items": [1, 2, ...]}"#, None),
            ("<html>502</html>", None),
            (r#"Warning: oops {"success": true}"#, None),
            ("ok", None),
            (r#"{"a": 1} {"a": 2}"#, None),
        ] {
            let body = parse_body(text.as_bytes(), true).ok();
            let found = body.as_ref().map(|body| (body.to_value().to_string(), body.fixes().to_vec()));
            let expected = expected.map(|(value, fixes)| {
                (value.to_owned(), fixes.iter().map(|&description| description.to_owned()).collect::<Vec<_>>())
            });
            assert_eq!(found, expected, "case: {text}");
        }
    }
}
