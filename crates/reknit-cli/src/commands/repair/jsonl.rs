//! `reknit repair --jsonl`: one request per line in, one answer per line out, in order.

mod answer;
mod line;
mod request;
mod schemas;

use std::io::{self, BufReader, BufWriter, Write};
use std::sync::Arc;

use reknit_protocol::Object;
use reknit_salvage::{Schema, fit};

use super::read_text;
use crate::output::{Failure, Input};
use line::{Line, Lines};
use request::{Request, Subject};
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
            Err(error) => (id, answer::bad_schema(&error)),
        },
        Err(mut bad_line) => (bad_line.id.take(), answer::bad_line(bad_line)),
    };
    id.map(|id| ("id".to_owned(), id)).into_iter().chain(answer).collect()
}

fn answer_subject(subject: Subject, schema: Option<Arc<Schema>>) -> Object {
    match (subject, schema) {
        (Subject::Text(text), schema) => match read_text(&text, schema.as_deref()) {
            Ok(reading) => answer::reading(reading),
            Err(error) => answer::read_error(&error),
        },
        (Subject::Value(value), Some(schema)) => match fit(value, &schema) {
            Ok(fitted) => answer::fitted(fitted.value, &fitted.fixes),
            Err(misfit) => answer::misfit(&misfit),
        },
        (Subject::Value(value), None) => answer::fitted(value, &[]),
    }
}
