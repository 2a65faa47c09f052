//! Reading: strict first, then every way the text can be JSON, the cheapest that fits.
//!
//! ```text
//! text --strict parse--> value                              (untouched)
//!   '---whole text, tolerant---.
//!   '---fenced blocks----------+--> cheapest that fits --> value with fixes
//!   '---brackets in prose------'         '--two at one price--> ambiguous
//! ```

mod arithmetic;
mod brackets;
mod cursor;
mod document;
mod ending;
mod escape;
mod failure;
mod find;
mod parser;
mod quoted;
mod unquoted;

use reknit_protocol::{MAX_DEPTH, ParseProblem, Path, Value};

pub(crate) use self::arithmetic::expression;
use self::{
    document::{Candidate, document},
    failure::Failure,
    parser::YesNo,
};
use crate::{Completeness, Fix, Misfit, Place, ReadError, Reading, Schema, fit, fix::FixKind};

/// Limits of one reading.
#[derive(Debug, Clone)]
pub struct ReadOptions {
    /// The largest text that is read, in bytes: 64 MiB.
    pub max_bytes: usize,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self { max_bytes: 64 << 20 }
    }
}

/// Reads a value from text.
///
/// Valid JSON comes back untouched. Otherwise the JSON is searched for and repaired, and each repair is recorded.
/// Unquoted words are read as strings: without a schema nothing better is known.
///
/// ```
/// use reknit_salvage::{read, ReadOptions};
///
/// let reading = read("Sure! ```json\n{city: 'Paris', days: 3,}\n```", &ReadOptions::default())?;
/// assert_eq!(reading.value.to_string(), r#"{"city":"Paris","days":3}"#);
/// assert!(!reading.fixes.is_empty());
/// # Ok::<(), reknit_salvage::ReadError>(())
/// ```
pub fn read(text: &str, options: &ReadOptions) -> Result<Reading, ReadError> {
    read_with(text, options, &Judge::Anything)
}

/// Reads a value that fits a schema from text, with the default limits.
///
/// Of all readings the cheapest that can be made to fit wins; a value that cannot be made to fit is
/// [`ReadError::Misfit`].
///
/// ```
/// use reknit_protocol::Value;
/// use reknit_salvage::{read_as, Schema};
///
/// let schema = Value::parse(r#"{"type": "object", "properties": {"amount": {"type": "number"}}}"#)?;
/// let schema = Schema::compile(&schema)?;
/// let reading = read_as(r#"{"amount": "468.285",}"#, &schema)?;
/// assert_eq!(reading.value.to_string(), r#"{"amount":468.285}"#);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read_as(text: &str, schema: &Schema) -> Result<Reading, ReadError> {
    read_with(text, &ReadOptions::default(), &Judge::Schema(schema))
}

/// Who says whether a reading will do.
enum Judge<'s> {
    Anything,
    Schema(&'s Schema),
}

fn read_with(text: &str, options: &ReadOptions, judge: &Judge<'_>) -> Result<Reading, ReadError> {
    if text.len() > options.max_bytes {
        return Err(ReadError::TooLarge { size: text.len(), limit: options.max_bytes });
    }
    let trimmed = trim_space(text);
    if may_be_valid(trimmed.as_bytes()) {
        match Value::parse(trimmed) {
            Ok(value) => return judge.accept(Candidate::untouched(value)).map_err(ReadError::Misfit),
            Err(error) if matches!(error.problem, ParseProblem::TooDeep) => {
                let offset = error.offset + offset_in(text, trimmed);
                return Err(ReadError::TooDeep { limit: MAX_DEPTH, place: Place::of(text, offset) });
            }
            Err(_) => {}
        }
    }
    let body = trim_odd_space(trimmed);
    let result = choose(body, judge);
    result
        .map_err(|failure| match failure {
            Refusal::Error(error) => *error,
            Refusal::Failure(failure) => explain(text, offset_in(text, body), failure),
        })
        .map(|mut reading| {
            if body.len() < trimmed.len() {
                let (before, rest) = trimmed.split_at(offset_in(trimmed, body));
                reading.fixes.splice(0..0, edges(before, rest.get(body.len()..).unwrap_or_default()));
            }
            reading
        })
}

/// Without the white space that JSON allows around a value.
fn trim_space(text: &str) -> &str {
    let is_space = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
    let bytes = text.as_bytes();
    let start = bytes.iter().position(|byte| !is_space(byte)).unwrap_or(bytes.len());
    let end = bytes.iter().rposition(|byte| !is_space(byte)).map_or(start, |last| last + 1);
    text.get(start..end).unwrap_or_default()
}

/// Without the white space and byte order marks that JSON does not allow around a value.
fn trim_odd_space(text: &str) -> &str {
    let is_visible = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_graphic);
    if is_visible(text.as_bytes().first()) && is_visible(text.as_bytes().last()) {
        return text;
    }
    text.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}')
}

