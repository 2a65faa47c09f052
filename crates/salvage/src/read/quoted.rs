//! Quoted strings: which quote ends one, and what to do when none does.
//!
//! A quote ends a string only if what follows it can follow a string in that place ([`Parser::can_end`]). A quote
//! that cannot is text (`24" screen`), unless it opens the next key or item: then the end quote is what is missing.

use super::{
    cursor::LOOK,
    escape::Escaped,
    failure::Step,
    parser::{Parser, Role},
};
use crate::fix::FixKind;

/// The families of quotes; a string ends with a quote of its own family.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quote {
    Double,
    SmartDouble,
    Single,
    SmartSingle,
}

impl Quote {
    /// Whether a string that this quote opens may be closed by `end`.
    pub(super) fn is_ended_by(self, end: Quote) -> bool {
        match self {
            Self::Double | Self::Single => end == self,
            Self::SmartDouble => matches!(end, Self::SmartDouble | Self::Double),
            Self::SmartSingle => matches!(end, Self::SmartSingle | Self::Single),
        }
    }
}

/// From which position on no string of a family, role and set of open brackets finds its end. Without this memory
/// a text full of unclosed strings would be scanned to its end once for each.
#[derive(Debug, Default)]
pub(super) struct NoEnd(Vec<(usize, usize)>);

impl NoEnd {
    /// Whether a string of this slot that starts at `start` is known to find no end.
    fn knows(&self, slot: usize, start: usize) -> bool {
        self.0.iter().any(|(known, from)| *known == slot && start >= *from)
    }

    fn learn(&mut self, slot: usize, start: usize) {
        if !self.knows(slot, start) {
            self.0.push((slot, start));
        }
    }
}

/// How the scan for the end of a string went.
enum Scan {
    /// The string ends here; reading goes on behind its quote.
    End { text: String, resume: usize },
    /// The end quote is missing; the string ends before `resume`.
    Missing { text: String, resume: usize },
    /// Missing too, and a `+` joins the next string to it.
    Joined { text: String, resume: usize },
    /// No quote ends it.
    Open,
    /// A key that runs over its colon and into the next member: its end quote is missing.
    OverRun,
}

