//! A JSON or YAML file as a value, with the positions of its parts.
//!
//! YAML scalars are read as in JSON: `null`, `true`, `false` and JSON numbers have their type, and every other scalar is a
//! string, so `no` is a country and `2024-01-01` a date as written. Numbers keep their digits. Anchors, aliases and tags are
//! rejected, so that a small file cannot expand into a large value.

use std::collections::HashMap;

use reknit_protocol::{MAX_DEPTH, Number, Object, Path, Value};
use reknit_salvage::{Completeness, Fix, ReadOptions, TextPosition};
use saphyr_parser::{Event, Marker, Parser, ScalarStyle, ScanError};

use crate::file_problem::FileProblem;

/// A JSON or YAML file as a value, with the positions of its parts.
#[derive(Debug, Clone)]
pub struct Document {
    pub value: Value,
    /// The repairs that JSON with errors needed.
    pub fixes: Vec<Fix>,
    positions: HashMap<Path, (usize, usize)>,
}

impl Document {
    /// Reads JSON, or else YAML. JSON with comments or extra commas is read like the answer of a model: as YAML, `5 // five`
    /// would be a text.
    pub fn read(text: &str) -> Result<Self, FileProblem> {
        let json = |value, fixes| Self { value, fixes, positions: HashMap::new() };
        if let Ok(value) = Value::parse(text) {
            return Ok(json(value, Vec::new()));
        }
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        if looks_like_json(text)
            && let Ok(reading) = reknit_salvage::read(text, &ReadOptions::default())
            && reading.completeness == Completeness::Complete
        {
            return Ok(json(reading.value, reading.fixes));
        }
        read_yaml(text)
    }

    /// The line and the column of a value, from 1. JSON files have no positions.
    pub fn position(&self, path: &Path) -> Option<(usize, usize)> {
        self.positions.get(path).copied()
    }
}

/// Whether a text is an object with a quoted first key, or an array of such objects. Comments may stand before it.
fn looks_like_json(text: &str) -> bool {
    let mut rest = text.trim_start();
    let mut is_inside = false;
    loop {
        rest = rest.trim_start();
        if rest.starts_with("//") || rest.starts_with('#') {
            rest = rest.split_once('\n').map_or("", |(_, after)| after);
        } else if let Some(comment) = rest.strip_prefix("/*") {
            rest = comment.split_once("*/").map_or("", |(_, after)| after);
        } else if let Some(inside) = rest.strip_prefix(['{', '[']) {
            is_inside = true;
            rest = inside;
        } else {
            return is_inside && rest.starts_with('"');
        }
    }
}

fn read_yaml(text: &str) -> Result<Document, FileProblem> {
    let mut builder = Builder::default();
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| unreadable(text, &error))?;
        builder.on_event(event, span.start)?;
    }
    // A file without a YAML document is null.
    Ok(Document { value: builder.root.unwrap_or(Value::Null), fixes: Vec::new(), positions: builder.positions })
}

/// The error of the parser, at a position inside the text: the parser may name the line after the last one.
fn unreadable(text: &str, error: &ScanError) -> FileProblem {
    let offset = text.char_indices().nth(error.marker().index()).map_or(text.len(), |(offset, _)| offset);
    let TextPosition { line, column, .. } = TextPosition::at_offset(text, offset);
    FileProblem::new(Some((line, column)), error.info().to_owned(), None)
}

/// A container that is not closed yet.
enum OpenContainer {
    Array(Vec<Value>),
    Object { object: Object, key: Option<String> },
}

#[derive(Default)]
struct Builder {
    open: Vec<OpenContainer>,
    path: Path,
    positions: HashMap<Path, (usize, usize)>,
    root: Option<Value>,
}

