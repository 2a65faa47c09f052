//! Reading response bodies: bounded in size, JSON where it is JSON.

use reknit_protocol::{ReplyBody, Value};
use reqwest::StatusCode;
use reqwest::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, LOCATION};

use crate::off_workers::off_workers;
use crate::reply_body::{InvalidJson, parse_body, to_text, with_fix};
use crate::secrets::KnownSecrets;

/// The size limit of a body in bytes, unless a service has its own.
pub(crate) const MAX_BODY: usize = 16 << 20;

#[derive(Debug, thiserror::Error)]
pub(crate) enum BodyError {
    #[error(transparent)]
    Read(#[from] ReadBodyError),
    #[error("the body is compressed (`Content-Encoding: {0}`), which was not requested")]
    Compressed(String),
    #[error(transparent)]
    InvalidJson(#[from] InvalidJson),
}

#[derive(Debug, thiserror::Error)]
pub enum ReadBodyError {
    #[error("the connection broke before the body was complete")]
    Broken(#[from] reqwest::Error),
    #[error("the body is larger than {0} bytes")]
    TooLarge(usize),
}

/// Reads a body up to the size limit, without the secrets that were sent. For an unsuccessful response any body will do.
pub(crate) async fn read_body(
    response: reqwest::Response,
    limit: usize,
    secrets: &KnownSecrets,
) -> Result<ReplyBody, BodyError> {
    let claims_json = header(response.headers(), CONTENT_TYPE).is_some_and(|kind| is_json(&kind));
    let compressed =
        header(response.headers(), CONTENT_ENCODING).filter(|coding| !coding.eq_ignore_ascii_case("identity"));
    let status = response.status();
    let bytes = read_bytes(response, limit).await?;
    off_workers(bytes.len(), || decode_body(bytes, compressed, claims_json, status, secrets))
}

fn decode_body(
    bytes: Vec<u8>,
    compressed: Option<String>,
    claims_json: bool,
    status: StatusCode,
    secrets: &KnownSecrets,
) -> Result<ReplyBody, BodyError> {
    let is_success = status.is_success();
    let bytes = secrets.redact_bytes(bytes);
    let parsed = match compressed {
        Some(coding) => Err(BodyError::Compressed(secrets.redact(&coding).into_owned())),
        None => parse_body(&bytes, claims_json).map_err(BodyError::from),
    };
    let body = match parsed {
        // What it means that the promised result is not there is decided elsewhere.
        Ok(ReplyBody::Empty) if claims_json && status == StatusCode::OK => {
            Ok(ReplyBody::Repaired { value: Value::Null, fixes: vec![ReplyBody::EMPTY_JSON.to_owned()] })
        }
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

pub async fn read_bytes(mut response: reqwest::Response, limit: usize) -> Result<Vec<u8>, ReadBodyError> {
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        if bytes.len() + chunk.len() > limit {
            return Err(ReadBodyError::TooLarge(limit));
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}

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

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn an_empty_body_is_marked_where_a_result_is_promised() {
        let marked = ReplyBody::Repaired { value: Value::Null, fixes: vec![ReplyBody::EMPTY_JSON.to_owned()] };
        for (claims_json, status, expected) in [
            (true, StatusCode::OK, &marked),
            (false, StatusCode::OK, &ReplyBody::Empty),
            (true, StatusCode::ACCEPTED, &ReplyBody::Empty),
            (true, StatusCode::NO_CONTENT, &ReplyBody::Empty),
            (true, StatusCode::SERVICE_UNAVAILABLE, &ReplyBody::Empty),
        ] {
            let body = decode_body(Vec::new(), None, claims_json, status, &KnownSecrets::default());
            assert_eq!(body.expect("a body"), *expected, "{claims_json} {status}");
        }
    }
}
