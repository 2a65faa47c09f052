//! Reads the members of an object in a file, and collects what is wrong with them.

use std::cell::RefCell;

use reknit_plan::{Document, FileProblem};
use reknit_protocol::spelling::nearest;
use reknit_protocol::{Object, Path, Value};

/// What is wrong with a file.
#[derive(Debug)]
pub(super) struct Problems<'d> {
    document: &'d Document,
    found: RefCell<Vec<FileProblem>>,
}

impl<'d> Problems<'d> {
    pub(super) fn new(document: &'d Document) -> Self {
        Self { document, found: RefCell::default() }
    }

    /// Adds a problem at a place, or at the closest one around it that the file has.
    pub(super) fn add(&self, path: &Path, message: impl Into<String>, hint: Option<String>) {
        let segments = path.segments();
        let prefix = |length: usize| segments.iter().take(length).cloned().collect::<Path>();
        let position = (0..=segments.len()).rev().find_map(|length| self.document.position(&prefix(length)));
        let problem = FileProblem { path: path.clone(), position, message: message.into(), hint };
        self.found.borrow_mut().push(problem);
    }

    pub(super) fn into_found(self) -> Vec<FileProblem> {
        self.found.into_inner()
    }
}

/// The members of an object. A key that nobody asks for is a problem.
#[derive(Debug)]
pub(super) struct Fields<'d> {
    pub(super) problems: &'d Problems<'d>,
    pub(super) path: Path,
    object: &'d Object,
    known: RefCell<Vec<&'static str>>,
}

impl<'d> Fields<'d> {
    /// The members of the object at a place. `None`, with a problem, if it is none.
    pub(super) fn new(problems: &'d Problems<'d>, path: Path, value: &'d Value) -> Option<Self> {
        match value {
            Value::Object(object) => Some(Self { problems, path, object, known: RefCell::default() }),
            other => {
                problems.add(&path, format!("expected keys with values, found {}", other.kind().with_article()), None);
                None
            }
        }
    }

    pub(super) fn at(&self, key: &str) -> Path {
        self.path.key(key)
    }

    pub(super) fn problem(&self, key: &str, message: impl Into<String>) {
        self.problems.add(&self.at(key), message, None);
    }

    pub(super) fn value(&self, key: &'static str) -> Option<&'d Value> {
        self.known.borrow_mut().push(key);
        self.object.get(key)
    }

    fn typed<T>(&self, key: &'static str, expected: &str, read: impl Fn(&'d Value) -> Option<T>) -> Option<T> {
        let value = self.value(key).filter(|value| !value.is_null())?;
        let read = read(value);
        if read.is_none() {
            self.problem(key, format!("expected {expected}, found {}", value.kind().with_article()));
        }
        read
    }

    pub(super) fn text(&self, key: &'static str) -> Option<String> {
        self.typed(key, "a text", |value| match value {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        })
    }

    pub(super) fn number(&self, key: &'static str) -> Option<u64> {
        self.typed(key, "a whole number", |value| value.as_number()?.as_u64())
    }

    pub(super) fn signed(&self, key: &'static str) -> Option<i64> {
        self.typed(key, "a whole number", |value| value.as_number()?.as_i64())
    }

    pub(super) fn object(&self, key: &'static str) -> Option<&'d Object> {
        self.typed(key, "keys with values", Value::as_object)
    }

    pub(super) fn texts(&self, key: &'static str) -> Option<Vec<String>> {
        self.typed(key, "a text or a list of texts", |value| match value {
            Value::String(text) => Some(vec![text.clone()]),
            Value::Array(items) => items.iter().map(|item| item.as_str().map(str::to_owned)).collect(),
            _ => None,
        })
    }

    /// The items of a list, each with its place.
    pub(super) fn list(&self, key: &'static str) -> Option<Vec<(Path, &'d Value)>> {
        let items = self.typed(key, "a list", Value::as_array)?;
        Some(items.iter().enumerate().map(|(index, item)| (self.at(key).index(index), item)).collect())
    }

    /// The items of a list of objects that `read` can read.
    pub(super) fn objects<T>(&self, key: &'static str, read: impl Fn(&Fields<'d>) -> Option<T>) -> Option<Vec<T>> {
        let items = self.list(key)?.into_iter().filter_map(|(path, item)| {
            let fields = Fields::new(self.problems, path, item)?;
            let read = read(&fields);
            fields.finish();
            read
        });
        Some(items.collect())
    }

    /// Reports the keys that nobody has asked for.
    pub(super) fn finish(&self) {
        let known = self.known.borrow();
        for key in self.object.keys().filter(|key| !known.contains(key)) {
            let hint = match nearest(key, known.iter()) {
                Some(name) => format!("did you mean `{name}`?"),
                None => format!("known keys: {}", known.join(", ")),
            };
            self.problems.add(&self.at(key), "unknown key", Some(hint));
        }
    }
}
