//! A model whose words are written in advance, behind the endpoints of all providers.

mod request;
mod said;
mod script;
mod when;
mod wire;

use std::io;
use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{ConnectInfo, DefaultBodyLimit, Path, State};
use axum::http::HeaderMap;
use axum::response::Response;
use axum::routing::{get, post};
use reknit_protocol::Value;

use request::Asked;
pub use request::{Message, ModelRequest};
pub(crate) use script::RawScript;
pub use script::{Script, ScriptError};
pub use when::When;
pub use wire::Api;

use crate::log::Log;
use crate::reply::{Content, Rendered, deliver, internal};
use crate::rules::Rules;
use crate::server::{Server, Switch};

/// Larger than any prompt, smaller than the memory of a test machine.
const MAX_BODY: usize = 16 * 1024 * 1024;

/// A model on loopback that answers by its [`Script`] in every wire format of [`Api`], streaming and not, and lists itself
/// at `/v1/models`.
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
            .route("/v1/chat/completions", post(chat))
            .route("/v1/responses", post(responses))
            .route("/v1/messages", post(anthropic))
            .route("/v1/models/{call}", post(gemini))
            .route("/v1beta/models/{call}", post(gemini))
            .route("/v1/models", get(models))
            .layer(DefaultBodyLimit::max(MAX_BODY))
            .with_state(shared);
        Ok(Self { server: Server::start(router).await?, log })
    }

    /// What clients call the base URL, whatever format they speak: `http://127.0.0.1:41234/v1`.
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

/// What every request brings.
type Came = (State<Arc<Shared>>, ConnectInfo<Switch>, HeaderMap, Bytes);

async fn chat(came: Came) -> Response {
    complete(came, Asked::at(Api::Chat)).await
}

async fn responses(came: Came) -> Response {
    complete(came, Asked::at(Api::Responses)).await
}

async fn anthropic(came: Came) -> Response {
    complete(came, Asked::at(Api::Anthropic)).await
}

/// Here the path says which model, and whether as a stream: `m-1:streamGenerateContent`.
async fn gemini(Path(call): Path<String>, came: Came) -> Response {
    let (model, method) = call.split_once(':').unwrap_or((&call, ""));
    let streaming = match method {
        "generateContent" => false,
        "streamGenerateContent" => true,
        _ => return internal(&format!("there is no `{method}`")),
    };
    complete(came, Asked { api: Api::Gemini, model: Some(model.to_owned()), streaming: Some(streaming) }).await
}

async fn complete((State(shared), ConnectInfo(switch), headers, body): Came, asked: Asked) -> Response {
    // What is no JSON is recorded as the text it is; no rule finds messages in it.
    let body = String::from_utf8_lossy(&body).into_owned();
    let body = Value::parse(&body).unwrap_or(Value::String(body));
    let mut chosen = None;
    let request = shared.log.push_with(|before| {
        let mut request = ModelRequest::read(asked, body, &headers, before.len() + 1, shared.rules.running());
        chosen = shared.rules.choose(|when| when.applies(&request));
        request.matched = chosen.is_some();
        Ok::<_, std::convert::Infallible>(request)
    });
    let Ok(request) = request;
    let Some(reply) = chosen else { return internal(&no_reply(&request)) };
    let status = reply.status.unwrap_or(200);
    let rendered = match &reply.content {
        Content::Text(text) => request.api.render(&request, &reply, text, status),
        Content::Refusal(refusal) => {
            let (usual, body) = request.api.refuse(refusal);
            Rendered::whole(reply.status.unwrap_or(usual), body)
        }
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
