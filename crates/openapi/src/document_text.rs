//! Reads the text of a document, JSON or YAML, as a value.
//!
//! YAML scalars are read by the core schema, except that only JSON numbers are numbers: a version `1.10` keeps its digits, and
//! a date is a text. Anchors, aliases and merge keys (`<<`) are expanded, up to a limit.

use std::collections::HashMap;
use std::fmt::Write as _;

use reknit_protocol::{Number, Object, Value};
use saphyr_parser::{Event, Parser, ScalarStyle};

pub const MAX_DOCUMENT_BYTES: usize = 64 << 20;

const MAX_DOCUMENT_DEPTH: usize = 128;

/// How many values the aliases of a YAML text may add in total.
const MAX_ALIAS_VALUES: usize = 1_000_000;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DocumentTextError {
    #[error("the text has {bytes} bytes, the limit is {MAX_DOCUMENT_BYTES}")]
    TooLong { bytes: usize },
    #[error("values are nested deeper than {MAX_DOCUMENT_DEPTH} levels")]
    TooDeep,
    #[error("the aliases of the text expand to more than {MAX_ALIAS_VALUES} values")]
    TooManyAliases,
    #[error("line {line}, column {column}: {message}")]
    Syntax { line: usize, column: usize, message: String },
}

/// Keys that an object has twice, as a JSON pointer to the object and the key. The last value counts.
pub(crate) type DuplicateKeys = Vec<(String, String)>;

pub(crate) fn read(text: &str) -> Result<(Value, DuplicateKeys), DocumentTextError> {
    if text.len() > MAX_DOCUMENT_BYTES {
        return Err(DocumentTextError::TooLong { bytes: text.len() });
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if let Ok(value) = Value::parse(text) {
        return if depth(&value) > MAX_DOCUMENT_DEPTH {
            Err(DocumentTextError::TooDeep)
        } else {
            Ok((value, DuplicateKeys::new()))
        };
    }
    // JSON with duplicate keys or comments is YAML as well.
    let mut builder = YamlBuilder::default();
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| DocumentTextError::Syntax {
            line: error.marker().line(),
            column: error.marker().col() + 1,
            message: error.info().to_owned(),
        })?;
        let is_end = builder.on_event(event, (span.start.line(), span.start.col() + 1))?;
        if is_end {
            break;
        }
    }
    Ok((builder.root.unwrap_or(Value::Null), builder.duplicates))
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Object(object) => 1 + object.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

/// How many values a value consists of.
pub(crate) fn count_values(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(count_values).sum::<usize>(),
        Value::Object(object) => 1 + object.values().map(count_values).sum::<usize>(),
        _ => 1,
    }
}

/// A value that an alias can repeat.
struct Anchor {
    value: Value,
    depth: usize,
    count: usize,
}

enum OpenContainer {
    Array { items: Vec<Value>, anchor: usize },
    Object { object: Object, merged: Vec<Object>, key: Option<String>, anchor: usize },
}

#[derive(Default)]
struct YamlBuilder {
    open: Vec<OpenContainer>,
    anchors: HashMap<usize, Anchor>,
    alias_values: usize,
    duplicates: DuplicateKeys,
    root: Option<Value>,
}

