//! The files of a document, and references between and inside them.

use std::collections::HashMap;

use percent_encoding::percent_decode_str;
use reknit_protocol::Value;

use crate::document_text::{self, DuplicateKeys, escaped};

const MAX_FILES: usize = 256;

/// How many references may follow each other before a value.
const MAX_HOPS: usize = 32;

/// Reads the other files of a document. The crate does no I/O; the caller decides which files may be read.
pub trait FileLoader {
    /// The text of a file. The name is that of a reference such as `schemas/pet.yaml#/Pet`, relative to the file that was
    /// given to [`ApiDocument::parse_with_files`](crate::ApiDocument::parse_with_files), with `.` and `..` resolved.
    fn load(&mut self, name: &str) -> Result<String, String>;
}

impl<F: FnMut(&str) -> Result<String, String>> FileLoader for F {
    fn load(&mut self, name: &str) -> Result<String, String> {
        self(name)
    }
}

/// All files of a document, loaded before anything is imported.
#[derive(Debug)]
pub(crate) struct Files {
    loaded: Vec<(String, Value)>,
    by_name: HashMap<String, Result<usize, String>>,
    /// Keys that an object has twice: the place of the object, and the key.
    pub(crate) duplicate_keys: DuplicateKeys,
}

#[derive(Debug, Clone)]
pub(crate) struct Node<'a> {
    pub(crate) value: &'a Value,
    file: usize,
    /// The JSON pointer inside the file, without `#`.
    pointer: String,
}

impl Files {
    /// Loads every file that the document refers to, directly or not.
    pub(crate) fn load(name: &str, root: Value, duplicate_keys: DuplicateKeys, loader: &mut dyn FileLoader) -> Self {
        let by_name = HashMap::from([(name.to_owned(), Ok(0))]);
        let mut files = Self { loaded: vec![(name.to_owned(), root)], by_name, duplicate_keys };
        let mut next = 0;
        while let Some((base, value)) = files.loaded.get(next) {
            let mut names = Vec::new();
            referenced_files(value, base, &mut names);
            for name in names {
                if files.by_name.contains_key(&name) {
                    continue;
                }
                let content = if files.loaded.len() >= MAX_FILES {
                    Err(format!("the document has more than {MAX_FILES} files"))
                } else {
                    let text = loader.load(&name);
                    text.and_then(|text| document_text::read(&text).map_err(|error| error.to_string()))
                };
                let index = content.map(|(value, duplicates)| {
                    let duplicates = duplicates.into_iter().map(|(pointer, key)| (format!("{name}{pointer}"), key));
                    files.duplicate_keys.extend(duplicates);
                    files.loaded.push((name.clone(), value));
                    files.loaded.len() - 1
                });
                files.by_name.insert(name, index);
            }
            next += 1;
        }
        files
    }

    pub(crate) fn root(&self) -> Node<'_> {
        static NULL: Value = Value::Null;
        Node { value: self.loaded.first().map_or(&NULL, |(_, value)| value), file: 0, pointer: String::new() }
    }

    /// The place of a node for messages.
    pub(crate) fn place(&self, node: &Node<'_>) -> String {
        let name = if node.file == 0 { "" } else { self.loaded.get(node.file).map_or("", |(name, _)| name) };
        format!("{name}#{}", node.pointer)
    }

    /// The node that a reference means, which may be a reference itself.
    pub(crate) fn target<'a>(&'a self, node: &Node<'a>, reference: &str) -> Result<Node<'a>, String> {
        let (name, pointer) = reference.split_once('#').unwrap_or((reference, ""));
        let file = if name.is_empty() {
            node.file
        } else if is_remote(name) {
            return Err(format!("the reference `{reference}` is remote; only files are read"));
        } else {
            let base = self.loaded.get(node.file).map_or("", |(name, _)| name);
            let name = join(base, name);
            match self.by_name.get(&name) {
                Some(Ok(file)) => *file,
                Some(Err(reason)) => {
                    return Err(format!("the file of the reference `{reference}` cannot be read: {reason}"));
                }
                None => return Err(format!("the file of the reference `{reference}` was not read")),
            }
        };
        let unknown = || format!("the reference `{reference}` leads nowhere");
        let pointer = percent_decoded(pointer).ok_or_else(unknown)?;
        if !(pointer.is_empty() || pointer.starts_with('/')) {
            return Err(format!("the reference `{reference}` is an anchor, which is not supported"));
        }
        let mut value: &'a Value = self.loaded.get(file).map(|(_, value)| value).ok_or_else(unknown)?;
        for segment in pointer.split('/').skip(1) {
            let key = unescaped(segment);
            value = match value {
                Value::Object(object) => object.get(&key),
                Value::Array(items) => key.parse().ok().and_then(|index: usize| items.get(index)),
                _ => None,
            }
            .ok_or_else(unknown)?;
        }
        Ok(Node { value, file, pointer })
    }

    /// The node itself, or what it refers to with `$ref`, through any number of references.
    pub(crate) fn resolve<'a>(&'a self, node: &Node<'a>) -> Result<Node<'a>, String> {
        let mut node = node.clone();
        for _ in 0..MAX_HOPS {
            match node.value.get("$ref") {
                None => return Ok(node),
                Some(Value::String(reference)) => node = self.target(&node, reference)?,
                Some(_) => return Err("`$ref` must be a text".to_owned()),
            }
        }
        Err("the reference leads back to itself, or through too many others".to_owned())
    }
}

