//! A model server whose replies follow a script, in the wire formats of all supported providers.

mod api;
mod request;
mod script;
mod wire;

use std::io;
use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{ConnectInfo, Path, State};
use axum::http::HeaderMap;
use axum::response::Response;
use axum::routing::{get, post};
use reknit_protocol::Value;

pub use api::ModelApi;
use request::RouteInfo;
pub use request::{ReceivedRequest, RequestMatcher, RequestMessage};
pub(crate) use script::RawScript;
pub use script::{Script, ScriptError};

use crate::reply::{Content, Rendered, deliver, script_error};
use crate::rules::Rules;
use crate::server::{Log, ResetSwitch, Server};

/// A model on loopback that replies by its [`Script`] in every wire format of [`ModelApi`], streaming and not. It lists
/// itself at `/v1/models`.
///
/// ```
/// use reknit_fakes::{Reply, ScriptedModel, model::{RequestMatcher, Script}};
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// let script = Script::new()
///     .once(RequestMatcher::any().purpose("plan_generation"), Reply::status(429).retry_after(1))
///     .on(RequestMatcher::any().purpose("plan_generation"), Reply::text("{\"steps\": []}"));
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
    state: Arc<ModelState>,
}

#[derive(Debug)]
struct ModelState {
    rules: Rules<RequestMatcher>,
    log: Log<ReceivedRequest>,
}

impl ScriptedModel {
    /// Serves the model on a free port of 127.0.0.1.
    pub async fn start(script: Script) -> io::Result<Self> {
        let state = Arc::new(ModelState { rules: Rules::new(script.rules), log: Log::new() });
        let completions =
            |api| post(move |incoming: Incoming| complete(incoming, RouteInfo { api, model: None, streaming: None }));
        let router = Router::new()
            .route("/v1/chat/completions", completions(ModelApi::Chat))
            .route("/v1/responses", completions(ModelApi::Responses))
            .route("/v1/messages", completions(ModelApi::Anthropic))
            .route("/v1/models/{call}", post(gemini))
            .route("/v1beta/models/{call}", post(gemini))
            .route("/v1/models", get(models))
            .with_state(Arc::clone(&state));
        Ok(Self { server: Server::start(router).await?, state })
    }

    /// The base URL for clients of any wire format: `http://127.0.0.1:41234/v1`.
    pub fn base_url(&self) -> String {
        self.server.base_url() + "/v1"
    }

    /// All requests in the order of their arrival.
    pub fn requests(&self) -> Vec<ReceivedRequest> {
        self.state.log.all()
    }

    /// The requests that no rule matched. A test asserts that this is empty if its script should cover every request.
    pub fn unmatched(&self) -> Vec<ReceivedRequest> {
        self.requests().into_iter().filter(|request| !request.matched).collect()
    }

    /// Waits until there have been `count` requests. It has no timeout of its own.
    pub async fn wait_for_requests(&self, count: usize) {
        self.state.log.wait_for(count).await;
    }
}

async fn models() -> axum::Json<serde_json::Value> {
    axum::Json(serde_json::json!({"object": "list", "data": [{"id": "scripted", "object": "model"}]}))
}

/// The extractors that all routes share.
type Incoming = (State<Arc<ModelState>>, ConnectInfo<ResetSwitch>, HeaderMap, Bytes);

/// The path has the model and whether to stream: `m-1:streamGenerateContent`.
async fn gemini(Path(call): Path<String>, incoming: Incoming) -> Response {
    let (model, method) = call.split_once(':').unwrap_or((&call, ""));
    let streaming = match method {
        "generateContent" => false,
        "streamGenerateContent" => true,
        _ => return script_error(&format!("there is no method `{method}`")),
    };
    complete(incoming, RouteInfo { api: ModelApi::Gemini, model: Some(model.to_owned()), streaming: Some(streaming) })
        .await
}

async fn complete((State(state), ConnectInfo(reset_switch), headers, body): Incoming, route: RouteInfo) -> Response {
    // A body that is not JSON is recorded as text. It has no messages.
    let body = String::from_utf8_lossy(&body).into_owned();
    let body = Value::parse(&body).unwrap_or(Value::String(body));
    let mut chosen = None;
    let request = state.log.push_with(|before| {
        let messages = route.api.messages(&body);
        let uptime = state.rules.uptime();
        let mut request = ReceivedRequest::read(route, (body, messages), &headers, before.len() + 1, uptime);
        chosen = state.rules.choose(|matcher| matcher.matches(&request));
        request.matched = chosen.is_some();
        Ok::<_, std::convert::Infallible>(request)
    });
    let Ok(request) = request;
    let Some(reply) = chosen else { return script_error(&no_reply(&request)) };
    let status = reply.status.unwrap_or(200);
    let rendered = match &reply.content {
        Content::Text(text) => request.api.render(&request, &reply, text, status),
        Content::Refusal(refusal) => {
            let (default_status, body) = request.api.refuse(refusal);
            Rendered::one_chunk(reply.status.unwrap_or(default_status), body)
        }
        Content::Body(body) => Rendered::one_chunk(status, body.clone()),
        Content::Data(_) | Content::Error(_) => {
            return script_error("the script gives a model a reply that only tools have: `data` or `error`");
        }
    };
    deliver(&reply, rendered, &reset_switch).await
}

/// Quotes enough of the request to write the missing rule.
fn no_reply(request: &ReceivedRequest) -> String {
    const QUOTED: usize = 300;
    let purpose = request.purpose().unwrap_or("none");
    let text: String = request.text().chars().take(QUOTED).collect();
    format!("the script has no reply for request {} (purpose: {purpose}): {text}", request.nth)
}
