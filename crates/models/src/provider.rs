//! Model providers and their defaults.

use crate::FormatSupport;

reknit_protocol::word_enum! {
    /// Provider of a model, by its name in the configuration. It decides the wire format and the defaults.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum Provider {
        /// `OpenAI`, `chat/completions`.
        OpenAi = "openai",
        /// `OpenAI`, `responses`.
        OpenAiResponses = "openai-responses",
        /// Anthropic, `messages`.
        Anthropic = "anthropic",
        /// Google, `generateContent`.
        Gemini = "gemini",
        /// Any other server that speaks `chat/completions`, with or without a key.
        Compatible = "compatible",
    }
}

impl Provider {
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
