//! Taking in a body without letting it take over.

use reknit_protocol::ReplyBody;
use reknit_protocol::{ParseError, Value};
use reknit_salvage::{Completeness, FixKind, ReadOptions, Reading};
use reqwest::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, LOCATION};

/// The largest body that is taken in.
pub(crate) const BODY_LIMIT: usize = 16 << 20;

/// Why a body could not be taken in.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BodyError {
    #[error("the connection broke while the answer came")]
    Broken(#[from] reqwest::Error),
    #[error("the answer is larger than {BODY_LIMIT} bytes")]
    TooLarge,
    #[error("the answer is packed (`Content-Encoding: {0}`), which nobody asked for")]
    Packed(String),
    #[error("what says that it is JSON cannot be read: {0}")]
    NotJson(ParseError),
}

/// Reads a body up to the limit.
pub(crate) async fn body(mut response: reqwest::Response) -> Result<ReplyBody, BodyError> {
    let says_json = header(response.headers(), CONTENT_TYPE).is_some_and(|kind| is_json(&kind));
    let packed = header(response.headers(), CONTENT_ENCODING).filter(|coding| !coding.eq_ignore_ascii_case("identity"));
    let is_success = response.status().is_success();
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        if bytes.len() + chunk.len() > BODY_LIMIT {
            return Err(BodyError::TooLarge);
        }
        bytes.extend_from_slice(&chunk);
    }
    let read = match packed {
        Some(coding) => Err(BodyError::Packed(coding)),
        None => read(&bytes, says_json),
    };
    match read {
        // The status says enough: the words around it are only words.
        Err(error) if !is_success => Ok(unreadable(&bytes, &error)),
        read => read,
    }
}

/// Where a redirect leads, in words and without secrets; none if it is no redirect.
pub(crate) fn elsewhere(response: &reqwest::Response) -> Option<String> {
    let location = header(response.headers(), LOCATION).filter(|_| response.status().is_redirection())?;
    let mut url = response.url().join(&location).ok()?;
    // An address that can have no password has none.
    let _ = (url.set_username(""), url.set_password(None));
    url.set_query(None);
    Some(format!("it sends on to {url}, and nothing is sent on: name that address if it is the right one"))
}

fn header(headers: &HeaderMap, name: reqwest::header::HeaderName) -> Option<String> {
    headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).trim().to_owned())
}

/// Whether a content type promises JSON: `application/json`, `application/problem+json; charset=utf-8`.
fn is_json(content_type: &str) -> bool {
    let kind = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    kind == "application/json" || kind.ends_with("+json")
}

/// The body of a refusal that cannot be read.
fn unreadable(bytes: &[u8], error: &BodyError) -> ReplyBody {
    match error {
        BodyError::NotJson(_) => ReplyBody::Text(String::from_utf8_lossy(bytes).into_owned()),
        error => ReplyBody::Text(error.to_string()),
    }
}

/// JSON if it is JSON, else text; what promises JSON must keep to it. Bytes that are no text are replaced by marks, which
/// can be seen.
fn read(bytes: &[u8], says_json: bool) -> Result<ReplyBody, BodyError> {
    let text = String::from_utf8_lossy(bytes);
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    if text.trim().is_empty() {
        return Ok(ReplyBody::Empty);
    }
    match Value::parse(text) {
        Ok(value) => Ok(ReplyBody::Json(value)),
        Err(_) if !says_json => Ok(ReplyBody::Text(text.to_owned())),
        Err(error) => mended(text).ok_or(BodyError::NotJson(error)),
    }
}

/// A body that says the same as the JSON that it should have been. Whether something happened hangs on it, so nothing is
/// guessed: what is cut, or has words around it, is none.
fn mended(text: &str) -> Option<ReplyBody> {
    let reading: Reading = reknit_salvage::read(text, &ReadOptions { max_bytes: BODY_LIMIT }).ok()?;
    let is_sure = reading.completeness == Completeness::Whole && reading.fixes.iter().all(|fix| is_spelling(fix.kind));
    if !is_sure || !matches!(reading.value, Value::Object(_) | Value::Array(_)) {
        return None;
    }
    let mut fixes: Vec<String> = Vec::new();
    for fix in &reading.fixes {
        if !fixes.iter().any(|words| words == fix.kind.words()) {
            fixes.push(fix.kind.words().to_owned());
        }
    }
    Some(ReplyBody::Repaired { value: reading.value, fixes })
}

/// Whether a repair changes only how something is written.
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

    #[test]
    fn a_body_is_json_or_text_or_nothing() {
        for (bytes, expected) in [
            (&b"{\"price\": 0.10}"[..], ReplyBody::Json(Value::parse(r#"{"price": 0.10}"#).unwrap())),
            (b"\xef\xbb\xbf[1]", ReplyBody::Json(Value::parse("[1]").unwrap())),
            (b"<html>", ReplyBody::Text("<html>".to_owned())),
            (b"{\"cut\": ", ReplyBody::Text("{\"cut\": ".to_owned())),
            (b"\xff", ReplyBody::Text("\u{fffd}".to_owned())),
            (b"  \n", ReplyBody::Empty),
        ] {
            assert_eq!(read(bytes, false).unwrap(), expected);
        }
    }

    #[test]
    fn what_promises_json_is_json_or_means_one_thing_only_or_is_refused() {
        for (text, expected) in [
            (r#"{"success": true}"#, Some((r#"{"success":true}"#, &[][..]))),
            (
                r#"{"success": false, "rate": NaN, "at": Infinity}"#,
                Some((r#"{"success":false,"rate":null,"at":null}"#, &["read NaN or an infinity as null"][..])),
            ),
            (
                "{'paid': True,}",
                Some((
                    r#"{"paid":true}"#,
                    &[
                        "read other quotes as double quotes",
                        "read a literal of another language",
                        "dropped an extra comma",
                    ][..],
                )),
            ),
            (r#"{"a": 1, "a": 2}"#, Some((r#"{"a":2}"#, &["kept the last of two equal keys"][..]))),
            (r#"{"success": false, "error": {"code": "NO"#, None),
            (r#"{"success": false, "error": {"code": "NO_FUNDS"}"#, None),
            (r#"{"success": true, "items": [1, 2, ...]}"#, None),
            ("<html>502</html>", None),
            (r#"Warning: oops {"success": true}"#, None),
            ("ok", None),
            (r#"{"a": 1} {"a": 2}"#, None),
        ] {
            let read = read(text.as_bytes(), true).ok();
            let found = read.as_ref().map(|body| (body.to_value().to_string(), body.fixes().to_vec()));
            let expected = expected.map(|(value, fixes)| {
                (value.to_owned(), fixes.iter().map(|&words| words.to_owned()).collect::<Vec<_>>())
            });
            assert_eq!(found, expected, "case: {text}");
        }
    }

    #[test]
    fn json_has_several_content_types() {
        for (content_type, expected) in [
            ("application/json", true),
            ("Application/JSON; charset=utf-8", true),
            ("application/problem+json", true),
            ("text/plain", false),
            ("application/x-ndjson", false),
            ("", false),
        ] {
            assert_eq!(is_json(content_type), expected, "case: {content_type}");
        }
    }
}
