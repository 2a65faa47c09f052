//! What tools announce about the results of their capabilities, and what it says about a path.

use reknit_protocol::spelling::{are_alike, nearest};
use reknit_protocol::{Object, Plan, Segment, Value};

use crate::catalogue::CatalogueEntry;
use crate::hint::listed;
use crate::{StepIndex, inputs};

/// The capability that a step calls, if it is known.
pub(crate) type KnownEntry<'c> = Option<&'c CatalogueEntry>;

/// Keys under which tools wrap their data. A reference may name them or leave them out.
pub(crate) const WRAPPERS: [&str; 3] = ["response", "data", "result"];

/// Other names for the whole result. A reference may put them between the step and the field: `quote.output.price`.
const RESULT_NAMES: [&str; 2] = ["output", "outputs"];

/// Other keys of the response envelope.
pub(crate) const ENVELOPE_KEYS: [&str; 2] = ["success", "error"];

/// What the announced result of a step has at a path.
pub(crate) enum DeclaredValue<'s> {
    /// A value of this schema.
    Schema(&'s Value),
    /// Unknown: the schema does not say.
    Open,
    /// Nothing: a reference to it is a problem.
    Nothing { message: String, hint: Option<String> },
}

/// The results that the tools of a plan announce, by step, and the schema of its inputs.
pub(crate) struct AnnouncedResults {
    results: Vec<Option<Value>>,
    inputs: Value,
}

impl AnnouncedResults {
    /// `entries` are the capabilities of the steps, as far as they are known.
    pub(crate) fn new(plan: &Plan, entries: &[KnownEntry<'_>]) -> Self {
        let of_call = |entry: KnownEntry<'_>| entry.and_then(|entry| entry.capability.output_schema());
        // The result of a loop is the list of the results of its items.
        let list = || Value::from([("type", "array".into())]);
        let steps = plan.steps.iter().zip(entries);
        let results =
            steps.map(|(step, entry)| if step.has_foreach() { Some(list()) } else { of_call(*entry) }).collect();
        Self { results, inputs: inputs::schema(plan) }
    }

    pub(crate) fn result_schema(&self, index: StepIndex) -> Option<&Value> {
        self.results.get(index.get())?.as_ref()
    }

    /// The announced result of a step, if it has any field.
    pub(crate) fn schema_with_fields(&self, index: StepIndex) -> Option<&Value> {
        self.result_schema(index).filter(|schema| !field_names(schema).is_empty())
    }

    /// The schema of the object that templates call `inputs`.
    pub(crate) fn of_inputs(&self) -> &Value {
        &self.inputs
    }
}

/// Whether a key may stand for the whole result where the result has no such field.
pub(crate) fn is_result_name(key: &str) -> bool {
    WRAPPERS.contains(&key) || RESULT_NAMES.contains(&key)
}

pub(crate) fn properties(schema: &Value) -> impl Iterator<Item = (&str, &Value)> {
    schema.get("properties").and_then(Value::as_object).into_iter().flat_map(Object::iter)
}

pub(crate) fn field_names(schema: &Value) -> Vec<&str> {
    properties(schema).map(|(name, _)| name).collect()
}

/// Whether a field is declared, directly or inside a wrapper.
pub(crate) fn declares(schema: &Value, key: &str) -> bool {
    let wrapped = WRAPPERS.iter().filter_map(|key| schema.get("properties")?.get(key));
    std::iter::once(schema).chain(wrapped).any(|schema| field_names(schema).contains(&key))
}

/// The schema of a property, in any spelling of its name.
pub(crate) fn property<'s>(schema: &'s Value, name: &str) -> Option<&'s Value> {
    let properties = schema.get("properties")?.as_object()?;
    properties.get(name).or_else(|| properties.iter().find(|(key, _)| are_alike(key, name)).map(|(_, value)| value))
}

