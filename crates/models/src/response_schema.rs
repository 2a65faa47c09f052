//! The response format that a server is asked for, with the schema as this server accepts it.

use reknit_model_api::{FormatUsed, ResponseFormat};
use reknit_protocol::Value;

use crate::schema_subset::{Dialect, translate};
use crate::{Provider, Target};

/// The strongest format that the target supports for a requested one, and the schema to send with it.
pub(crate) fn negotiate(target: &Target, requested: &ResponseFormat) -> (FormatUsed, Option<Value>) {
    let used = target.format.reduce(requested);
    let (FormatUsed::Strict | FormatUsed::Schema, ResponseFormat::Schema { schema, .. }) = (used, requested) else {
        return (used, None);
    };
    match target.provider {
        Provider::OpenAi | Provider::OpenAiResponses => strict_or_hint(Dialect::OpenAi, schema),
        Provider::Azure => strict_or_hint(Dialect::Azure, schema),
        Provider::Gemini | Provider::Vertex => {
            (used, Some(translate(Dialect::Gemini, schema).unwrap_or_else(|| schema.clone())))
        }
        // There is no JSON mode: an answer is constrained to a strict schema or not at all.
        Provider::Anthropic | Provider::VertexAnthropic | Provider::Bedrock => {
            match translate(Dialect::Anthropic, schema) {
                Some(schema) => (FormatUsed::Strict, Some(schema)),
                None => (FormatUsed::Text, None),
            }
        }
        // Most of these servers constrain the answer to any schema.
        Provider::Compatible | Provider::Ollama | Provider::Cohere => (used, Some(schema.clone())),
    }
}

/// The translated schema in strict mode; else the whole schema as a hint, which is still a strong one.
fn strict_or_hint(dialect: Dialect, schema: &Value) -> (FormatUsed, Option<Value>) {
    match translate(dialect, schema) {
        Some(schema) => (FormatUsed::Strict, Some(schema)),
        None => (FormatUsed::Schema, Some(schema.clone())),
    }
}
