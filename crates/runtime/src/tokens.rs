//! Counts the tokens of a request with the tokenizer of its model.

use reknit_model_api::ModelRequest;
use tiktoken_rs::bpe_for_tokenizer;
use tiktoken_rs::tokenizer::get_tokenizer;

/// Tokens that a provider adds to each message, to each tool definition, and to start the answer.
const PER_MESSAGE: usize = 4;
const PER_TOOL: usize = 12;
const ANSWER_START: usize = 3;

/// Texts are counted in chunks of this many bytes, because the time that a tokenizer needs grows with the square of the
/// length of a word. Each chunk may add one token to the count, which is harmless.
const CHUNK_BYTES: usize = 2_048;

/// Counts the tokens of a request; `None` if the tokenizer of the model is unknown or fails.
///
/// The first request loads the tokenizer, which takes up to a second, on a thread for blocking work.
pub(crate) async fn count(model: &str, request: &ModelRequest) -> Option<u64> {
    // Some services prefix the vendor: `openai/gpt-4o`.
    let tokenizer = get_tokenizer(model.rsplit('/').next().unwrap_or(model))?;
    let (texts, overhead) = (texts(request), overhead(request));
    let counted = tokio::task::spawn_blocking(move || {
        let encoding = bpe_for_tokenizer(tokenizer).ok()?;
        let tokens = texts.iter().flat_map(|text| chunks(text)).map(|chunk| encoding.count_ordinary(chunk));
        u64::try_from(tokens.sum::<usize>() + overhead).ok()
    });
    counted.await.ok().flatten()
}

fn texts(request: &ModelRequest) -> Vec<String> {
    let mut texts = Vec::new();
    for message in &request.messages {
        texts.push(message.text().to_owned());
        texts.extend(message.tool_calls().iter().flat_map(|call| [call.name.clone(), call.arguments.clone()]));
    }
    for tool in &request.tools {
        texts.extend([tool.name.clone(), tool.description.clone(), tool.schema.to_string()]);
    }
    texts
}

fn overhead(request: &ModelRequest) -> usize {
    let calls: usize = request.messages.iter().map(|message| message.tool_calls().len()).sum();
    ANSWER_START + PER_MESSAGE * (request.messages.len() + calls) + PER_TOOL * request.tools.len()
}

fn chunks(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let end = rest.floor_char_boundary(CHUNK_BYTES);
        let (chunk, after) = rest.split_at_checked(end).filter(|(chunk, _)| !chunk.is_empty())?;
        rest = after;
        Some(chunk)
    })
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use reknit_model_api::{Message, ToolChoice, ToolDefinition};
    use reknit_protocol::Value;

    use super::*;

    #[tokio::test]
    async fn the_tokenizer_of_a_model_counts_its_requests() {
        let request = ModelRequest::new(vec![Message::user("hello world")], 10);
        for (model, tokens) in
            [("gpt-4o-mini", Some(9)), ("openai/gpt-4o", Some(9)), ("gpt-4", Some(9)), ("llama-3", None), ("", None)]
        {
            assert_eq!(count(model, &request).await, tokens, "{model}");
        }
        let schema = Value::parse(r#"{"type": "object"}"#).unwrap();
        let tool = ToolDefinition { name: "f".into(), description: String::new(), schema };
        let more = count("gpt-4o", &request.with_tools(vec![tool], ToolChoice::Auto)).await.unwrap();
        assert!(more > 9 + 12, "the schema is counted: {more}");
    }

    #[tokio::test]
    async fn a_long_text_without_spaces_is_counted_in_linear_time() {
        // The limit is far above the time on a busy machine, and far below that of quadratic counting.
        let started = Instant::now();
        let request = ModelRequest::new(vec![Message::user("ä".repeat(200_000))], 10);
        let tokens = count("gpt-4o", &request).await.unwrap();
        assert!(tokens > 20_000 && started.elapsed().as_secs() < 120, "{tokens} in {:?}", started.elapsed());
    }
}