impl Parser<'_> {
    pub(super) fn quote_here(&self) -> Option<(Quote, usize)> {
        self.quote_at(self.pos)
    }

    /// The quote at `at` and its length in bytes.
    pub(super) fn quote_at(&self, at: usize) -> Option<(Quote, usize)> {
        match self.byte(at) {
            b'"' => Some((Quote::Double, 1)),
            b'\'' => Some((Quote::Single, 1)),
            b'`' if self.slice(at, at + 3) == "```" => None,
            b'`' => Some((Quote::SmartSingle, 1)),
            0xC2 | 0xE2 => {
                let quote = self.text.get(at..)?.chars().next()?;
                match quote {
                    '“' | '”' | '„' | '‟' => Some((Quote::SmartDouble, quote.len_utf8())),
                    '‘' | '’' | '‛' | '´' => Some((Quote::SmartSingle, quote.len_utf8())),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Reads the string that opens here; `None` if it is a key that the text cuts.
    pub(super) fn quoted(&mut self, role: Role) -> Step<Option<String>> {
        let Some((quote, len)) = self.quote_here() else { return self.fail("expected a quote") };
        if let Some(text) = self.triple_quoted() {
            return Ok(Some(text));
        }
        if quote != Quote::Double {
            self.fix(FixKind::Quotes, self.slice(self.pos, self.pos + len), "\"");
        }
        // What strings that are joined without their end quotes begin with.
        let mut before: Option<String> = None;
        let join = |before: Option<String>, text: String| match before {
            None => text,
            Some(before) => before + &text,
        };
        loop {
            let (quote, len) = self.quote_here().unwrap_or((quote, len));
            let (open, start) = (self.pos, self.pos + len);
            let mark = self.fixes.len();
            let slot = self.no_end_slot(quote, role);
            let known_open = self.no_end.knows(slot, start);
            let scan = if known_open { Scan::Open } else { self.scan(quote, start, role)? };
            let (text, resume) = match scan {
                Scan::End { text, resume } => {
                    self.pos = resume;
                    return Ok(Some(join(before, text)));
                }
                Scan::Missing { text, resume } => (text, resume),
                Scan::Joined { text, resume } => {
                    self.fix(FixKind::MissingQuote, self.slice(open, resume), in_quotes(&text) + " +");
                    self.pos = resume;
                    before = Some(join(before, text));
                    continue;
                }
                Scan::Open | Scan::OverRun => {
                    if matches!(scan, Scan::Open) {
                        self.no_end.learn(slot, start);
                    }
                    self.fixes.truncate(mark);
                    return Ok(self.unclosed(open, start, role)?.map(|text| join(before, text)));
                }
            };
            self.fix(FixKind::MissingQuote, self.slice(open, resume), in_quotes(&text));
            self.pos = resume;
            return Ok(Some(join(before, text)));
        }
    }

    fn no_end_slot(&self, quote: Quote, role: Role) -> usize {
        let open = usize::from(self.open.arrays > 0)
            + 2 * usize::from(self.open.objects > 0)
            + 4 * usize::from(self.open.rounds > 0);
        (quote as usize * 5 + role as usize) * 8 + open
    }

    /// Walks from quote to quote until one ends the string.
    fn scan(&mut self, quote: Quote, start: usize, role: Role) -> Step<Scan> {
        let mut text = String::new();
        let mut run = start;
        let mut at = start;
        let mut raw_control = false;
        loop {
            at += self.plain_len(at);
            if at >= self.text.len() {
                return Ok(Scan::Open);
            }
            let byte = self.byte(at);
            if byte == b'\\' {
                text.push_str(self.slice(run, at));
                match self.escape(at)? {
                    Escaped::Cut => return Ok(Scan::Open),
                    Escaped::Character(escaped, end) => {
                        text.push(escaped);
                        (at, run) = (end, end);
                    }
                }
            } else if byte < 0x20 {
                if !matches!(byte, b'\n' | b'\r' | b'\t' | 0x08 | 0x0C) {
                    self.pos = at;
                    return self.fail(format!("a string may not hold the control character U+{byte:04X}"));
                }
                raw_control = true;
                at += 1;
            } else if let Some((_, len)) = self.quote_at(at).filter(|(found, _)| quote.is_ended_by(*found)) {
                if let Some(scan) = self.quote_in_string(quote, start, run, at, len, role, &mut text) {
                    if raw_control {
                        self.fix(FixKind::RawControl, self.slice(start, at), "");
                    }
                    return Ok(scan);
                }
                at += len;
            } else {
                at += 1;
            }
        }
    }

    /// Decides on one quote inside a string: the end, the start of the next string, or text.
    #[expect(clippy::too_many_arguments, reason = "the state of one scan; a struct would only rename it")]
    fn quote_in_string(
        &mut self,
        quote: Quote,
        start: usize,
        run: usize,
        at: usize,
        len: usize,
        role: Role,
        text: &mut String,
    ) -> Option<Scan> {
        let head = self.slice(start, at.min(start + LOOK));
        if role == Role::Key && head.contains(':') && head.contains([',', '\n']) {
            return Some(Scan::OverRun);
        }
        if self.can_end(at + len, role) {
            let mut text = std::mem::take(text);
            text.push_str(self.slice(run, at));
            return Some(Scan::End { text, resume: at + len });
        }
        if let Some((end, joined)) = self.end_was_missed(quote, start, at, role) {
            let mut text = std::mem::take(text);
            text.push_str(self.slice(run, end.max(run)));
            let text = text.trim_end().to_owned();
            return Some(if joined { Scan::Joined { text, resume: at } } else { Scan::Missing { text, resume: end } });
        }
        self.fix(FixKind::InnerQuote, self.slice(at, at + len), "\\\"");
        None
    }

    /// How many bytes from `at` are plain text: no quote, escape or control character.
    fn plain_len(&self, at: usize) -> usize {
        self.text.as_bytes().get(at..).map_or(0, plain_len)
    }

    /// No quote ends the string: the text is cut, or the quote is missing before a bracket or comma.
    fn unclosed(&mut self, open: usize, start: usize, role: Role) -> Step<Option<String>> {
        let closed = self.is_closed_behind();
        let stop = if role == Role::Key { self.key_stop(start) } else { closed.then(|| self.value_stop(start, role)) };
        let Some(stop) = stop else {
            if role == Role::Key {
                return Ok(None);
            }
            self.truncated = true;
            let text = self.unescaped(start, self.text.len())?;
            let text = drop_hanging_plus(&text).to_owned();
            self.fix(FixKind::CutTail, self.slice(open, self.text.len()), &text);
            self.pos = self.text.len();
            return Ok(Some(text));
        };
        let text = self.unescaped(start, stop)?;
        let text = drop_hanging_plus(text.trim_end()).to_owned();
        self.fix(FixKind::MissingQuote, self.slice(open, stop), in_quotes(&text));
        self.pos = stop;
        Ok(Some(text))
    }

    fn key_stop(&self, start: usize) -> Option<usize> {
        let rest = self.text.get(start..)?;
        let stop = rest.find([':', '\n'])?;
        (self.byte(start + stop) == b':').then_some(start + stop)
    }

    /// Where a value without an end quote ends: at the bracket, comma or line end that can follow it.
    fn value_stop(&self, start: usize, role: Role) -> usize {
        let bytes = self.text.as_bytes();
        let mut at = start;
        while at < bytes.len() {
            let stops = match self.byte(at) {
                b'\\' => {
                    at += 2;
                    continue;
                }
                b',' if role == Role::Member => {
                    let next = self.skip_blanks(at + 1);
                    next >= bytes.len() || self.looks_like_key(next)
                }
                b',' | b'\n' => true,
                b']' => self.open.arrays > 0,
                b'}' => self.open.objects > 0,
                b')' => self.open.rounds > 0,
                _ => false,
            };
            if stops {
                return at;
            }
            at += 1;
        }
        bytes.len()
    }

    /// The text from `start` to `end` with its escapes read.
    fn unescaped(&mut self, start: usize, end: usize) -> Step<String> {
        let mut text = String::new();
        let (mut run, mut at) = (start, start);
        while at < end {
            let byte = self.byte(at);
            if byte == b'\\' {
                text.push_str(self.slice(run, at));
                match self.escape(at)? {
                    Escaped::Cut => {
                        // A lone backslash carries nothing; a started code point is shown as written.
                        let tail = self.slice(at, end);
                        text.push_str(if tail.len() > 1 { tail } else { "" });
                        (at, run) = (end, end);
                    }
                    Escaped::Character(escaped, end) => {
                        text.push(escaped);
                        (at, run) = (end, end);
                    }
                }
            } else if byte < 0x20 && !matches!(byte, b'\n' | b'\r' | b'\t' | 0x08 | 0x0C) {
                self.pos = at;
                return self.fail(format!("a string may not hold the control character U+{byte:04X}"));
            } else {
                at += 1;
            }
        }
        text.push_str(self.slice(run, end.max(run)));
        Ok(text)
    }

    /// Python's `"""text"""`, which may hold quotes and line breaks.
    fn triple_quoted(&mut self) -> Option<String> {
        let fence = match self.text.as_bytes().get(self.pos..self.pos + 3)? {
            b"\"\"\"" => "\"\"\"",
            b"'''" => "'''",
            _ => return None,
        };
        let inside = self.rest().get(fence.len()..)?;
        // An empty string with something behind it is no triple quote.
        let len = inside.get(..inside.len().min(1 << 20)).unwrap_or(inside).find(fence)?;
        let next = self.skip_blanks(self.pos + 2 * fence.len() + len);
        if next < self.text.len() && !matches!(self.byte(next), b',' | b'}' | b']' | b')' | b':') {
            return None;
        }
        let text = inside.get(..len)?.to_owned();
        self.fix(FixKind::Quotes, fence, "\"");
        self.pos += 2 * fence.len() + len;
        Some(text)
    }

    /// Joins the strings that follow `text` with `+`.
    pub(super) fn concatenation(&mut self, mut text: String) -> Step<String> {
        loop {
            // Hardly ever does a `+` follow, and a comment could hide it.
            if !matches!(self.byte(self.skip_blanks(self.pos)), b'+' | b'/' | b'#' | 0x80..) {
                return Ok(text);
            }
            let (before, fixes) = (self.pos, self.fixes.len());
            self.space();
            if self.peek() != Some(b'+') || !self.joins_string(self.pos + 1) {
                self.pos = before;
                self.fixes.truncate(fixes);
                return Ok(text);
            }
            self.pos += 1;
            self.space();
            let more = self.quoted(self.role())?.unwrap_or_default();
            self.fix(FixKind::Concatenation, self.slice(before, self.pos), &more);
            text.push_str(&more);
        }
    }
}

/// Which bytes are plain text inside any string. A table, because each byte of every string is looked up.
#[expect(clippy::indexing_slicing, reason = "a constant does not compile if an index is out of range")]
const PLAIN: [bool; 256] = {
    let mut plain = [true; 256];
    let mut byte = 0_u8;
    loop {
        plain[byte as usize] = !matches!(byte, b'"' | b'\'' | b'`' | b'\\' | 0xC2 | 0xE2 | 0..0x20);
        if byte == u8::MAX {
            break plain;
        }
        byte += 1;
    }
};

/// How many bytes at the start are plain text.
pub(super) fn plain_len(bytes: &[u8]) -> usize {
    let is_plain = |byte: &u8| PLAIN.get(usize::from(*byte)).copied().unwrap_or(false);
    bytes.iter().position(|byte| !is_plain(byte)).unwrap_or(bytes.len())
}

/// A `+` left hanging where the text breaks off joins nothing.
fn drop_hanging_plus(text: &str) -> &str {
    text.strip_suffix('+').filter(|before| before.ends_with(' ')).map_or(text, str::trim_end)
}

/// `text` in double quotes, as a fix shows it.
pub(super) fn in_quotes(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    quoted.push_str(text);
    quoted.push('"');
    quoted
}
