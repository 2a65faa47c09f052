//! Sends each question to a person, signed, and takes a signed decision from the answer.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use parking_lot::Mutex;
use reknit_engine::{AskPerson, DecidedBy, Decision, Effect};
use reknit_journal::Journal;
use reknit_protocol::{Object, RunId, Value};
use reknit_telemetry::redact_object;
use reknit_tools::ConnectionOptions;
use ring::hmac;
use secrecy::{ExposeSecret as _, SecretString};
use tokio::task::JoinHandle;

use super::WebhookReport;
use crate::config::{Config, ConfigError, WebhookUrl};
use crate::first_decision::store_first;

/// The header with the time of a message, in seconds since 1970.
const TIMESTAMP_HEADER: &str = "x-reknit-timestamp";
/// The header with the signature over that time, a dot and the body.
const SIGNATURE_HEADER: &str = "x-reknit-signature";
/// The waits before a question is sent again.
const WAITS: [Duration; 3] = [Duration::from_millis(500), Duration::from_secs(2), Duration::from_secs(5)];
/// The time limit of one request.
const LIMIT: Duration = Duration::from_secs(10);
/// The largest answer that is read, in bytes.
const MAX_ANSWER: usize = 64 << 10;
/// How much the clocks may differ, in seconds.
const MAX_AGE: u64 = 300;

/// Sends questions to a person, and takes decisions.
pub(crate) struct ApprovalWebhook {
    /// As it is shown.
    shown: WebhookUrl,
    url: reqwest::Url,
    key: hmac::Key,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The hashes of the questions that were sent.
    sent: HashSet<String>,
    deliveries: Vec<(RunId, JoinHandle<Result<Delivered, String>>)>,
}

/// What became of a question.
enum Delivered {
    Noted,
    Decided,
}

impl std::fmt::Debug for ApprovalWebhook {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("ApprovalWebhook").field("url", &self.shown).finish_non_exhaustive()
    }
}

impl ApprovalWebhook {
    /// The webhook of a configuration. Fails if the key of the signature is missing.
    pub(crate) fn configured(config: &Config) -> Result<Option<Self>, ConfigError> {
        let Some(url) = &config.webhook.url else { return Ok(None) };
        match config.webhook_secret() {
            (Some(secret), _) => {
                let invalid = |problem| ConfigError::Invalid {
                    origin: config.origin_of("approvals.webhook"),
                    problem: format!("`approvals.webhook`: {problem}"),
                };
                Self::new(url.clone(), secret).map(Some).map_err(invalid)
            }
            (None, source) => {
                let unnamed = || "variable that `approvals.webhook-secret-env` names; write that setting".to_owned();
                let place = source.missing().unwrap_or_else(unnamed);
                Err(ConfigError::MissingWebhookKey { place })
            }
        }
    }

    /// Fails with the problem if the address cannot be used.
    pub(crate) fn new(shown: WebhookUrl, secret: &SecretString) -> Result<Self, String> {
        let url = reqwest::Url::parse(shown.expose()).map_err(|error| error.to_string())?;
        let key = hmac::Key::new(hmac::HMAC_SHA256, secret.expose_secret().as_bytes());
        Ok(Self { shown, url, key, state: Mutex::default() })
    }

    /// Sends the questions that were not sent yet, in the background.
    pub(crate) fn send_questions(self: &Arc<Self>, run: &RunId, pending: &[Effect], journal: &Journal) {
        let asks = pending.iter().filter_map(|effect| match effect {
            Effect::AskPerson(ask) => Some(ask),
            _ => None,
        });
        for ask in asks {
            let mut state = self.state.lock();
            if !state.sent.insert(ask.hash.clone()) {
                continue;
            }
            let (webhook, to, ask, journal) = (Arc::clone(self), run.clone(), ask.clone(), journal.clone());
            let delivery = tokio::spawn(async move {
                let delivered = webhook.deliver(&to, &ask, &journal).await;
                delivered.map_err(|problem| {
                    let step = &ask.step;
                    let problem = format!("the approval webhook at {}, about step `{step}`: {problem}", webhook.shown);
                    tracing::warn!(run = to.as_str(), "{problem}");
                    problem
                })
            });
            state.deliveries.push((run.clone(), delivery));
        }
    }

    /// Waits until the questions of a run are sent or given up.
    pub(crate) async fn settle(&self, run: &RunId) -> WebhookReport {
        let (own, others) =
            std::mem::take(&mut self.state.lock().deliveries).into_iter().partition(|(of, _)| of == run);
        self.state.lock().deliveries.extend::<Vec<_>>(others);
        let own: Vec<(RunId, JoinHandle<Result<Delivered, String>>)> = own;
        let mut report = WebhookReport::default();
        for (_, delivery) in own {
            match delivery.await {
                Ok(Ok(Delivered::Decided)) => report.decided += 1,
                Ok(Ok(Delivered::Noted)) => {}
                Ok(Err(problem)) => report.problems.push(problem),
                Err(error) => report.problems.push(format!("the approval webhook: {error}")),
            }
        }
        report
    }

    /// Sends one question, again after temporary failures, and stores the decision if there is one.
    async fn deliver(&self, run: &RunId, ask: &AskPerson, journal: &Journal) -> Result<Delivered, String> {
        let body = question(run, ask).to_string();
        let http = ConnectionOptions::default().client_builder().map_err(|error| error.to_string())?;
        let http = http.timeout(LIMIT).build().map_err(|error| error.to_string())?;
        let mut waits = WAITS.into_iter();
        let answer = loop {
            match self.post(&http, &body).await {
                Ok(answer) => break answer,
                Err(Failure { problem, is_temporary }) => match waits.next().filter(|_| is_temporary) {
                    Some(wait) => tokio::time::sleep(wait).await,
                    None => return Err(problem),
                },
            }
        };
        let Some(decision) = self.decision(&answer, &ask.hash)? else { return Ok(Delivered::Noted) };
        let now_ms = i64::try_from(now().as_millis()).unwrap_or(i64::MAX);
        let stored = store_first(journal, run, (ask, 0), (decision, DecidedBy::Webhook), now_ms).await;
        stored.map(|_| Delivered::Decided).map_err(|refusal| format!("its decision is not used: {refusal}"))
    }

