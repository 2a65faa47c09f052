//! One entry of a list of validation errors, as most frameworks write it: field, messages, code and further members.

use reknit_protocol::{Object, Value};
use reknit_salvage::SchemaType;

use super::object_keys::facts_in_object;
use super::phrase::facts_in;
use super::{Fact, FactKind, Field};
use crate::is_listed;

/// The codes of validators, and what they mean if the messages state no fact.
const CODES: [(&str, FactKind); 5] = [
    ("missing required value_error.missing notnull missing_argument parameter_missing", FactKind::Missing),
    ("blank notblank notempty empty isempty can_not_be_empty", FactKind::Empty),
    (
        "extra_forbidden value_error.extra unrecognized_keys additionalproperties unknown_field unknown",
        FactKind::UnknownField { known: Vec::new() },
    ),
    ("not_found does_not_exist unknown_value", FactKind::NotFound { value: None }),
    ("positive invalid format pattern", FactKind::Invalid),
];

/// Codes that name a type. They are matched whole: `decimal_max_places` is about something else.
const TYPE_CODES: [(&str, SchemaType); 6] = [
    ("float_parsing float_type decimal_parsing decimal_type type_error.float", SchemaType::Number),
    ("int_parsing int_type int_from_float type_error.integer", SchemaType::Integer),
    ("string_type type_error.str", SchemaType::String),
    ("bool_parsing bool_type type_error.bool", SchemaType::Boolean),
    ("list_type type_error.list", SchemaType::Array),
    ("dict_type type_error.dict", SchemaType::Object),
];

/// The facts in the messages and members of one validation error, or else the meaning of its code.
pub(super) fn field_facts<'a>(
    field: Option<Field>,
    messages: impl IntoIterator<Item = &'a str>,
    code: Option<&str>,
    members: Option<&Object>,
) -> Vec<Fact> {
    let about = field.as_ref();
    let mut facts: Vec<Fact> = messages.into_iter().flat_map(|message| facts_in(message, about)).collect();
    facts.extend(members.into_iter().flat_map(|object| facts_in_object(object, about)));
    if !facts.iter().any(Fact::is_about_input)
        && let Some(kind) = code.and_then(kind_of_code)
    {
        facts.push(Fact::new(field, kind));
    }
    facts
}

fn kind_of_code(code: &str) -> Option<FactKind> {
    let code = code.to_ascii_lowercase();
    if let Some((_, expected)) = TYPE_CODES.iter().find(|(codes, _)| is_listed(codes, &code)) {
        return Some(FactKind::WrongType { expected: *expected, got: None });
    }
    CODES.iter().find(|(codes, _)| is_listed(codes, &code)).map(|(_, kind)| kind.clone())
}

/// The string under the first of these keys that has one.
pub(super) fn text_at<'a>(object: &'a Object, keys: &[&str]) -> Option<&'a str> {
    keys.iter().find_map(|key| object.get(key)?.as_str())
}

pub(super) fn objects(value: Option<&Value>) -> impl Iterator<Item = &Object> {
    value.and_then(Value::as_array).unwrap_or_default().iter().take(super::MAX_FACTS).filter_map(Value::as_object)
}
