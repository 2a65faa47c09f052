//! Model providers and their defaults.

use std::fmt;

use crate::FormatSupport;

/// Provider of a model. It decides the wire format and the defaults.
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
    /// All providers.
    pub const ALL: [Self; 5] = [Self::OpenAi, Self::OpenAiResponses, Self::Anthropic, Self::Gemini, Self::Compatible];

    /// The name in the configuration.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::OpenAiResponses => "openai-responses",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::Compatible => "compatible",
        }
    }

    /// The base URL of its API, if there is only one.
    pub const fn base_url(self) -> Option<&'static str> {
        match self {
            Self::OpenAi | Self::OpenAiResponses => Some("https://api.openai.com/v1"),
            Self::Anthropic => Some("https://api.anthropic.com/v1"),
            Self::Gemini => Some("https://generativelanguage.googleapis.com/v1beta"),
            Self::Compatible => None,
        }
    }

    /// Environment variables that usually hold its key; the first that is set counts.
    pub const fn key_variables(self) -> &'static [&'static str] {
        match self {
            Self::OpenAi | Self::OpenAiResponses => &["OPENAI_API_KEY"],
            Self::Anthropic => &["ANTHROPIC_API_KEY"],
            Self::Gemini => &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
            Self::Compatible => &[],
        }
    }

    /// The response formats that it supports, unless the configuration says otherwise.
    pub const fn format_support(self) -> FormatSupport {
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
