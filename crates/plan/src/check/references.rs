//! Whether what a step refers to can be there, and can fit.

use reknit_bind::{Reference, Template};
use reknit_protocol::spelling::{are_alike, nearest};
use reknit_protocol::{Object, Path, Segment, Value};

use super::outline::{Drawn, Outline};
use super::{Code, PlanPlace, PlanProblem};
use crate::catalogue::Entry;
use crate::hint::listed;
use crate::{INPUTS, inputs};

/// The keys under which tools put their data. A reference finds the data with them and without.
const LAYERS: [&str; 3] = ["response", "data", "result"];

/// What else stands beside the data in an answer of the protocol.
const BESIDE: [&str; 2] = ["success", "error"];

/// What the answers of a step may have at a place.
enum Announced<'s> {
    /// Something of this schema.
    As(&'s Value),
    /// Nobody knows.
    Open,
    /// Nothing; with what is wrong and what to write instead.
    Nothing { message: String, hint: Option<String> },
}

/// What all that can be referred to has to give, as far as it is announced.
pub(super) struct References<'o> {
    outline: &'o Outline<'o>,
    steps: Vec<Option<Value>>,
    inputs: Value,
}

impl<'o> References<'o> {
    pub(super) fn new(outline: &'o Outline<'o>, entries: &[Option<&Entry>]) -> Self {
        let steps = entries.iter().map(|entry| entry.and_then(|entry| entry.capability.output_schema())).collect();
        Self { outline, steps, inputs: inputs::schema(outline.plan()) }
    }

    /// The references of a step to places that cannot be there, and to values that cannot fit.
    pub(super) fn check_step(&self, place: &PlanPlace, drawn: &Drawn, entry: Option<&Entry>) -> Vec<PlanProblem> {
        let schema = entry.and_then(Entry::compiled);
        let mut problems = Vec::new();
        for (name, template) in drawn.parameters.iter() {
            let wanted = schema.as_ref().and_then(|schema| property(schema.source(), name));
            let wanted = wanted.filter(|_| matches!(template, Template::Reference(_)));
            for reference in template.references() {
                let place = || place.clone().parameter(&Path::root().key(name));
                problems.extend(self.check(reference, place, wanted.map(|wanted| (name, wanted))));
            }
        }
        problems
    }

    /// What a step is announced to give, if it announces any field.
    pub(super) fn announced_by(&self, at: usize) -> Option<&Value> {
        self.steps.get(at)?.as_ref().filter(|schema| has_fields(schema))
    }

    /// The first field of a reference to a step, if the step announces fields and none of that name, and those it announces.
    pub(super) fn unannounced<'r>(&self, reference: &'r Reference) -> Option<(&'r str, Vec<&str>)> {
        let schema = self.announced_by(self.outline.position(reference.step())?)?;
        let mut keys = reference.path().segments().iter().map_while(|segment| match segment {
            Segment::Key(key) => Some(key.as_str()),
            Segment::Index(_) => None,
        });
        let key = keys.find(|key| !LAYERS.contains(key))?;
        let is_open = matches!(announced(schema, reference.path().segments()), Announced::Open);
        (is_open && !BESIDE.contains(&key) && !mentions(schema, key)).then(|| (key, field_names(schema)))
    }

    /// A reference, and the name and schema of the parameter that it alone is for.
    pub(super) fn check(
        &self,
        reference: &Reference,
        place: impl Fn() -> PlanPlace,
        wanted: Option<(&str, &Value)>,
    ) -> Option<PlanProblem> {
        let (schema, is_input) = match self.outline.position(reference.step()) {
            Some(at) => (self.steps.get(at)?.as_ref()?, false),
            None if reference.step().as_str() == INPUTS => (&self.inputs, true),
            None => return None,
        };
        match announced(schema, reference.path().segments()) {
            Announced::Nothing { message, hint } => {
                let message = format!("`{reference}` leads nowhere: {message}");
                let code = if is_input { Code::UnknownReference } else { Code::BadPath };
                Some(PlanProblem::new(code, place(), message).hint(hint))
            }
            Announced::As(found) => {
                let message = wanted.and_then(|(name, wanted)| clash(reference, found, name, wanted))?;
                Some(PlanProblem::new(Code::BadType, place(), message))
            }
            Announced::Open => None,
        }
    }
}

