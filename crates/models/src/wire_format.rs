//! Wire formats: rendering of requests and reading of responses.

use reknit_model_api::{ErrorClass, ModelRequest};
use reknit_protocol::Value;

use crate::answer_builder::{AnswerBuilder, OnDelta};
use crate::event_decoder::Framing;
use crate::request_body::RequestBody;
use crate::wire_event::{ErrorBody, EventOutcome, EventResult};
use crate::{Provider, Streaming, Target, anthropic, azure, bedrock, cohere, gemini, ollama, openai, responses};

/// Wire format, with the state that it keeps between two events.
#[derive(Debug)]
pub(crate) enum WireFormat {
    Chat(openai::ReasoningDetails, openai::TextPattern),
    Responses,
    Anthropic(anthropic::Blocks),
    Gemini(gemini::Parts),
    Bedrock(bedrock::Tools),
    Cohere,
    Ollama,
}

impl WireFormat {
    /// The format of a provider.
    pub(crate) fn of(provider: Provider) -> Self {
        match provider {
            Provider::OpenAi | Provider::Azure | Provider::Compatible => {
                Self::Chat(openai::ReasoningDetails::default(), openai::TextPattern::default())
            }
            Provider::OpenAiResponses => Self::Responses,
            Provider::Anthropic | Provider::VertexAnthropic => Self::Anthropic(anthropic::Blocks::default()),
            Provider::Gemini | Provider::Vertex => Self::Gemini(gemini::Parts::default()),
            Provider::Bedrock => Self::Bedrock(bedrock::Tools::default()),
            Provider::Cohere => Self::Cohere,
            Provider::Ollama => Self::Ollama,
        }
    }

    /// The path after the base URL, and the query.
    pub(crate) fn path_and_query(&self, target: &Target) -> (String, Option<&'static str>) {
        match (self, target.streaming) {
            (Self::Chat(..), _) if target.provider == Provider::Azure => azure::path_and_query(&target.base_url),
            (Self::Chat(..), _) => ("/chat/completions".to_owned(), None),
            (Self::Responses, _) => ("/responses".to_owned(), None),
            (Self::Anthropic(_), streaming) if target.provider == Provider::VertexAnthropic => {
                (anthropic::vertex_path(&target.model, streaming), None)
            }
            (Self::Anthropic(_), _) => ("/messages".to_owned(), None),
            (Self::Gemini(_), Streaming::On) => (gemini::path(&target.model, "streamGenerateContent"), Some("alt=sse")),
            (Self::Gemini(_), Streaming::Off) => (gemini::path(&target.model, "generateContent"), None),
            (Self::Bedrock(_), _) => (bedrock::path(target), None),
            (Self::Cohere, _) => ("/chat".to_owned(), None),
            (Self::Ollama, _) => ("/api/chat".to_owned(), None),
        }
    }

    /// The header of the API key, and the prefix of its value.
    pub(crate) fn key_header(&self, provider: Provider) -> (&'static str, &'static str) {
        match (self, provider) {
            (_, Provider::Azure) => ("api-key", ""),
            (Self::Anthropic(_), Provider::Anthropic) => ("x-api-key", ""),
            (Self::Gemini(_), Provider::Gemini) => ("x-goog-api-key", ""),
            _ => ("authorization", "Bearer "),
        }
    }

    /// The header for the API version, which some servers require.
    pub(crate) fn version_header(provider: Provider) -> Option<(&'static str, &'static str)> {
        (provider == Provider::Anthropic).then_some(("anthropic-version", "2023-06-01"))
    }

    /// How the events of its streams follow each other.
    pub(crate) fn framing(&self) -> Framing {
        match self {
            Self::Bedrock(_) => Framing::Frames,
            Self::Ollama => Framing::Lines,
            Self::Chat(..) | Self::Responses | Self::Anthropic(_) | Self::Gemini(_) | Self::Cohere => {
                Framing::ServerSentEvents
            }
        }
    }

    /// Renders a request in this format.
    pub(crate) fn render(&self, target: &Target, request: &ModelRequest) -> RequestBody {
        let mut body = match self {
            Self::Chat(..) => openai::render(target, request),
            Self::Responses => responses::render(target, request),
            Self::Anthropic(_) => anthropic::render(target, request),
            Self::Gemini(_) => gemini::render(target, request),
            Self::Bedrock(_) => bedrock::render(target, request),
            Self::Cohere => cohere::render(target, request),
            Self::Ollama => ollama::render(target, request),
        };
        target.extras.apply(&mut body.json);
        body
    }

