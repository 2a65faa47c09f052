//! The places of a schema, and where its references lead.

use std::collections::{HashMap, HashSet};

use jsonschema::{Draft, Uri, uri};
use reknit_protocol::{Path, Value};

/// Where a schema without an `$id` stands.
pub(crate) const ROOT_URI: &str = "json-schema:///";

/// Keywords whose values are data, not schemas: what looks like a reference in there is none.
const DATA: [&str; 5] = ["enum", "const", "default", "examples", "example"];

/// Keywords under which schemas stand by name.
const NAMED: [&str; 6] =
    ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"];

/// Keywords that hold a schema or a list of schemas.
const PLAIN: [&str; 16] = [
    "items",
    "prefixItems",
    "additionalItems",
    "unevaluatedItems",
    "contains",
    "additionalProperties",
    "unevaluatedProperties",
    "propertyNames",
    "contentSchema",
    "not",
    "if",
    "then",
    "else",
    "allOf",
    "anyOf",
    "oneOf",
];

/// Keywords that refer to another schema.
pub(crate) const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];

/// Every object of a schema text, with its place and the document it belongs to.
#[derive(Debug)]
pub(crate) struct Outline<'s> {
    draft: Draft,
    /// By address, because a reference leads to a place and not to a text.
    places: HashMap<usize, Place>,
    documents: Vec<Document<'s>>,
}

#[derive(Debug)]
struct Place {
    pointer: String,
    document: usize,
}

/// A schema with an `$id` of its own, inside another one or the root.
#[derive(Debug)]
struct Document<'s> {
    uri: Option<Uri<String>>,
    root: &'s Value,
    anchors: HashMap<&'s str, &'s Value>,
}

/// What stands at a place of a schema text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// A schema, or a list of schemas.
    Schema,
    /// Schemas under names that people chose: `properties`.
    Named,
    /// Whatever people put there; references may lead into it: `components`.
    Anything,
}

impl Role {
    /// What stands under a key; `None` if that is data.
    fn below(self, key: &str) -> Option<Self> {
        match self {
            Self::Schema if DATA.contains(&key) => None,
            Self::Schema if NAMED.contains(&key) => Some(Self::Named),
            Self::Schema if !PLAIN.contains(&key) => Some(Self::Anything),
            Self::Schema | Self::Named => Some(Self::Schema),
            Self::Anything => Some(Self::Anything),
        }
    }
}

fn address(value: &Value) -> usize {
    std::ptr::from_ref(value).addr()
}

impl<'s> Outline<'s> {
    pub(crate) fn new(schema: &'s Value, draft: Draft) -> Self {
        let root = Document { uri: uri::from_str(ROOT_URI).ok(), root: schema, anchors: HashMap::new() };
        let mut outline = Self { draft, places: HashMap::new(), documents: vec![root] };
        let mut open = vec![(schema, Path::root(), 0, Role::Schema)];
        while let Some((value, path, document, role)) = open.pop() {
            let document = if role == Role::Named { document } else { outline.enter(value, &path, document) };
            match value {
                Value::Object(object) => {
                    let below = object.iter().filter_map(|(key, value)| Some((key, value, role.below(key)?)));
                    open.extend(below.map(|(key, value, role)| (value, path.key(key), document, role)));
                }
                Value::Array(items) => {
                    let items = items.iter().enumerate();
                    open.extend(items.map(|(index, item)| (item, path.index(index), document, role)));
                }
                _ => {}
            }
        }
        outline
    }

    pub(crate) fn draft(&self) -> Draft {
        self.draft
    }

    /// The JSON Pointer of a place; `None` for what is not part of the schema.
    pub(crate) fn pointer(&self, schema: &Value) -> Option<&str> {
        self.places.get(&address(schema)).map(|place| place.pointer.as_str())
    }

