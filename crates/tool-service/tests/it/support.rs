//! An HTTP client, and services for it to call.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use reknit_protocol::{Category, Retryable, SideEffect, ToolError, Value};
use reknit_tool_service::{CallContext, CapabilityDefinition, ExactNumber, RunningService, Service, ServiceLimits};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::sync::Notify;
use tokio::task::JoinHandle;

/// An HTTP client of one service.
pub(crate) struct Caller {
    client: reqwest::Client,
    base: String,
}

/// One HTTP response.
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

    /// The status, and the body over several lines.
    pub(crate) fn to_snapshot(&self) -> String {
        format!("{}\n{:#}", self.status, self.json())
    }

    pub(crate) fn error(&self) -> ToolError {
        ToolError::from_value(self.json().get("error").expect("an error in the envelope")).unwrap()
    }

    pub(crate) fn code(&self) -> String {
        self.error().code
    }
}

/// reqwest needs a cryptography provider to build a client, even for plain HTTP.
pub(crate) fn client() -> reqwest::Client {
    // Fails if another test has installed it already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::new()
}

impl Caller {
    pub(crate) fn new(running: &RunningService) -> Self {
        Self { client: client(), base: running.base_url() }
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.send(self.client.get(self.base.clone() + path)).await
    }

    pub(crate) async fn call(&self, capability: &str, body: &str) -> Answer {
        self.send(self.request(capability, body)).await
    }

    pub(crate) async fn call_with_key(&self, key: &str, capability: &str, body: &str) -> Answer {
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
    pub(crate) amount: ExactNumber,
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

/// A handler that returns its arguments.
pub(crate) async fn echo(_: CallContext, args: Transfer) -> Result<Transfer, ToolError> {
    std::future::ready(Ok(args)).await
}

/// A service with `echo`, which reads, and `pay`, which is keyed and counts how often it ran.
pub(crate) async fn bank() -> (RunningService, Caller, Arc<AtomicUsize>) {
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
        .description("Moves money")
        .capability(
            CapabilityDefinition::new("echo", SideEffect::Read, echo)
                .description("Returns its arguments")
                .output::<Transfer>(),
        )
        .capability(CapabilityDefinition::new("pay", SideEffect::Keyed, pay).description("Pays, once for each key"))
        .start()
        .await
        .unwrap();
    let caller = Caller::new(&running);
    (running, caller, count)
}

#[derive(Deserialize, JsonSchema)]
struct NoArguments {}

/// A service whose capability `wait` is answered when the test releases it.
pub(crate) struct SlowService {
    pub(crate) running: RunningService,
    pub(crate) started: Arc<Notify>,
    pub(crate) release: Arc<Notify>,
    pub(crate) done: Arc<Notify>,
}

pub(crate) async fn start_slow(limits: ServiceLimits) -> SlowService {
    let (started, release, done) = (Arc::new(Notify::new()), Arc::new(Notify::new()), Arc::new(Notify::new()));
    let wait = {
        let signals = (Arc::clone(&started), Arc::clone(&release), Arc::clone(&done));
        move |_: CallContext, _: NoArguments| {
            let (started, release, done) = signals.clone();
            async move {
                started.notify_one();
                release.notified().await;
                done.notify_one();
                Ok::<_, ToolError>("done")
            }
        }
    };
    let service =
        Service::new("slow").capability(CapabilityDefinition::new("wait", SideEffect::Unsafe, wait)).limits(limits);
    SlowService { running: service.start().await.unwrap(), started, release, done }
}

impl SlowService {
    /// Starts a call, and waits until its handler runs.
    pub(crate) async fn begin_call(&self) -> JoinHandle<reqwest::Result<reqwest::Response>> {
        let call = tokio::spawn(Caller::new(&self.running).request("wait", "{}").send());
        self.started.notified().await;
        call
    }
}
