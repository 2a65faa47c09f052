//! One complaint of a list, as most frameworks write it: where, in which words, under which code, with which facts.

use reknit_protocol::{Object, Value};

use super::phrase::facts_in;
use super::stated::stated;
use super::{Fact, Field, Says, TypeName};

/// The codes of validators, and what they say where their words do not.
const CODES: [(&[&str], Says); 6] = [
    (
        &["missing", "required", "value_error.missing", "notnull", "missing_argument", "parameter_missing"],
        Says::Missing,
    ),
    (&["blank", "notblank", "notempty", "empty", "isempty", "can_not_be_empty"], Says::Empty),
    (
        &[
            "extra_forbidden",
            "value_error.extra",
            "unrecognized_keys",
            "additionalproperties",
            "unknown_field",
            "unknown",
        ],
        Says::Unknown { known: Vec::new() },
    ),
    (&["positive"], Says::Invalid),
    (&["not_found", "does_not_exist", "unknown_value"], Says::NotFound { value: None }),
    (&["invalid", "format", "pattern"], Says::Invalid),
];

/// Codes that name a type. Others that begin like them speak of something else: `decimal_max_places`.
const TYPE_CODES: [(&[&str], TypeName); 6] = [
    (&["float_parsing", "float_type", "decimal_parsing", "decimal_type", "type_error.float"], TypeName::Number),
    (&["int_parsing", "int_type", "int_from_float", "type_error.integer"], TypeName::Integer),
    (&["string_type", "type_error.str"], TypeName::String),
    (&["bool_parsing", "bool_type", "type_error.bool"], TypeName::Boolean),
    (&["list_type", "type_error.list"], TypeName::Array),
    (&["dict_type", "type_error.dict"], TypeName::Object),
];

/// One complaint.
#[derive(Debug, Default)]
pub(super) struct Complaint<'a> {
    pub(super) field: Option<Field>,
    pub(super) words: Vec<&'a str>,
    pub(super) code: Option<&'a str>,
    pub(super) facts: Vec<&'a Object>,
}

impl Complaint<'_> {
    /// What it says: in its words, by its code, in its facts.
    pub(super) fn read(&self) -> Vec<Fact> {
        let field = self.field.as_ref();
        let mut facts: Vec<Fact> = self.words.iter().flat_map(|words| facts_in(words, field)).collect();
        facts.extend(self.facts.iter().flat_map(|object| stated(object, field)));
        let told = facts.iter().any(Fact::is_about_input);
        if !told && let Some(says) = self.code.and_then(by_code) {
            facts.push(Fact::new(self.field.clone(), says));
        }
        facts
    }
}

fn by_code(code: &str) -> Option<Says> {
    let code = code.to_ascii_lowercase();
    if let Some((_, expected)) = TYPE_CODES.iter().find(|(codes, _)| codes.contains(&code.as_str())) {
        return Some(Says::WrongType { expected: *expected, got: None });
    }
    CODES.iter().find(|(codes, _)| codes.contains(&code.as_str())).map(|(_, says)| says.clone())
}

/// The text under the first of some names.
pub(super) fn text_at<'a>(object: &'a Object, names: &[&str]) -> Option<&'a str> {
    names.iter().find_map(|name| object.get(name)?.as_str())
}

/// The objects of a list.
pub(super) fn objects(value: Option<&Value>) -> impl Iterator<Item = &Object> {
    value.and_then(Value::as_array).unwrap_or_default().iter().take(super::MAX_FACTS).filter_map(Value::as_object)
}
