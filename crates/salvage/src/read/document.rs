//! A whole text, or a whole fenced block, read as JSON: one value, or several in a row.

use reknit_protocol::{Path, Value};

use super::{
    failure::{Failure, Problem},
    parser::{Parser, YesNo},
};
use crate::{
    fix::{FixKind, Fixes},
    reading::Completeness,
};

/// One way to read the text, with its price.
#[derive(Debug, Clone)]
pub(super) struct Candidate {
    pub(super) value: Value,
    pub(super) fixes: Fixes,
    pub(super) completeness: Completeness,
    pub(super) arithmetic: Vec<Path>,
    /// Whether the value is unquoted text, which any prose is.
    pub(super) bare: bool,
}

impl Candidate {
    /// A value that needed no repair.
    pub(super) fn untouched(value: Value) -> Self {
        Self { value, fixes: Fixes::default(), completeness: Completeness::Whole, arithmetic: Vec::new(), bare: false }
    }

    pub(super) fn from_parser(parser: Parser<'_>, value: Value, bare: bool) -> Self {
        let completeness = if parser.truncated {
            Completeness::Truncated
        } else if parser.elided {
            Completeness::Elided
        } else {
            Completeness::Whole
        };
        Self { value, fixes: parser.fixes, completeness, arithmetic: parser.arithmetic, bare }
    }
}

/// Reads all of `text`; what cannot be accounted for is a failure.
pub(super) fn document(text: &str, yes_no: YesNo) -> Result<Option<Candidate>, Failure> {
    match parse(text, yes_no) {
        Err(Failure::Escaped { at }) => {
            let inner = unescape_layer(text);
            let failure = |_| Failure::Unreadable { at, problem: "expected a value, found an escaped quote".into() };
            let mut candidate = parse(&inner, yes_no).map_err(failure)?;
            if let Some(candidate) = &mut candidate {
                candidate.fixes.push(Path::root, FixKind::EscapedText, text, &inner);
            }
            Ok(candidate)
        }
        result => result,
    }
}

fn parse(text: &str, yes_no: YesNo) -> Result<Option<Candidate>, Failure> {
    let mut parser = Parser::new(text, 0, yes_no);
    parser.space();
    let first_byte = parser.peek();
    let Some(first) = parser.value()? else { return Ok(None) };
    let bare = is_bare(&parser, &first, first_byte);
    let container = matches!(first, Value::Array(_) | Value::Object(_));
    let Some(second) = next_in_sequence(&mut parser, container, 1)? else {
        return Ok(Some(Candidate::from_parser(parser, first, bare)));
    };
    let mut values = vec![first, second];
    while let Some(more) = next_in_sequence(&mut parser, container, values.len())? {
        values.push(more);
    }
    let prose = |value: &Value| matches!(value, Value::String(text) if text.contains(' '));
    if parser.fixes.has(FixKind::BareText) && values.iter().any(prose) {
        return Err(Failure::Unreadable { at: 0, problem: "expected a value, found text".into() });
    }
    parser.sequence_index = None;
    let value = Value::Array(values);
    parser.fix(FixKind::Sequence, "", value.to_string());
    Ok(Some(Candidate::from_parser(parser, value, bare)))
}

fn is_bare(parser: &Parser<'_>, value: &Value, first_byte: Option<u8>) -> bool {
    let quoted =
        first_byte.is_some_and(|byte| byte == b'"' || byte == b'\'' || byte == b'/' || byte >= 0x80 || byte == b'`');
    let call = parser.fixes.has(FixKind::Call);
    matches!(value, Value::String(_)) && !quoted && !call
}

/// The next value of a sequence: behind a comma, or on a line of its own.
fn next_in_sequence(parser: &mut Parser<'_>, container: bool, index: usize) -> Result<Option<Value>, Failure> {
    let newline = parser.space();
    let Some(byte) = parser.peek() else { return Ok(None) };
    match byte {
        b',' => {
            let start = parser.pos;
            parser.pos += 1;
            parser.space();
            if parser.peek().is_none() {
                parser.fix(FixKind::ExtraComma, parser.slice(start, start + 1), "");
                return Ok(None);
            }
        }
        b'}' | b']' | b')' if container => {
            let start = parser.pos;
            while let Some(b'}' | b']' | b')' | b',') = parser.peek() {
                parser.pos += 1;
                parser.space();
            }
            parser.fix(FixKind::ExtraBracket, parser.slice(start, parser.pos), "");
            return if parser.peek().is_none() { Ok(None) } else { leftover(parser) };
        }
        b';' => {
            parser.fix(FixKind::Semicolon, ";", "");
            parser.pos += 1;
            parser.space();
            return if parser.peek().is_none() { Ok(None) } else { leftover(parser) };
        }
        b'`' if parser.rest().starts_with("```") && parser.rest().trim_matches(['`', ' ', '\n', '\r']).is_empty() => {
            parser.fix(FixKind::Fence, parser.rest(), "");
            parser.pos = parser.text.len();
            return Ok(None);
        }
        // Behind an object on a line of its own comes another one, or prose that is not part of a sequence.
        b'{' | b'[' if newline => {}
        _ if newline && !container => {}
        _ => return leftover(parser),
    }
    if index == 1 {
        parser.fixes.move_below(0);
    }
    parser.sequence_index = Some(index);
    let value = parser.value()?;
    Ok(value)
}

fn leftover<T>(parser: &Parser<'_>) -> Result<T, Failure> {
    Ok(parser.fail(Problem::Shown("the end of the text after the value", parser.rest().chars().next()))?)
}

/// Removes one layer of string escapes from a text that was escaped as if it stood inside a string.
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
