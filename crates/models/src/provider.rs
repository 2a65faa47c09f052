//! Model providers and their defaults.

reknit_protocol::word_enum! {
    /// Provider of a model, by its name in the configuration. It decides the wire format and the defaults.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum Provider {
        /// `OpenAI`, `chat/completions`.
        OpenAi = "openai",
        OpenAiResponses = "openai-responses",
        /// Azure `OpenAI`, `chat/completions`. The model is the name of the deployment.
        Azure = "azure",
        Anthropic = "anthropic",
        /// Google, `generateContent`.
        Gemini = "gemini",
        /// Google Vertex AI, `generateContent`, with a bearer token.
        Vertex = "vertex",
        /// Anthropic's models in Google Vertex AI, with a bearer token.
        VertexAnthropic = "vertex-anthropic",
        /// Amazon Bedrock, `converse`, with an API key of Bedrock or with the keys of an account.
        Bedrock = "bedrock",
        /// Cohere, version 2 of `chat`.
        Cohere = "cohere",
        /// Ollama, `api/chat`.
        Ollama = "ollama",
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
            Self::Cohere => Some("https://api.cohere.com/v2"),
            Self::Ollama => Some("http://127.0.0.1:11434"),
            // The URL names a resource, a project or a region of the user.
            Self::Azure | Self::Vertex | Self::VertexAnthropic | Self::Bedrock | Self::Compatible => None,
        }
    }

    /// Environment variables that usually hold its key; the first that is set counts.
    pub const fn key_variables(self) -> &'static [&'static str] {
        match self {
            Self::OpenAi | Self::OpenAiResponses => &["OPENAI_API_KEY"],
            Self::Azure => &["AZURE_OPENAI_API_KEY"],
            Self::Anthropic => &["ANTHROPIC_API_KEY"],
            Self::Gemini => &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
            Self::Vertex | Self::VertexAnthropic => &["GOOGLE_OAUTH_ACCESS_TOKEN"],
            Self::Bedrock => &["AWS_BEARER_TOKEN_BEDROCK"],
            Self::Cohere => &["COHERE_API_KEY", "CO_API_KEY"],
            Self::Ollama | Self::Compatible => &[],
        }
    }
}
