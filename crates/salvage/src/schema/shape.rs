//! A schema as fitting sees it: what is wanted at each place, precomputed.
//!
//! A [`Shape`] stands for all schemas that hold at one place at once: a schema, what its `$ref` and `allOf` lead to, and
//! the alternative that was chosen from a union. So fitting never has to look for what else might apply.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use jsonschema::Validator;
use reknit_protocol::Value;

use super::allowed::Allowed;
use super::json::Tree;
use super::parts::PartId;
use super::types::Types;

/// The number of a shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct ShapeId(pub(super) usize);

/// What is wanted at one place.
#[derive(Debug, Clone)]
pub(crate) struct Shape {
    /// The schemas whose verdict counts here.
    pub(crate) heads: Box<[PartId]>,
    /// The alternatives chosen on the way here.
    pub(crate) chosen: Box<[PartId]>,
    pub(crate) types: Types,
    /// Whether the types alone decide about values that are no containers.
    pub(crate) is_plain: bool,
    /// The values that `enum` and `const` allow, if they do not allow all.
    pub(crate) allowed: Option<Allowed>,
    pub(crate) object: ObjectShape,
    pub(crate) array: ArrayShape,
    /// Where there are alternatives: the same shape once with each of them. Then the rest of this one is not used.
    pub(crate) alternatives: Box<[ShapeId]>,
    /// Whether a key could be misspelt here or below.
    pub(crate) has_spellings: bool,
}

/// What is known about the keys of an object.
#[derive(Debug, Clone, Default)]
pub(crate) struct ObjectShape {
    pub(crate) properties: HashMap<Box<str>, Property>,
    /// The declared names by what their spellings have in common; `None` where two share it. Empty where unknown keys
    /// are meant as they are.
    pub(crate) spellings: HashMap<String, Option<Box<str>>>,
    pub(crate) patterns: Box<[(Pattern, ShapeId)]>,
    /// What is wanted for other keys.
    pub(crate) extra: Option<ShapeId>,
    /// Whether other keys are refused.
    pub(crate) is_closed: bool,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Property {
    pub(crate) shape: ShapeId,
    pub(crate) is_required: bool,
}

/// What is known about the items of an array.
#[derive(Debug, Clone, Default)]
pub(crate) struct ArrayShape {
    pub(crate) prefix: Box<[ShapeId]>,
    pub(crate) rest: Option<ShapeId>,
}

impl ArrayShape {
    /// What is wanted for an item.
    pub(crate) fn item(&self, index: usize) -> Option<ShapeId> {
        self.prefix.get(index).copied().or(self.rest)
    }
}

impl ObjectShape {
    /// The shape for a key that is not declared.
    pub(crate) fn other(&self, key: &str) -> Option<ShapeId> {
        self.matching(key).or(self.extra)
    }

    /// The shape that `patternProperties` has for the key.
    pub(crate) fn matching(&self, key: &str) -> Option<ShapeId> {
        if self.patterns.is_empty() {
            return None;
        }
        let key = Value::from(key);
        self.patterns.iter().find(|(pattern, _)| pattern.0.is_valid(&key)).map(|(_, shape)| *shape)
    }
}

/// A regular expression for keys, as the validator understands it.
#[derive(Clone)]
pub(crate) struct Pattern(pub(super) Arc<Validator<Tree>>);

impl fmt::Debug for Pattern {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Pattern")
    }
}

/// All shapes of a schema.
#[derive(Debug)]
pub(crate) struct Shapes {
    list: Vec<Shape>,
    /// Where nothing is known: whatever stands there is left alone.
    unknown: Shape,
}

impl Shapes {
    pub(super) fn new(list: Vec<Shape>) -> Self {
        let mut shapes = Self { list, unknown: Shape::unknown() };
        shapes.find_spellings();
        shapes
    }

    /// The shape of the whole value.
    pub(crate) fn root() -> ShapeId {
        ShapeId(0)
    }

    pub(crate) fn get(&self, id: ShapeId) -> &Shape {
        self.list.get(id.0).unwrap_or(&self.unknown)
    }

    /// Children mostly have higher numbers, so going backwards settles all but cycles in one pass.
    fn find_spellings(&mut self) {
        loop {
            let mut settled = true;
            for index in (0..self.list.len()).rev() {
                let Some(shape) = self.list.get(index).filter(|shape| !shape.has_spellings) else { continue };
                let here = !shape.object.spellings.is_empty();
                if here || shape.below().any(|id| self.get(id).has_spellings) {
                    settled = false;
                    if let Some(shape) = self.list.get_mut(index) {
                        shape.has_spellings = true;
                    }
                }
            }
            if settled {
                return;
            }
        }
    }
}

impl Shape {
    pub(super) fn unknown() -> Self {
        Self {
            heads: Box::default(),
            chosen: Box::default(),
            types: Types::ALL,
            is_plain: true,
            allowed: None,
            object: ObjectShape::default(),
            array: ArrayShape::default(),
            alternatives: Box::default(),
            has_spellings: false,
        }
    }

    fn below(&self) -> impl Iterator<Item = ShapeId> {
        let properties = self.object.properties.values().map(|property| property.shape);
        let patterns = self.object.patterns.iter().map(|(_, shape)| *shape);
        let items = self.array.prefix.iter().copied().chain(self.array.rest);
        properties.chain(patterns).chain(self.object.extra).chain(items).chain(self.alternatives.iter().copied())
    }
}
