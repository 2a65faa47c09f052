//! Finding where the JSON begins in a text that goes on.

/// The tags around the reasoning of a model. JSON in it is not the answer.
const REASONING_TAGS: [&str; 5] = ["think", "thinking", "reasoning", "thought", "reflection"];

/// Searches for the first bracket that is set apart as an answer: at the start of a line, or after a colon, an equals sign, a tag
/// or a fence.
#[derive(Debug, Default)]
pub(super) struct StartFinder {
    at: usize,
    /// The tag of the reasoning in which the search is.
    reasoning: Option<&'static str>,
    /// The last visible character on this line.
    last: Option<u8>,
}

impl StartFinder {
    /// The offset of the bracket; `None` if it has not arrived.
    pub(super) fn advance(&mut self, text: &str) -> Option<usize> {
        while let Some(byte) = text.as_bytes().get(self.at).copied() {
            match byte {
                b'<' if !self.read_tag(text.as_bytes().get(self.at..).unwrap_or_default()) => return None,
                b'{' | b'[' if self.reasoning.is_none() && self.is_set_apart() => return Some(self.at),
                b'\n' | b'\r' => self.last = None,
                _ => {}
            }
            if !matches!(byte, b' ' | b'\t' | b'\n' | b'\r') {
                self.last = Some(byte);
            }
            self.at += 1;
        }
        None
    }

    fn is_set_apart(&self) -> bool {
        self.last.is_none_or(|last| matches!(last, b':' | b'=' | b'>' | b'`'))
    }

    /// Enters or leaves the reasoning if a tag of it begins here; false if that is not known before more of the text has arrived.
    fn read_tag(&mut self, rest: &[u8]) -> bool {
        let is_closing = rest.get(1) == Some(&b'/');
        let name = rest.get(if is_closing { 2 } else { 1 }..).unwrap_or_default();
        for tag in REASONING_TAGS {
            let whole = tag.bytes().chain([b'>']);
            if name.len() <= tag.len() && whole.clone().take(name.len()).eq(name.iter().copied()) {
                return false;
            }
            if whole.eq(name.iter().copied().take(tag.len() + 1)) {
                match (self.reasoning, is_closing) {
                    (None, false) => self.reasoning = Some(tag),
                    (Some(open), true) if open == tag => self.reasoning = None,
                    _ => {}
                }
                return true;
            }
        }
        true
    }
}
