//! An index of a schema: the place of every subschema, and the targets of references.

use std::sync::LazyLock;

use foldhash::fast::RandomState;
use jsonschema::{Draft, Uri, uri};
use percent_encoding::percent_decode_str;
use reknit_protocol::schema::{MAP_KEYWORDS, SCHEMA_KEYWORDS};
use reknit_protocol::{Path, Value};

use super::Formats;
use super::fast_hash::{HashMap, HashSet};
use super::nesting::levels;

/// The URI of a schema without an `$id`.
pub(crate) const ROOT_URI: &str = "json-schema:///";

static PARSED_ROOT_URI: LazyLock<Option<Uri<String>>> = LazyLock::new(|| uri::from_str(ROOT_URI).ok());

/// Most schemas have fewer subschemas.
const USUAL_ENTRIES: usize = 24;

/// Keywords whose values are data, in which `$ref` is not a reference.
const DATA_KEYWORDS: [&str; 5] = ["enum", "const", "default", "examples", "example"];

/// Keywords that refer to another subschema.
pub(crate) const REFERENCE_KEYWORDS: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];

/// Every object and boolean of a schema, with its place and its document.
#[derive(Debug)]
pub(crate) struct SchemaIndex<'s> {
    draft: Draft,
    formats: Formats,
    /// By address, because equal subschemas at different places must stay distinct.
    entries: HashMap<usize, Entry>,
    pub(super) places: Places,
    documents: Vec<Document<'s>>,
    has_references: bool,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    place: PlaceId,
    document: usize,
}

/// The index of a place in [`Places`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PlaceId(usize);

/// The places of the containers and subschemas of a schema. A place is a position in the place around it, so that most places,
/// whose pointers are never needed, cost next to nothing.
#[derive(Debug, Default)]
pub(crate) struct Places(Vec<(PlaceId, usize)>);

impl Places {
    fn add(&mut self, parent: PlaceId, position: usize) -> PlaceId {
        self.0.push((parent, position));
        PlaceId(self.0.len() - 1)
    }

    pub(crate) fn path(&self, schema: &Value, place: PlaceId) -> Path {
        let mut positions = Vec::new();
        let mut next = place;
        // The place of the root is the first one.
        while next.0 > 0
            && let Some((parent, position)) = self.0.get(next.0)
        {
            positions.push(*position);
            next = *parent;
        }
        let (mut path, mut value) = (Path::root(), Some(schema));
        for position in positions.into_iter().rev() {
            value = match value {
                Some(Value::Object(object)) => object.iter().nth(position).map(|(key, value)| {
                    path.push_key(key);
                    value
                }),
                Some(Value::Array(items)) => {
                    path.push_index(position);
                    items.get(position)
                }
                _ => None,
            };
        }
        path
    }
}

/// The root schema, or a subschema with its own `$id`.
#[derive(Debug)]
struct Document<'s> {
    uri: Option<Uri<String>>,
    root: &'s Value,
    anchors: HashMap<&'s str, &'s Value>,
}

/// What a value in a schema is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// A subschema, or a list of subschemas.
    Schema,
    /// An object of subschemas under free names, such as `properties`.
    NamedSchemas,
    /// The value of an unknown keyword, such as `components`. References may lead into it.
    Unknown,
}

impl Role {
    /// The role of the value of a key; `None` for data.
    fn child(self, key: &str) -> Option<Self> {
        match self {
            Self::Schema if DATA_KEYWORDS.contains(&key) => None,
            Self::Schema if MAP_KEYWORDS.contains(&key) => Some(Self::NamedSchemas),
            Self::Schema if !SCHEMA_KEYWORDS.contains(&key) => Some(Self::Unknown),
            Self::Schema | Self::NamedSchemas => Some(Self::Schema),
            Self::Unknown => Some(Self::Unknown),
        }
    }
}

pub(crate) fn address(value: &Value) -> usize {
    std::ptr::from_ref(value).addr()
}

impl<'s> SchemaIndex<'s> {
    pub(crate) fn new(schema: &'s Value, draft: Draft, formats: Formats) -> Self {
        let root = Document { uri: PARSED_ROOT_URI.clone(), root: schema, anchors: HashMap::default() };
        let mut index = Self {
            draft,
            formats,
            entries: HashMap::with_capacity_and_hasher(USUAL_ENTRIES, RandomState::default()),
            places: Places::default(),
            documents: vec![root],
            has_references: false,
        };
        let mut pending = vec![(schema, PlaceId(0), 0, 0, Role::Schema)];
        while let Some((value, parent, position, document, role)) = pending.pop() {
            if !matches!(value, Value::Object(_) | Value::Array(_) | Value::Bool(_)) {
                continue;
            }
            let place = index.places.add(parent, position);
            let document = if role == Role::NamedSchemas { document } else { index.add(value, place, document) };
            match value {
                Value::Object(object) => {
                    let entries = object.iter().enumerate();
                    pending.extend(entries.filter_map(|(position, (key, value))| {
                        // Most keywords have texts, such as descriptions.
                        let may_hold_schemas = !matches!(value, Value::String(_));
                        may_hold_schemas.then(|| Some((value, place, position, document, role.child(key)?)))?
                    }));
                }
                Value::Array(items) => {
                    let items = items.iter().enumerate();
                    pending.extend(items.map(|(index, item)| (item, place, index, document, role)));
                }
                _ => {}
            }
        }
        index
    }

