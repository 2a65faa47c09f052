//! Reading JSON from text: strictly first, then in every way that the tolerant parser finds.
//!
//! ```text
//! text --strict parse--> value                              (unchanged)
//!   '---whole text, tolerant---.
//!   '---fenced code blocks-----+--> lowest penalty that fits --> value with fixes
//!   '---brackets in prose------'         '--two with the same penalty--> ambiguous
//! ```

mod arithmetic;
mod between_values;
mod brackets;
mod cursor;
mod document;
mod embedded_json;
mod escape;
mod layers;
mod misplaced_brackets;
mod parser;
mod quote;
mod quoted;
mod reading;
mod repeated_quotes;
mod states;
mod string_end;
mod template;
mod unquoted;

use reknit_protocol::{MAX_DEPTH, ParseProblem, Path, Value};

pub(crate) use self::arithmetic::to_expression;
pub(super) use self::document::Candidate;
use self::document::parse_document;
pub(crate) use self::embedded_json::REASONING_TAGS;
pub(super) use self::parser::YesNoWords;
pub use self::reading::{Completeness, ReadTextError, Reading};
use self::reading::{ESCAPED_QUOTE, ParseFailure};
use super::fit_error::FitError;
use crate::{Fix, FixKind, TextPosition};

/// The limits of [`read`].
#[derive(Debug, Clone)]
pub struct ReadOptions {
    /// The size of the largest text that is read, in bytes. The default is 64 MiB.
    pub max_bytes: usize,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self { max_bytes: 64 << 20 }
    }
}

/// Reads a JSON value from text.
///
/// Valid JSON comes back unchanged. From other text, `read` extracts the JSON, repairs it and records each repair.
/// Unquoted words become strings, because there is no schema that could say otherwise.
pub fn read(text: &str, options: &ReadOptions) -> Result<Reading, ReadTextError> {
    read_with(text, options, YesNoWords::AsBoolean, &finish)
}

/// Reads one JSON value from text, and refuses text that is truncated or elided. Fails with the reason.
pub fn read_complete(text: &str) -> Result<Value, String> {
    Ok(complete_reading(text)?.value)
}

/// Reads one JSON value as [`read_complete`] does, with the repairs.
pub fn complete_reading(text: &str) -> Result<Reading, String> {
    let reading = read(text, &ReadOptions::default()).map_err(|error| error.to_string())?;
    match reading.completeness {
        Completeness::Complete => Ok(reading),
        Completeness::Truncated => Err("it is cut: its end is missing".to_owned()),
        Completeness::Elided => Err("it leaves something out: it says `...`".to_owned()),
    }
}

/// Makes a reading of a candidate, or says why its value is not the one that is asked for.
pub(super) type Finish<'f> = &'f dyn Fn(Candidate) -> Result<Reading, FitError>;

/// Reads a JSON value from text: of all candidates that can be finished, the one with the lowest penalty.
pub(super) fn read_with(
    text: &str,
    options: &ReadOptions,
    yes_no: YesNoWords,
    finish: Finish<'_>,
) -> Result<Reading, ReadTextError> {
    if text.len() > options.max_bytes {
        return Err(ReadTextError::TooLarge { size: text.len(), limit: options.max_bytes });
    }
    let trimmed = text.trim_matches([' ', '\t', '\n', '\r']);
    if may_be_valid(trimmed.as_bytes()) {
        match Value::parse(trimmed) {
            Ok(value) => return Ok(finish(Candidate::unrepaired(value))?),
            Err(error) if matches!(error.problem, ParseProblem::TooDeep) => {
                let offset = error.offset + offset_in(text, trimmed);
                return Err(ReadTextError::TooDeep {
                    limit: MAX_DEPTH,
                    position: TextPosition::at_offset(text, offset),
                });
            }
            Err(_) => {}
        }
    }
    let body = trim_unusual_space(trimmed);
    let mut reading = choose(text, body, yes_no, finish)?;
    if body.len() < trimmed.len() {
        let (before, rest) = trimmed.split_at(offset_in(trimmed, body));
        reading.fixes.splice(0..0, trim_fixes(before, rest.get(body.len()..).unwrap_or_default()));
    }
    Ok(reading)
}

/// Removes the white space and byte order marks that JSON does not allow around a value.
fn trim_unusual_space(text: &str) -> &str {
    let is_visible = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_graphic);
    if is_visible(text.as_bytes().first()) && is_visible(text.as_bytes().last()) {
        return text;
    }
    text.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}')
}