    /// Notes a place and returns the document it belongs to.
    fn enter(&mut self, value: &'s Value, path: &Path, document: usize) -> usize {
        let Value::Object(object) = value else {
            self.places.insert(address(value), Place { pointer: path.to_pointer(), document });
            return document;
        };
        let keyword = if matches!(self.draft, Draft::Draft4) { "id" } else { "$id" };
        let id = object.get(keyword).and_then(Value::as_str);
        let (id, anchor) = match id {
            Some(id) if id.starts_with('#') => (None, id.strip_prefix('#')),
            id => (id, None),
        };
        let document = id.map_or(document, |id| self.open_document(value, id, document));
        let keywords = [object.get("$anchor"), object.get("$dynamicAnchor")];
        let anchors = keywords.into_iter().flatten().filter_map(Value::as_str).chain(anchor);
        if let Some(document) = self.documents.get_mut(document) {
            document.anchors.extend(anchors.map(|name| (name, value)));
        }
        self.places.insert(address(value), Place { pointer: path.to_pointer(), document });
        document
    }

    fn open_document(&mut self, root: &'s Value, id: &str, parent: usize) -> usize {
        let base = self.documents.get(parent).and_then(|document| document.uri.as_ref());
        let id = id.trim_end_matches('#');
        let uri = base.and_then(|base| uri::resolve_against(&base.borrow(), id).ok());
        self.documents.push(Document { uri, root, anchors: HashMap::new() });
        self.documents.len() - 1
    }

    /// What a reference that stands in `from` leads to; `None` if that is not part of the schema.
    pub(crate) fn resolve(&self, from: &Value, reference: &str) -> Option<&'s Value> {
        let home = self.documents.get(self.places.get(&address(from))?.document)?;
        let (document, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let target = if document.is_empty() {
            home
        } else {
            let uri = uri::resolve_against(&home.uri.as_ref()?.borrow(), document).ok()?;
            self.documents.iter().rev().find(|document| document.uri.as_ref() == Some(&uri))?
        };
        if fragment.is_empty() {
            return Some(target.root);
        }
        let fragment = percent_decoded(fragment)?;
        if fragment.starts_with('/') {
            let path = Path::from_pointer(&fragment, target.root).ok()?;
            return target.root.at(&path);
        }
        target.anchors.get(fragment.as_str()).copied()
    }
}

/// How many levels of the schema a value can lead through; `None` if there is no end to it.
pub(crate) fn height(root: &Value, outline: &Outline<'_>) -> Option<usize> {
    let mut done: HashMap<usize, usize> = HashMap::new();
    let mut way = vec![Step::new(root, outline)?];
    let mut on_way = HashSet::from([address(root)]);
    loop {
        let step = way.last_mut()?;
        let Some(next) = step.ahead.pop() else {
            let step = way.pop()?;
            on_way.remove(&address(step.at));
            done.insert(address(step.at), step.height);
            match way.last_mut() {
                Some(above) => above.height = above.height.max(step.height + 1),
                None => return Some(step.height),
            }
            continue;
        };
        if let Some(height) = done.get(&address(next)) {
            step.height = step.height.max(height + 1);
        } else if on_way.insert(address(next)) {
            way.push(Step::new(next, outline)?);
        } else {
            return None;
        }
    }
}

/// One place on the way down, with the places that are still ahead.
struct Step<'s> {
    at: &'s Value,
    ahead: Vec<&'s Value>,
    height: usize,
}

impl<'s> Step<'s> {
    /// `None` if a reference leads to where we cannot follow.
    fn new(at: &'s Value, outline: &Outline<'s>) -> Option<Self> {
        let mut ahead = Vec::new();
        match at {
            Value::Object(object) => {
                for keyword in REFERENCES {
                    if let Some(reference) = object.get(keyword).and_then(Value::as_str) {
                        ahead.push(outline.resolve(at, reference)?);
                    }
                }
                ahead.extend(object.values());
            }
            Value::Array(items) => ahead.extend(items),
            _ => {}
        }
        ahead.retain(|value| matches!(value, Value::Object(_) | Value::Array(_)));
        Some(Self { at, ahead, height: 0 })
    }
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        rest = tail;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let (digits, tail) = tail.split_at_checked(2)?;
        bytes.push(u8::from_str_radix(str::from_utf8(digits).ok()?, 16).ok()?);
        rest = tail;
    }
    String::from_utf8(bytes).ok()
}
