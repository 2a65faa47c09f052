//! `reknit repair --jsonl`: one request per line in, one answer per line out, in order.

mod schemas;

use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::sync::Arc;

use reknit_protocol::{Object, Path, Value};
use reknit_salvage::{Completeness, FitError, Fix, ReadOptions, ReadTextError, Reading, Schema, SchemaError, fit};

use super::{error_position, read_text};
use crate::output::{Failure, Input, NotUtf8};
use schemas::Schemas;

pub(super) fn run(input: &Input, default_schema: Option<Schema>) -> Result<(), Failure> {
    let mut output = BufWriter::new(io::stdout().lock());
    let mut lines = Lines::new(BufReader::new(input.open()?));
    let mut schemas = Schemas::new(default_schema);
    while let Some(line) = lines.next().map_err(|source| Failure::Input { input: input.clone(), source })? {
        let answer = answer(&line, &mut schemas);
        writeln!(output, "{answer}").map_err(Failure::Write)?;
        // Flush when no further line is buffered, so that a caller that sends one line and waits gets its answer.
        if lines.may_block() {
            output.flush().map_err(Failure::Write)?;
        }
    }
    output.flush().map_err(Failure::Write)
}

fn answer(line: &Line<'_>, schemas: &mut Schemas) -> Object {
    let (id, answer) = match Request::parse(line) {
        Ok(Request { id, subject, schema }) => match schemas.get(schema.as_ref()) {
            Ok(schema) => (id, answer_subject(subject, schema)),
            Err(error) => (id, bad_schema_answer(&error)),
        },
        Err(mut bad_line) => (bad_line.id.take(), bad_line_answer(bad_line)),
    };
    id.map(|id| ("id".to_owned(), id)).into_iter().chain(answer).collect()
}

fn answer_subject(subject: Subject, schema: Option<Arc<Schema>>) -> Object {
    match (subject, schema) {
        (Subject::Text(text), schema) => match read_text(&text, schema.as_deref()) {
            Ok(reading) => reading_answer(reading),
            Err(error) => read_error_answer(&error),
        },
        (Subject::Value(value), Some(schema)) => match fit(value, &schema) {
            Ok(fitted) => fitted_answer(fitted.value, &fitted.fixes),
            Err(misfit) => misfit_answer(&misfit),
        },
        (Subject::Value(value), None) => fitted_answer(value, &[]),
    }
}

/// One line that is not blank.
#[derive(Debug, PartialEq, Eq)]
struct Line<'a> {
    /// Its number in the input, from 1.
    number: usize,
    content: Content<'a>,
}

#[derive(Debug, PartialEq, Eq)]
enum Content<'a> {
    Bytes(&'a [u8]),
    /// The line is longer than this limit and was skipped.
    TooLong(usize),
}

struct Lines<R> {
    input: BufReader<R>,
    bytes: Vec<u8>,
    number: usize,
    limit: usize,
}

impl<R: Read> Lines<R> {
    /// The limit of a line is that of a text.
    fn new(input: BufReader<R>) -> Self {
        Self { input, bytes: Vec::new(), number: 0, limit: ReadOptions::default().max_bytes }
    }

    /// The next line that is not blank; `None` at the end.
    fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        loop {
            self.bytes.clear();
            let take = u64::try_from(self.limit).unwrap_or(u64::MAX).saturating_add(1);
            if self.input.by_ref().take(take).read_until(b'\n', &mut self.bytes)? == 0 {
                return Ok(None);
            }
            self.number += 1;
            if self.bytes.len() > self.limit && self.bytes.last() != Some(&b'\n') {
                self.input.skip_until(b'\n')?;
                return Ok(Some(Line { number: self.number, content: Content::TooLong(self.limit) }));
            }
            if !self.bytes.trim_ascii().is_empty() {
                break;
            }
        }
        Ok(Some(Line { number: self.number, content: Content::Bytes(self.bytes.trim_ascii_end()) }))
    }

    /// Whether the next line is not buffered, so that reading it may block.
    fn may_block(&self) -> bool {
        self.input.buffer().is_empty()
    }
}

/// One line: `{"id"?, "text" | "value", "schema"?}`.
#[derive(Debug, PartialEq)]
struct Request {
    id: Option<Value>,
    subject: Subject,
    schema: Option<Value>,
}

/// The value to fit to the schema.
#[derive(Debug, PartialEq)]
enum Subject {
    /// A text to read the value from.
    Text(String),
    Value(Value),
}

#[derive(Debug, PartialEq)]
struct BadLine {
    id: Option<Value>,
    /// The code of the error in the answer.
    code: &'static str,
    message: String,
    /// The number of the line in the input, from 1.
    line: usize,
    /// The column of the error in characters, from 1, if it has one.
    column: Option<usize>,
}

impl Request {
    fn parse(line: &Line<'_>) -> Result<Self, BadLine> {
        let error = |code, message, column| BadLine { id: None, code, message, line: line.number, column };
        let bad = |message: String, column| error("bad_line", message, column);
        let bytes = match line.content {
            Content::Bytes(bytes) => bytes,
            Content::TooLong(limit) => {
                let message = format!("the line is longer than {} MiB", limit >> 20);
                return Err(error("too_large", message, None));
            }
        };
        let text = str::from_utf8(bytes).map_err(|_| {
            let NotUtf8 { byte, position } = NotUtf8::new(bytes);
            let message = format!("the line is not UTF-8 text: invalid byte 0x{byte:02x}");
            bad(message, Some(position.column))
        })?;
        let value = Value::parse(text)
            .map_err(|error| bad(format!("the line is not JSON: {}", error.problem), Some(error.column)))?;
        let Value::Object(object) = value else {
            return Err(bad("the line is not an object".to_owned(), None));
        };
        Self::from_object(object).map_err(|(id, message)| BadLine { id, ..bad(message, None) })
    }