impl<'a> Node<'a> {
    /// A member of an object; `None` if there is none.
    pub(crate) fn get(&self, key: &str) -> Option<Self> {
        Some(self.inside(&escaped(key), self.value.get(key)?))
    }

    /// The members of an object; none if this is something else.
    pub(crate) fn members(&self) -> impl Iterator<Item = (&'a str, Self)> {
        let members = self.value.as_object().into_iter().flat_map(|object| object.iter());
        members.map(|(key, value)| (key, self.inside(&escaped(key), value)))
    }

    /// The items of an array; none if this is something else.
    pub(crate) fn items(&self) -> impl Iterator<Item = Self> {
        let items = self.value.as_array().unwrap_or_default().iter().enumerate();
        items.map(|(index, value)| self.inside(&index.to_string(), value))
    }

    fn inside(&self, segment: &str, value: &'a Value) -> Self {
        Self { value, file: self.file, pointer: format!("{}/{segment}", self.pointer) }
    }

    /// The text of a member, without a report if it is something else.
    pub(crate) fn text(&self, key: &str) -> Option<&'a str> {
        self.value.get(key)?.as_str()
    }

    /// Whether a member is `true`.
    pub(crate) fn flag(&self, key: &str) -> bool {
        self.value.get(key).and_then(Value::as_bool) == Some(true)
    }

    /// Identifies the place among all files.
    pub(crate) fn key(&self) -> (usize, String) {
        (self.file, self.pointer.clone())
    }

    /// The last segment of the pointer, as written.
    pub(crate) fn last_segment(&self) -> String {
        unescaped(self.pointer.rsplit('/').next().unwrap_or_default())
    }
}

/// The names of files in the references below a value.
fn referenced_files(value: &Value, base: &str, names: &mut Vec<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| referenced_files(item, base, names)),
        Value::Object(object) => {
            for (key, member) in object {
                match member {
                    Value::String(reference) if key == "$ref" => {
                        let name = reference.split('#').next().unwrap_or_default();
                        if !name.is_empty() && !is_remote(name) {
                            names.push(join(base, name));
                        }
                    }
                    _ => referenced_files(member, base, names),
                }
            }
        }
        _ => {}
    }
}

fn unescaped(segment: &str) -> String {
    segment.replace("~1", "/").replace("~0", "~")
}

fn is_remote(name: &str) -> bool {
    name.starts_with("//") || name.split_once(':').is_some_and(|(scheme, _)| scheme.len() > 1 && !scheme.contains('/'))
}

/// A name relative to the folder of another file, with `.` and `..` resolved.
fn join(base: &str, name: &str) -> String {
    let name = percent_decoded(name).unwrap_or_else(|| name.to_owned());
    let folder = if name.starts_with('/') { "" } else { base.rsplit_once('/').map_or("", |(folder, _)| folder) };
    let is_absolute = name.starts_with('/') || base.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in folder.split('/').chain(name.split('/')) {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    format!("{}{}", if is_absolute { "/" } else { "" }, parts.join("/"))
}

/// The text without percent-encoding; `None` if the bytes are not UTF-8.
fn percent_decoded(text: &str) -> Option<String> {
    Some(percent_decode_str(text).decode_utf8().ok()?.into_owned())
}
