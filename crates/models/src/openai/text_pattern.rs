//! The most common event of a stream: a piece of text, and nothing else.
//!
//! Answers have one such event for each token. Reading them without a tree of values takes a fraction of the time, and nearly
//! all differ from the one before only in their piece of text.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::answer_builder::{AnswerBuilder, OnDelta};

/// What stands before and after the text of the last event. Nearly all events of an answer have the same around their text, so they
/// are compared and not parsed.
#[derive(Debug, Default)]
pub(crate) struct TextPattern {
    /// Ends with the quote that opens the text; empty if the last event was no piece of text.
    before: String,
    /// Begins with the quote that closes it.
    after: String,
}

impl TextPattern {
    /// Adds the text of an event to the answer; false if the event is another one.
    pub(crate) fn read(&mut self, builder: &mut AnswerBuilder, data: &str, on_delta: OnDelta<'_>) -> bool {
        if let Some(text) = self.text_of(data) {
            // The event before has set the same id and model.
            builder.add_text(text, on_delta);
            return true;
        }
        let event = TextEvent::parse(data);
        self.learn(data, event.as_ref().and_then(TextEvent::content));
        event.map(|event| event.add_to(builder, on_delta)).is_some()
    }

    /// The text of an event that has all else in common with the last one.
    fn text_of<'d>(&self, data: &'d str) -> Option<&'d str> {
        if self.before.is_empty() {
            return None;
        }
        let text = data.strip_prefix(self.before.as_str())?.strip_suffix(self.after.as_str())?;
        // An escape, or the end of the text: it must be parsed.
        let is_plain = |byte: u8| byte != b'"' && byte != b'\\' && byte >= 0x20;
        text.bytes().all(is_plain).then_some(text)
    }

    fn learn(&mut self, data: &str, content: Option<&str>) {
        self.before.clear();
        self.after.clear();
        let Some(content) = content else { return };
        // The content is a part of the data.
        let start = (content.as_ptr() as usize).wrapping_sub(data.as_ptr() as usize);
        let around = data.get(..start).zip(data.get(start.wrapping_add(content.len())..));
        if let Some((before, after)) = around.filter(|(before, after)| before.ends_with('"') && after.starts_with('"'))
        {
            self.before.push_str(before);
            self.after.push_str(after);
        }
    }
}

/// An event with a piece of text. An event with anything else in it, known or not, is none.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TextEvent<'a> {
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
    fn parse(data: &'a str) -> Option<Self> {
        let event: Self = serde_json::from_str(data).ok()?;
        let [choice] = &event.choices;
        (choice.index == 0).then_some(event)
    }

    /// The text, as it stands in the event; none if it has escapes.
    fn content(&self) -> Option<&'a str> {
        let [TextChoice { delta: TextDelta { content, .. }, .. }] = &self.choices;
        match content {
            Cow::Borrowed(content) => Some(content),
            Cow::Owned(_) => None,
        }
    }

    fn add_to(&self, builder: &mut AnswerBuilder, on_delta: OnDelta<'_>) {
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
    use crate::openai::{ReasoningDetails, read as read_in_general};

    fn event(id: &str, content: &str) -> String {
        let content = serde_json::to_string(content).expect("JSON");
        format!(
            r#"{{"id":"{id}","model":"m","choices":[{{"index":0,"delta":{{"content":{content}}},"finish_reason":null}}]}}"#
        )
    }

    /// The answer, and which events were a piece of text.
    fn read(pattern: impl Fn() -> Option<TextPattern>, events: &[String]) -> (String, Vec<bool>) {
        let (mut builder, mut kept) = (AnswerBuilder::default(), TextPattern::default());
        let mut read = Vec::new();
        for event in events {
            let mut fresh = pattern();
            read.push(fresh.as_mut().unwrap_or(&mut kept).read(&mut builder, event, &mut |_| {}));
        }
        (format!("{builder:?}"), read)
    }

    proptest! {
        #[test]
        fn events_are_read_as_if_each_was_parsed(
            pieces in proptest::collection::vec(("[ab]", prop_oneof!["\\PC{0,6}", "[\"\\\\\n,{}: a]{0,6}"], 0..12_u8), 0..12),
        ) {
            let events: Vec<String> = pieces.iter().map(|(id, content, kind)| match kind {
                0 => event(id, content).replace("null", "\"stop\""),
                1 => event(id, content).replace("\\n", "\n"),
                2 => event(id, "x").replace("\"x\"", &format!("\"{content}\"")),
                _ => event(id, content),
            }).collect();
            prop_assert_eq!(read(|| None, &events), read(|| Some(TextPattern::default()), &events));
        }
    }

    #[test]
    fn a_text_with_escapes_or_a_second_field_is_parsed() {
        let mut pattern = TextPattern::default();
        let first = event("1", "a");
        pattern.learn(&first, TextEvent::parse(&first).expect("a text").content());
        assert_eq!(pattern.text_of(&event("1", "b c é")), Some("b c é"));
        for other in
            [event("2", "b"), event("1", "\""), event("1", "\n"), event("1", "x").replace('x', "a\",\"refusal\":\"no")]
        {
            assert_eq!(pattern.text_of(&other), None, "{other}");
        }
    }

    fn texts(read: impl FnOnce(&mut AnswerBuilder, OnDelta<'_>)) -> (String, Vec<String>) {
        let (mut builder, mut pieces) = (AnswerBuilder::default(), Vec::new());
        read(&mut builder, &mut |delta| pieces.push(format!("{delta:?}")));
        (format!("{builder:?}"), pieces)
    }

    fn in_general(data: &str) -> (String, Vec<String>) {
        texts(|builder, on_delta| {
            let json = Value::parse(data).expect("JSON");
            read_in_general(&mut ReasoningDetails::default(), builder, &json, "delta", on_delta);
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