impl Builder {
    fn on_event(&mut self, event: Event<'_>, at: Marker) -> Result<(), FileProblem> {
        let reject = |what: &str| Err(problem(at, format!("{what} are not supported"), Some("write it out")));
        match event {
            Event::Alias(_) => reject("aliases"),
            Event::Scalar(_, _, 1.., _) | Event::SequenceStart(1.., _) | Event::MappingStart(1.., _) => {
                reject("anchors")
            }
            Event::Scalar(_, _, _, Some(_)) | Event::SequenceStart(_, Some(_)) | Event::MappingStart(_, Some(_)) => {
                reject("tags")
            }
            Event::Scalar(text, ..) if self.wants_key() => self.begin_member(text.into_owned(), at),
            Event::Scalar(text, style, ..) => {
                self.begin_item(at);
                self.put(scalar(&text, style));
                Ok(())
            }
            Event::SequenceStart(..) => self.begin(OpenContainer::Array(Vec::new()), at),
            Event::MappingStart(..) => self.begin(OpenContainer::Object { object: Object::new(), key: None }, at),
            Event::SequenceEnd | Event::MappingEnd => {
                match self.open.pop() {
                    Some(OpenContainer::Array(items)) => self.put(Value::Array(items)),
                    Some(OpenContainer::Object { object, .. }) => self.put(Value::Object(object)),
                    None => {}
                }
                Ok(())
            }
            Event::DocumentStart(_) if self.root.is_some() => {
                Err(problem(at, "a second document begins here".to_owned(), Some("one file is one document")))
            }
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentStart(_) | Event::DocumentEnd => {
                Ok(())
            }
        }
    }

    fn wants_key(&self) -> bool {
        matches!(self.open.last(), Some(OpenContainer::Object { key: None, .. }))
    }

    fn begin(&mut self, open: OpenContainer, at: Marker) -> Result<(), FileProblem> {
        if self.wants_key() {
            let hint = "put what has braces in quotes: `\"{{step-1.price}}\"`";
            return Err(problem(at, "a key must be a string".to_owned(), Some(hint)));
        }
        if self.open.len() >= MAX_DEPTH {
            return Err(problem(at, format!("nested deeper than {MAX_DEPTH} levels"), None));
        }
        self.begin_item(at);
        self.open.push(open);
        Ok(())
    }

    fn begin_member(&mut self, name: String, at: Marker) -> Result<(), FileProblem> {
        let Some(OpenContainer::Object { object, key }) = self.open.last_mut() else { return Ok(()) };
        if object.contains_key(&name) {
            return Err(problem(at, format!("duplicate key `{name}`"), None));
        }
        self.path.push_key(name.as_str());
        *key = Some(name);
        self.positions.insert(self.path.clone(), line_and_column(at));
        Ok(())
    }

    /// Records the position of an array item. The position of an object member is that of its key.
    fn begin_item(&mut self, at: Marker) {
        if let Some(OpenContainer::Array(items)) = self.open.last() {
            self.path.push_index(items.len());
            self.positions.insert(self.path.clone(), line_and_column(at));
        }
    }

    fn put(&mut self, value: Value) {
        match self.open.last_mut() {
            None => self.root = Some(value),
            Some(OpenContainer::Array(items)) => items.push(value),
            Some(OpenContainer::Object { object, key }) => {
                if let Some(key) = key.take() {
                    object.insert(key, value);
                }
            }
        }
        self.path.pop();
    }
}

fn scalar(text: &str, style: ScalarStyle) -> Value {
    match (style, text) {
        (ScalarStyle::Plain, "" | "~" | "null") => Value::Null,
        (ScalarStyle::Plain, "true") => Value::Bool(true),
        (ScalarStyle::Plain, "false") => Value::Bool(false),
        (ScalarStyle::Plain, _) => Number::parse(text).map_or_else(|_| text.into(), Value::Number),
        _ => text.into(),
    }
}

fn problem(at: Marker, message: String, hint: Option<&str>) -> FileProblem {
    FileProblem::new(Some(line_and_column(at)), message, hint)
}

fn line_and_column(at: Marker) -> (usize, usize) {
    (at.line(), at.col() + 1)
}