/// Whether a text with this start and end can be valid JSON. The check spares most broken texts the strict parser.
fn may_be_valid(text: &[u8]) -> bool {
    let is_space = |byte: &&u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
    let first_inside = || text.iter().skip(1).find(|byte| !is_space(byte));
    let has_no_trailing_comma = || text.iter().rev().skip(1).find(|byte| !is_space(byte)) != Some(&b',');
    match (text.first(), text.last()) {
        (Some(b'{'), Some(b'}')) => matches!(first_inside(), Some(b'"' | b'}')) && has_no_trailing_comma(),
        (Some(b'['), Some(b']')) => {
            let starts_item =
                |byte: &u8| matches!(byte, b'"' | b'{' | b'[' | b']' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n');
            first_inside().is_some_and(starts_item) && has_no_trailing_comma()
        }
        (Some(b'"'), last) => last == Some(&b'"'),
        (Some(b'-' | b'0'..=b'9'), last) => last.is_some_and(u8::is_ascii_digit),
        (Some(b't' | b'f'), last) => last == Some(&b'e'),
        (Some(b'n'), last) => last == Some(&b'l'),
        _ => false,
    }
}

/// Reads `body`, the trimmed part of `text`: as a whole if possible, otherwise from the fenced blocks and brackets in it.
fn choose(text: &str, body: &str, yes_no: YesNoWords, finish: Finish<'_>) -> Result<Reading, ReadTextError> {
    let (mut first_misfit, mut bare_text, mut failure) = (None, None, None);
    match parse_document(body, yes_no) {
        Ok(None) => {}
        Ok(Some(candidate)) if candidate.is_bare_text => bare_text = Some(candidate),
        Ok(Some(candidate)) => match finish(candidate) {
            Ok(reading) => return Ok(reading),
            Err(misfit) => first_misfit = Some(misfit),
        },
        Err(ParseFailure::Ambiguous(values)) => return Err(ambiguous(*values)),
        Err(error) => failure = Some(error),
    }
    let embedded = embedded_json::find(body);
    let mut readings: Vec<Reading> = Vec::new();
    for candidate in embedded.candidates {
        match finish(candidate) {
            Ok(reading) => readings.push(reading),
            Err(misfit) => first_misfit = first_misfit.or(Some(misfit)),
        }
    }
    if let Some(best) = lowest_penalty(readings, yes_no)? {
        return Ok(best);
    }
    if let Some(candidate) = bare_text {
        match finish(candidate) {
            Ok(reading) => return Ok(reading),
            Err(misfit) => first_misfit = first_misfit.or(Some(misfit)),
        }
    }
    Err(match first_misfit {
        Some(misfit) => ReadTextError::DoesNotFit(misfit),
        None => explain(text, offset_in(text, body), embedded.failure.or(failure)),
    })
}

/// The reading with the lowest penalty. Two different values with that penalty are ambiguous.
///
/// Where a schema decides, a value in the middle of a sentence fits as well as one behind a colon: neither is dropped for the other.
fn lowest_penalty(mut readings: Vec<Reading>, yes_no: YesNoWords) -> Result<Option<Reading>, ReadTextError> {
    let penalty = |reading: &Reading| match yes_no {
        YesNoWords::AsBoolean => reading.total_penalty(),
        YesNoWords::AsText => {
            let is_mention = reading.fixes.iter().any(|fix| fix.kind == FixKind::Mention);
            reading.total_penalty() - u64::from(if is_mention { FixKind::Mention.penalty() } else { 0 })
        }
    };
    readings.sort_by_key(penalty);
    let mut readings = readings.into_iter();
    let Some(first) = readings.next() else { return Ok(None) };
    match readings.find(|other| penalty(other) == penalty(&first) && other.value != first.value) {
        None => Ok(Some(first)),
        Some(second) => Err(ReadTextError::Ambiguous { first: Box::new(first), second: Box::new(second) }),
    }
}

/// The reading without a schema. Arithmetic is an expression only where it has a reference.
#[expect(clippy::unnecessary_wraps, reason = "with a schema, a candidate may not fit")]
fn finish(candidate: Candidate) -> Result<Reading, FitError> {
    let Candidate { value, fixes, completeness, arithmetic: mut expressions, .. } = candidate;
    let is_expression = |path: &Path| value.at(path).and_then(Value::as_str).is_some_and(|text| text.starts_with("{{"));
    expressions.retain(is_expression);
    Ok(Reading { value, fixes: fixes.into_vec(), completeness, expressions })
}

fn ambiguous(values: [Value; 2]) -> ReadTextError {
    let [first, second] = values.map(|value| {
        Box::new(Reading { value, fixes: Vec::new(), completeness: Completeness::Complete, expressions: Vec::new() })
    });
    ReadTextError::Ambiguous { first, second }
}

/// The fixes for what [`trim_unusual_space`] removed before and after the text.
fn trim_fixes(before: &str, after: &str) -> impl Iterator<Item = Fix> {
    let removed = |wanted: fn(char) -> bool| before.chars().chain(after.chars()).find(|c| wanted(*c));
    let mark = removed(|c| c == '\u{feff}').map(|c| (FixKind::ByteOrderMark, c));
    let space = removed(|c| !matches!(c, ' ' | '\t' | '\n' | '\r' | '\u{feff}')).map(|c| (FixKind::WhiteSpace, c));
    mark.into_iter().chain(space).map(|(kind, c)| Fix::new(Path::root(), kind, c.encode_utf8(&mut [0; 4]), ""))
}

fn offset_in(text: &str, part: &str) -> usize {
    part.as_ptr() as usize - text.as_ptr() as usize
}

fn explain(text: &str, shift: usize, failure: Option<ParseFailure>) -> ReadTextError {
    let Some(failure) = failure else {
        let found = if text.trim().is_empty() { "the text is empty" } else { "it contains only comments or prose" };
        return ReadTextError::Empty { found: found.to_owned() };
    };
    let position = TextPosition::at_offset(text, failure.at() + shift);
    match failure {
        ParseFailure::Unreadable(_, reason) => ReadTextError::Unreadable { position, problem: reason.to_string() },
        ParseFailure::TooDeep(_) => ReadTextError::TooDeep { limit: MAX_DEPTH, position },
        ParseFailure::Escaped(_) => ReadTextError::Unreadable { position, problem: ESCAPED_QUOTE.to_owned() },
        ParseFailure::Ambiguous(values) => ambiguous(*values),
    }
}
