//! A caller, and tools to call.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use reknit_protocol::{Category, Effect, Retryable, ToolError, Value};
use reknit_toolkit::{CallContext, Capability, Exact, Running, Service};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Somebody who calls a service.
pub(crate) struct Caller {
    client: reqwest::Client,
    base: String,
}

/// What came back.
#[derive(Debug, PartialEq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: reqwest::header::HeaderMap,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        Value::parse(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }

    /// What a snapshot shows: the status, and the body over several lines.
    pub(crate) fn shown(&self) -> String {
        format!("{}\n{:#}", self.status, self.json())
    }

    pub(crate) fn error(&self) -> ToolError {
        ToolError::from_value(self.json().get("error").expect("an error in the envelope")).unwrap()
    }

    pub(crate) fn code(&self) -> String {
        self.error().code
    }
}

/// Clients are not built without a provider of cryptography, even if nothing is encrypted.
pub(crate) fn client() -> reqwest::Client {
    // The second test to come here finds it done.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::new()
}

impl Caller {
    pub(crate) fn new(running: &Running) -> Self {
        Self { client: client(), base: running.base_url() }
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.send(self.client.get(self.base.clone() + path)).await
    }

    pub(crate) async fn call(&self, capability: &str, body: &str) -> Answer {
        self.send(self.request(capability, body)).await
    }

    pub(crate) async fn call_under(&self, key: &str, capability: &str, body: &str) -> Answer {
        self.send(self.request(capability, body).header("Idempotency-Key", key)).await
    }

    pub(crate) async fn delete(&self, path: &str) -> Answer {
        self.send(self.client.delete(self.base.clone() + path)).await
    }

    pub(crate) fn request(&self, capability: &str, body: &str) -> reqwest::RequestBuilder {
        let path = format!("{}/api/capabilities/{capability}", self.base);
        self.client.post(path).header("content-type", "application/json").body(body.to_owned())
    }

    async fn send(&self, request: reqwest::RequestBuilder) -> Answer {
        let response = request.send().await.unwrap();
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        Answer { status, headers, body: response.text().await.unwrap() }
    }
}

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub(crate) struct Transfer {
    /// Who gets it.
    #[schemars(example = &"alice")]
    pub(crate) to: String,
    /// How much.
    #[schemars(example = 12.5)]
    pub(crate) amount: Exact,
    /// How often.
    #[schemars(range(min = 1, max = 12))]
    pub(crate) times: Option<u32>,
    /// How fast.
    #[serde(default)]
    pub(crate) speed: Speed,
    /// Where to.
    #[serde(default)]
    pub(crate) legs: Vec<Leg>,
}

#[derive(Debug, Default, Clone, Copy, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Speed {
    #[default]
    Slow,
    Fast,
}

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub(crate) struct Leg {
    pub(crate) bank: String,
    pub(crate) fee: Option<f64>,
}

/// A handler that gives back what it read.
pub(crate) async fn echo(_: CallContext, args: Transfer) -> Result<Transfer, ToolError> {
    std::future::ready(Ok(args)).await
}

/// `echo`, which reads, and `pay`, which is keyed and counts how often it really ran.
pub(crate) async fn bank() -> (Running, Caller, Arc<AtomicUsize>) {
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    let pay = move |context: CallContext, args: Transfer| {
        let nth = counted.fetch_add(1, Ordering::SeqCst) + 1;
        async move {
            match args.to.as_str() {
                "nobody" => Err(ToolError::new("NO_SUCH_ACCOUNT", "there is no account", Category::NotFound)),
                "busy" => Err(ToolError::new("BUSY", "later", Category::RateLimit)
                    .retryable(Retryable::Yes)
                    .detail("retry_after", 7)),
                "crash" => panic!("the handler is broken on purpose"),
                _ => Ok(serde_json::json!({"nth": nth, "key": context.idempotency_key().map(ToString::to_string)})),
            }
        }
    };
    let running = Service::new("bank")
        .describe("Moves money")
        .capability(Capability::new("echo", Effect::Read, echo).describe("Says it again").answers_with::<Transfer>())
        .capability(Capability::new("pay", Effect::Keyed, pay).describe("Pays, once for each key"))
        .start()
        .await
        .unwrap();
    let caller = Caller::new(&running);
    (running, caller, count)
}
