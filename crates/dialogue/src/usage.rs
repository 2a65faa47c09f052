//! How many tokens an attempt has used.

use serde::{Deserialize, Serialize};

use crate::{Format, Request};

/// How many tokens an attempt has used, and how that is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens of the question.
    pub input_tokens: u64,
    /// Tokens of the answer, reasoning included.
    pub output_tokens: u64,
    /// Who counted.
    pub source: UsageSource,
}

/// Who counted the tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UsageSource {
    /// The provider.
    Reported,
    /// We did, roughly: the provider did not say, or was cut off before it could.
    Estimated,
}

/// What a message costs besides its text: its role and the marks around it.
const TOKENS_PER_MESSAGE: u64 = 4;
/// About right for English and for JSON; too low for rare scripts.
const BYTES_PER_TOKEN: u64 = 4;

impl Usage {
    /// As the provider counted.
    pub const fn reported(input_tokens: u64, output_tokens: u64) -> Self {
        Self { input_tokens, output_tokens, source: UsageSource::Reported }
    }

    /// A rough count for a request and as much of its answer as has arrived.
    pub fn estimate(request: &Request, answer: &str) -> Self {
        let messages: u64 =
            request.messages.iter().map(|message| TOKENS_PER_MESSAGE + tokens(message.text.len())).sum();
        let schema = match &request.format {
            Format::Schema { schema, .. } => tokens(schema.to_string().len()),
            Format::Json | Format::Text => 0,
        };
        Self {
            input_tokens: messages.saturating_add(schema),
            output_tokens: tokens(answer.len()),
            source: UsageSource::Estimated,
        }
    }
}

fn tokens(bytes: usize) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX).div_ceil(BYTES_PER_TOKEN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Message;
    use reknit_protocol::Value;

    #[test]
    fn an_estimate_counts_messages_schema_and_what_has_arrived_and_says_that_it_is_one() {
        let request = Request::new(vec![Message::user("12345678"), Message::user("1")], 10);
        let expected = Usage { input_tokens: 4 + 2 + 4 + 1, output_tokens: 2, source: UsageSource::Estimated };
        assert_eq!(Usage::estimate(&request, "12345"), expected);

        let schema = Value::parse("{\"a\":1}").unwrap();
        let request = request.with_format(Format::Schema { name: "x".into(), schema });
        assert_eq!(Usage::estimate(&request, "").input_tokens, 13);
    }
}
