//! A model on a server, as configured.

use reknit_dialogue::{Format, FormatUsed, Prices, TargetName};
use secrecy::SecretString;

use crate::known::known;
use crate::openai::is_strict;
use crate::wire::Wire;
use crate::{Limits, Provider};

/// A model on a server, as configured.
///
/// `Debug` does not show the key.
#[derive(Debug, Clone)]
pub struct Target {
    /// What we call it.
    pub name: TargetName,
    /// Who serves it, which decides the wire format.
    pub provider: Provider,
    /// The address up to and without `/chat/completions` and its like: `https://api.openai.com/v1`.
    pub base_url: String,
    /// What the server calls the model.
    pub model: String,
    /// Sent in the header that the provider reads; local servers need none.
    pub key: Option<SecretString>,
    /// How many tokens the model can read: its window. A question that cannot fit even at eight characters a token fails as
    /// `context_length` without being sent; everything else, and all if there is no number here, the server decides.
    pub max_context: Option<u32>,
    /// How long things may take.
    pub limits: Limits,
    /// The most that the server understands about the form of an answer.
    pub format: FormatSupport,
    /// Whether the answer is asked for piece by piece.
    pub streaming: Streaming,
    /// What it costs, if that is known.
    pub prices: Option<Prices>,
}

impl Target {
    /// A model of a provider at its own address and, where they are known, with its window and its published price; without
    /// a key, with streaming and the default limits.
    pub fn of(provider: Provider, name: impl Into<TargetName>, model: impl Into<String>) -> Self {
        let target = Self::new(name, provider.base_url().unwrap_or_default(), model);
        let known = known(provider, &target.model);
        let (max_context, prices) = (known.map(|known| known.window), known.and_then(|known| known.prices));
        Self { provider, format: provider.format(), max_context, prices, ..target }
    }

    /// A model on any server that speaks `chat/completions`, without a key, with streaming, JSON mode and the default
    /// limits.
    pub fn new(name: impl Into<TargetName>, base_url: impl Into<String>, model: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            provider: Provider::Compatible,
            base_url: base_url.into(),
            model: model.into(),
            key: None,
            max_context: None,
            limits: Limits::default(),
            format: FormatSupport::Json,
            streaming: Streaming::On,
            prices: None,
        }
    }
}

impl Target {
    /// The same with shorter limits, for one behind which another stands: it is given up sooner. See [`Limits`].
    #[must_use]
    pub fn before_another(mut self) -> Self {
        self.limits.idle = Limits::HAND_OVER_IDLE;
        // Without streaming nothing comes before all of it, and who thinks unseen says nothing for as long.
        if self.streaming == Streaming::On && !Wire::of(self.provider).thinks_unseen(&self.model) {
            self.limits.first_byte = Limits::HAND_OVER;
            self.limits.first_token = Limits::HAND_OVER;
        }
        self
    }
}

/// The most that a server understands about the form of an answer. A server that is asked for more than it knows
/// refuses the request, which is a failure like any other; nothing is tried again with less.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FormatSupport {
    /// A JSON Schema, and JSON without one.
    Schema,
    /// JSON without a schema.
    Json,
    /// None of it: the prompt alone has to do.
    Text,
}

impl FormatSupport {
    /// What to ask this server for when the request wishes for that.
    pub(crate) fn reduce(self, wish: &Format) -> FormatUsed {
        match (wish, self) {
            (Format::Text, _) | (_, Self::Text) => FormatUsed::Text,
            (Format::Schema { schema, .. }, Self::Schema) if is_strict(schema) => FormatUsed::Strict,
            (Format::Schema { .. }, Self::Schema) => FormatUsed::Schema,
            (Format::Json, Self::Json | Self::Schema) | (Format::Schema { .. }, Self::Json) => FormatUsed::Json,
        }
    }
}

/// Whether an answer is asked for piece by piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Streaming {
    /// As a stream of events. A model that has died is noticed early.
    On,
    /// In one piece.
    Off,
}

#[cfg(test)]
mod tests {
    use reknit_protocol::Value;

    use super::*;

    #[test]
    fn a_server_is_asked_for_no_more_than_it_understands() {
        let schema = Format::Schema { name: "x".into(), schema: Value::Null };
        let closed = Value::parse(r#"{"type":"object","properties":{},"additionalProperties":false}"#).unwrap();
        let closed = Format::Schema { name: "x".into(), schema: closed };
        for (support, wish, expected) in [
            (FormatSupport::Schema, &schema, FormatUsed::Schema),
            (FormatSupport::Schema, &closed, FormatUsed::Strict),
            (FormatSupport::Json, &closed, FormatUsed::Json),
            (FormatSupport::Schema, &Format::Json, FormatUsed::Json),
            (FormatSupport::Schema, &Format::Text, FormatUsed::Text),
            (FormatSupport::Json, &schema, FormatUsed::Json),
            (FormatSupport::Json, &Format::Json, FormatUsed::Json),
            (FormatSupport::Json, &Format::Text, FormatUsed::Text),
            (FormatSupport::Text, &schema, FormatUsed::Text),
            (FormatSupport::Text, &Format::Json, FormatUsed::Text),
        ] {
            assert_eq!(support.reduce(wish), expected, "{support:?} {wish:?}");
        }
    }

    #[test]
    fn only_who_shows_signs_of_life_is_given_up_soon_for_another() {
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
            let target = Target { streaming, ..Target::of(provider, "a", model) };
            assert_eq!(target.limits, Limits::default());
            let limits = target.before_another().limits;
            assert_eq!((limits.first_token.as_secs(), limits.idle.as_secs()), (seconds, 30), "{model}");
            assert_eq!(limits.first_byte, limits.first_token);
        }
    }

    #[test]
    fn a_target_shown_for_debugging_does_not_show_its_key() {
        let target = Target { key: Some("sk-very-secret".into()), ..Target::new("a", "http://localhost/v1", "m") };
        let shown = format!("{target:?}");
        assert!(!shown.contains("very-secret"), "{shown}");
        assert!(shown.contains("REDACTED"), "{shown}");
    }
}
