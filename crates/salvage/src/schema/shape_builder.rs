//! Building the shapes of a schema.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::{Arc, OnceLock};

use reknit_protocol::Value;

use super::allowed_values::AllowedValues;
use super::complexity::Complexity;
use super::fast_hash::{HashMap, HashSet};
use super::keywords::Keywords;
use super::schema_index::{PlaceId, SchemaIndex, address};
use super::shape::{ArrayShape, ObjectShape, Pattern, Property, Shape, ShapeId, Shapes};
use super::subschemas::{self, SubschemaId};
use super::types::TypeSet;

/// How many shapes a schema may have, because nested unions can have a huge number of combinations. Beyond this number,
/// values are validated but not changed.
const MAX_SHAPES: usize = 20_000;

/// How many subschemas, properties and allowed values all shapes may combine together, because a shape may have many of them.
const MAX_PARTS: usize = 500_000;

/// The subschemas that a shape combines. Places with equal keys share a shape.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
struct ShapeKey {
    subschemas: Vec<SubschemaId>,
    chosen: Vec<SubschemaId>,
    /// The unions from which an alternative was chosen: the subschema, and the index of the union in it.
    decided: Vec<(SubschemaId, usize)>,
}

/// Reads subschemas when they are reached, and builds a shape for each combination of them.
pub(super) struct ShapeBuilder<'s> {
    index: &'s SchemaIndex<'s>,
    complexity: Complexity,
    keywords: Vec<(Keywords<'s>, Option<PlaceId>)>,
    subschema_ids: HashMap<usize, SubschemaId>,
    patterns: HashMap<&'s str, Option<Pattern>>,
    shape_ids: HashMap<Rc<ShapeKey>, ShapeId>,
    shape_keys: Vec<Rc<ShapeKey>>,
    parts: usize,
}

impl<'s> ShapeBuilder<'s> {
    pub(super) fn new(index: &'s SchemaIndex<'s>, complexity: Complexity) -> Self {
        Self {
            index,
            complexity,
            keywords: Vec::new(),
            subschema_ids: HashMap::default(),
            patterns: HashMap::default(),
            shape_ids: HashMap::default(),
            shape_keys: Vec::new(),
            parts: 0,
        }
    }

    /// Builds the shapes; also returns the places of all subschemas.
    pub(super) fn build(mut self, schema: &'s Value) -> (Shapes, Vec<Option<PlaceId>>) {
        self.shape_for([schema]);
        let mut shapes = Vec::new();
        while let Some(key) = self.shape_keys.get(shapes.len()).cloned() {
            shapes.push(if self.parts < MAX_PARTS { self.build_shape(&key) } else { Shape::default() });
        }
        let places = self.keywords.into_iter().map(|(_, place)| place).collect();
        (Shapes::new(shapes), places)
    }

    fn subschema_id(&mut self, schema: &'s Value) -> SubschemaId {
        if let Some(id) = self.subschema_ids.get(&address(schema)) {
            return *id;
        }
        let id = SubschemaId(self.keywords.len());
        self.keywords.push((Keywords::read(schema, self.index), self.index.place(schema)));
        self.subschema_ids.insert(address(schema), id);
        id
    }

    fn shape_for(&mut self, schemas: impl IntoIterator<Item = &'s Value>) -> ShapeId {
        let mut subschemas: Vec<SubschemaId> = schemas.into_iter().map(|schema| self.subschema_id(schema)).collect();
        subschemas.sort_unstable();
        subschemas.dedup();
        self.shape_id(ShapeKey { subschemas, ..ShapeKey::default() })
    }

    fn shape_id(&mut self, key: ShapeKey) -> ShapeId {
        if let Some(id) = self.shape_ids.get(&key) {
            return *id;
        }
        if self.shape_keys.len() >= MAX_SHAPES || self.parts >= MAX_PARTS {
            return ShapeId(usize::MAX);
        }
        let id = ShapeId(self.shape_keys.len());
        let key = Rc::new(key);
        self.shape_keys.push(Rc::clone(&key));
        self.shape_ids.insert(key, id);
        id
    }

