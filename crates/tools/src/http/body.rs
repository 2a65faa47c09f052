//! Reading response bodies: bounded in size, JSON where it is JSON.

use std::borrow::Cow;

use reknit_protocol::{ParseError, ReplyBody, Value};
use reknit_salvage::{Completeness, FixKind, ReadOptions, Reading};
use reqwest::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, LOCATION};

use crate::known_secrets::KnownSecrets;
use crate::off_workers::off_workers;

/// The size limit of a body in bytes, unless a service has its own.
pub(crate) const MAX_BODY: usize = 16 << 20;

/// Why a body cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BodyError {
    #[error("the connection broke before the body was complete")]
    Broken(#[from] reqwest::Error),
    #[error("the body is larger than {0} bytes")]
    TooLarge(usize),
    #[error("the body is compressed (`Content-Encoding: {0}`), which was not requested")]
    Compressed(String),
    #[error("the JSON body cannot be parsed: {0}")]
    InvalidJson(ParseError),
}

/// Reads a body up to the size limit, without the secrets that were sent. Of an unsuccessful response any body is accepted: its
/// status is what counts.
pub(crate) async fn read_body(
    response: reqwest::Response,
    limit: usize,
    secrets: &KnownSecrets,
) -> Result<ReplyBody, BodyError> {
    let claims_json = header(response.headers(), CONTENT_TYPE).is_some_and(|kind| is_json(&kind));
    let compressed =
        header(response.headers(), CONTENT_ENCODING).filter(|coding| !coding.eq_ignore_ascii_case("identity"));
    let is_success = response.status().is_success();
    let bytes = read_bytes(response, limit).await?;
    off_workers(bytes.len(), || decode_body(bytes, compressed, claims_json, is_success, secrets))
}

fn decode_body(
    bytes: Vec<u8>,
    compressed: Option<String>,
    claims_json: bool,
    is_success: bool,
    secrets: &KnownSecrets,
) -> Result<ReplyBody, BodyError> {
    let bytes = secrets.redact_bytes(bytes);
    let parsed = match compressed {
        Some(coding) => Err(BodyError::Compressed(secrets.redact(&coding).into_owned())),
        None => parse_body(&bytes, claims_json),
    };
    let body = match parsed {
        // The tool, or something in front of it, answered with a page. What that means is decided elsewhere.
        Err(BodyError::InvalidJson(_)) if is_success && is_page(&bytes) => {
            let (text, invalid) = to_text(&bytes);
            let fixes = [ReplyBody::HTML_PAGE].into_iter().chain(invalid).map(str::to_owned).collect();
            Ok(ReplyBody::Repaired { value: text.as_ref().into(), fixes })
        }
        Err(BodyError::InvalidJson(_)) if !is_success => {
            let (text, invalid) = to_text(&bytes);
            Ok(with_fix(ReplyBody::Text(text.into_owned()), invalid))
        }
        Err(error) if !is_success => Ok(ReplyBody::Text(error.to_string())),
        parsed => parsed,
    };
    // The escapes of JSON may have hidden a secret in the bytes.
    body.map(|body| secrets.redact_body(body))
}

/// The bytes of a body up to the size limit.
pub(crate) async fn read_bytes(mut response: reqwest::Response, limit: usize) -> Result<Vec<u8>, BodyError> {
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        if bytes.len() + chunk.len() > limit {
            return Err(BodyError::TooLarge(limit));
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}

/// Whether a body is an HTML page.
fn is_page(bytes: &[u8]) -> bool {
    let start = bytes.trim_ascii_start();
    let begins = |tag: &[u8]| start.get(..tag.len()).is_some_and(|start| start.eq_ignore_ascii_case(tag));
    begins(b"<!doctype html") || begins(b"<html")
}

/// A message with the target of a redirect, without secrets; `None` if the response is no redirect.
pub(crate) fn redirect_note(response: &reqwest::Response) -> Option<String> {
    let location = header(response.headers(), LOCATION).filter(|_| response.status().is_redirection())?;
    let mut url = response.url().join(&location).ok()?;
    // Fails for a URL that cannot have credentials, which is fine.
    let _ = (url.set_username(""), url.set_password(None));
    url.set_query(None);
    Some(format!("it redirects to {url}; redirects are not followed: use that address if it is the right one"))
}

fn header(headers: &HeaderMap, name: reqwest::header::HeaderName) -> Option<String> {
    headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).trim().to_owned())
}

/// Whether a content type is JSON: `application/json`, `application/problem+json; charset=utf-8`.
fn is_json(content_type: &str) -> bool {
    let kind = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    kind == "application/json" || kind.ends_with("+json")
}

/// The bytes as text, with U+FFFD for what is not UTF-8, and the description of that repair if there was any.
pub(crate) fn to_text(bytes: &[u8]) -> (Cow<'_, str>, Option<&'static str>) {
    match std::str::from_utf8(bytes) {
        Ok(text) => (Cow::Borrowed(text), None),
        Err(_) => (String::from_utf8_lossy(bytes), Some(ReplyBody::INVALID_UTF8)),
    }
}

/// The body with one more repair.
pub(crate) fn with_fix(body: ReplyBody, fix: Option<&'static str>) -> ReplyBody {
    let Some(fix) = fix else { return body };
    let fixes = body.fixes().iter().cloned().chain([fix.to_owned()]).collect();
    ReplyBody::Repaired { value: body.to_value(), fixes }
}

/// JSON if the body parses, else text. A body that claims to be JSON must parse, if need be after repairs. Invalid UTF-8 becomes
/// U+FFFD, which is a repair.
pub(crate) fn parse_body(bytes: &[u8], claims_json: bool) -> Result<ReplyBody, BodyError> {
    let (text, invalid) = to_text(bytes);
    parse_text(&text, claims_json).map(|body| with_fix(body, invalid))
}

fn parse_text(text: &str, claims_json: bool) -> Result<ReplyBody, BodyError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim().is_empty() {
        return Ok(ReplyBody::Empty);
    }
    match Value::parse(text) {
        Ok(value) => Ok(ReplyBody::Json(value)),
        Err(_) if !claims_json => Ok(ReplyBody::Text(text.to_owned())),
        Err(error) => parse_repaired(text).ok_or(BodyError::InvalidJson(error)),
    }
}

/// The value of invalid JSON whose meaning is certain. The outcome of a call depends on it, so repairs of spelling are allowed,
/// but not of truncated JSON or of JSON within prose.
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

/// Whether a repair changes only the spelling of a value.
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