fn has_fields(schema: &Value) -> bool {
    !field_names(schema).is_empty()
}

fn field_names(schema: &Value) -> Vec<&str> {
    schema.get("properties").and_then(Value::as_object).into_iter().flat_map(Object::keys).collect()
}

/// Whether a field is announced, in the body or in an envelope around the data.
fn mentions(schema: &Value, key: &str) -> bool {
    let layers = LAYERS.iter().filter_map(|layer| schema.get("properties")?.get(layer));
    std::iter::once(schema).chain(layers).any(|schema| field_names(schema).contains(&key))
}

/// The schema of a property, under any spelling of its name.
fn property<'s>(schema: &'s Value, name: &str) -> Option<&'s Value> {
    let properties = schema.get("properties")?.as_object()?;
    properties.get(name).or_else(|| properties.iter().find(|(key, _)| are_alike(key, name)).map(|(_, value)| value))
}

/// What is announced at a place, by the rules of looking up: in the body, or in one envelope around the data.
fn announced<'s>(schema: &'s Value, path: &[Segment]) -> Announced<'s> {
    let declared = |key: &str| schema.get("properties").and_then(|all| all.get(key));
    if let [Segment::Key(key), rest @ ..] = path
        && declared(key).is_none()
    {
        match key.as_str() {
            key if LAYERS.contains(&key) => return announced(schema, rest),
            key if BESIDE.contains(&key) => return Announced::Open,
            _ => {}
        }
    }
    let whole = walk(schema, path);
    let Announced::Nothing { .. } = &whole else { return whole };
    let mut layers = LAYERS.iter().filter_map(|layer| Some(walk(declared(layer)?, path)));
    layers.find(|other| !matches!(other, Announced::Nothing { .. })).unwrap_or(whole)
}

fn walk<'s>(mut schema: &'s Value, path: &[Segment]) -> Announced<'s> {
    for segment in path {
        let types = types(schema);
        let next = match segment {
            _ if types.is_empty() => return Announced::Open,
            Segment::Key(key) if types.contains(&"object") => {
                let Some(found) = schema.get("properties").and_then(|all| all.get(key)) else {
                    return undeclared(schema, key);
                };
                Some(found)
            }
            Segment::Key(key) if types.contains(&"array") && key.bytes().all(|byte| byte.is_ascii_digit()) => {
                schema.get("items")
            }
            Segment::Index(_) if types.contains(&"array") => schema.get("items"),
            Segment::Key(_) | Segment::Index(_) => {
                let message = format!("{} has no {}", with_article(&types), step_words(segment));
                return Announced::Nothing { message, hint: None };
            }
        };
        match next {
            Some(next) => schema = next,
            None => return Announced::Open,
        }
    }
    Announced::As(schema)
}

/// A field that is not announced may still come, unless the schema is closed or the name is that of a field but for a slip.
fn undeclared<'s>(schema: &'s Value, key: &str) -> Announced<'s> {
    let properties = schema.get("properties").and_then(Value::as_object);
    let names: Vec<&str> = properties.into_iter().flat_map(Object::keys).collect();
    let message = format!("there is no `{key}`");
    let meant = |name: &str| Some(format!("did you mean `{name}`?"));
    match schema.get("additionalProperties") {
        Some(Value::Bool(false)) => {
            let hint = nearest(key, names.iter().copied()).and_then(meant);
            Announced::Nothing { message, hint: hint.or_else(|| Some(listed(&names))) }
        }
        other => match (names.iter().find(|name| are_alike(name, key) || is_slip(name, key)), other) {
            (Some(near), _) => Announced::Nothing { message, hint: meant(near) },
            (None, Some(other @ Value::Object(_))) => Announced::As(other),
            (None, _) => Announced::Open,
        },
    }
}