impl YamlBuilder {
    /// Returns whether the first document has ended.
    fn on_event(&mut self, event: Event<'_>, at: (usize, usize)) -> Result<bool, DocumentTextError> {
        match event {
            Event::Scalar(text, ..) if self.wants_key() => self.begin_member(text.into_owned()),
            Event::Scalar(text, style, anchor, tag) => {
                let is_text = tag.is_some_and(|tag| tag.suffix == "str");
                self.finish(anchor, if is_text { text.as_ref().into() } else { scalar(&text, style) });
            }
            Event::Alias(anchor) => {
                let value = self.expand(anchor, at)?;
                match (self.wants_key(), &value) {
                    (false, _) => self.put(value),
                    (true, Value::String(key)) => self.begin_member(key.clone()),
                    (true, _) => return Err(syntax(at, "a key must be a text")),
                }
            }
            Event::SequenceStart(anchor, _) => self.begin(OpenContainer::Array { items: Vec::new(), anchor }, at)?,
            Event::MappingStart(anchor, _) => {
                let object = OpenContainer::Object { object: Object::new(), merged: Vec::new(), key: None, anchor };
                self.begin(object, at)?;
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(),
            Event::DocumentEnd => return Ok(true),
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentStart(_) => {}
        }
        Ok(false)
    }

    fn wants_key(&self) -> bool {
        matches!(self.open.last(), Some(OpenContainer::Object { key: None, .. }))
    }

    fn begin(&mut self, open: OpenContainer, at: (usize, usize)) -> Result<(), DocumentTextError> {
        if self.wants_key() {
            return Err(syntax(at, "a key must be a text"));
        }
        if self.open.len() >= MAX_DOCUMENT_DEPTH {
            return Err(DocumentTextError::TooDeep);
        }
        self.open.push(open);
        Ok(())
    }

    fn begin_member(&mut self, name: String) {
        if let Some(OpenContainer::Object { key, .. }) = self.open.last_mut() {
            *key = Some(name);
        }
    }

    fn end(&mut self) {
        match self.open.pop() {
            Some(OpenContainer::Array { items, anchor }) => {
                self.finish(anchor, Value::Array(items));
            }
            Some(OpenContainer::Object { mut object, merged, anchor, .. }) => {
                for (key, value) in merged.into_iter().flatten() {
                    if !object.contains_key(&key) {
                        object.insert(key, value);
                    }
                }
                self.finish(anchor, Value::Object(object));
            }
            None => {}
        }
    }

    /// Puts a complete value into its place, and remembers it if aliases may repeat it.
    fn finish(&mut self, anchor: usize, value: Value) {
        if anchor > 0 {
            let (depth, count) = (depth(&value), count_values(&value));
            self.anchors.insert(anchor, Anchor { depth, count, value: value.clone() });
        }
        self.put(value);
    }

    fn expand(&mut self, anchor: usize, at: (usize, usize)) -> Result<Value, DocumentTextError> {
        let Some(anchor) = self.anchors.get(&anchor) else {
            return Err(syntax(at, "an alias must not stand inside the value that it repeats"));
        };
        self.alias_values = self.alias_values.saturating_add(anchor.count);
        if self.alias_values > MAX_ALIAS_VALUES {
            return Err(DocumentTextError::TooManyAliases);
        }
        if self.open.len() + anchor.depth > MAX_DOCUMENT_DEPTH {
            return Err(DocumentTextError::TooDeep);
        }
        Ok(anchor.value.clone())
    }

    fn put(&mut self, value: Value) {
        let pointer = |open: &[OpenContainer]| {
            let mut pointer = "#".to_owned();
            for container in open {
                match container {
                    OpenContainer::Array { items, .. } => _ = write!(pointer, "/{}", items.len()),
                    OpenContainer::Object { key, .. } => {
                        pointer.push('/');
                        pointer.push_str(&escaped(key.as_deref().unwrap_or_default()));
                    }
                }
            }
            pointer
        };
        let Some((last, around)) = self.open.split_last_mut() else {
            self.root = Some(value);
            return;
        };
        match last {
            OpenContainer::Array { items, .. } => items.push(value),
            OpenContainer::Object { object, merged, key, .. } => match (key.take(), value) {
                (Some(key), Value::Object(base)) if key == "<<" => merged.push(base),
                (Some(key), Value::Array(bases))
                    if key == "<<" && bases.iter().all(|base| base.as_object().is_some()) =>
                {
                    merged.extend(bases.into_iter().filter_map(|base| base.as_object().cloned()));
                }
                (Some(key), value) => {
                    if object.contains_key(&key) {
                        self.duplicates.push((pointer(around), key.clone()));
                    }
                    object.insert(key, value);
                }
                (None, _) => {}
            },
        }
    }
}

fn syntax(at: (usize, usize), message: &str) -> DocumentTextError {
    DocumentTextError::Syntax { line: at.0, column: at.1, message: message.to_owned() }
}

fn scalar(text: &str, style: ScalarStyle) -> Value {
    match (style, text) {
        (ScalarStyle::Plain, "" | "~" | "null" | "Null" | "NULL") => Value::Null,
        (ScalarStyle::Plain, "true" | "True" | "TRUE") => Value::Bool(true),
        (ScalarStyle::Plain, "false" | "False" | "FALSE") => Value::Bool(false),
        (ScalarStyle::Plain, _) => Number::parse(text).map_or_else(|_| text.into(), Value::Number),
        _ => text.into(),
    }
}

/// A key as a segment of a JSON pointer.
pub(crate) fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}