/// Whether the ends of the text allow it to be valid JSON. A glance at them saves the strict attempt on most broken
/// texts.
fn may_be_valid(text: &[u8]) -> bool {
    let space = |byte: &&u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
    let inside = || text.iter().skip(1).find(|byte| !space(byte));
    let no_comma = || text.iter().rev().skip(1).find(|byte| !space(byte)) != Some(&b',');
    match (text.first(), text.last()) {
        (Some(b'{'), Some(b'}')) => matches!(inside(), Some(b'"' | b'}')) && no_comma(),
        (Some(b'['), Some(b']')) => {
            let value = |byte: &u8| matches!(byte, b'"' | b'{' | b'[' | b']' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n');
            inside().is_some_and(value) && no_comma()
        }
        (Some(b'"'), last) => last == Some(&b'"'),
        (Some(b'-' | b'0'..=b'9'), last) => last.is_some_and(u8::is_ascii_digit),
        (Some(b't' | b'f'), last) => last == Some(&b'e'),
        (Some(b'n'), last) => last == Some(&b'l'),
        _ => false,
    }
}

enum Refusal {
    Error(Box<ReadError>),
    Failure(Option<Failure>),
}

/// Tries the whole text first; brackets and fences inside it only if that is no JSON by itself.
fn choose(body: &str, judge: &Judge<'_>) -> Result<Reading, Refusal> {
    let yes_no = if matches!(judge, Judge::Anything) { YesNo::Boolean } else { YesNo::Word };
    let whole = document(body, yes_no);
    let mut misfit = None;
    let mut bare = None;
    let failure = match whole {
        Ok(None) => None,
        Ok(Some(candidate)) if candidate.bare => {
            bare = Some(candidate);
            None
        }
        Ok(Some(candidate)) => match judge.accept(candidate) {
            Ok(reading) => return Ok(reading),
            Err(error) => {
                misfit = Some(error);
                None
            }
        },
        Err(Failure::Ambiguous(values)) => return Err(Refusal::Error(Box::new(ambiguous(*values)))),
        Err(failure) => Some(failure),
    };
    let found = find::find(body);
    let mut accepted: Vec<Reading> = Vec::new();
    for candidate in found.candidates {
        match judge.accept(candidate) {
            Ok(reading) => accepted.push(reading),
            Err(error) => misfit = misfit.or(Some(error)),
        }
    }
    if let Some(best) = cheapest(accepted)? {
        return Ok(best);
    }
    if let Some(candidate) = bare {
        match judge.accept(candidate) {
            Ok(reading) => return Ok(reading),
            Err(error) => misfit = misfit.or(Some(error)),
        }
    }
    if let Some(misfit) = misfit {
        return Err(Refusal::Error(Box::new(ReadError::Misfit(misfit))));
    }
    Err(Refusal::Failure(found.failure.or(failure)))
}

/// The one cheapest reading; two different ones at the same price are ambiguous.
fn cheapest(mut readings: Vec<Reading>) -> Result<Option<Reading>, Refusal> {
    readings.sort_by_key(Reading::cost);
    let mut readings = readings.into_iter();
    let Some(first) = readings.next() else { return Ok(None) };
    match readings.find(|other| other.cost() == first.cost() && other.value != first.value) {
        None => Ok(Some(first)),
        Some(second) => {
            let (first, second) = (Box::new(first), Box::new(second));
            Err(Refusal::Error(Box::new(ReadError::Ambiguous { first, second })))
        }
    }
}

impl Judge<'_> {
    fn accept(&self, candidate: Candidate) -> Result<Reading, Misfit> {
        let Candidate { value, mut fixes, completeness, arithmetic, .. } = candidate;
        let (value, expressions) = match self {
            Self::Anything if arithmetic.is_empty() => (value, Vec::new()),
            Self::Anything => {
                let is_expression =
                    |path: &Path| value.at(path).and_then(Value::as_str).is_some_and(|text| text.starts_with("{{"));
                let expressions = arithmetic.into_iter().filter(is_expression).collect();
                (value, expressions)
            }
            Self::Schema(schema) => {
                let (value, later, expressions) = fit::fit_with(value, schema, &arithmetic)?;
                fixes.extend(later);
                (value, expressions)
            }
        };
        Ok(Reading { value, fixes: fixes.into_list(), completeness, expressions })
    }
}

fn ambiguous([first, second]: [Value; 2]) -> ReadError {
    let reading = |value| {
        Box::new(Reading { value, fixes: Vec::new(), completeness: Completeness::Whole, expressions: Vec::new() })
    };
    ReadError::Ambiguous { first: reading(first), second: reading(second) }
}

/// The repairs at the edges of a text: what was trimmed off that JSON does not allow there.
fn edges(before: &str, after: &str) -> impl Iterator<Item = Fix> {
    let fix = |kind: FixKind, before: String| {
        let (path, after, penalty) = (Path::root(), String::new(), kind.penalty());
        Fix { path, kind, before, after, penalty, times: 1 }
    };
    let mark = (before.contains('\u{feff}') || after.contains('\u{feff}'))
        .then(|| fix(FixKind::ByteOrderMark, '\u{feff}'.into()));
    let is_odd = |c: &char| !matches!(c, ' ' | '\t' | '\n' | '\r' | '\u{feff}');
    let space = before.chars().chain(after.chars()).find(is_odd).map(|c| fix(FixKind::WhiteSpace, c.into()));
    mark.into_iter().chain(space)
}

fn offset_in(text: &str, part: &str) -> usize {
    part.as_ptr() as usize - text.as_ptr() as usize
}

fn explain(text: &str, shift: usize, failure: Option<Failure>) -> ReadError {
    let Some(failure) = failure else {
        let found = if text.trim().is_empty() { "the text is empty" } else { "it holds comments or prose only" };
        return ReadError::Empty { found: found.to_owned() };
    };
    let place = Place::of(text, failure.at() + shift);
    match failure {
        Failure::Unreadable { problem, .. } => ReadError::Unreadable { place, problem: problem.to_string() },
        Failure::TooDeep { .. } => ReadError::TooDeep { limit: MAX_DEPTH, place },
        Failure::Escaped { .. } => {
            ReadError::Unreadable { place, problem: "expected a value, found an escaped quote".to_owned() }
        }
        Failure::Ambiguous(values) => ambiguous(*values),
    }
}