/// Whether one name is the other with a letter too many, too few or two exchanged, within the word: what nobody means. A letter
/// that is another one (`date`, `rate`) and another ending (`price`, `prices`) may be a name of its own.
fn is_slip(one: &str, other: &str) -> bool {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    let (short, long) = if one.len() <= other.len() { (one, other) } else { (other, one) };
    let same = short.iter().zip(&long).take_while(|(one, other)| one == other).count();
    let tail = short.iter().rev().zip(long.iter().rev()).take_while(|(one, other)| one == other).count();
    let (Some(left), Some(right)) = (short.get(same..), long.get(same..)) else { return false };
    let is_exchanged =
        || matches!((left, right), ([a, b, rest @ ..], [c, d, others @ ..]) if a == d && b == c && rest == others);
    match long.len() - short.len() {
        0 => is_exchanged(),
        1 => same + tail >= short.len() && tail > 0 && same > 0,
        _ => false,
    }
}

/// The types that a schema allows, as far as it says so itself.
fn types(schema: &Value) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::String(name)) => vec![name],
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// Why a value of one schema can never fit another, not even after what can be done without loss.
fn clash(reference: &Reference, found: &Value, name: &str, wanted: &Value) -> Option<String> {
    let (found, wanted) = (types(found), types(wanted));
    let never = |from: &&str| wanted.iter().all(|to| never_fits(from, to));
    if found.is_empty() || wanted.is_empty() || !found.iter().all(never) {
        return None;
    }
    Some(format!("`{reference}` is {}, and `{name}` takes {}", with_article(&found), with_article(&wanted)))
}

/// Whether a value of one type can never become one of another without loss.
fn never_fits(from: &str, to: &str) -> bool {
    matches!(
        (from, to),
        ("object" | "array", "string" | "number" | "integer" | "boolean" | "null")
            | ("number" | "integer" | "boolean" | "array", "object")
            | ("boolean", "number" | "integer")
    )
}

fn with_article(types: &[&str]) -> String {
    let named = |name: &&str| match *name {
        "null" => "null".to_owned(),
        "integer" | "array" | "object" => format!("an {name}"),
        name => format!("a {name}"),
    };
    types.iter().map(named).collect::<Vec<_>>().join(" or ")
}

fn step_words(segment: &Segment) -> String {
    match segment {
        Segment::Key(key) => format!("field `{key}`"),
        Segment::Index(index) => format!("item {index}"),
    }
}

#[cfg(test)]
mod tests {
    use reknit_salvage::{Schema, fit};

    use super::*;

    #[test]
    fn a_slip_of_the_pen_is_told_from_another_name() {
        for (one, other, expected) in [
            ("current_price", "curent_price", true),
            ("current_price", "currentt_price", true),
            ("current_price", "curretn_price", true),
            ("date", "rate", false),
            ("temp_max", "temp_min", false),
            ("price", "prices", false),
            ("price", "price", false),
            ("start_date", "start_rate", false),
            ("line_1", "line_2", false),
            ("id", "uid", false),
            ("", "a", false),
        ] {
            assert_eq!([is_slip(one, other), is_slip(other, one)], [expected; 2], "{one} {other}");
        }
    }

    #[test]
    fn what_never_fits_is_never_made_to_fit() {
        let samples = [
            ("object", r#"[{}, {"a": 1}]"#),
            ("array", r#"[[], [1], ["1"]]"#),
            ("number", "[0, 1, 1.5]"),
            ("integer", "[0, 1]"),
            ("boolean", "[true, false]"),
        ];
        for (from, values) in samples {
            let values = Value::parse(values).unwrap();
            for to in ["string", "number", "integer", "boolean", "null", "object", "array"] {
                let schema = Object::from([("type", Value::from(to))]);
                let schema = Schema::compile(&Value::Object(schema)).unwrap();
                let some_fit = values.as_array().unwrap().iter().any(|value| fit(value.clone(), &schema).is_ok());
                assert!(!(never_fits(from, to) && some_fit), "{from} can become {to}");
            }
        }
    }
}
