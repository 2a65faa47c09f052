//! Taking in a body without letting it take over.

use reknit_engine::Body;
use reknit_protocol::Value;

/// The largest body that is taken in.
pub(crate) const BODY_LIMIT: usize = 16 << 20;

/// Why a body could not be taken in.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BodyError {
    #[error("the connection broke while the answer came")]
    Broken(#[from] reqwest::Error),
    #[error("the answer is larger than {BODY_LIMIT} bytes")]
    TooLarge,
}

/// Reads a body up to the limit.
pub(crate) async fn body(mut response: reqwest::Response) -> Result<Body, BodyError> {
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        if bytes.len() + chunk.len() > BODY_LIMIT {
            return Err(BodyError::TooLarge);
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(read(&bytes))
}

/// JSON if it is JSON, else text. Bytes that are no text are replaced by marks, which can be seen.
fn read(bytes: &[u8]) -> Body {
    let text = String::from_utf8_lossy(bytes);
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    if text.trim().is_empty() {
        return Body::Empty;
    }
    Value::parse(text).map_or_else(|_| Body::Text(text.to_owned()), Body::Json)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_json_or_text_or_nothing() {
        for (bytes, expected) in [
            (&b"{\"price\": 0.10}"[..], Body::Json(Value::parse(r#"{"price": 0.10}"#).unwrap())),
            (b"\xef\xbb\xbf[1]", Body::Json(Value::parse("[1]").unwrap())),
            (b"<html>", Body::Text("<html>".to_owned())),
            (b"\xff", Body::Text("\u{fffd}".to_owned())),
            (b"  \n", Body::Empty),
        ] {
            assert_eq!(read(bytes), expected);
        }
    }
}
