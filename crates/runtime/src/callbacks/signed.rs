//! Signed callback URLs: a tool that works on a job calls one of them when the job has ended.
//!
//! The last segment of the URL is a token: the run, the call and an expiry time, signed with HMAC-SHA256. Who knows it can end the
//! job of that one call, and nothing else.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use reknit_config::{CALLBACK_SECRET_VARIABLE, Config, ConfigError};
use reknit_protocol::{EffectId, RunId};
use ring::hmac;
use secrecy::{ExposeSecret as _, SecretString};

/// A shorter secret could be guessed.
const MIN_SECRET_BYTES: usize = 16;

/// Makes and verifies callback URLs.
#[derive(Debug)]
pub struct Callbacks {
    url: String,
    key: hmac::Key,
    valid_ms: u64,
}

/// Why a token is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TokenRefusal {
    /// It was not signed with this secret.
    #[error("the token is not valid")]
    Forged,
    /// Its time is over.
    #[error("the token has expired")]
    Expired,
}

impl Callbacks {
    /// The callbacks of a configuration; `None` if it has none. Fails if the URL or the secret cannot be used.
    pub fn configured(config: &Config) -> Result<Option<Self>, ConfigError> {
        let Some(url) = &config.callbacks.url else { return Ok(None) };
        let invalid = |problem: String| ConfigError::Invalid { origin: config.origin_of("callbacks.url"), problem };
        let is_url = reknit_tools::Address::parse("callbacks", url).is_ok();
        if !is_url || url.contains(['?', '#']) {
            let problem = "`callbacks.url` is not a URL without a query; write it like `https://me.example/hooks`";
            return Err(invalid(problem.to_owned()));
        }
        let missing = format!("variable `{CALLBACK_SECRET_VARIABLE}`, which is not set");
        let secret = config.callback_secret().unwrap_or(Err(&missing)).map_err(|place| {
            invalid(format!("`callbacks.url` needs a secret that signs the URLs; it should be in the {place}"))
        })?;
        if secret.expose_secret().len() < MIN_SECRET_BYTES {
            return Err(invalid(format!("the secret of `[callbacks]` has fewer than {MIN_SECRET_BYTES} characters")));
        }
        let limits = &config.policy.limits;
        Ok(Some(Self::new(url, secret, limits.job_ms.saturating_add(limits.call_ms))))
    }

    /// URLs below a base URL, each valid for a time.
    pub fn new(url: &str, secret: &SecretString, valid_ms: u64) -> Self {
        let key = hmac::Key::new(hmac::HMAC_SHA256, secret.expose_secret().as_bytes());
        Self { url: url.trim_end_matches('/').to_owned(), key, valid_ms }
    }

    /// The URL that ends the job of a call.
    pub fn url_for(&self, run: &RunId, call: &EffectId, now_ms: i64) -> String {
        let expires_ms = now_ms.saturating_add_unsigned(self.valid_ms);
        let content = format!("{expires_ms}\n{run}\n{call}");
        let signature = hmac::sign(&self.key, content.as_bytes());
        format!("{}/{}.{}", self.url, BASE64.encode(&content), BASE64.encode(signature))
    }

    /// The run and the call of a token. The signature is compared in constant time, before anything else is read.
    pub fn verify(&self, token: &str, now_ms: i64) -> Result<(RunId, EffectId), TokenRefusal> {
        let decode = |text: &str| BASE64.decode(text).map_err(|_| TokenRefusal::Forged);
        let (content, signature) = token.split_once('.').ok_or(TokenRefusal::Forged)?;
        let (content, signature) = (decode(content)?, decode(signature)?);
        hmac::verify(&self.key, &content, &signature).map_err(|_| TokenRefusal::Forged)?;
        let content = String::from_utf8(content).map_err(|_| TokenRefusal::Forged)?;
        let mut parts = content.splitn(3, '\n');
        let mut part = || parts.next().ok_or(TokenRefusal::Forged);
        let expires_ms: i64 = part()?.parse().map_err(|_| TokenRefusal::Forged)?;
        let (run, call) = (RunId::new(part()?), part()?.parse().map_err(|_| TokenRefusal::Forged)?);
        if now_ms >= expires_ms {
            return Err(TokenRefusal::Expired);
        }
        Ok((run, call))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn callbacks(secret: &str) -> Callbacks {
        Callbacks::new("https://me.example/hooks/", &secret.into(), 1_000)
    }

    fn token(callbacks: &Callbacks) -> String {
        let url = callbacks.url_for(&"run-1".into(), &"turn-1/pay/call/2".parse().expect("an id"), 5_000);
        url.strip_prefix("https://me.example/hooks/").expect("it is below the base URL").to_owned()
    }

    #[test]
    fn a_token_names_its_run_and_call_until_it_expires() {
        let callbacks = callbacks("a secret of some length");
        let token = token(&callbacks);
        let (run, call) = callbacks.verify(&token, 5_999).expect("it is valid");
        assert_eq!((run.as_str(), call.to_string().as_str()), ("run-1", "turn-1/pay/call/2"));
        assert_eq!(callbacks.verify(&token, 6_000), Err(TokenRefusal::Expired));
    }

    #[test]
    fn a_token_that_was_changed_or_signed_with_another_secret_is_refused() {
        let callbacks = callbacks("a secret of some length");
        let token = token(&callbacks);
        assert_eq!(super::tests::callbacks("another secret").verify(&token, 5_000), Err(TokenRefusal::Forged));
        let (content, signature) = token.split_once('.').expect("two parts");
        let other = BASE64.encode("99999999\nrun-1\nturn-1/pay/call/2");
        for forged in [
            format!("{other}.{signature}"),
            format!("{content}."),
            format!("{content}.{content}"),
            content.to_owned(),
            String::new(),
            format!("{token}x"),
        ] {
            assert_eq!(callbacks.verify(&forged, 5_000), Err(TokenRefusal::Forged), "{forged}");
        }
    }
}
