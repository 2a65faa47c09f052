//! The most common event of a stream: a piece of text, and nothing else.
//!
//! Answers have one such event for each token. Reading them without a tree of values takes a fraction of the time.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::answer_builder::{AnswerBuilder, OnDelta};

/// An event with a piece of text. An event with anything else in it, known or not, is none.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TextEvent<'a> {
    #[serde(borrow)]
    id: Cow<'a, str>,
    #[serde(borrow)]
    model: Cow<'a, str>,
    #[serde(borrow)]
    choices: [TextChoice<'a>; 1],
    #[serde(default)]
    usage: (),
    #[serde(default, rename = "object")]
    _object: IgnoredAny,
    #[serde(default, rename = "created")]
    _created: IgnoredAny,
    #[serde(default, rename = "system_fingerprint")]
    _system_fingerprint: IgnoredAny,
    #[serde(default, rename = "service_tier")]
    _service_tier: IgnoredAny,
    #[serde(default, rename = "obfuscation")]
    _obfuscation: IgnoredAny,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TextChoice<'a> {
    #[serde(default)]
    index: u64,
    #[serde(borrow)]
    delta: TextDelta<'a>,
    #[serde(default)]
    finish_reason: (),
    #[serde(default, rename = "logprobs")]
    _logprobs: IgnoredAny,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TextDelta<'a> {
    #[serde(borrow)]
    content: Cow<'a, str>,
    #[serde(default, rename = "role")]
    _role: IgnoredAny,
    #[serde(default)]
    refusal: (),
}

impl<'a> TextEvent<'a> {
    /// Reads an event; none if it is another one.
    pub(super) fn parse(data: &'a str) -> Option<Self> {
        let event: Self = serde_json::from_str(data).ok()?;
        let [choice] = &event.choices;
        (choice.index == 0).then_some(event)
    }

    /// The text, as it stands in the event; none if it has escapes.
    pub(super) fn content(&self) -> Option<&'a str> {
        let [TextChoice { delta: TextDelta { content, .. }, .. }] = &self.choices;
        match content {
            Cow::Borrowed(content) => Some(content),
            Cow::Owned(_) => None,
        }
    }

    /// Adds the text to the answer.
    pub(super) fn add_to(&self, builder: &mut AnswerBuilder, on_delta: OnDelta<'_>) {
        let Self { id, model, choices: [choice], usage: (), .. } = self;
        let TextChoice { delta: TextDelta { content, refusal: (), .. }, finish_reason: (), .. } = choice;
        builder.set_metadata(known(model), known(id), None);
        builder.add_text(content, on_delta);
    }
}

fn known(text: &str) -> Option<&str> {
    Some(text).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use reknit_protocol::Value;

    use super::*;
    use crate::openai::{ReasoningDetails, read_event};

    fn texts(read: impl FnOnce(&mut AnswerBuilder, OnDelta<'_>)) -> (String, Vec<String>) {
        let (mut builder, mut pieces) = (AnswerBuilder::default(), Vec::new());
        read(&mut builder, &mut |delta| pieces.push(format!("{delta:?}")));
        (format!("{builder:?}"), pieces)
    }

    /// The general reading of an event.
    fn in_general(data: &str) -> (String, Vec<String>) {
        texts(|builder, on_delta| {
            let json = Value::parse(data).expect("JSON");
            read_event(&mut ReasoningDetails::default(), builder, json, on_delta).expect("no error");
        })
    }

    proptest! {
        #[test]
        fn an_event_is_read_as_in_general(id in "\\PC{0,6}", model in "[a-z\"\\\\é]{0,6}", content in "\\PC{0,20}", role: bool) {
            let quoted = |text: &str| serde_json::to_string(text).expect("JSON");
            let role = if role { r#""role":"assistant","# } else { "" };
            let data = format!(
                r#"{{"id":{},"object":"chat.completion.chunk","created":7,"model":{},"choices":[{{"index":0,"delta":{{{role}"content":{}}},"logprobs":null,"finish_reason":null}}],"usage":null}}"#,
                quoted(&id), quoted(&model), quoted(&content),
            );
            let event = TextEvent::parse(&data).expect("a piece of text");
            prop_assert_eq!(texts(|builder, on_delta| event.add_to(builder, on_delta)), in_general(&data));
        }
    }

    #[test]
    fn an_event_with_anything_else_is_left_to_the_general_reading() {
        let event = |choices: &str, more: &str| format!(r#"{{"id":"1","model":"m","choices":{choices}{more}}}"#);
        let text = r#"[{"index":0,"delta":{"content":"a"}}]"#;
        assert!(TextEvent::parse(&event(text, "")).is_some());
        for other in [
            event(text, r#","usage":{"prompt_tokens":1,"completion_tokens":1}"#),
            event(text, r#","error":{"message":"x"}"#),
            event(text, r#","citations":["https://example.org"]"#),
            event(r#"[{"index":1,"delta":{"content":"a"}}]"#, ""),
            event(r#"[{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}]"#, ""),
            event(r#"[{"index":0,"delta":{"content":"a"},"stop_reason":"x"}]"#, ""),
            event(r#"[{"index":0,"delta":{"content":"a","refusal":"no"}}]"#, ""),
            event(r#"[{"index":0,"delta":{"content":"a","reasoning":"b"}}]"#, ""),
            event(r#"[{"index":0,"delta":{"content":[{"text":"a"}]}}]"#, ""),
            event(r#"[{"index":0,"delta":{"content":null}}]"#, ""),
            event("[]", ""),
        ] {
            assert!(TextEvent::parse(&other).is_none(), "{other}");
        }
    }
}
