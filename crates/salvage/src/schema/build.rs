//! From the text of a schema to its shapes.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use reknit_protocol::Value;

use super::allowed::Allowed;
use super::member::Member;
use super::outline::Outline;
use super::parts::{self, PartId};
use super::shape::{ArrayShape, ObjectShape, Pattern, Property, Shape, ShapeId, Shapes};
use super::spelling::key_form;
use super::types::Types;

/// The most shapes a schema may have. Unions of unions could have more combinations than anyone can look at; beyond this
/// number a place is left alone by fitting, and only validated.
const MOST_SHAPES: usize = 20_000;

/// What a shape is made of; two places with equal keys share a shape.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
struct Key {
    heads: Vec<PartId>,
    chosen: Vec<PartId>,
    /// The unions from which an alternative was chosen, by their part and their place in it.
    decided: Vec<(PartId, usize)>,
}

/// Reads parts as they are reached, and makes a shape of each combination of them.
#[derive(Debug)]
pub(super) struct Builder<'s> {
    outline: &'s Outline<'s>,
    members: Vec<(Member<'s>, Option<String>)>,
    part_ids: HashMap<usize, PartId>,
    patterns: HashMap<&'s str, Option<Pattern>>,
    shape_ids: HashMap<Key, ShapeId>,
    keys: Vec<Key>,
}

impl<'s> Builder<'s> {
    pub(super) fn new(outline: &'s Outline<'s>) -> Self {
        Self {
            outline,
            members: Vec::new(),
            part_ids: HashMap::new(),
            patterns: HashMap::new(),
            shape_ids: HashMap::new(),
            keys: Vec::new(),
        }
    }

    /// The shapes, and the pointers of the parts they are made of.
    pub(super) fn build(mut self, schema: &'s Value) -> (Shapes, Vec<Option<String>>) {
        self.shape_for([schema]);
        let mut shapes = Vec::new();
        while let Some(key) = self.keys.get(shapes.len()).cloned() {
            shapes.push(self.shape(&key));
        }
        let pointers = self.members.into_iter().map(|(_, pointer)| pointer).collect();
        (Shapes::new(shapes), pointers)
    }

    fn part(&mut self, schema: &'s Value) -> PartId {
        let address = std::ptr::from_ref(schema).addr();
        if let Some(id) = self.part_ids.get(&address) {
            return *id;
        }
        let id = PartId(self.members.len());
        let pointer = self.outline.pointer(schema).map(str::to_owned);
        self.members.push((Member::read(schema, self.outline), pointer));
        self.part_ids.insert(address, id);
        id
    }

    /// The shape of a place where all these schemas hold.
    fn shape_for(&mut self, schemas: impl IntoIterator<Item = &'s Value>) -> ShapeId {
        let mut heads: Vec<PartId> = schemas.into_iter().map(|schema| self.part(schema)).collect();
        heads.sort_unstable();
        heads.dedup();
        self.shape_id(Key { heads, ..Key::default() })
    }

    fn shape_id(&mut self, key: Key) -> ShapeId {
        if let Some(id) = self.shape_ids.get(&key) {
            return *id;
        }
        if self.keys.len() >= MOST_SHAPES {
            return ShapeId(usize::MAX);
        }
        let id = ShapeId(self.keys.len());
        self.keys.push(key.clone());
        self.shape_ids.insert(key, id);
        id
    }