    fn from_object(mut object: Object) -> Result<Self, (Option<Value>, String)> {
        let id = object.remove("id");
        let schema = object.remove("schema");
        let subject = match (object.remove("text"), object.remove("value")) {
            (Some(Value::String(text)), None) => Ok(Subject::Text(text)),
            (Some(_), None) => Err("`text` is not a string".to_owned()),
            (None, Some(value)) => Ok(Subject::Value(value)),
            (None, None) => Err("the line has neither `text` nor `value`".to_owned()),
            (Some(_), Some(_)) => Err("the line has both `text` and `value`".to_owned()),
        };
        // A misspelled `schema` must not count as no schema.
        let unknown = object.keys().next().map(|key| format!("the line has an unknown field {}", Value::from(key)));
        match (unknown, subject) {
            (None, Ok(subject)) => Ok(Self { id, subject, schema }),
            (Some(message), _) | (None, Err(message)) => Err((id, message)),
        }
    }
}

fn reading_answer(reading: Reading) -> Object {
    let Reading { value, fixes, completeness, expressions } = reading;
    let mut answer = fitted_answer(value, &fixes);
    match completeness {
        Completeness::Complete => None,
        Completeness::Truncated => answer.insert("completeness", "truncated"),
        Completeness::Elided => answer.insert("completeness", "elided"),
    };
    if !expressions.is_empty() {
        answer.insert("expressions", expressions.iter().map(path_json).collect::<Value>());
    }
    answer
}

fn fitted_answer(value: Value, fixes: &[Fix]) -> Object {
    Object::from([("value", value), ("fixes", fixes.iter().map(fix_json).collect())])
}

fn fix_json(fix: &Fix) -> Value {
    let mut object = Object::from([
        ("path", path_json(&fix.path)),
        ("kind", fix.kind.name().into()),
        ("before", fix.before.as_str().into()),
        ("after", fix.after.as_str().into()),
        ("penalty", fix.penalty.into()),
    ]);
    if fix.times > 1 {
        object.insert("times", fix.times);
    }
    object.into()
}

fn path_json(path: &Path) -> Value {
    path.to_string().into()
}

fn bad_line_answer(bad: BadLine) -> Object {
    let mut details = Object::from([("line", bad.line.into())]);
    if let Some(column) = bad.column {
        details.insert("column", column);
    }
    error_answer(bad.code, bad.message, details)
}

/// The answer to a request whose schema is not valid or too complex.
fn bad_schema_answer(problem: &SchemaError) -> Object {
    let is_too_complex = matches!(problem, SchemaError::TooComplex { .. } | SchemaError::PatternsTooLarge);
    let code = if is_too_complex { "too_complex" } else { "bad_schema" };
    error_answer(code, problem.to_string(), Object::new())
}

fn misfit_answer(misfit: &FitError) -> Object {
    let problems = misfit.problems.iter().map(|problem| {
        Object::from([("path", path_json(&problem.path)), ("message", problem.message.as_str().into())]).into()
    });
    error_answer("misfit", misfit.to_string(), Object::from([("problems", problems.collect())]))
}

fn read_error_answer(problem: &ReadTextError) -> Object {
    let code = match problem {
        ReadTextError::DoesNotFit(problem) => return misfit_answer(problem),
        ReadTextError::Ambiguous { first, second } => {
            let readings = [first, second].map(|reading| reading.value.clone()).into_iter().collect();
            let message = "the text can be read in two ways".to_owned();
            return error_answer("ambiguous", message, Object::from([("readings", readings)]));
        }
        ReadTextError::Empty { .. } => "empty",
        ReadTextError::TooDeep { .. } => "too_deep",
        ReadTextError::TooLarge { .. } => "too_large",
        _ => "unreadable",
    };
    let details =
        error_position(problem).map(|at| Object::from([("line", at.line.into()), ("column", at.column.into())]));
    error_answer(code, problem.to_string(), details.unwrap_or_default())
}

fn error_answer(code: &str, message: String, details: Object) -> Object {
    let mut error = Object::from([("code", code.into()), ("message", message.into())]);
    error.extend(details);
    Object::from([("error", error.into())])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_keep_their_numbers_when_long_or_blank_lines_are_skipped() {
        let input = "one\r\n\n  \nfour\n12345678\n123456789\nseven";
        let mut lines = Lines { limit: 8, ..Lines::new(BufReader::with_capacity(3, input.as_bytes())) };
        let mut seen = Vec::new();
        while let Some(line) = lines.next().unwrap() {
            seen.push(match line.content {
                Content::Bytes(bytes) => format!("{}: {}", line.number, String::from_utf8_lossy(bytes)),
                Content::TooLong(limit) => format!("{}: longer than {limit}", line.number),
            });
        }
        assert_eq!(seen, ["1: one", "4: four", "5: 12345678", "6: longer than 8", "7: seven"]);
    }
}
