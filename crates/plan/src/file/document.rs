//! A file as a value, with the places of its parts: JSON, or YAML read in the same spirit.
//!
//! Of YAML only what can be read in one way is taken: `null`, `true`, `false` and what JSON would read as a number are
//! those; every other word is text, so `no` is a country and `2024-01-01` a date as written. Digits stay. Anchors, aliases
//! and tags are refused: a plan says what it does in one place, and nothing can unfold into more than was written.

use std::collections::HashMap;

use reknit_protocol::{MAX_DEPTH, Number, Object, Path, Value};
use reknit_salvage::Place;
use saphyr_parser::{Event, Marker, Parser, ScalarStyle, ScanError};

use super::FileProblem;

/// A file that people wrote, as a value with the places of its parts.
#[derive(Debug, Clone)]
pub struct Document {
    /// What it says.
    pub value: Value,
    places: HashMap<Path, (usize, usize)>,
}

impl Document {
    /// Reads JSON, and if it is none, YAML.
    pub fn read(text: &str) -> Result<Self, FileProblem> {
        match Value::parse(text) {
            Ok(value) => Ok(Self { value, places: HashMap::new() }),
            Err(_) => read_yaml(text.strip_prefix('\u{feff}').unwrap_or(text)),
        }
    }

    /// The line and column of a part, from 1, if they are known.
    pub fn place(&self, path: &Path) -> Option<(usize, usize)> {
        self.places.get(path).copied()
    }
}

fn read_yaml(text: &str) -> Result<Document, FileProblem> {
    let mut builder = Builder::default();
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| unreadable(text, &error))?;
        builder.take(event, span.start)?;
    }
    // A file without any document says nothing.
    Ok(Document { value: builder.root.unwrap_or(Value::Null), places: builder.places })
}

/// What the parser says, at a place that is in the text: it may name the line behind the last one.
fn unreadable(text: &str, error: &ScanError) -> FileProblem {
    let offset = text.char_indices().nth(error.marker().index()).map_or(text.len(), |(offset, _)| offset);
    let Place { line, column, .. } = Place::of(text, offset);
    let message = error.info().to_owned();
    FileProblem { path: Path::root(), place: Some((line, column)), message, hint: None }
}

/// What is not closed yet.
enum Open {
    Array(Vec<Value>),
    Object { object: Object, key: Option<String> },
}

#[derive(Default)]
struct Builder {
    open: Vec<Open>,
    path: Path,
    places: HashMap<Path, (usize, usize)>,
    root: Option<Value>,
}

impl Builder {
    fn take(&mut self, event: Event<'_>, at: Marker) -> Result<(), FileProblem> {
        let refuse = |what: &str| Err(FileProblem::at(at, format!("{what} are not read here"), Some("write it out")));
        match event {
            Event::Alias(_) => refuse("aliases"),
            Event::Scalar(_, _, 1.., _) | Event::SequenceStart(1.., _) | Event::MappingStart(1.., _) => {
                refuse("anchors")
            }
            Event::Scalar(_, _, _, Some(_)) | Event::SequenceStart(_, Some(_)) | Event::MappingStart(_, Some(_)) => {
                refuse("tags")
            }
            Event::Scalar(text, ..) if self.wants_key() => self.begin_member(text.into_owned(), at),
            Event::Scalar(text, style, ..) => {
                self.begin_item(at);
                self.put(scalar(&text, style));
                Ok(())
            }
            Event::SequenceStart(..) => self.begin(Open::Array(Vec::new()), at),
            Event::MappingStart(..) => self.begin(Open::Object { object: Object::new(), key: None }, at),
            Event::SequenceEnd | Event::MappingEnd => {
                match self.open.pop() {
                    Some(Open::Array(items)) => self.put(Value::Array(items)),
                    Some(Open::Object { object, .. }) => self.put(Value::Object(object)),
                    None => {}
                }
                Ok(())
            }
            Event::DocumentStart(_) if self.root.is_some() => {
                Err(FileProblem::at(at, "a second document begins here".to_owned(), Some("one file is one document")))
            }
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentStart(_) | Event::DocumentEnd => {
                Ok(())
            }
        }
    }

    fn wants_key(&self) -> bool {
        matches!(self.open.last(), Some(Open::Object { key: None, .. }))
    }

    fn begin(&mut self, open: Open, at: Marker) -> Result<(), FileProblem> {
        if self.wants_key() {
            let hint = "put what has braces in quotes: `\"{{step-1.price}}\"`";
            return Err(FileProblem::at(at, "a key must be a text".to_owned(), Some(hint)));
        }
        if self.open.len() >= MAX_DEPTH {
            return Err(FileProblem::at(at, format!("nested deeper than {MAX_DEPTH} levels"), None));
        }
        self.begin_item(at);
        self.open.push(open);
        Ok(())
    }

    fn begin_member(&mut self, name: String, at: Marker) -> Result<(), FileProblem> {
        let Some(Open::Object { object, key }) = self.open.last_mut() else { return Ok(()) };
        if object.contains_key(&name) {
            return Err(FileProblem::at(at, format!("the key `{name}` stands twice"), None));
        }
        self.path.push_key(name.as_str());
        *key = Some(name);
        self.places.insert(self.path.clone(), line_and_column(at));
        Ok(())
    }

    /// A member of an object has the place of its key.
    fn begin_item(&mut self, at: Marker) {
        if let Some(Open::Array(items)) = self.open.last() {
            self.path.push_index(items.len());
            self.places.insert(self.path.clone(), line_and_column(at));
        }
    }

    fn put(&mut self, value: Value) {
        match self.open.last_mut() {
            None => self.root = Some(value),
            Some(Open::Array(items)) => items.push(value),
            Some(Open::Object { object, key }) => {
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

fn line_and_column(at: Marker) -> (usize, usize) {
    (at.line(), at.col() + 1)
}

impl FileProblem {
    fn at(at: Marker, message: String, hint: Option<&str>) -> Self {
        Self { path: Path::root(), place: Some(line_and_column(at)), message, hint: hint.map(str::to_owned) }
    }
}
