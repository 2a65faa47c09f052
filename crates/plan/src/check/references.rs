//! Checks that references lead to values that can exist and can fit.

use reknit_bind::{Reference, Template};
use reknit_protocol::spelling::{are_alike, nearest};
use reknit_protocol::{Object, Path, Segment, Value};

use super::parsed_plan::{ParsedPlan, ParsedStep};
use super::{Code, PlanLocation, PlanProblem};
use crate::catalogue::CatalogueEntry;
use crate::hint::listed;
use crate::{INPUTS, StepIndex, inputs};

/// Keys under which tools wrap their data. A reference may name them or leave them out.
const WRAPPERS: [&str; 3] = ["response", "data", "result"];

/// Other keys of the response envelope.
const ENVELOPE_KEYS: [&str; 2] = ["success", "error"];

/// What the declared result of a step has at a path.
enum DeclaredValue<'s> {
    /// A value of this schema.
    Schema(&'s Value),
    /// Unknown: the schema does not say.
    Open,
    /// Nothing: a reference to it is a problem.
    Nothing { message: String, hint: Option<String> },
}

/// The declared results of all steps and the schema of the inputs.
pub(super) struct References<'o> {
    parsed: &'o ParsedPlan<'o>,
    results: Vec<Option<Value>>,
    inputs: Value,
}

impl<'o> References<'o> {
    pub(super) fn new(parsed: &'o ParsedPlan<'o>, entries: &[Option<&CatalogueEntry>]) -> Self {
        let results = entries.iter().map(|entry| entry.and_then(|entry| entry.capability.output_schema())).collect();
        Self { parsed, results, inputs: inputs::schema(parsed.plan()) }
    }

    /// The references of a step to values that cannot exist or cannot fit.
    pub(super) fn check_step(
        &self,
        location: &PlanLocation,
        parsed_step: &ParsedStep,
        entry: Option<&CatalogueEntry>,
    ) -> Vec<PlanProblem> {
        let schema = entry.and_then(CatalogueEntry::compiled_schema);
        let mut problems = Vec::new();
        for (name, template) in parsed_step.parameters.iter() {
            let wanted = schema.as_ref().and_then(|schema| property(schema.source(), name));
            let wanted = wanted.filter(|_| matches!(template, Template::Reference(_)));
            for reference in template.references() {
                let location = || location.clone().parameter(&Path::root().key(name));
                problems.extend(self.check(reference, location, wanted.map(|wanted| (name, wanted))));
            }
        }
        problems
    }

    /// The declared result of a step, if it has any field.
    pub(super) fn declared_result(&self, index: StepIndex) -> Option<&Value> {
        self.results.get(index.get())?.as_ref().filter(|schema| !field_names(schema).is_empty())
    }

    /// The first field of a reference and the fields that the step declares, if the field is not one of them.
    pub(super) fn undeclared_field<'r>(&self, reference: &'r Reference) -> Option<(&'r str, Vec<&str>)> {
        let schema = self.declared_result(self.parsed.index_of(reference.step())?)?;
        let mut keys = reference.path().segments().iter().map_while(|segment| match segment {
            Segment::Key(key) => Some(key.as_str()),
            Segment::Index(_) => None,
        });
        let key = keys.find(|key| !WRAPPERS.contains(key))?;
        let is_open = matches!(declared_at(schema, reference.path().segments()), DeclaredValue::Open);
        (is_open && !ENVELOPE_KEYS.contains(&key) && !declares(schema, key)).then(|| (key, field_names(schema)))
    }

    /// Checks a reference. `wanted` is the name and the schema of a parameter that consists of the reference alone.
    pub(super) fn check(
        &self,
        reference: &Reference,
        location: impl Fn() -> PlanLocation,
        wanted: Option<(&str, &Value)>,
    ) -> Option<PlanProblem> {
        let (schema, is_input) = match self.parsed.index_of(reference.step()) {
            Some(index) => (self.results.get(index.get())?.as_ref()?, false),
            None if reference.step().as_str() == INPUTS => (&self.inputs, true),
            None => return None,
        };
        match declared_at(schema, reference.path().segments()) {
            DeclaredValue::Nothing { message, hint } => {
                let message = format!("`{reference}` leads nowhere: {message}");
                let code = if is_input { Code::UnknownReference } else { Code::BadPath };
                Some(PlanProblem::new(code, location(), message).hint(hint))
            }
            DeclaredValue::Schema(found) => {
                let message = wanted.and_then(|(name, wanted)| type_conflict(reference, found, name, wanted))?;
                Some(PlanProblem::new(Code::BadType, location(), message))
            }
            DeclaredValue::Open => None,
        }
    }
}

fn field_names(schema: &Value) -> Vec<&str> {
    schema.get("properties").and_then(Value::as_object).into_iter().flat_map(Object::keys).collect()
}

/// Whether a field is declared, directly or inside a wrapper.
fn declares(schema: &Value, key: &str) -> bool {
    let wrapped = WRAPPERS.iter().filter_map(|key| schema.get("properties")?.get(key));
    std::iter::once(schema).chain(wrapped).any(|schema| field_names(schema).contains(&key))
}

/// The schema of a property, in any spelling of its name.
fn property<'s>(schema: &'s Value, name: &str) -> Option<&'s Value> {
    let properties = schema.get("properties")?.as_object()?;
    properties.get(name).or_else(|| properties.iter().find(|(key, _)| are_alike(key, name)).map(|(_, value)| value))
}

/// What a result schema declares at a path, directly or inside one wrapper, as binding looks it up.
fn declared_at<'s>(schema: &'s Value, path: &[Segment]) -> DeclaredValue<'s> {
    let declared = |key: &str| schema.get("properties").and_then(|all| all.get(key));
    if let [Segment::Key(key), rest @ ..] = path
        && declared(key).is_none()
    {
        match key.as_str() {
            key if WRAPPERS.contains(&key) => return declared_at(schema, rest),
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
    let properties = schema.get("properties").and_then(Value::as_object);
    let names: Vec<&str> = properties.into_iter().flat_map(Object::keys).collect();
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
fn types(schema: &Value) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::String(name)) => vec![name],
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// Why a value of one schema can never fit another, not even after conversion without loss.
fn type_conflict(reference: &Reference, found: &Value, name: &str, wanted: &Value) -> Option<String> {
    let (found, wanted) = (types(found), types(wanted));
    let never = |from: &&str| wanted.iter().all(|to| never_fits(from, to));
    if found.is_empty() || wanted.is_empty() || !found.iter().all(never) {
        return None;
    }
    Some(format!("`{reference}` is {}, and `{name}` takes {}", with_article(&found), with_article(&wanted)))
}

/// Whether no value of one type can be converted to another without loss.
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

fn describe_segment(segment: &Segment) -> String {
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

    #[test]
    fn types_that_never_fit_are_never_converted() {
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
