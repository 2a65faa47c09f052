//! The wire formats: how each is asked, and how its answers are read.

use reknit_dialogue::{ErrorClass, Request};
use reknit_protocol::Value;

use crate::draft::{Draft, OnDelta};
use crate::rendered::Rendered;
use crate::{Provider, Streaming, Target, anthropic, gemini, openai, responses};

/// What one event has brought.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    /// A sign of life, which may have added to the answer.
    Progress,
    /// The mark behind the last event.
    EndMark,
    /// Nothing that can be read. It was counted.
    Nothing,
}

/// A body that reports an error instead of an answer.
#[derive(Debug, PartialEq)]
pub(crate) struct Refused(pub(crate) Value);

/// A wire format, and what it has to remember of an answer between two events.
#[derive(Debug)]
pub(crate) enum Wire {
    Chat,
    Responses,
    Anthropic(anthropic::Blocks),
    Gemini,
}

impl Wire {
    /// The format that a provider speaks.
    pub(crate) fn of(provider: Provider) -> Self {
        match provider {
            Provider::OpenAi | Provider::Compatible => Self::Chat,
            Provider::OpenAiResponses => Self::Responses,
            Provider::Anthropic => Self::Anthropic(anthropic::Blocks::default()),
            Provider::Gemini => Self::Gemini,
        }
    }

    /// What follows the base URL, and what stands behind its `?`.
    pub(crate) fn place(&self, target: &Target) -> (String, Option<&'static str>) {
        match (self, target.streaming) {
            (Self::Chat, _) => ("/chat/completions".to_owned(), None),
            (Self::Responses, _) => ("/responses".to_owned(), None),
            (Self::Anthropic(_), _) => ("/messages".to_owned(), None),
            (Self::Gemini, Streaming::On) => (gemini::path(&target.model, "streamGenerateContent"), Some("alt=sse")),
            (Self::Gemini, Streaming::Off) => (gemini::path(&target.model, "generateContent"), None),
        }
    }

    /// The header for the key, and what stands before it.
    pub(crate) fn key_header(&self) -> (&'static str, &'static str) {
        match self {
            Self::Chat | Self::Responses => ("authorization", "Bearer "),
            Self::Anthropic(_) => ("x-api-key", ""),
            Self::Gemini => ("x-goog-api-key", ""),
        }
    }

    /// A header without which the server does not listen.
    pub(crate) fn version_header(&self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::Anthropic(_) => Some(("anthropic-version", "2023-06-01")),
            Self::Chat | Self::Responses | Self::Gemini => None,
        }
    }

    /// The request as this format has it.
    pub(crate) fn render(&self, target: &Target, request: &Request) -> Rendered {
        match self {
            Self::Chat => openai::render(target, request),
            Self::Responses => responses::render(target, request),
            Self::Anthropic(_) => anthropic::render(target, request),
            Self::Gemini => gemini::render(target, request),
        }
    }

    /// Whether the model thinks before it says anything, and shows no sign of it.
    pub(crate) fn thinks_unseen(&self, model: &str) -> bool {
        match self {
            Self::Chat | Self::Responses => !openai::family(model).sampling,
            // It is told to think, and then its thoughts are shown.
            Self::Anthropic(_) => false,
            Self::Gemini => gemini::thinks_unseen(model),
        }
    }

    /// The names of errors that only this format has.
    pub(crate) fn classes(&self) -> &'static [(&'static str, ErrorClass)] {
        match self {
            Self::Chat | Self::Responses => openai::CLASSES,
            Self::Anthropic(_) => anthropic::CLASSES,
            Self::Gemini => gemini::CLASSES,
        }
    }

    /// Takes one event of a stream.
    pub(crate) fn event(&mut self, draft: &mut Draft, data: &[u8], on_delta: OnDelta<'_>) -> Result<Seen, Refused> {
        if data.trim_ascii() == b"[DONE]" {
            draft.end_mark = true;
            return Ok(Seen::EndMark);
        }
        let Some(json) = crate::json::parse(data).filter(|json| json.as_object().is_some()) else {
            draft.skipped_events = draft.skipped_events.saturating_add(1);
            return Ok(Seen::Nothing);
        };
        match self {
            Self::Chat => openai::event(draft, json, on_delta),
            Self::Responses => responses::event(draft, json, on_delta),
            Self::Anthropic(blocks) => anthropic::event(blocks, draft, json, on_delta),
            Self::Gemini => gemini::event(draft, json, on_delta),
        }
    }

    /// Takes the whole body of an answer in one piece; says whether there was a place for one in it.
    pub(crate) fn whole(&mut self, draft: &mut Draft, json: Value, on_delta: OnDelta<'_>) -> Result<bool, Refused> {
        let has_answer = match self {
            Self::Chat => openai::whole(draft, json, on_delta),
            Self::Responses => responses::whole(draft, json, on_delta),
            Self::Anthropic(_) => anthropic::whole(draft, json, on_delta),
            Self::Gemini => gemini::whole(draft, json, on_delta),
        };
        draft.end_mark = true;
        has_answer
    }
}

#[cfg(test)]
mod tests;
