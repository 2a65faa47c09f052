//! Parsing a whole text or fenced block: one value, or a sequence of values.

use reknit_protocol::{Path, Value};

use super::Completeness;
use super::layers::without_layer;
use super::parser::{Parser, QuoteRule, YesNoWords};
use super::reading::{ESCAPED_QUOTE, FailureReason, ParseFailure, SWALLOWED};
use crate::fix::{FixKind, FixList};

/// One way to read the text.
#[derive(Debug, Clone)]
pub(in crate::repair) struct Candidate {
    pub(in crate::repair) value: Value,
    pub(in crate::repair) fixes: FixList,
    pub(in crate::repair) completeness: Completeness,
    pub(in crate::repair) arithmetic: Vec<Path>,
    /// Whether the value is unquoted text. All prose can be read that way, so it is the last resort.
    pub(in crate::repair) is_bare_text: bool,
}

impl Candidate {
    pub(super) fn unrepaired(value: Value) -> Self {
        Self {
            value,
            fixes: FixList::default(),
            completeness: Completeness::Complete,
            arithmetic: Vec::new(),
            is_bare_text: false,
        }
    }

    /// The value that the parser read, with what it noted meanwhile.
    pub(super) fn take_from_parser(parser: &mut Parser<'_>, value: Value, is_bare_text: bool) -> Self {
        let completeness = if parser.truncated {
            Completeness::Truncated
        } else if parser.elided {
            Completeness::Elided
        } else {
            Completeness::Complete
        };
        let (fixes, arithmetic) = (std::mem::take(&mut parser.fixes), std::mem::take(&mut parser.arithmetic));
        Self { value, fixes, completeness, arithmetic, is_bare_text }
    }
}

/// Parses all of `text`; `None` if it contains no value. Text that is not part of the JSON is a failure.
pub(super) fn parse_document(text: &str, yes_no: YesNoWords) -> Result<Option<Candidate>, ParseFailure> {
    let (body, fence) = split_closing_fence(text);
    let mut parsed = parse_escaped(body, yes_no);
    if let (Ok(Some(candidate)), false) = (&mut parsed, fence.is_empty()) {
        candidate.fixes.push(Path::root, FixKind::Fence, fence, "");
    }
    parsed
}

/// Splits off a fence at the end of a code block whose beginning is missing: it is the only fence in the text.
fn split_closing_fence(text: &str) -> (&str, &str) {
    let whole = || (text, "");
    if !text.ends_with('`') {
        return whole();
    }
    let body = text.trim_end_matches('`');
    let is_fence = text.len() - body.len() >= 3 && body.contains(['{', '[']) && !body.contains("```");
    if is_fence { text.split_at(body.trim_end().len()) } else { whole() }
}

fn parse_escaped(text: &str, yes_no: YesNoWords) -> Result<Option<Candidate>, ParseFailure> {
    if let Some((inner, kind)) = without_layer(text)
        && let Ok(Some(mut candidate)) = parse(&inner, yes_no)
        && candidate.completeness == Completeness::Complete
        && !candidate.is_bare_text
    {
        candidate.fixes.push(Path::root, kind, text, &inner);
        return Ok(Some(candidate));
    }
    match parse(text, yes_no) {
        Err(ParseFailure::Escaped(at)) => {
            let inner = unescape_layer(text);
            let failure = |_| ParseFailure::Unreadable(at, ESCAPED_QUOTE.into());
            let mut candidate = parse(&inner, yes_no).map_err(failure)?;
            if let Some(candidate) = &mut candidate {
                candidate.fixes.push(Path::root, FixKind::EscapedText, text, &inner);
            }
            Ok(candidate)
        }
        result => result,
    }
}

fn parse(text: &str, yes_no: YesNoWords) -> Result<Option<Candidate>, ParseFailure> {
    parse_by_both_rules(text, 0, yes_no, parse_all)
}

/// Runs `parse` with quotes judged by their context. If a string then contains JSON structure, runs it again with quotes judged
/// by the structure alone. If that does not help either, the text is unreadable at that string.
pub(super) fn parse_by_both_rules<'t, T>(
    text: &'t str,
    start: usize,
    yes_no: YesNoWords,
    parse: impl Fn(&mut Parser<'t>) -> Result<T, ParseFailure>,
) -> Result<T, ParseFailure> {
    let mut parser = Parser::new(text, start, yes_no, QuoteRule::ByContext);
    let first = parse(&mut parser);
    let Some(at) = parser.swallowed else { return first };
    let mut parser = Parser::new(text, start, yes_no, QuoteRule::ByStructure);
    match parse(&mut parser) {
        Ok(second) if parser.swallowed.is_none() => Ok(second),
        _ => first.and(Err(ParseFailure::Unreadable(at, SWALLOWED.into()))),
    }
}

