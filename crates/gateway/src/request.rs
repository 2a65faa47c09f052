//! Reading of requests.

mod chat;
mod messages;
mod options;
mod responses;

use reknit_model_api::{Api, ModelRequest};
use reknit_protocol::Object;

use crate::json::{at, field};
use options::Options;

/// A request of a program.
#[derive(Debug, Clone, PartialEq)]
pub struct GatewayRequest {
    pub api: Api,
    pub model: String,
    pub stream: bool,
    /// Whether a stream is to end with the token counts, where the API leaves that to the caller.
    pub include_usage: bool,
    /// The body as received, for a server with the same API.
    pub body: Object,
    pub request: ModelRequest,
    /// Options that only a server with the same API understands.
    pub foreign_options: Vec<String>,
    /// The names of tools that only the provider knows.
    pub foreign_tools: Vec<String>,
    /// Content that only a server with the same API understands, such as a kind of attachment. Without it the request would be
    /// another one, so it is not sent to other servers.
    pub foreign_content: Option<String>,
}

/// Why a request cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct RequestError(pub(crate) String);

impl RequestError {
    /// Says which item of a list the error is in.
    fn in_item(self, list: &str, index: usize) -> Self {
        Self(format!("`{list}[{index}]`: {}", self.0))
    }

    fn missing(key: &str) -> Self {
        Self(format!("`{key}` is missing"))
    }

    fn not_a(key: &str, kind: &str) -> Self {
        Self(format!("`{key}` is not {kind}"))
    }
}

pub fn read_request(api: Api, body: Object) -> Result<GatewayRequest, RequestError> {
    let model = match field(&body, "model") {
        Some(model) => model.as_str().ok_or_else(|| RequestError::not_a("model", "a string"))?.to_owned(),
        None => return Err(RequestError::missing("model")),
    };
    let mut options = Options::new(&body);
    let stream = options.flag("stream")?.unwrap_or(false);
    let mut request = match api {
        Api::ChatCompletions => chat::read(&mut options)?,
        Api::Responses => responses::read(&mut options)?,
        Api::Messages => messages::read(&mut options)?,
    };
    if request.messages.is_empty() {
        return Err(RequestError("there are no messages".to_owned()));
    }
    request.max_tokens = request.max_tokens.max(1);
    let include_usage = body
        .get("stream_options")
        .and_then(|stream_options| at(stream_options, &["include_usage"]))
        .is_some_and(|include| include.as_bool() == Some(true));
    let foreign_options = options.unread().map(str::to_owned).collect();
    let (foreign_tools, foreign_content) = (options.foreign_tools, options.foreign_content);
    Ok(GatewayRequest {
        api,
        model,
        stream,
        include_usage,
        body,
        request,
        foreign_options,
        foreign_tools,
        foreign_content,
    })
}
