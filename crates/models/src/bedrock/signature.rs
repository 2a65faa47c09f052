//! Signatures of version 4, for the keys of an account.

use reknit_protocol::{hex, percent_encoded_except};
use ring::{digest, hmac};

pub(crate) struct AccountKeys<'a> {
    id: &'a str,
    secret: &'a str,
    session: Option<&'a str>,
}

impl<'a> AccountKeys<'a> {
    /// Reads `ID:SECRET` or `ID:SECRET:SESSION`; none if the text is an API key of Bedrock, which is sent as it is.
    pub(crate) fn parse(key: &'a str) -> Option<Self> {
        let (id, rest) = key.split_once(':')?;
        let (secret, session) = match rest.split_once(':') {
            Some((secret, session)) => (secret, Some(session)),
            None => (rest, None),
        };
        Some(Self { id, secret, session })
    }

    pub(crate) fn session(&self) -> Option<&'a str> {
        self.session
    }
}

pub(crate) struct SignedRequest<'a> {
    pub(crate) method: &'a str,
    pub(crate) path: &'a str,
    /// The query as it is sent, with its pairs in order.
    pub(crate) query: &'a str,
    /// The names in lower case and the values of the headers, in the order of their names.
    pub(crate) headers: &'a [(&'a str, &'a str)],
    pub(crate) body: &'a [u8],
    /// `20150830T123600Z`
    pub(crate) time: &'a str,
    pub(crate) region: &'a str,
    pub(crate) service: &'a str,
}

impl SignedRequest<'_> {
    pub(crate) fn authorization(&self, keys: &AccountKeys<'_>) -> String {
        let names: Vec<&str> = self.headers.iter().map(|(name, _)| *name).collect();
        let names = names.join(";");
        let headers: Vec<String> =
            self.headers.iter().map(|(name, value)| format!("{name}:{}\n", value.trim())).collect();
        let headers = headers.concat();
        let canonical = format!(
            "{}\n{}\n{}\n{headers}\n{names}\n{}",
            self.method,
            encoded_path(self.path),
            self.query,
            digest_text(self.body),
        );
        let date = self.time.get(..8).unwrap_or_default();
        let scope = format!("{date}/{}/{}/aws4_request", self.region, self.service);
        let to_sign = format!("AWS4-HMAC-SHA256\n{}\n{scope}\n{}", self.time, digest_text(canonical.as_bytes()));
        let first = format!("AWS4{}", keys.secret);
        let parts = [date, self.region, self.service, "aws4_request", &to_sign];
        let signature = parts.iter().fold(first.into_bytes(), |key, part| sign(&key, part));
        format!("AWS4-HMAC-SHA256 Credential={}/{scope}, SignedHeaders={names}, Signature={}", keys.id, hex(&signature))
    }
}

fn sign(key: &[u8], text: &str) -> Vec<u8> {
    hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), text.as_bytes()).as_ref().to_vec()
}

fn digest_text(bytes: &[u8]) -> String {
    hex(digest::digest(&digest::SHA256, bytes).as_ref())
}

/// The path with every byte encoded that is not a letter, a digit or one of `-._~/`. What is encoded already is encoded
/// again.
fn encoded_path(path: &str) -> String {
    percent_encoded_except(path, "/")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example in the documentation of the signature.
    #[test]
    fn the_signature_is_that_of_the_documentation() {
        let keys = AccountKeys::parse("AKIDEXAMPLE:wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY").unwrap();
        let request = SignedRequest {
            method: "GET",
            path: "/",
            query: "Action=ListUsers&Version=2010-05-08",
            headers: &[
                ("content-type", "application/x-www-form-urlencoded; charset=utf-8"),
                ("host", "iam.amazonaws.com"),
                ("x-amz-date", "20150830T123600Z"),
            ],
            body: b"",
            time: "20150830T123600Z",
            region: "us-east-1",
            service: "iam",
        };
        assert_eq!(
            request.authorization(&keys),
            "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/iam/aws4_request, \
             SignedHeaders=content-type;host;x-amz-date, \
             Signature=5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7"
        );
    }

    #[test]
    fn a_path_is_encoded_again_and_keys_have_two_or_three_parts() {
        assert_eq!(encoded_path("/model/a%3A0/converse"), "/model/a%253A0/converse");
        assert_eq!(AccountKeys::parse("a:b:c").and_then(|keys| keys.session()), Some("c"));
        assert!(AccountKeys::parse("bedrock-api-key-YQ==").is_none());
    }
}
