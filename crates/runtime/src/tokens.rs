//! How many tokens a question has, counted with the tokenizer of its model, where there is one.

use reknit_dialogue::Request;
use tiktoken_rs::bpe_for_tokenizer;
use tiktoken_rs::tokenizer::get_tokenizer;

/// What a message costs besides its text, what a tool does, and what the answer is opened with.
const MESSAGE: usize = 4;
const TOOL: usize = 12;
const OPENING: usize = 3;

/// Long texts are counted in parts of so many bytes: a tokenizer takes the square of the length of what has no gaps. Each
/// part may count a token too many, which does no harm.
const PART: usize = 2_048;

/// How many tokens a question has for a model; none if its tokenizer is not known.
///
/// The first question loads the tokenizer, which takes up to a second, in a thread where nobody waits for anything else.
pub(crate) async fn count(model: &str, request: &Request) -> Option<u64> {
    // Some services put the maker before the name: `openai/gpt-4o`.
    let tokenizer = get_tokenizer(model.rsplit('/').next().unwrap_or(model))?;
    let (texts, frame) = (texts(request), frame(request));
    let counted = tokio::task::spawn_blocking(move || {
        let encoding = bpe_for_tokenizer(tokenizer).ok()?;
        let tokens = texts.iter().flat_map(|text| parts(text)).map(|part| encoding.count_ordinary(part));
        u64::try_from(tokens.sum::<usize>() + frame).ok()
    });
    // Who cannot count says so: the question is then taken for as long as it may be.
    counted.await.ok().flatten()
}

fn texts(request: &Request) -> Vec<String> {
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

fn frame(request: &Request) -> usize {
    let calls: usize = request.messages.iter().map(|message| message.tool_calls().len()).sum();
    OPENING + MESSAGE * (request.messages.len() + calls) + TOOL * request.tools.len()
}

fn parts(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let end = rest.floor_char_boundary(PART);
        let (part, behind) = rest.split_at_checked(end).filter(|(part, _)| !part.is_empty())?;
        rest = behind;
        Some(part)
    })
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use reknit_dialogue::{Message, Tool, ToolChoice};
    use reknit_protocol::Value;

    use super::*;

    #[tokio::test]
    async fn a_question_is_counted_by_the_tokenizer_of_its_model() {
        let question = Request::new(vec![Message::user("hello world")], 10);
        for (model, tokens) in
            [("gpt-4o-mini", Some(9)), ("openai/gpt-4o", Some(9)), ("gpt-4", Some(9)), ("llama-3", None), ("", None)]
        {
            assert_eq!(count(model, &question).await, tokens, "{model}");
        }
        let schema = Value::parse(r#"{"type": "object"}"#).unwrap();
        let tool = Tool { name: "f".into(), description: String::new(), schema };
        let more = count("gpt-4o", &question.with_tools(vec![tool], ToolChoice::Auto)).await.unwrap();
        assert!(more > 9 + 12, "the schema counts: {more}");
    }

    #[tokio::test]
    async fn a_text_without_gaps_is_counted_in_time() {
        // Far more than a busy machine takes, and far less than time that grows with the square of the length.
        let began = Instant::now();
        let question = Request::new(vec![Message::user("ä".repeat(200_000))], 10);
        let tokens = count("gpt-4o", &question).await.unwrap();
        assert!(tokens > 20_000 && began.elapsed().as_secs() < 120, "{tokens} in {:?}", began.elapsed());
    }
}
