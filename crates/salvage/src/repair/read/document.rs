//! Parsing a whole text or fenced block: one value, or a sequence of values.

use reknit_protocol::{Path, Value};

use super::{
    Completeness,
    failure::{ESCAPED_QUOTE, FailureReason, ParseFailure},
    parser::{Parser, YesNoWords},
};
use crate::fix::{FixKind, FixList};

/// One way to read the text.
#[derive(Debug, Clone)]
pub(super) struct Candidate {
    pub(super) value: Value,
    pub(super) fixes: FixList,
    pub(super) completeness: Completeness,
    pub(super) arithmetic: Vec<Path>,
    /// Whether the value is unquoted text. All prose can be read that way, so it is the last resort.
    pub(super) is_bare_text: bool,
}

impl Candidate {
    /// A value that needed no repair.
    pub(super) fn unrepaired(value: Value) -> Self {
        Self {
            value,
            fixes: FixList::default(),
            completeness: Completeness::Complete,
            arithmetic: Vec::new(),
            is_bare_text: false,
        }
    }

    pub(super) fn from_parser(parser: Parser<'_>, value: Value, is_bare_text: bool) -> Self {
        let completeness = if parser.truncated {
            Completeness::Truncated
        } else if parser.elided {
            Completeness::Elided
        } else {
            Completeness::Complete
        };
        Self { value, fixes: parser.fixes, completeness, arithmetic: parser.arithmetic, is_bare_text }
    }
}

/// Parses all of `text`; `None` if it contains no value. Text that is not part of the JSON is a failure.
pub(super) fn parse_document(text: &str, yes_no: YesNoWords) -> Result<Option<Candidate>, ParseFailure> {
    match parse(text, yes_no) {
        Err(ParseFailure::Escaped { at }) => {
            let inner = unescape_layer(text);
            let failure = |_| ParseFailure::Unreadable { at, reason: ESCAPED_QUOTE.into() };
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
    let mut parser = Parser::new(text, 0, yes_no);
    parser.skip_space_and_comments();
    let first_byte = parser.peek();
    let Some(first) = parser.read_value()? else { return Ok(None) };
    let is_bare_text = is_bare_text(&parser, &first, first_byte);
    let container = matches!(first, Value::Array(_) | Value::Object(_));
    let Some(second) = next_in_sequence(&mut parser, container, 1)? else {
        return Ok(Some(Candidate::from_parser(parser, first, is_bare_text)));
    };
    let mut values = vec![first, second];
    while let Some(more) = next_in_sequence(&mut parser, container, values.len())? {
        values.push(more);
    }
    let prose = |value: &Value| matches!(value, Value::String(text) if text.contains(' '));
    if parser.fixes.contains(FixKind::BareText) && values.iter().any(prose) {
        return Err(ParseFailure::Unreadable { at: 0, reason: "expected a value, found text".into() });
    }
    parser.sequence_index = None;
    let value = Value::Array(values);
    parser.record(FixKind::Sequence, "", value.to_string());
    Ok(Some(Candidate::from_parser(parser, value, is_bare_text)))
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
            return if parser.peek().is_none() { Ok(None) } else { fail_on_leftover(parser) };
        }
        b';' => {
            parser.record(FixKind::Semicolon, ";", "");
            parser.pos += 1;
            parser.skip_space_and_comments();
            return if parser.peek().is_none() { Ok(None) } else { fail_on_leftover(parser) };
        }
        b'`' if parser.rest().starts_with("```") && parser.rest().trim_matches(['`', ' ', '\n', '\r']).is_empty() => {
            parser.record(FixKind::Fence, parser.rest(), "");
            parser.pos = parser.text.len();
            return Ok(None);
        }
        // After an array or object, only another one on a line of its own continues the sequence; the rest is prose.
        b'{' | b'[' if newline => {}
        _ if newline && !container => {}
        _ => return fail_on_leftover(parser),
    }
    if index == 1 {
        parser.fixes.nest_under_index(0);
    }
    parser.sequence_index = Some(index);
    let value = parser.read_value()?;
    Ok(value)
}

fn fail_on_leftover<T>(parser: &Parser<'_>) -> Result<T, ParseFailure> {
    Ok(parser
        .fail(FailureReason::ExpectedEscaped("the end of the text after the value", parser.rest().chars().next()))?)
}

/// Removes one layer of escapes from a text that was escaped like the inside of a string.
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
