//! A model whose words are written in advance, behind an OpenAI-compatible endpoint.

mod completion;
mod request;
mod script;
mod when;

use std::io;
use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{ConnectInfo, DefaultBodyLimit, State};
use axum::http::HeaderMap;
use axum::response::Response;
use axum::routing::{get, post};
use reknit_protocol::Value;

pub use request::{Message, ModelRequest};
pub use script::{Script, ScriptError};
pub use when::When;

use crate::log::Log;
use crate::reply::{Content, Rendered, deliver, internal};
use crate::rules::Rules;
use crate::server::{Server, Switch};

/// Larger than any prompt, smaller than the memory of a test machine.
const MAX_BODY: usize = 16 * 1024 * 1024;

/// A model on loopback that answers by its [`Script`]: `/v1/chat/completions`, streaming and not, and `/v1/models`.
///
/// ```
/// use reknit_testing::{Reply, ScriptedModel, model::{Script, When}};
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// let script = Script::new()
///     .once(When::any().purpose("plan_generation"), Reply::status(429).retry_after(1))
///     .on(When::any().purpose("plan_generation"), Reply::text("{\"steps\": []}"));
/// let model = ScriptedModel::start(script).await?;
/// assert!(model.base_url().ends_with("/v1"));
/// assert!(model.requests().is_empty());
/// # Ok::<(), std::io::Error>(())
/// # })?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct ScriptedModel {
    server: Server,
    log: Log<ModelRequest>,
}

#[derive(Debug)]
struct Shared {
    rules: Rules<When>,
    log: Log<ModelRequest>,
}

impl ScriptedModel {
    /// Starts it on a free port of 127.0.0.1.
    pub async fn start(script: Script) -> io::Result<Self> {
        let log = Log::default();
        let shared = Arc::new(Shared { rules: Rules::new(script.rules), log: log.clone() });
        let router = Router::new()
            .route("/v1/chat/completions", post(complete))
            .route("/v1/models", get(models))
            .layer(DefaultBodyLimit::max(MAX_BODY))
            .with_state(shared);
        Ok(Self { server: Server::start(router).await?, log })
    }

    /// What clients call the base URL: `http://127.0.0.1:41234/v1`.
    pub fn base_url(&self) -> String {
        self.server.base_url() + "/v1"
    }

    /// Everything it was asked, in order.
    pub fn requests(&self) -> Vec<ModelRequest> {
        self.log.all()
    }

    /// What it was asked and had no reply for. A test that means its script to be whole asserts that this is empty.
    pub fn unmatched(&self) -> Vec<ModelRequest> {
        self.requests().into_iter().filter(|request| !request.matched).collect()
    }

    /// Waits until it was asked this often. Bound it with the test's own limit.
    pub async fn asked(&self, count: usize) {
        self.log.reached(count).await;
    }
}

async fn models() -> axum::Json<serde_json::Value> {
    axum::Json(serde_json::json!({"object": "list", "data": [{"id": "scripted", "object": "model"}]}))
}

async fn complete(
    State(shared): State<Arc<Shared>>,
    ConnectInfo(switch): ConnectInfo<Switch>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    // What is no JSON is recorded as the text it is; no rule finds messages in it.
    let body = String::from_utf8_lossy(&body).into_owned();
    let body = Value::parse(&body).unwrap_or(Value::String(body));
    let mut chosen = None;
    let request = shared.log.push_with(|before| {
        let mut request = ModelRequest::read(body, &headers, before.len() + 1);
        chosen = shared.rules.choose(|when| when.applies(&request));
        request.matched = chosen.is_some();
        Ok::<_, std::convert::Infallible>(request)
    });
    let Ok(request) = request;
    let Some(reply) = chosen else { return internal(&no_reply(&request)) };
    let status = reply.status.unwrap_or(200);
    let rendered = match &reply.content {
        Content::Text(text) if request.is_streaming() => completion::streamed(&request, &reply, text, status),
        Content::Text(text) => completion::whole(&request, &reply, text, status),
        Content::Body(body) => Rendered::whole(status, body.clone()),
        Content::Data(_) | Content::Error(_) => return internal("`data` and `error` are replies of a tool"),
    };
    deliver(&reply, rendered, &switch).await
}

/// Enough of the request to write the missing rule.
fn no_reply(request: &ModelRequest) -> String {
    const SHOWN: usize = 300;
    let purpose = request.purpose().unwrap_or("none");
    let text: String = request.text().chars().take(SHOWN).collect();
    format!("the script has no reply for request {} (purpose: {purpose}): {text}", request.nth)
}
