//! Configured models.

use reknit_model_api::{AttachmentKind, FormatUsed, Prices, ResponseFormat, TargetName};
use secrecy::SecretString;

use crate::client::{ModelClient, SharedClient};
use crate::model_info::model_info;
use crate::openai::is_strict;
use crate::wire_format::WireFormat;
use crate::{Provider, RequestDefaults, RequestExtras, Timeouts};

/// Model on a server, as configured.
///
/// `Debug` does not show the key.
#[derive(Debug, Clone)]
pub struct Target {
    pub name: TargetName,
    pub provider: Provider,
    /// The URL before `/chat/completions` and the like: `https://api.openai.com/v1`.
    pub base_url: String,
    /// The server's name for the model.
    pub model: String,
    /// API key, sent in the provider's header; local servers need none.
    pub key: Option<SecretString>,
    /// Context window in tokens. A request that cannot fit even at eight characters a token fails as `context_length` without
    /// being sent; the server decides about all others, and about every request if this is none.
    pub max_context: Option<u32>,
    pub timeouts: Timeouts,
    pub format: FormatSupport,
    pub streaming: Streaming,
    pub prices: Option<Prices>,
    /// Asks the model instead of the server at `base_url`.
    pub client: Option<SharedClient>,
    /// Whether the provider is asked to keep the stable part of requests in its cache.
    pub caching: Caching,
    /// The attachments that the model takes besides text; if none, all that its wire format has a place for.
    pub inputs: Option<Vec<AttachmentKind>>,
    pub defaults: RequestDefaults,
    /// Parts of a request that only this server knows.
    pub extras: RequestExtras,
}

impl Target {
    /// A model at its provider's own URL, with its context window and published prices where they are known; without a key,
    /// with streaming and the default timeouts.
    pub fn for_provider(provider: Provider, name: impl Into<TargetName>, model: impl Into<String>) -> Self {
        let target = Self::new(name, provider.base_url().unwrap_or_default(), model);
        let info = model_info(provider, &target.model);
        let (max_context, prices) = (info.map(|info| info.context_window), info.and_then(|info| info.prices));
        // Of any other server we know only that most have a JSON mode.
        let format = if provider == Provider::Compatible { FormatSupport::Json } else { FormatSupport::Schema };
        Self { provider, max_context, format, prices, ..target }
    }

    /// A model on any server that speaks `chat/completions`, without a key, with streaming, JSON mode and the default
    /// timeouts.
    pub fn new(name: impl Into<TargetName>, base_url: impl Into<String>, model: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            provider: Provider::Compatible,
            base_url: base_url.into(),
            model: model.into(),
            key: None,
            max_context: None,
            timeouts: Timeouts::default(),
            format: FormatSupport::Json,
            streaming: Streaming::On,
            prices: None,
            client: None,
            caching: Caching::On,
            inputs: None,
            defaults: RequestDefaults::default(),
            extras: RequestExtras::default(),
        }
    }

    /// A model that `client` asks. Its total timeout is the default one.
    pub fn of_client(name: impl Into<TargetName>, client: impl ModelClient) -> Self {
        let name = name.into();
        let model = name.to_string();
        Self { client: Some(SharedClient::new(client)), ..Self::new(name, "", model) }
    }

    /// The same target with shorter timeouts, for one that has a fallback. See [`Timeouts`].
    #[must_use]
    pub fn with_fallback_timeouts(mut self) -> Self {
        self.timeouts.idle = Timeouts::FALLBACK_IDLE;
        // A whole answer has no earlier first token, and hidden reasoning sends nothing while it lasts.
        if self.streaming == Streaming::On && !WireFormat::of(self.provider).reasons_silently(&self.model) {
            self.timeouts.first_byte = Timeouts::FALLBACK_FIRST_TOKEN;
            self.timeouts.first_token = Timeouts::FALLBACK_FIRST_TOKEN;
        }
        self
    }
}

/// Response formats that a server supports. A server that is asked for more refuses the request; it is not repeated with
/// less.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FormatSupport {
    /// JSON with a schema, and JSON without one.
    Schema,
    Json,
    /// Text only; the prompt must ask for JSON.
    Text,
}

impl FormatSupport {
    pub(crate) fn reduce(self, requested: &ResponseFormat) -> FormatUsed {
        match (requested, self) {
            (ResponseFormat::Text, _) | (_, Self::Text) => FormatUsed::Text,
            (ResponseFormat::Schema { schema, .. }, Self::Schema) if is_strict(schema) => FormatUsed::Strict,
            (ResponseFormat::Schema { .. }, Self::Schema) => FormatUsed::Schema,
            (ResponseFormat::Json, Self::Json | Self::Schema) | (ResponseFormat::Schema { .. }, Self::Json) => {
                FormatUsed::Json
            }
        }
    }
}