    fn member(&self, id: PartId) -> Option<&Member<'s>> {
        self.members.get(id.0).map(|(member, _)| member)
    }

    /// The parts themselves and all that holds because of them.
    fn closure(&mut self, key: &Key) -> Vec<PartId> {
        let mut parts: Vec<PartId> = key.heads.iter().chain(&key.chosen).copied().collect();
        let mut seen: HashSet<PartId> = parts.iter().copied().collect();
        let mut next = 0;
        while let Some(id) = parts.get(next) {
            next += 1;
            let also = self.member(*id).map(|member| member.also.clone()).unwrap_or_default();
            for schema in also {
                let id = self.part(schema);
                if seen.insert(id) {
                    parts.push(id);
                }
            }
        }
        parts
    }

    fn shape(&mut self, key: &Key) -> Shape {
        let parts = self.closure(key);
        let members = || parts.iter().filter_map(|id| self.member(*id));
        let mut types = members().fold(Types::ALL, |types, member| types.and(member.types));
        let mut allowed: Option<Vec<Value>> = None;
        for values in members().filter_map(|member| member.allowed.as_ref()) {
            let values: Vec<Value> = values.iter().map(|value| (*value).clone()).collect();
            types = types.and(Types::of_values(&values));
            allowed.get_or_insert_default().extend(values);
        }
        let is_plain = members().all(|member| member.is_plain);
        let alternatives = self.alternatives(key, &parts);
        Shape {
            heads: key.heads.as_slice().into(),
            chosen: key.chosen.as_slice().into(),
            types,
            is_plain,
            allowed: allowed.map(Allowed::new),
            object: self.object(&parts),
            array: self.array(&parts),
            alternatives,
            has_spellings: false,
        }
    }

    /// The shapes with one more union decided, once for each of its alternatives.
    fn alternatives(&mut self, key: &Key, parts: &[PartId]) -> Box<[ShapeId]> {
        let unions = parts.iter().flat_map(|id| {
            let count = self.member(*id).map_or(0, |member| member.unions.len());
            (0..count).map(|union| (*id, union))
        });
        let Some((part, union)) = unions.into_iter().find(|union| !key.decided.contains(union)) else {
            return Box::default();
        };
        let branches = self.member(part).and_then(|member| member.unions.get(union)).cloned().unwrap_or_default();
        let choose = |branch: Vec<&'s Value>| {
            let mut key = key.clone();
            key.chosen.extend(branch.into_iter().map(|schema| self.part(schema)));
            key.chosen.sort_unstable();
            key.chosen.dedup();
            key.decided.push((part, union));
            key.decided.sort_unstable();
            self.shape_id(key)
        };
        branches.into_iter().map(choose).collect()
    }

    fn object(&mut self, parts: &[PartId]) -> ObjectShape {
        let mut properties: BTreeMap<&'s str, Vec<&'s Value>> = BTreeMap::new();
        let (mut patterns, mut extras, mut required) = (Vec::new(), Vec::new(), HashSet::new());
        let (mut is_closed, mut names_property) = (false, false);
        for member in parts.iter().filter_map(|id| self.member(*id)) {
            for (name, schema) in &member.properties {
                properties.entry(name).or_default().push(schema);
            }
            patterns.extend(member.patterns.iter().copied());
            required.extend(member.required.iter().copied());
            names_property |= member.names_property;
            match member.extra {
                Some(Value::Bool(false)) => is_closed = true,
                extra => extras.extend(extra),
            }
        }
        let means_extra_keys = names_property || (!is_closed && !extras.is_empty());
        let names = properties.keys().filter(|_| !means_extra_keys).copied();
        ObjectShape {
            spellings: spellings(names),
            patterns: patterns.into_iter().filter_map(|(pattern, schema)| self.pattern(pattern, schema)).collect(),
            extra: (!extras.is_empty()).then(|| self.shape_for(extras)),
            is_closed,
            properties: properties
                .into_iter()
                .map(|(name, schemas)| {
                    let property = Property { shape: self.shape_for(schemas), is_required: required.contains(name) };
                    (name.into(), property)
                })
                .collect(),
        }
    }

    fn pattern(&mut self, pattern: &'s str, schema: &'s Value) -> Option<(Pattern, ShapeId)> {
        let draft = self.outline.draft();
        let compile = || {
            let validator = parts::options(draft).build(&serde_json::json!({ "pattern": pattern })).ok()?;
            Some(Pattern(Arc::new(validator)))
        };
        let pattern = self.patterns.entry(pattern).or_insert_with(compile).clone()?;
        Some((pattern, self.shape_for([schema])))
    }

    fn array(&mut self, parts: &[PartId]) -> ArrayShape {
        let members = || parts.iter().filter_map(|id| self.member(*id));
        let length = members().map(|member| member.prefix.len()).max().unwrap_or_default();
        let at = |index| {
            let wanted = members().filter_map(move |member| member.prefix.get(index).copied().or(member.rest));
            wanted.collect::<Vec<_>>()
        };
        let (prefix, rest): (Vec<_>, Vec<_>) = ((0..length).map(at).collect(), at(length));
        ArrayShape {
            prefix: prefix.into_iter().map(|schemas| self.shape_for(schemas)).collect(),
            rest: (!rest.is_empty()).then(|| self.shape_for(rest)),
        }
    }
}

fn spellings<'a>(names: impl Iterator<Item = &'a str>) -> HashMap<String, Option<Box<str>>> {
    let mut spellings = HashMap::new();
    for name in names {
        let form = key_form(name);
        if form.is_empty() {
            continue;
        }
        let owner = spellings.entry(form).or_insert_with(|| Some(name.into()));
        if owner.as_deref() != Some(name) {
            *owner = None;
        }
    }
    spellings
}