    async fn post(&self, http: &reqwest::Client, body: &str) -> Result<SignedAnswer, Failure> {
        let timestamp = now().as_secs().to_string();
        let request = http
            .post(self.url.clone())
            .header("content-type", "application/json")
            .header(SIGNATURE_HEADER, self.sign(&timestamp, body.as_bytes()))
            .header(TIMESTAMP_HEADER, timestamp)
            .body(body.to_owned());
        let temporary = |error: reqwest::Error| Failure {
            problem: format!("it cannot be reached: {}", last_cause(&error)),
            is_temporary: true,
        };
        let mut response = request.send().await.map_err(temporary)?;
        let status = response.status();
        if !status.is_success() {
            let is_temporary = status.is_server_error() || matches!(status.as_u16(), 408 | 429);
            return Err(Failure { problem: format!("it answered with status {}", status.as_u16()), is_temporary });
        }
        let header = |name: &str| {
            response.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned()
        };
        let (timestamp, signature) = (header(TIMESTAMP_HEADER), header(SIGNATURE_HEADER));
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(temporary)? {
            if body.len() + chunk.len() > MAX_ANSWER {
                let problem = format!("its answer is larger than {MAX_ANSWER} bytes");
                return Err(Failure { problem, is_temporary: false });
            }
            body.extend_from_slice(&chunk);
        }
        Ok(SignedAnswer { is_decision: status.as_u16() == 200, timestamp, signature, body })
    }

    fn sign(&self, timestamp: &str, body: &[u8]) -> String {
        use std::fmt::Write as _;
        let tag = hmac::sign(&self.key, &signed_text(timestamp, body));
        tag.as_ref().iter().fold("v1=".to_owned(), |mut text, byte| {
            // Writing to a string cannot fail.
            let _ = write!(text, "{byte:02x}");
            text
        })
    }

    /// The decision in an answer; `None` if it contains none. Fails if it must not be used.
    fn decision(&self, answer: &SignedAnswer, hash: &str) -> Result<Option<Decision>, String> {
        let unused = |reason: &str| format!("its decision is not used: {reason}");
        let Some(value) = std::str::from_utf8(&answer.body).ok().and_then(|text| Value::parse(text).ok()) else {
            return Ok(None);
        };
        let Some(word) = value.get("decision").and_then(Value::as_str).filter(|_| answer.is_decision) else {
            return Ok(None);
        };
        let sent = answer.timestamp.parse::<u64>().map_err(|_| unused("it has no time"))?;
        if sent.abs_diff(now().as_secs()) > MAX_AGE {
            return Err(unused("its time is too far from ours"));
        }
        if !self.is_signed(answer) {
            return Err(unused("its signature is wrong"));
        }
        let text = |key: &str| value.get(key).and_then(Value::as_str);
        if text("hash") != Some(hash) {
            return Err(unused("it is about another question"));
        }
        let reason = text("reason").map(str::trim).filter(|reason| !reason.is_empty()).map(str::to_owned);
        match word {
            "approve" => Ok(Some(Decision::Approve)),
            "deny" => Ok(Some(Decision::Deny { reason })),
            other => Err(unused(&format!("`{other}` is neither `approve` nor `deny`"))),
        }
    }

    fn is_signed(&self, answer: &SignedAnswer) -> bool {
        let hex = answer.signature.strip_prefix("v1=").unwrap_or_default();
        let digits: Option<Vec<u8>> = (0..hex.len())
            .step_by(2)
            .map(|at| hex.get(at..at + 2).and_then(|pair| u8::from_str_radix(pair, 16).ok()))
            .collect();
        let text = signed_text(&answer.timestamp, &answer.body);
        digits.is_some_and(|tag| hmac::verify(&self.key, &text, &tag).is_ok())
    }
}

/// An answer that may contain a decision.
struct SignedAnswer {
    is_decision: bool,
    timestamp: String,
    signature: String,
    body: Vec<u8>,
}

/// Why a question was not taken.
struct Failure {
    problem: String,
    is_temporary: bool,
}

fn signed_text(timestamp: &str, body: &[u8]) -> Vec<u8> {
    [timestamp.as_bytes(), b".", body].concat()
}

fn now() -> Duration {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
}

/// The most specific cause, which does not contain the URL.
fn last_cause(error: &reqwest::Error) -> String {
    use std::error::Error as _;
    let causes = std::iter::successors(error.source(), |cause| (*cause).source());
    causes.last().map_or_else(|| "the request failed".to_owned(), ToString::to_string)
}

/// The question as it is sent, without secrets.
fn question(run: &RunId, ask: &AskPerson) -> Value {
    let mut body = Object::from([
        ("run", run.as_str().into()),
        ("step", ask.step.as_str().into()),
        ("hash", ask.hash.as_str().into()),
        ("expires_ms", ask.expires_ms.into()),
    ]);
    body.extend(ask.question.facts());
    if let Some(call) = ask.question.call_facts() {
        body.insert("call", Value::Object(call));
        let origin = |origin| serde_json::to_string(origin).ok().and_then(|text| Value::parse(&text).ok());
        let origins = ask.provenance.iter().map(|(name, from)| (name.clone(), origin(from).unwrap_or_default()));
        body.insert("values", Value::Object(origins.collect()));
    }
    Value::Object(redact_object(&body))
}