/// Whether a provider is asked to keep the stable part of requests in its cache, where it must be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Caching {
    /// Its instructions and tools, and in a session the conversation so far.
    On,
    Off,
}

/// Whether an answer is streamed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Streaming {
    /// As a stream of events, so that a stalled model is noticed early.
    On,
    /// As one JSON document.
    Off,
}

/// Why a list of targets cannot be used. Reported before any request is sent.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TargetError {
    #[error("two models have the name `{target}`")]
    Duplicate { target: TargetName },
    #[error("the base URL of model `{target}` is not usable: {problem}")]
    BaseUrl {
        target: TargetName,
        /// What is wrong with the URL; never the URL itself, which may contain a password.
        problem: String,
    },
    #[error("model `{target}` has no `model`: the name that the server knows it by")]
    NoModel { target: TargetName },
    #[error("the key of model `{target}` is empty or contains an invalid character, such as a line break")]
    Key { target: TargetName },
    #[error("the header `{header}` of model `{target}` has an invalid name or value")]
    Header { target: TargetName, header: String },
    #[error("the timeout `{timeout}` of model `{target}` is zero")]
    ZeroTimeout { target: TargetName, timeout: &'static str },
    #[error("model `{target}` cannot be asked: this program was built without the feature `http`")]
    WithoutHttp { target: TargetName },
    /// The HTTP client could not be built, most likely because there are no root certificates.
    #[cfg(feature = "http")]
    #[error("cannot build an HTTP client for model `{target}`")]
    Client { target: TargetName, source: reqwest::Error },
}

#[cfg(test)]
mod tests {
    use reknit_protocol::Value;

    use super::*;

    #[test]
    fn a_server_is_asked_for_no_more_than_it_supports() {
        let schema = ResponseFormat::Schema { name: "x".into(), schema: Value::Null };
        let closed = Value::parse(r#"{"type":"object","properties":{},"additionalProperties":false}"#).unwrap();
        let closed = ResponseFormat::Schema { name: "x".into(), schema: closed };
        for (support, requested, expected) in [
            (FormatSupport::Schema, &schema, FormatUsed::Schema),
            (FormatSupport::Schema, &closed, FormatUsed::Strict),
            (FormatSupport::Json, &closed, FormatUsed::Json),
            (FormatSupport::Schema, &ResponseFormat::Json, FormatUsed::Json),
            (FormatSupport::Schema, &ResponseFormat::Text, FormatUsed::Text),
            (FormatSupport::Json, &schema, FormatUsed::Json),
            (FormatSupport::Json, &ResponseFormat::Json, FormatUsed::Json),
            (FormatSupport::Json, &ResponseFormat::Text, FormatUsed::Text),
            (FormatSupport::Text, &schema, FormatUsed::Text),
            (FormatSupport::Text, &ResponseFormat::Json, FormatUsed::Text),
        ] {
            assert_eq!(support.reduce(requested), expected, "{support:?} {requested:?}");
        }
    }

    #[test]
    fn fallback_timeouts_are_short_only_for_models_that_stream_tokens_early() {
        for (provider, model, streaming, seconds) in [
            (Provider::Compatible, "qwen3-4b", Streaming::On, 12),
            (Provider::Compatible, "qwen3-4b", Streaming::Off, 120),
            (Provider::OpenAi, "gpt-4.1", Streaming::On, 12),
            (Provider::OpenAi, "gpt-5.6-luna", Streaming::On, 120),
            (Provider::OpenAiResponses, "o3", Streaming::On, 120),
            (Provider::Anthropic, "claude-opus-5", Streaming::On, 12),
            (Provider::Gemini, "gemini-2.5-pro", Streaming::On, 120),
            (Provider::Gemini, "gemini-3.5-flash-lite", Streaming::On, 12),
        ] {
            let target = Target { streaming, ..Target::for_provider(provider, "a", model) };
            assert_eq!(target.timeouts, Timeouts::default());
            let timeouts = target.with_fallback_timeouts().timeouts;
            assert_eq!((timeouts.first_token.as_secs(), timeouts.idle.as_secs()), (seconds, 30), "{model}");
            assert_eq!(timeouts.first_byte, timeouts.first_token);
        }
    }
}
