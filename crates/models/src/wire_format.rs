//! Wire formats: rendering of requests and reading of responses.

use reknit_dialogue::{ErrorClass, ModelRequest};
use reknit_protocol::Value;

use crate::answer_builder::{AnswerBuilder, OnDelta};
use crate::request_body::RequestBody;
use crate::wire_event::{ErrorBody, EventOutcome, EventResult};
use crate::{Provider, Streaming, Target, anthropic, gemini, openai, responses};

/// Wire format, with the state that it keeps between two events.
#[derive(Debug)]
pub(crate) enum WireFormat {
    Chat,
    Responses,
    Anthropic(anthropic::Blocks),
    Gemini,
}

impl WireFormat {
    /// The format of a provider.
    pub(crate) fn of(provider: Provider) -> Self {
        match provider {
            Provider::OpenAi | Provider::Compatible => Self::Chat,
            Provider::OpenAiResponses => Self::Responses,
            Provider::Anthropic => Self::Anthropic(anthropic::Blocks::default()),
            Provider::Gemini => Self::Gemini,
        }
    }

    /// The path after the base URL, and the query.
    pub(crate) fn path_and_query(&self, target: &Target) -> (String, Option<&'static str>) {
        match (self, target.streaming) {
            (Self::Chat, _) => ("/chat/completions".to_owned(), None),
            (Self::Responses, _) => ("/responses".to_owned(), None),
            (Self::Anthropic(_), _) => ("/messages".to_owned(), None),
            (Self::Gemini, Streaming::On) => (gemini::path(&target.model, "streamGenerateContent"), Some("alt=sse")),
            (Self::Gemini, Streaming::Off) => (gemini::path(&target.model, "generateContent"), None),
        }
    }

    /// The header of the API key, and the prefix of its value.
    pub(crate) fn key_header(&self) -> (&'static str, &'static str) {
        match self {
            Self::Chat | Self::Responses => ("authorization", "Bearer "),
            Self::Anthropic(_) => ("x-api-key", ""),
            Self::Gemini => ("x-goog-api-key", ""),
        }
    }

    /// The header for the API version, which some servers require.
    pub(crate) fn version_header(&self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::Anthropic(_) => Some(("anthropic-version", "2023-06-01")),
            Self::Chat | Self::Responses | Self::Gemini => None,
        }
    }

    /// Renders a request in this format.
    pub(crate) fn render(&self, target: &Target, request: &ModelRequest) -> RequestBody {
        match self {
            Self::Chat => openai::render(target, request),
            Self::Responses => responses::render(target, request),
            Self::Anthropic(_) => anthropic::render(target, request),
            Self::Gemini => gemini::render(target, request),
        }
    }

    /// Whether the model reasons by default without streaming its reasoning.
    pub(crate) fn reasons_silently(&self, model: &str) -> bool {
        match self {
            Self::Chat | Self::Responses => !openai::family(model).sampling,
            // It reasons only if the request asks for it, and then streams its reasoning.
            Self::Anthropic(_) => false,
            Self::Gemini => gemini::reasons_silently(model),
        }
    }

    /// The provider's own error names.
    pub(crate) fn error_names(&self) -> &'static [(&'static str, ErrorClass)] {
        match self {
            Self::Chat | Self::Responses => openai::ERROR_CLASSES,
            Self::Anthropic(_) => anthropic::ERROR_CLASSES,
            Self::Gemini => gemini::ERROR_CLASSES,
        }
    }

    /// Reads one event of a stream.
    pub(crate) fn read_event(
        &mut self,
        builder: &mut AnswerBuilder,
        data: &[u8],
        on_delta: OnDelta<'_>,
    ) -> EventResult {
        if data.trim_ascii() == b"[DONE]" {
            builder.end_mark = true;
            return Ok(EventOutcome::EndMark);
        }
        let Some(json) = crate::json::parse(data).filter(|json| json.as_object().is_some()) else {
            builder.skipped_events = builder.skipped_events.saturating_add(1);
            return Ok(EventOutcome::Unreadable);
        };
        match self {
            Self::Chat => openai::read_event(builder, json, on_delta),
            Self::Responses => responses::read_event(builder, json, on_delta),
            Self::Anthropic(blocks) => anthropic::read_event(blocks, builder, json, on_delta),
            Self::Gemini => gemini::read_event(builder, json, on_delta),
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
            Self::Chat => openai::read_whole(builder, json, on_delta),
            Self::Responses => responses::read_whole(builder, json, on_delta),
            Self::Anthropic(_) => anthropic::read_whole(builder, json, on_delta),
            Self::Gemini => gemini::read_whole(builder, json, on_delta),
        };
        builder.end_mark = true;
        has_answer
    }
}

#[cfg(test)]
mod tests;