fn parse_all(parser: &mut Parser<'_>) -> Result<Option<Candidate>, ParseFailure> {
    parser.skip_space_and_comments();
    let first_byte = parser.peek();
    let Some(first) = parser.read_value()? else { return Ok(None) };
    let is_bare_text = is_bare_text(parser, &first, first_byte);
    let container = matches!(first, Value::Array(_) | Value::Object(_));
    let Some(second) = next_in_sequence(parser, container, 1)? else {
        return Ok(Some(Candidate::take_from_parser(parser, first, is_bare_text)));
    };
    let mut values = vec![first, second];
    while let Some(more) = next_in_sequence(parser, container, values.len())? {
        values.push(more);
    }
    let prose = |value: &Value| matches!(value, Value::String(text) if text.contains(' '));
    if parser.fixes.contains(FixKind::BareText) && values.iter().any(prose) {
        return Err(ParseFailure::Unreadable(0, "expected a value, found text".into()));
    }
    parser.sequence_index = None;
    let value = Value::Array(values);
    parser.record(FixKind::Sequence, "", value.to_string());
    Ok(Some(Candidate::take_from_parser(parser, value, is_bare_text)))
}

fn is_bare_text(parser: &Parser<'_>, value: &Value, first_byte: Option<u8>) -> bool {
    let quoted =
        first_byte.is_some_and(|byte| byte == b'"' || byte == b'\'' || byte == b'/' || byte >= 0x80 || byte == b'`');
    let call = parser.fixes.contains(FixKind::Call);
    matches!(value, Value::String(_)) && !quoted && !call
}

/// Parses the next value of a sequence: after a comma, or on a line of its own.
fn next_in_sequence(parser: &mut Parser<'_>, container: bool, index: usize) -> Result<Option<Value>, ParseFailure> {
    let newline = parser.skip_space_and_comments();
    let Some(byte) = parser.peek() else { return Ok(None) };
    match byte {
        b',' => {
            let start = parser.pos;
            parser.pos += 1;
            parser.skip_space_and_comments();
            if parser.peek().is_none() {
                parser.record(FixKind::ExtraComma, parser.slice(start, start + 1), "");
                return Ok(None);
            }
        }
        b'}' | b']' | b')' if container => {
            let start = parser.pos;
            while let Some(b'}' | b']' | b')' | b',') = parser.peek() {
                parser.pos += 1;
                parser.skip_space_and_comments();
            }
            parser.record(FixKind::ExtraBracket, parser.slice(start, parser.pos), "");
            return end_of_text(parser);
        }
        b';' => {
            parser.record(FixKind::Semicolon, ";", "");
            parser.pos += 1;
            parser.skip_space_and_comments();
            return end_of_text(parser);
        }
        // After an array or object, only another one on a line of its own continues the sequence; the rest is prose.
        b'{' | b'[' if newline => {}
        _ if newline && !container => {}
        _ => return end_of_text(parser),
    }
    if index == 1 {
        parser.fixes.nest_under_index(0);
    }
    parser.sequence_index = Some(index);
    Ok(parser.read_value()?)
}

/// No further value, if the text has ended.
fn end_of_text(parser: &Parser<'_>) -> Result<Option<Value>, ParseFailure> {
    if parser.peek().is_none() {
        return Ok(None);
    }
    Ok(parser
        .fail(FailureReason::ExpectedEscaped("the end of the text after the value", parser.rest().chars().next()))?)
}

fn unescape_layer(text: &str) -> String {
    let mut inner = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        let (plain, tail) = rest.split_at(at);
        inner.push_str(plain);
        let mut chars = tail.chars();
        chars.next();
        match chars.next() {
            Some(c @ ('"' | '\\' | '/')) => inner.push(c),
            Some('n') => inner.push('\n'),
            Some('r') => inner.push('\r'),
            Some('t') => inner.push('\t'),
            Some(other) => {
                inner.push('\\');
                inner.push(other);
            }
            None => inner.push('\\'),
        }
        rest = chars.as_str();
    }
    inner.push_str(rest);
    inner
}
