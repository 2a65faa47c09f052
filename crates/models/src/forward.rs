//! Requests of other programs, which are sent as they are to a server with the same API.

use std::ops::Range;

use reknit_model_api::{Api, Delta, ErrorClass, ModelAnswer, ModelFailure, ModelRequest, RawEvent, TargetName};
use reknit_protocol::{Object, Value};
use reqwest::header::HeaderMap;

use crate::sse::SseBlocks;
use crate::{Models, Provider, Target, openai};

/// The request of another program.
#[derive(Debug, Clone, Copy)]
pub struct ForwardedRequest<'a> {
    /// Its body as received. The name of the model is replaced by the target's.
    pub body: &'a Object,
    /// What the body says, for counts of tokens and for the timeouts.
    pub request: &'a ModelRequest,
    /// Headers of the program, such as `anthropic-beta`. Never a key. Those that the configuration sets count more.
    pub headers: &'a HeaderMap,
    /// Whether the limit of `request` for the length of the answer is sent if the body states none, so that what it may cost is
    /// known.
    pub limits_answer: bool,
}

/// The answer to a [`ForwardedRequest`].
#[derive(Debug, Clone, PartialEq)]
pub struct ForwardedAnswer {
    pub answer: ModelAnswer,
    /// The body as received; none if it was a stream, whose events were passed on as they arrived.
    pub body: Option<Vec<u8>>,
}

/// A part of what a server sends back.
#[derive(Debug)]
pub enum ForwardedPart<'a> {
    /// The headers of a successful response, before its body.
    Head(&'a HeaderMap),
    /// An event of a stream, never one that reports an error.
    Event(RawEvent<'a>),
    /// The error for which the attempt fails.
    Error(ForwardedError),
}

/// An error as the server has sent it, without the API key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForwardedError {
    /// The status of the response; none for an event of a stream, whose bytes are the body.
    pub status: Option<u16>,
    pub headers: HeaderMap,
    /// At most 64 KiB of it.
    pub body: Vec<u8>,
}

/// Receives what a server sends back, as it arrives.
pub type OnForwardedPart<'a> = &'a mut (dyn FnMut(ForwardedPart<'_>) + Send);

#[derive(Debug, Default)]
pub(crate) struct EventContent {
    pub(crate) text: String,
    pub(crate) has_reasoning: bool,
    pub(crate) has_calls: bool,
}

impl EventContent {
    pub(crate) fn is_text(&self) -> bool {
        !self.text.is_empty() && !self.has_reasoning && !self.has_calls
    }

    pub(crate) fn add(&mut self, delta: Delta<'_>) {
        match delta {
            Delta::Text(text) => self.text.push_str(text),
            Delta::Reasoning(_) => self.has_reasoning = true,
            Delta::ToolCall { .. } => self.has_calls = true,
        }
    }
}

/// Events that follow each other, each with text alone.
#[derive(Debug, Default)]
pub(crate) struct PassedTexts {
    place: Range<usize>,
    text: String,
}

impl PassedTexts {
    pub(crate) fn add(&mut self, place: Range<usize>, text: &str) {
        if self.text.is_empty() {
            self.place.start = place.start;
        }
        self.place.end = place.end;
        self.text.push_str(text);
    }

    pub(crate) fn pass_on(&mut self, blocks: &SseBlocks, on_part: OnForwardedPart<'_>) {
        if !self.text.is_empty() {
            let bytes = blocks.bytes(self.place.clone());
            let event = RawEvent { bytes, text: &self.text, has_reasoning: false, has_calls: false };
            on_part(ForwardedPart::Event(event));
            self.text.clear();
        }
    }
}

impl Models {
    /// The API of a target's server, if requests of other programs can be sent to it as they are.
    pub fn api(&self, target: &TargetName) -> Option<Api> {
        api_of(self.server(target)?.target.provider)
    }

    /// Makes one attempt to send the request of another program to a server with the same API. A streamed answer is passed on
    /// as it arrives, and never an event that reports an error. The failures are those of [`Models::ask`].
    pub async fn forward(
        &self,
        target: &TargetName,
        request: ForwardedRequest<'_>,
        on_part: OnForwardedPart<'_>,
    ) -> Result<ForwardedAnswer, ModelFailure> {
        let Some(attempt) = self.attempt(target, request.request) else {
            let message = format!("requests cannot be sent to the model `{target}` as they are");
            return Err(ModelFailure::new(ErrorClass::ModelError, message));
        };
        attempt.forward(request, on_part).await
    }
}

/// Limits the answer to a request, unless the request does.
pub(crate) fn limit_answer(body: &mut Object, target: &Target, max_tokens: u32) {
    let (names, new): (&[&str], &str) = match api_of(target.provider) {
        Some(Api::Responses) => (&["max_output_tokens"], "max_output_tokens"),
        Some(Api::Messages) => (&["max_tokens"], "max_tokens"),
        Some(Api::ChatCompletions) | None => {
            (&["max_tokens", "max_completion_tokens"], openai::family(&target.model).max_tokens)
        }
    };
    if names.iter().all(|name| body.get(name).is_none_or(Value::is_null)) {
        body.insert(new, max_tokens);
    }
}

/// The API that a server of this provider offers; none if programs use it only through a library of the provider.
fn api_of(provider: Provider) -> Option<Api> {
    match provider {
        Provider::OpenAi | Provider::Azure | Provider::Compatible => Some(Api::ChatCompletions),
        Provider::OpenAiResponses => Some(Api::Responses),
        Provider::Anthropic => Some(Api::Messages),
        // Vertex has the model in the URL instead of the body.
        Provider::VertexAnthropic
        | Provider::Gemini
        | Provider::Vertex
        | Provider::Bedrock
        | Provider::Cohere
        | Provider::Ollama => None,
    }
}