/// What a result schema declares at a path, directly or inside one wrapper, as binding looks it up.
pub(crate) fn declared_at<'s>(schema: &'s Value, path: &[Segment]) -> DeclaredValue<'s> {
    let declared = |key: &str| schema.get("properties").and_then(|all| all.get(key));
    if let [Segment::Key(key), rest @ ..] = path
        && declared(key).is_none()
    {
        match key.as_str() {
            key if is_result_name(key) => return declared_at(schema, rest),
            key if ENVELOPE_KEYS.contains(&key) => return DeclaredValue::Open,
            _ => {}
        }
    }
    let direct = walk(schema, path);
    let DeclaredValue::Nothing { .. } = &direct else { return direct };
    let mut wrapped = WRAPPERS.iter().filter_map(|key| Some(walk(declared(key)?, path)));
    wrapped.find(|other| !matches!(other, DeclaredValue::Nothing { .. })).unwrap_or(direct)
}

fn walk<'s>(mut schema: &'s Value, path: &[Segment]) -> DeclaredValue<'s> {
    for segment in path {
        let types = types(schema);
        let next = match segment {
            _ if types.is_empty() => return DeclaredValue::Open,
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
                let message = format!("{} has no {}", with_article(&types), describe_segment(segment));
                return DeclaredValue::Nothing { message, hint: None };
            }
        };
        match next {
            Some(next) => schema = next,
            None => return DeclaredValue::Open,
        }
    }
    DeclaredValue::Schema(schema)
}

/// A field that is not declared may still exist, unless the schema is closed or the name is a typo of a declared one.
fn undeclared<'s>(schema: &'s Value, key: &str) -> DeclaredValue<'s> {
    let names = field_names(schema);
    let message = format!("there is no `{key}`");
    let did_you_mean = |name: &str| Some(format!("did you mean `{name}`?"));
    match schema.get("additionalProperties") {
        Some(Value::Bool(false)) => {
            let hint = nearest(key, names.iter().copied()).and_then(did_you_mean);
            DeclaredValue::Nothing { message, hint: hint.or_else(|| Some(listed(&names))) }
        }
        other => match (names.iter().find(|name| are_alike(name, key) || is_typo(name, key)), other) {
            (Some(near), _) => DeclaredValue::Nothing { message, hint: did_you_mean(near) },
            (None, Some(other @ Value::Object(_))) => DeclaredValue::Schema(other),
            (None, _) => DeclaredValue::Open,
        },
    }
}

/// Whether two names differ by one letter too many or by two transposed letters, inside the word. A replaced letter (`date`,
/// `rate`) or another ending (`price`, `prices`) may make another name.
fn is_typo(one: &str, other: &str) -> bool {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    let (short, long) = if one.len() <= other.len() { (one, other) } else { (other, one) };
    let prefix = short.iter().zip(&long).take_while(|(one, other)| one == other).count();
    let suffix = short.iter().rev().zip(long.iter().rev()).take_while(|(one, other)| one == other).count();
    let (Some(left), Some(right)) = (short.get(prefix..), long.get(prefix..)) else { return false };
    let is_transposed =
        || matches!((left, right), ([a, b, rest @ ..], [c, d, others @ ..]) if a == d && b == c && rest == others);
    match long.len() - short.len() {
        0 => is_transposed(),
        1 => prefix + suffix >= short.len() && suffix > 0 && prefix > 0,
        _ => false,
    }
}

/// The types in the `type` of a schema.
pub(crate) fn types(schema: &Value) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::String(name)) => vec![name],
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

pub(crate) fn with_article(types: &[&str]) -> String {
    let named = |name: &&str| match *name {
        "null" => "null".to_owned(),
        "integer" | "array" | "object" => format!("an {name}"),
        name => format!("a {name}"),
    };
    types.iter().map(named).collect::<Vec<_>>().join(" or ")
}

fn describe_segment(segment: &Segment) -> String {
    match segment {
        Segment::Key(key) => format!("field `{key}`"),
        Segment::Index(index) => format!("item {index}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typo_is_distinguished_from_another_name() {
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
            assert_eq!([is_typo(one, other), is_typo(other, one)], [expected; 2], "{one} {other}");
        }
    }
}
