//! Who can be asked, and what is known about them beforehand.

use std::fmt;

use crate::FormatSupport;

/// Who serves a model: it decides the wire format and what need not be said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Provider {
    /// `OpenAI`, `chat/completions`.
    OpenAi,
    /// `OpenAI`, `responses`.
    OpenAiResponses,
    /// Anthropic, `messages`.
    Anthropic,
    /// Google, `generateContent`.
    Gemini,
    /// Any other server that speaks `chat/completions`, with or without a key.
    Compatible,
}

impl Provider {
    /// Every provider there is.
    pub const ALL: [Self; 5] = [Self::OpenAi, Self::OpenAiResponses, Self::Anthropic, Self::Gemini, Self::Compatible];

    /// The word in the configuration.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::OpenAiResponses => "openai-responses",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::Compatible => "compatible",
        }
    }

    /// The address of its server, if there is only one.
    pub const fn base_url(self) -> Option<&'static str> {
        match self {
            Self::OpenAi | Self::OpenAiResponses => Some("https://api.openai.com/v1"),
            Self::Anthropic => Some("https://api.anthropic.com/v1"),
            Self::Gemini => Some("https://generativelanguage.googleapis.com/v1beta"),
            Self::Compatible => None,
        }
    }

    /// Where people keep its key; the first that is set counts.
    pub const fn key_variables(self) -> &'static [&'static str] {
        match self {
            Self::OpenAi | Self::OpenAiResponses => &["OPENAI_API_KEY"],
            Self::Anthropic => &["ANTHROPIC_API_KEY"],
            Self::Gemini => &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
            Self::Compatible => &[],
        }
    }

    /// The most that it understands about the form of an answer, if nobody says otherwise.
    pub const fn format(self) -> FormatSupport {
        match self {
            Self::OpenAi | Self::OpenAiResponses | Self::Anthropic | Self::Gemini => FormatSupport::Schema,
            Self::Compatible => FormatSupport::Json,
        }
    }
}

impl fmt::Display for Provider {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.as_str())
    }
}