    fn keywords_of(&self, id: SubschemaId) -> Option<&Keywords<'s>> {
        self.keywords.get(id.0).map(|(keywords, _)| keywords)
    }

    /// The subschemas of the key, and all that their `allOf` and `$ref` lead to.
    fn collect_subschemas(&mut self, key: &ShapeKey) -> Vec<SubschemaId> {
        let mut subschemas: Vec<SubschemaId> = key.subschemas.iter().chain(&key.chosen).copied().collect();
        let mut seen: HashSet<SubschemaId> = HashSet::default();
        let mut next = 0;
        while let Some(id) = subschemas.get(next) {
            next += 1;
            let also = self.keywords_of(*id).map(|keywords| keywords.also.clone()).unwrap_or_default();
            if !also.is_empty() && seen.is_empty() {
                seen.extend(&subschemas);
            }
            for schema in also {
                let id = self.subschema_id(schema);
                if seen.insert(id) {
                    subschemas.push(id);
                }
            }
        }
        subschemas
    }

    fn build_shape(&mut self, key: &ShapeKey) -> Shape {
        let subschemas = self.collect_subschemas(key);
        self.parts += subschemas.len() + key.decided.len();
        for id in &subschemas {
            self.parts += self.keywords_of(*id).map_or(0, Keywords::parts);
        }
        let all_keywords = || subschemas.iter().filter_map(|id| self.keywords_of(*id));
        let mut types = all_keywords().fold(TypeSet::ALL, |types, keywords| types.intersection(keywords.types));
        let mut allowed: Option<Vec<Value>> = None;
        let mut lists = 0;
        for values in all_keywords().filter_map(|keywords| keywords.allowed.as_ref()) {
            let values: Vec<Value> = values.iter().map(|value| (*value).clone()).collect();
            types = types.intersection(TypeSet::of_values(&values));
            lists += 1;
            allowed.get_or_insert_default().extend(values);
        }
        let restricts_scalars = lists > 1 || all_keywords().any(|keywords| keywords.restricts_scalars);
        let mut formats = all_keywords().filter_map(|keywords| keywords.format);
        let format = formats.next().filter(|first| formats.all(|other| other == *first)).map(Into::into);
        let labels = all_keywords().flat_map(|keywords| keywords.labels.iter());
        let labels: Vec<_> = labels.map(|(label, value)| ((*label).to_owned(), (*value).clone())).collect();
        let alternatives = self.build_alternatives(key, &subschemas);
        Shape {
            subschemas: key.subschemas.as_slice().into(),
            chosen: key.chosen.as_slice().into(),
            types,
            restricts_scalars,
            format,
            allowed: allowed.map(|values| AllowedValues::new(values, labels)),
            object: self.build_object(&subschemas),
            array: self.build_array(&subschemas),
            alternatives,
            may_rename_keys: false,
        }
    }

    /// For the first undecided union: the shapes with each of its alternatives.
    fn build_alternatives(&mut self, key: &ShapeKey, subschemas: &[SubschemaId]) -> Box<[ShapeId]> {
        let unions = subschemas.iter().flat_map(|id| {
            let count = self.keywords_of(*id).map_or(0, |keywords| keywords.unions.len());
            (0..count).map(|union| (*id, union))
        });
        let Some((part, union)) = unions.into_iter().find(|union| !key.decided.contains(union)) else {
            return Box::default();
        };
        let branches =
            self.keywords_of(part).and_then(|keywords| keywords.unions.get(union)).cloned().unwrap_or_default();
        let choose = |branch: Vec<&'s Value>| {
            let mut key = key.clone();
            key.chosen.extend(branch.into_iter().map(|schema| self.subschema_id(schema)));
            key.chosen.sort_unstable();
            key.chosen.dedup();
            key.decided.push((part, union));
            key.decided.sort_unstable();
            self.shape_id(key)
        };
        branches.into_iter().map(choose).collect()
    }

    fn build_object(&mut self, subschemas: &[SubschemaId]) -> ObjectShape {
        let mut properties: BTreeMap<&'s str, Vec<&'s Value>> = BTreeMap::new();
        let (mut patterns, mut additional, mut required) = (Vec::new(), Vec::new(), HashSet::default());
        let (mut is_closed, mut restricts_names) = (false, false);
        for keywords in subschemas.iter().filter_map(|id| self.keywords_of(*id)) {
            for (name, schema) in &keywords.properties {
                properties.entry(name).or_default().push(schema);
            }
            patterns.extend(keywords.patterns.iter().copied());
            required.extend(keywords.required.iter().copied());
            restricts_names |= keywords.restricts_names;
            match keywords.additional {
                Some(Value::Bool(false)) => is_closed = true,
                extra => additional.extend(extra),
            }
        }
        let describes_additional_keys = restricts_names || (!is_closed && !additional.is_empty());
        ObjectShape {
            may_rename_keys: !describes_additional_keys && !properties.is_empty(),
            names_by_spelling: OnceLock::new(),
            patterns: patterns
                .into_iter()
                .filter_map(|(pattern, schema)| self.compile_pattern(pattern, schema))
                .collect(),
            additional: (!additional.is_empty()).then(|| self.shape_for(additional)),
            is_closed,
            required: properties.keys().filter(|name| required.contains(*name)).count(),
            properties: properties
                .into_iter()
                .map(|(name, schemas)| {
                    let property = Property { shape: self.shape_for(schemas), is_required: required.contains(name) };
                    (name.into(), property)
                })
                .collect(),
        }
    }

    fn compile_pattern(&mut self, pattern: &'s str, schema: &'s Value) -> Option<(Pattern, ShapeId)> {
        let rules = (self.index.draft(), self.complexity, self.index.formats());
        let compile = || {
            let validator = subschemas::options(rules).build(&serde_json::json!({ "pattern": pattern })).ok()?;
            Some(Arc::new(validator))
        };
        let pattern = self.patterns.entry(pattern).or_insert_with(compile).clone()?;
        Some((pattern, self.shape_for([schema])))
    }

    fn build_array(&mut self, subschemas: &[SubschemaId]) -> ArrayShape {
        let all_keywords = || subschemas.iter().filter_map(|id| self.keywords_of(*id));
        let length = all_keywords().map(|keywords| keywords.prefix.len()).max().unwrap_or_default();
        let at = |index| {
            let wanted =
                all_keywords().filter_map(move |keywords| keywords.prefix.get(index).copied().or(keywords.rest));
            wanted.collect::<Vec<_>>()
        };
        let (prefix, rest): (Vec<_>, Vec<_>) = ((0..length).map(at).collect(), at(length));
        ArrayShape {
            prefix: prefix.into_iter().map(|schemas| self.shape_for(schemas)).collect(),
            rest: (!rest.is_empty()).then(|| self.shape_for(rest)),
        }
    }
}
