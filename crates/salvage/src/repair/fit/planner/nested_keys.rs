//! Planning objects whose inner objects were written flat: `{"address.city": "Bern"}`, `{"items[0].sku": "A"}`, or their keys beside
//! those of the outer object.

use std::rc::Rc;

use reknit_protocol::{Object, Value};

use super::{Context, Planner, ValuePath};
use crate::FixKind;
use crate::repair::fit::plan::{Decoded, Plan};
use crate::schema::SchemaType;
use crate::schema::shape::{ObjectShape, Shape, ShapeId};

/// Objects with more entries are not looked at.
const MAX_ENTRIES: usize = 256;

/// How many items a list may get from keys.
const MAX_ITEMS: usize = 256;

impl Planner<'_> {
    /// Plans to put entries into the objects of which their keys are. `None` if there are none, or if one has no clear place.
    pub(super) fn plan_nested_keys(&mut self, object: &Object, id: ShapeId, context: Context<'_>) -> Option<Plan> {
        let shape = self.schema.shape(id);
        let declared = &shape.object;
        let is_known = |key: &str| declared.properties.contains_key(key) || declared.is_spelling(key);
        if declared.additional.is_some() || object.len() > MAX_ENTRIES || object.keys().all(is_known) {
            return None;
        }
        let nested = Value::Object(self.nested(object, declared)?);
        let decoded = Rc::new(Decoded { kind: FixKind::NestedKeys, value: nested, fixes: Vec::new() });
        self.lists.push(Rc::clone(&decoded));
        let path = ValuePath::Decoded(context.path);
        let then = self.plan(&decoded.value, id, context.child(&path));
        then.fits.then(|| Plan::decode(decoded, then))
    }

    fn nested(&self, object: &Object, declared: &ObjectShape) -> Option<Object> {
        let mut nested = Object::with_capacity(object.len());
        let mut flat = Vec::new();
        for (key, value) in object {
            if declared.properties.contains_key(key) || declared.is_spelling(key) {
                nested.insert(key, value.clone());
            } else {
                flat.push((key, value));
            }
        }
        for (key, value) in flat {
            let (parent, index, name) = self.place(key, declared)?;
            if !nested.contains_key(parent) {
                let empty = index.map_or_else(|| Value::Object(Object::new()), |_| Value::Array(Vec::new()));
                nested.insert(parent, empty);
            }
            let inner = match (nested.get_mut(parent)?, index) {
                (Value::Object(inner), None) => inner,
                (Value::Array(items), Some(index)) => {
                    // Items come in their order, without gaps.
                    if index == items.len() && index < MAX_ITEMS {
                        items.push(Value::Object(Object::new()));
                    }
                    match items.get_mut(index)? {
                        Value::Object(inner) => inner,
                        _ => return None,
                    }
                }
                _ => return None,
            };
            if inner.insert(name, value.clone()).is_some() {
                return None;
            }
        }
        Some(nested)
    }

    /// The property into which an entry belongs, the index in its list, and the name of the entry there.
    fn place<'k>(&self, key: &'k str, declared: &'k ObjectShape) -> Option<(&'k str, Option<usize>, &'k str)> {
        let (parent, index, name) = match split_path(key) {
            Some(path) => path,
            None => (self.only_owner(key, declared)?, None, key),
        };
        let inner = self.schema.shape(declared.properties.get(parent)?.shape);
        let inner = match index {
            Some(index) => self.schema.shape(inner.array.item(index)?),
            None => inner,
        };
        inner.object.properties.contains_key(name).then_some((parent, index, name))
    }

    /// The only property whose object declares the key.
    fn only_owner<'d>(&self, key: &str, declared: &'d ObjectShape) -> Option<&'d str> {
        let has_key =
            |shape: &Shape| shape.types.contains(SchemaType::Object) && shape.object.properties.contains_key(key);
        let mut owners = declared.properties.iter().filter(|(_, property)| has_key(self.schema.shape(property.shape)));
        let (owner, _) = owners.next()?;
        owners.next().is_none().then_some(owner.as_ref())
    }
}

/// The parts of `a.b`, `a/b`, `a:b`, `a__b`, `a->b`, `a[b]`, `a['b']` and `a[0].b`.
fn split_path(key: &str) -> Option<(&str, Option<usize>, &str)> {
    if let Some((parent, rest)) = key.split_once('[') {
        let (inside, behind) = rest.split_once(']')?;
        return match (inside.parse().ok(), behind.strip_prefix('.')) {
            (Some(index), Some(name)) => Some((parent, Some(index), name)),
            (None, None) if behind.is_empty() => Some((parent, None, inside.trim_matches(['"', '\'']))),
            _ => None,
        };
    }
    let (parent, name) = ["->", "__", ".", "/", ":"].iter().find_map(|separator| key.split_once(separator))?;
    Some((parent, None, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_in_a_key_has_two_names_and_perhaps_an_index() {
        for (key, expected) in [
            ("a.b", Some(("a", None, "b"))),
            ("a/b", Some(("a", None, "b"))),
            ("a__b", Some(("a", None, "b"))),
            ("a->b", Some(("a", None, "b"))),
            ("a[b]", Some(("a", None, "b"))),
            ("a['b']", Some(("a", None, "b"))),
            ("a[0].b", Some(("a", Some(0), "b"))),
            ("a[0]", None),
            ("a[b].c", None),
            ("ab", None),
        ] {
            assert_eq!(split_path(key), expected, "case: {key}");
        }
    }
}
