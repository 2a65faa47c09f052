//! Shapes: what a schema expects at each place of a value, computed in advance for fitting.
//!
//! A [`Shape`] combines all subschemas that apply at one place: a subschema, the targets of its `$ref` and `allOf`, and the
//! alternative that was chosen from a union. Fitting never has to look for other subschemas that might apply.

use std::sync::{Arc, OnceLock};

use jsonschema::Validator;
use reknit_protocol::Value;
use reknit_protocol::spelling::folded;

use super::allowed_values::AllowedValues;
use super::fast_hash::HashMap;
use super::key_marks::without_marks;
use super::subschemas::SubschemaId;
use super::types::TypeSet;
use super::typo::only_typo;
use super::validator_input::ValueInput;

/// Among more properties than this, no typo is looked for.
const MAX_NAMES_WITH_TYPO: usize = 64;

/// The index of a shape in [`Shapes`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct ShapeId(pub(super) usize);

/// What the schema expects at one place.
#[derive(Clone, Default)]
pub(crate) struct Shape {
    /// The subschemas that a value here has to fit.
    pub(crate) subschemas: Box<[SubschemaId]>,
    /// The alternatives that were chosen from unions.
    pub(crate) chosen: Box<[SubschemaId]>,
    pub(crate) types: TypeSet,
    /// Whether the validator has to decide which scalars fit, because `types` and `allowed` do not.
    pub(crate) restricts_scalars: bool,
    /// The value of `format`; `None` if there are several.
    pub(crate) format: Option<Box<str>>,
    /// The values that `enum` and `const` allow; `None` if there is no such keyword.
    pub(crate) allowed: Option<AllowedValues>,
    pub(crate) object: ObjectShape,
    pub(crate) array: ArrayShape,
    /// For a union: this shape combined with each alternative. The other fields are then not used for fitting.
    pub(crate) alternatives: Box<[ShapeId]>,
    /// Whether a misspelt key can be renamed here or in a descendant.
    pub(crate) may_rename_keys: bool,
}

/// What the schema expects of the entries of an object.
#[derive(Clone, Default)]
pub(crate) struct ObjectShape {
    pub(crate) properties: HashMap<Box<str>, Property>,
    /// Whether an unknown key may be a misspelt name of a property. Not if the schema describes additional keys, because unknown
    /// keys are then intended.
    pub(crate) may_rename_keys: bool,
    /// The names of the properties by their folded spelling; `None` if two names have the same. Computed on first use.
    pub(super) names_by_spelling: OnceLock<HashMap<String, Option<Box<str>>>>,
    pub(crate) patterns: Box<[(Pattern, ShapeId)]>,
    pub(crate) additional: Option<ShapeId>,
    pub(crate) is_closed: bool,
    pub(crate) required: usize,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Property {
    pub(crate) shape: ShapeId,
    pub(crate) is_required: bool,
}

/// What the schema expects of the items of an array.
#[derive(Debug, Clone, Default)]
pub(crate) struct ArrayShape {
    pub(crate) prefix: Box<[ShapeId]>,
    pub(crate) rest: Option<ShapeId>,
}

impl ArrayShape {
    pub(crate) fn item(&self, index: usize) -> Option<ShapeId> {
        self.prefix.get(index).copied().or(self.rest)
    }
}

impl ObjectShape {
    /// The only property of which `key` is another spelling.
    pub(crate) fn name_by_spelling(&self, key: &str) -> Option<&str> {
        self.names_by_spelling()?.get(&folded(key))?.as_deref()
    }

    /// The only property that `key` names with marks around it, or in the singular or plural.
    pub(crate) fn name_by_form(&self, key: &str) -> Option<&str> {
        let names = self.names_by_spelling()?;
        let unmarked = without_marks(key);
        let key = unmarked.as_deref().unwrap_or(key);
        let form = folded(key);
        if unmarked.is_some()
            && let Some(name) = names.get(&form)
        {
            return name.as_deref();
        }
        if let Some(name) = self.joined_words(key).and_then(|form| names.get(&form)) {
            return name.as_deref();
        }
        let mut found = other_numbers(&form).filter_map(|form| names.get(&form));
        let first = found.next()?.as_deref()?;
        // `user_id` is none of `user_ids` and `user_idx`.
        let is_only = || names.keys().filter(|name| name.len() > form.len() && name.starts_with(&form)).count() < 2;
        (found.all(|other| other.as_deref() == Some(first)) && is_only()).then_some(first)
    }

    /// The folded form of a key with points or slashes between its words, `file.path`. `None` if the first word is a property, in
    /// which the others may be.
    fn joined_words(&self, key: &str) -> Option<String> {
        let (first, _) = key.split_once(['.', '/'])?;
        let is_path = self.is_spelling(first) || key.contains(['[', ']']);
        // Where other keys are allowed, such a key may be one of them.
        (self.is_closed && !is_path).then(|| folded(&key.replace(['.', '/'], "_")))
    }

