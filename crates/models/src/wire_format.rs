//! Wire formats: rendering of requests and reading of responses.

use reknit_model_api::{ErrorNames, ModelRequest};
use reknit_protocol::Value;

use crate::answer_builder::{AnswerBuilder, OnDelta};
use crate::event_decoder::frames::FrameDecoder;
use crate::event_decoder::{EventDecoder, LineDecoder};
use crate::json::{at, has_list, text};
use crate::request_body::RequestBody;
use crate::sse::SseBlocks;
use crate::{Provider, Streaming, Target, anthropic, azure, bedrock, cohere, gemini, ollama, openai, responses};

#[derive(Debug, PartialEq)]
pub(crate) struct ErrorBody(pub(crate) Value);

impl ErrorBody {
    /// An error that we found, in the form in which servers report theirs.
    pub(crate) fn of_message(message: &str) -> Self {
        Self(object! {"error": object! {"message": message, "type": "server_error"}})
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum EventOutcome {
    /// The event was read, and may have added to the answer.
    Progress,
    EndMark,
    /// Nothing was read: there is no data, or it is not readable and was counted as skipped.
    Unreadable,
}

/// Wire format, with the state that it keeps between two events.
#[derive(Debug)]
pub(crate) enum WireFormat {
    Chat(openai::ReasoningDetails, openai::TextPattern),
    Responses,
    Anthropic(anthropic::Blocks),
    Gemini(gemini::Parts),
    Bedrock,
    Cohere,
    Ollama,
}

impl WireFormat {
    pub(crate) fn of(provider: Provider) -> Self {
        match provider {
            Provider::OpenAi | Provider::Azure | Provider::Compatible => {
                Self::Chat(openai::ReasoningDetails::default(), openai::TextPattern::default())
            }
            Provider::OpenAiResponses => Self::Responses,
            Provider::Anthropic | Provider::VertexAnthropic => Self::Anthropic(anthropic::Blocks::default()),
            Provider::Gemini | Provider::Vertex => Self::Gemini(gemini::Parts::default()),
            Provider::Bedrock => Self::Bedrock,
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
            (Self::Bedrock, _) => (bedrock::path(target), None),
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

    pub(crate) fn event_decoder(&self) -> EventDecoder {
        match self {
            Self::Bedrock => EventDecoder::Frames(FrameDecoder::default()),
            Self::Ollama => EventDecoder::Lines(LineDecoder::default()),
            Self::Chat(..) | Self::Responses | Self::Anthropic(_) | Self::Gemini(_) | Self::Cohere => {
                EventDecoder::ServerSentEvents(SseBlocks::default())
            }
        }
    }

    pub(crate) fn render(&self, target: &Target, request: &ModelRequest) -> RequestBody {
        let mut body = match self {
            Self::Chat(..) => openai::render(target, request),
            Self::Responses => responses::render(target, request),
            Self::Anthropic(_) => anthropic::render(target, request),
            Self::Gemini(_) => gemini::render(target, request),
            Self::Bedrock => bedrock::render(target, request),
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
            Self::Anthropic(_) | Self::Bedrock | Self::Cohere | Self::Ollama => false,
            Self::Gemini(_) => gemini::reasons_silently(model),
        }
    }

    /// Whether the answer may go on after a finish reason, so that only the end of the stream ends it.
    pub(crate) fn continues_after_finish(&self) -> bool {
        matches!(self, Self::Gemini(_))
    }

    pub(crate) fn error_names(&self) -> ErrorNames {
        match self {
            Self::Chat(..) | Self::Responses | Self::Cohere | Self::Ollama => openai::ERROR_CLASSES,
            Self::Anthropic(_) => anthropic::ERROR_CLASSES,
            Self::Gemini(_) => gemini::ERROR_CLASSES,
            Self::Bedrock => bedrock::ERROR_CLASSES,
        }
    }

    pub(crate) fn read_event(
        &mut self,
        builder: &mut AnswerBuilder,
        data: &str,
        on_delta: OnDelta<'_>,
    ) -> Result<EventOutcome, ErrorBody> {
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
        let json = self.without_error(json)?;
        match self {
            Self::Chat(details, _) => openai::read(details, builder, &json, "delta", on_delta),
            Self::Responses => responses::read_event(builder, &json, on_delta),
            Self::Anthropic(blocks) => anthropic::read_event(blocks, builder, &json, on_delta),
            Self::Gemini(parts) => gemini::read(parts, builder, &json, on_delta),
            Self::Bedrock => bedrock::read_event(builder, &json, on_delta),
            Self::Cohere => cohere::read_event(builder, &json, on_delta),
            Self::Ollama => ollama::read(builder, &json, on_delta),
        }
        Ok(if builder.end_mark { EventOutcome::EndMark } else { EventOutcome::Progress })
    }

    /// Reads the body of a response that was not streamed; false if it has no field for an answer.
    pub(crate) fn read_whole(
        &mut self,
        builder: &mut AnswerBuilder,
        json: Value,
        on_delta: OnDelta<'_>,
    ) -> Result<bool, ErrorBody> {
        let json = self.without_error(json)?;
        let has_answer = match self {
            Self::Chat(details, _) => {
                openai::read(details, builder, &json, "message", on_delta);
                has_list(&json, "choices")
            }
            Self::Responses => responses::read_whole(builder, &json, on_delta),
            Self::Anthropic(_) => anthropic::read_whole(builder, &json, on_delta),
            Self::Gemini(parts) => {
                gemini::read(parts, builder, &json, on_delta);
                has_list(&json, "candidates")
            }
            Self::Bedrock => bedrock::read_whole(builder, &json, on_delta),
            Self::Cohere => cohere::read_whole(builder, &json, on_delta),
            Self::Ollama => {
                ollama::read(builder, &json, on_delta);
                at(&json, &["message"]).is_some_and(|message| message.as_object().is_some())
            }
        };
        builder.end_mark = true;
        self.finish(builder);
        Ok(has_answer)
    }

    /// The JSON of a body or an event, unless it reports an error instead of a part of the answer.
    fn without_error(&self, json: Value) -> Result<Value, ErrorBody> {
        let kind = text(&json, &["type"]);
        let error = match self {
            Self::Responses if matches!(kind, Some("error" | "response.failed")) => {
                // A failed response has the error as a field.
                let response = at(&json, &["response"]).filter(|response| at(response, &["error"]).is_some());
                Some(response.unwrap_or(&json).clone())
            }
            _ if at(&json, &["error"]).is_some() => Some(json.clone()),
            Self::Anthropic(_) if kind == Some("error") => Some(json.clone()),
            Self::Gemini(_) => gemini::blocked(&json),
            Self::Cohere if kind == Some("message-end") => {
                text(&json, &["delta", "error"]).map(|error| ErrorBody::of_message(error).0)
            }
            _ => None,
        };
        error.map_or(Ok(json), |error| Err(ErrorBody(error)))
    }

    /// Hands over what was put together during the whole response.
    pub(crate) fn finish(&self, builder: &mut AnswerBuilder) {
        let state = match self {
            Self::Chat(details, _) => details.state(),
            Self::Anthropic(blocks) => blocks.content_state(),
            Self::Gemini(parts) => parts.state(),
            Self::Responses | Self::Bedrock | Self::Cohere | Self::Ollama => None,
        };
        builder.content_state = state.or(builder.content_state.take());
    }
}

#[cfg(test)]
mod round_trips;
#[cfg(test)]
mod tests;