    /// Whether the model reasons by default without streaming its reasoning.
    pub(crate) fn reasons_silently(&self, model: &str) -> bool {
        match self {
            Self::Chat(..) | Self::Responses => openai::family(model).reasoning == openai::Reasoning::Hidden,
            // They reason only if the request asks for it, or stream their reasoning.
            Self::Anthropic(_) | Self::Bedrock(_) | Self::Cohere | Self::Ollama => false,
            Self::Gemini(_) => gemini::reasons_silently(model),
        }
    }

    /// Whether the answer may go on after a finish reason, so that only the end of the stream ends it.
    pub(crate) fn continues_after_finish(&self) -> bool {
        matches!(self, Self::Gemini(_))
    }

    /// The provider's own error names.
    pub(crate) fn error_names(&self) -> &'static [(&'static str, ErrorClass)] {
        match self {
            Self::Chat(..) | Self::Responses | Self::Cohere | Self::Ollama => openai::ERROR_CLASSES,
            Self::Anthropic(_) => anthropic::ERROR_CLASSES,
            Self::Gemini(_) => gemini::ERROR_CLASSES,
            Self::Bedrock(_) => bedrock::ERROR_CLASSES,
        }
    }

    /// Reads one event of a stream.
    pub(crate) fn read_event(&mut self, builder: &mut AnswerBuilder, data: &str, on_delta: OnDelta<'_>) -> EventResult {
        if data.trim_ascii() == "[DONE]" {
            builder.end_mark = true;
            return Ok(EventOutcome::EndMark);
        }
        if let Self::Chat(_, pattern) = self
            && pattern.read(builder, data, on_delta)
        {
            return Ok(EventOutcome::Progress);
        }
        let Some(json) = Value::parse(data).ok().filter(|json| json.as_object().is_some()) else {
            builder.skipped_events = builder.skipped_events.saturating_add(1);
            return Ok(EventOutcome::Unreadable);
        };
        match self {
            Self::Chat(details, _) => openai::read_event(details, builder, json, on_delta),
            Self::Responses => responses::read_event(builder, json, on_delta),
            Self::Anthropic(blocks) => anthropic::read_event(blocks, builder, json, on_delta),
            Self::Gemini(parts) => gemini::read_event(parts, builder, json, on_delta),
            Self::Bedrock(tools) => bedrock::read_event(tools, builder, json, on_delta),
            Self::Cohere => cohere::read_event(builder, json, on_delta),
            Self::Ollama => ollama::read_event(builder, json, on_delta),
        }
    }

    /// Reads the body of a response that was not streamed; false if it has no field for an answer.
    pub(crate) fn read_whole(
        &mut self,
        builder: &mut AnswerBuilder,
        json: Value,
        on_delta: OnDelta<'_>,
    ) -> Result<bool, ErrorBody> {
        let has_answer = match self {
            Self::Chat(details, _) => openai::read_whole(details, builder, json, on_delta),
            Self::Responses => responses::read_whole(builder, json, on_delta),
            Self::Anthropic(_) => anthropic::read_whole(builder, json, on_delta),
            Self::Gemini(parts) => gemini::read_whole(parts, builder, json, on_delta),
            Self::Bedrock(_) => bedrock::read_whole(builder, json, on_delta),
            Self::Cohere => cohere::read_whole(builder, json, on_delta),
            Self::Ollama => ollama::read_whole(builder, json, on_delta),
        };
        builder.end_mark = true;
        self.finish(builder);
        has_answer
    }

    /// Hands over what was put together during the whole response.
    pub(crate) fn finish(&self, builder: &mut AnswerBuilder) {
        let state = match self {
            Self::Chat(details, _) => details.state(),
            Self::Anthropic(blocks) => blocks.content_state(),
            Self::Gemini(parts) => parts.state(),
            Self::Responses | Self::Bedrock(_) | Self::Cohere | Self::Ollama => None,
        };
        builder.content_state = state.or(builder.content_state.take());
    }
}

#[cfg(test)]
mod round_trips;
#[cfg(test)]
mod tests;
