//! Quoted strings: which quote ends a string, and what to do if none does.
//!
//! A quote ends a string only if the text after it can follow a string there ([`Parser::can_end_string`]). Any other quote
//! is part of the text (`24" screen`), unless it opens the next key or item: then the end quote of the string is missing.

use super::cursor::LOOKAHEAD;
use super::escape::EscapeResult;
use super::parser::{Parser, Role};
use super::quote::{Quote, plain_len};
use super::reading::ParseResult;
use crate::fix::FixKind;

enum Scan {
    /// A quote ends the string right before `resume`.
    Ended {
        text: String,
        resume: usize,
    },
    /// The end quote is missing; the string ends before `resume`.
    MissingQuote {
        text: String,
        resume: usize,
    },
    /// The end quote is missing before a `+` that joins the string at `resume`.
    MissingQuoteBeforePlus {
        text: String,
        resume: usize,
    },
    Unterminated,
    /// The end quote of a key is missing: the scan passed its colon and reached the next member.
    KeyOverrun,
}

impl Parser<'_> {
    /// Reads the string that opens here; `None` for a key that is cut off by the end of the text.
    pub(super) fn read_quoted(&mut self, role: Role) -> ParseResult<Option<String>> {
        let Some((quote, len)) = self.quote_here() else { return self.fail("expected a quote") };
        if let Some(text) = self.read_triple_quoted().or_else(|| self.read_doubled_quotes(len, role)) {
            return Ok(Some(text));
        }
        if quote != Quote::Double {
            self.record(FixKind::Quotes, self.slice(self.pos, self.pos + len), "\"");
        }
        // The text of the strings before, if their end quotes are missing and `+` joins them to this one.
        let mut before: Option<String> = None;
        let join = |before: Option<String>, text: String| match before {
            None => text,
            Some(before) => before + &text,
        };
        loop {
            let (quote, len) = self.quote_here().unwrap_or((quote, len));
            let (open, start) = (self.pos, self.pos + len);
            let mark = self.fixes.len();
            let slot = self.unterminated_slot(quote, role);
            let is_unterminated = self.unterminated.get(&slot).is_some_and(|from| start >= *from);
            let scan = if is_unterminated { Scan::Unterminated } else { self.scan(quote, start, role)? };
            let (text, resume) = match scan {
                Scan::Ended { text, resume } => {
                    if self.fixes.len() > mark {
                        self.note_swallowed(open, &text, quote);
                    }
                    self.pos = resume;
                    return Ok(Some(join(before, text)));
                }
                Scan::MissingQuote { text, resume } => {
                    self.note_swallowed(open, &text, quote);
                    (text, resume)
                }
                Scan::MissingQuoteBeforePlus { text, resume } => {
                    self.record(FixKind::MissingQuote, self.slice(open, resume), in_quotes(&text) + " +");
                    self.pos = resume;
                    before = Some(join(before, text));
                    continue;
                }
                Scan::Unterminated | Scan::KeyOverrun => {
                    if matches!(scan, Scan::Unterminated) && !is_unterminated {
                        self.unterminated.insert(slot, start);
                    }
                    self.fixes.truncate(mark);
                    return Ok(self.read_unterminated(open, start, quote, role)?.map(|text| join(before, text)));
                }
            };
            self.record(FixKind::MissingQuote, self.slice(open, resume), in_quotes(&text));
            self.pos = resume;
            return Ok(Some(join(before, text)));
        }
    }

    fn unterminated_slot(&self, quote: Quote, role: Role) -> usize {
        let open = usize::from(self.open.arrays > 0)
            + 2 * usize::from(self.open.objects > 0)
            + 4 * usize::from(self.open.parentheses > 0);
        (quote as usize * 5 + role as usize) * 8 + open
    }

    fn scan(&mut self, quote: Quote, start: usize, role: Role) -> ParseResult<Scan> {
        let mut text = String::new();
        let mut run = start;
        let mut at = start;
        let mut raw_control = false;
        loop {
            at += self.text.as_bytes().get(at..).map_or(0, plain_len);
            if at >= self.text.len() {
                return Ok(Scan::Unterminated);
            }
            let byte = self.byte(at);
            if byte == b'\\' {
                text.push_str(self.slice(run, at));
                match self.read_escape(at)? {
                    EscapeResult::EndOfText => return Ok(Scan::Unterminated),
                    EscapeResult::Character(escaped, end) => {
                        text.push(escaped);
                        (at, run) = (end, end);
                    }
                }
            } else if byte < 0x20 {
                self.check_control(at, byte)?;
                raw_control = true;
                at += 1;
            } else if let Some((_, len)) = self.quote_at(at).filter(|(found, _)| quote.is_ended_by(*found)) {
                if let Some(scan) = self.quote_in_string(quote, start, run, at, len, role, &mut text) {
                    if raw_control {
                        self.record(FixKind::RawControl, self.slice(start, at), "");
                    }
                    return Ok(scan);
                }
                at += len;
            } else {
                at += 1;
            }
        }
    }

    /// Fails if the byte at `at` is a control character other than white space.
    fn check_control(&mut self, at: usize, byte: u8) -> ParseResult<()> {
        if byte >= 0x20 || matches!(byte, b'\n' | b'\r' | b'\t' | 0x08 | 0x0C) {
            return Ok(());
        }
        self.pos = at;
        self.fail(format!("a string may not contain the control character U+{byte:04X}"))
    }

    /// Decides whether a quote inside a string is its end, the start of the next string, or text (`None`).
    #[expect(
        clippy::too_many_arguments,
        reason = "these are the state of one scan, and a struct would only rename them"
    )]
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
        let head = self.slice(start, at.min(start + LOOKAHEAD));
        if role == Role::Key && head.contains(':') && head.contains([',', '\n']) {
            return Some(Scan::KeyOverrun);
        }
        if self.can_end_string(at + len, role) || self.is_key_in_list(quote, start, at, len, role) {
            let mut text = std::mem::take(text);
            text.push_str(self.slice(run, at));
            return Some(Scan::Ended { text, resume: at + len });
        }
        if role == Role::Key && head.trim_end().ends_with(':') {
            return Some(Scan::KeyOverrun);
        }
        if let Some((end, joined)) = self.missed_end(quote, start, at, role) {
            let mut text = std::mem::take(text);
            text.push_str(self.slice(run, end.max(run)));
            let text = without_other_quote(text.trim_end()).to_owned();
            return Some(if joined {
                Scan::MissingQuoteBeforePlus { text, resume: at }
            } else {
                Scan::MissingQuote { text, resume: end }
            });
        }
        self.record(FixKind::InnerQuote, self.slice(at, at + len), "\\\"");
        None
    }

    /// Reads a string that no quote ends: the text is truncated, or the quote is missing before a bracket or comma.
    fn read_unterminated(
        &mut self,
        open: usize,
        start: usize,
        quote: Quote,
        role: Role,
    ) -> ParseResult<Option<String>> {
        let closed = self.ends_with_all_closers();
        let stop = if role == Role::Key { self.key_stop(start) } else { closed.then(|| self.value_stop(start, role)) };
        let Some(stop) = stop else {
            if role == Role::Key {
                return Ok(None);
            }
            self.truncated = true;
            let text = self.unescape(start, self.text.len())?;
            let text = drop_trailing_plus(&text).to_owned();
            self.note_swallowed(open, &text, quote);
            self.record(FixKind::CutTail, self.slice(open, self.text.len()), &text);
            self.pos = self.text.len();
            return Ok(Some(text));
        };
        let text = self.unescape(start, stop)?;
        let text = without_other_quote(drop_trailing_plus(text.trim_end())).to_owned();
        self.note_swallowed(open, &text, quote);
        self.record(FixKind::MissingQuote, self.slice(open, stop), in_quotes(&text));
        self.pos = stop;
        Ok(Some(text))
    }

    fn key_stop(&self, start: usize) -> Option<usize> {
        let rest = self.text.get(start..)?;
        let stop = rest.find([':', '\n'])?;
        (self.byte(start + stop) == b':').then_some(start + stop)
    }

    /// Where a value without an end quote ends: before the bracket, comma or line end that can follow it.
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
                    let next = self.after_whitespace(at + 1);
                    next >= bytes.len() || self.looks_like_key(next)
                }
                b',' | b'\n' => true,
                byte @ (b']' | b'}' | b')') => self.closes_open_frame(byte),
                _ => false,
            };
            if stops {
                return at;
            }
            at += 1;
        }
        bytes.len()
    }

    fn unescape(&mut self, start: usize, end: usize) -> ParseResult<String> {
        let mut text = String::new();
        let (mut run, mut at) = (start, start);
        while at < end {
            let byte = self.byte(at);
            if byte == b'\\' {
                text.push_str(self.slice(run, at));
                match self.read_escape(at)? {
                    EscapeResult::EndOfText => {
                        // Drop a lone backslash, but keep an incomplete code point as written.
                        let tail = self.slice(at, end);
                        text.push_str(if tail.len() > 1 { tail } else { "" });
                        at = end;
                    }
                    EscapeResult::Character(escaped, end) => {
                        text.push(escaped);
                        at = end;
                    }
                }
                run = at;
            } else {
                self.check_control(at, byte)?;
                at += 1;
            }
        }
        text.push_str(self.slice(run, end.max(run)));
        Ok(text)
    }

    /// Appends the strings that `+` joins to `text`.
    pub(super) fn append_concatenated(&mut self, mut text: String) -> ParseResult<String> {
        loop {
            // A `+` rarely follows, so check one byte first; a comment may come before the `+`.
            if !matches!(self.byte(self.after_whitespace(self.pos)), b'+' | b'/' | b'#' | 0x80..) {
                return Ok(text);
            }
            let (before, fixes) = (self.pos, self.fixes.len());
            self.skip_space_and_comments();
            if self.peek() != Some(b'+') || !self.joins_string(self.pos + 1) {
                self.pos = before;
                self.fixes.truncate(fixes);
                return Ok(text);
            }
            self.pos += 1;
            self.skip_space_and_comments();
            let more = self.read_quoted(self.role())?.unwrap_or_default();
            self.record(FixKind::Concatenation, self.slice(before, self.pos), &more);
            text.push_str(&more);
        }
    }
}

/// Removes a `+` at the end of a truncated text, after which the next string is missing.
fn drop_trailing_plus(text: &str) -> &str {
    text.strip_suffix('+').filter(|before| before.ends_with(' ')).map_or(text, str::trim_end)
}

/// The text without a quote of another family at its end, which ends a string that was opened with the wrong one: `'Paris"`.
fn without_other_quote(text: &str) -> &str {
    let mark = |c: &char| matches!(c, '"' | '\'' | '“' | '”' | '‘' | '’' | '`');
    let Some(last) = text.chars().next_back().filter(mark) else { return text };
    let inner = &text[..text.len() - last.len_utf8()];
    if inner.is_empty() || inner.contains(last) { text } else { inner }
}

/// `text` in double quotes, for a fix.
pub(super) fn in_quotes(text: &str) -> String {
    ["\"", text, "\""].concat()
}