    pub(crate) fn draft(&self) -> Draft {
        self.draft
    }

    pub(crate) fn formats(&self) -> Formats {
        self.formats
    }

    /// The place of a subschema; `None` if it is not part of the schema.
    pub(crate) fn place(&self, schema: &Value) -> Option<PlaceId> {
        self.entries.get(&address(schema)).map(|entry| entry.place)
    }

    fn add(&mut self, value: &'s Value, place: PlaceId, document: usize) -> usize {
        let Value::Object(object) = value else {
            self.entries.insert(address(value), Entry { place, document });
            return document;
        };
        self.has_references |= REFERENCE_KEYWORDS.iter().any(|keyword| object.contains_key(keyword));
        let keyword = if matches!(self.draft, Draft::Draft4) { "id" } else { "$id" };
        let id = object.get(keyword).and_then(Value::as_str);
        let (id, anchor) = match id {
            Some(id) if id.starts_with('#') => (None, id.strip_prefix('#')),
            id => (id, None),
        };
        let document = id.map_or(document, |id| self.add_document(value, id, document));
        let keywords = [object.get("$anchor"), object.get("$dynamicAnchor")];
        let anchors = keywords.into_iter().flatten().filter_map(Value::as_str).chain(anchor);
        if let Some(document) = self.documents.get_mut(document) {
            document.anchors.extend(anchors.map(|name| (name, value)));
        }
        self.entries.insert(address(value), Entry { place, document });
        document
    }

    fn add_document(&mut self, root: &'s Value, id: &str, parent: usize) -> usize {
        let base = self.documents.get(parent).and_then(|document| document.uri.as_ref());
        let id = id.trim_end_matches('#');
        let uri = base.and_then(|base| uri::resolve_against(&base.borrow(), id).ok());
        self.documents.push(Document { uri, root, anchors: HashMap::default() });
        self.documents.len() - 1
    }

    /// The target of a reference in the subschema `from`; `None` if it is not part of the schema.
    pub(crate) fn resolve(&self, from: &Value, reference: &str) -> Option<&'s Value> {
        let current = self.documents.get(self.entries.get(&address(from))?.document)?;
        let (document, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let target = if document.is_empty() {
            current
        } else {
            let uri = uri::resolve_against(&current.uri.as_ref()?.borrow(), document).ok()?;
            self.documents.iter().rev().find(|document| document.uri.as_ref() == Some(&uri))?
        };
        if fragment.is_empty() {
            return Some(target.root);
        }
        let fragment = percent_decode_str(fragment).decode_utf8().ok()?;
        if fragment.starts_with('/') {
            let path = Path::from_pointer(&fragment, target.root).ok()?;
            return target.root.at(&path);
        }
        target.anchors.get(fragment.as_ref()).copied()
    }
}

/// The number of levels of the schema with all references followed; `None` if the schema is recursive.
pub(crate) fn height(root: &Value, index: &SchemaIndex<'_>) -> Option<usize> {
    if !index.has_references {
        return Some(levels(root));
    }
    let mut done: HashMap<usize, usize> = HashMap::default();
    let mut stack = vec![Step::new(root, index)?];
    let mut on_stack: HashSet<usize> = [address(root)].into_iter().collect();
    loop {
        let step = stack.last_mut()?;
        let Some(next) = step.pending.pop() else {
            let step = stack.pop()?;
            on_stack.remove(&address(step.value));
            done.insert(address(step.value), step.height);
            match stack.last_mut() {
                Some(parent) => parent.height = parent.height.max(step.height + 1),
                None => return Some(step.height),
            }
            continue;
        };
        if let Some(height) = done.get(&address(next)) {
            step.height = step.height.max(height + 1);
        } else if on_stack.insert(address(next)) {
            stack.push(Step::new(next, index)?);
        } else {
            return None;
        }
    }
}

struct Step<'s> {
    value: &'s Value,
    pending: Vec<&'s Value>,
    height: usize,
}

impl<'s> Step<'s> {
    /// `None` if a reference cannot be resolved.
    fn new(value: &'s Value, index: &SchemaIndex<'s>) -> Option<Self> {
        let mut pending = Vec::new();
        match value {
            Value::Object(object) => {
                for keyword in REFERENCE_KEYWORDS {
                    if let Some(reference) = object.get(keyword).and_then(Value::as_str) {
                        pending.push(index.resolve(value, reference)?);
                    }
                }
                pending.extend(object.values());
            }
            Value::Array(items) => pending.extend(items),
            _ => {}
        }
        pending.retain(|value| matches!(value, Value::Object(_) | Value::Array(_)));
        Some(Self { value, pending, height: 0 })
    }
}