    /// The only property from which `key` differs by one typo.
    pub(crate) fn name_by_typo(&self, key: &str) -> Option<&str> {
        if !self.may_rename_keys || self.properties.len() > MAX_NAMES_WITH_TYPO {
            return None;
        }
        only_typo(key, self.properties.keys().map(AsRef::as_ref))
    }

    /// Whether `key` is another spelling of a property, or of several.
    pub(crate) fn is_spelling(&self, key: &str) -> bool {
        self.names_by_spelling().is_some_and(|names| names.contains_key(&folded(key)))
    }

    fn names_by_spelling(&self) -> Option<&HashMap<String, Option<Box<str>>>> {
        let names = || self.names_by_spelling.get_or_init(|| names_by_spelling(self.properties.keys()));
        self.may_rename_keys.then(names)
    }

    pub(crate) fn entry(&self, key: &str) -> Option<ShapeId> {
        self.properties.get(key).map(|property| property.shape).or_else(|| self.undeclared(key))
    }

    /// The shape for a key that is not declared in `properties`.
    pub(crate) fn undeclared(&self, key: &str) -> Option<ShapeId> {
        self.matching_pattern(key).or(self.additional)
    }

    /// The shape of the first entry of `patternProperties` that matches the key.
    pub(crate) fn matching_pattern(&self, key: &str) -> Option<ShapeId> {
        if self.patterns.is_empty() {
            return None;
        }
        let key = Value::from(key);
        self.patterns.iter().find(|(pattern, _)| pattern.is_valid(&key)).map(|(_, shape)| *shape)
    }
}

/// A regular expression for keys, matched by the validator.
pub(crate) type Pattern = Arc<Validator<ValueInput>>;

pub(crate) struct Shapes {
    list: Vec<Shape>,
    /// The shape of a place that fitting does not change.
    unknown: Shape,
}

impl Shapes {
    pub(super) fn new(list: Vec<Shape>) -> Self {
        let mut shapes = Self { list, unknown: Shape::default() };
        shapes.mark_renamable();
        shapes
    }

    pub(crate) const ROOT: ShapeId = ShapeId(0);

    pub(crate) fn get(&self, id: ShapeId) -> &Shape {
        self.list.get(id.0).unwrap_or(&self.unknown)
    }

    pub(super) fn state_formats(&self) -> bool {
        self.list.iter().any(|shape| shape.format.is_some())
    }

    /// Sets `may_rename_keys`. Most children have higher indices than their parents, so one backward pass is enough for all
    /// shapes but those in cycles.
    fn mark_renamable(&mut self) {
        loop {
            let mut is_unchanged = true;
            for index in (0..self.list.len()).rev() {
                let Some(shape) = self.list.get(index).filter(|shape| !shape.may_rename_keys) else { continue };
                if shape.object.may_rename_keys || shape.children().any(|id| self.get(id).may_rename_keys) {
                    is_unchanged = false;
                    if let Some(shape) = self.list.get_mut(index) {
                        shape.may_rename_keys = true;
                    }
                }
            }
            if is_unchanged {
                return;
            }
        }
    }
}

impl Shape {
    fn children(&self) -> impl Iterator<Item = ShapeId> {
        let properties = self.object.properties.values().map(|property| property.shape);
        let patterns = self.object.patterns.iter().map(|(_, shape)| *shape);
        let items = self.array.prefix.iter().copied().chain(self.array.rest);
        properties.chain(patterns).chain(self.object.additional).chain(items).chain(self.alternatives.iter().copied())
    }
}

/// The folded name in the plural if it is in the singular, and the other way round. Short names have no other number: `as`
/// is no plural.
fn other_numbers(form: &str) -> impl Iterator<Item = String> {
    let is_long = form.len() >= 3;
    let singular = [("ies", "y"), ("es", ""), ("s", "")].into_iter().filter_map(move |(ending, instead)| {
        let stem = form.strip_suffix(ending).filter(|stem| is_long && stem.len() >= 2)?;
        Some(format!("{stem}{instead}"))
    });
    let plural = [("y", "ies"), ("", "es"), ("", "s")].into_iter().filter_map(move |(ending, instead)| {
        let stem = form.strip_suffix(ending).filter(|_| is_long)?;
        Some(format!("{stem}{instead}"))
    });
    singular.chain(plural)
}

fn names_by_spelling<'a>(names: impl Iterator<Item = &'a Box<str>>) -> HashMap<String, Option<Box<str>>> {
    let mut names_by_spelling: HashMap<String, Option<Box<str>>> = HashMap::default();
    for name in names {
        let form = folded(name);
        if !form.is_empty() {
            names_by_spelling.entry(form).and_modify(|owner| *owner = None).or_insert_with(|| Some(name.clone()));
        }
    }
    names_by_spelling
}
