//! Events of a stream that differ from the one before only in their piece of text.

use super::text_event::TextEvent;
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

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
}
