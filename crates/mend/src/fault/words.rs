//! The words of an error in a shape that is not ours, as one sentence for people and for models.
//!
//! ```text
//! {"message": "Not valid.", "errors": [{"field": "x", "message": "is required"}]}   ->   Not valid: x: is required
//! ```

use reknit_protocol::{Object, Value};

use crate::facts::Field;
use reknit_protocol::truncate;

/// More complaints are counted and not told.
const MAX_COMPLAINTS: usize = 8;
/// How much of one complaint is told, and of all words together, in bytes.
const COMPLAINT: usize = 200;
const SENTENCE: usize = 2_000;
/// Complaints deeper inside of complaints are data.
const MAX_DEPTH: usize = 4;
/// A longer text is no code.
const LONGEST_CODE: usize = 64;

/// Names under which the error says what is wrong as a whole.
const WHOLE: [&str; 10] = [
    "message",
    "Message",
    "detail",
    "error_description",
    "errorMessage",
    "error_message",
    "error",
    "title",
    "msg",
    "description",
];
/// Names under which single complaints stand, as a list or by field.
const LISTS: [&str; 17] = [
    "errors",
    "detail",
    "details",
    "fieldViolations",
    "causes",
    "issues",
    "violations",
    "fieldErrors",
    "field_errors",
    "validationErrors",
    "subErrors",
    "invalid-params",
    "invalid_params",
    "invalidParams",
    "message",
    "messages",
    "error",
];
/// Names under which one complaint says what is wrong.
const ONE: [&str; 11] = [
    "msg",
    "message",
    "Message",
    "detail",
    "description",
    "defaultMessage",
    "reason",
    "title",
    "error",
    "code",
    "keyword",
];
/// Names under which one complaint says what it is about.
const ABOUT: [&str; 13] = [
    "loc",
    "field",
    "propertyPath",
    "instancePath",
    "path",
    "pointer",
    "parameter",
    "param",
    "property",
    "argument",
    "attribute",
    "target",
    "name",
];
/// What stands before a name and is no part of it.
const HEADS: [&[&str]; 6] = [&["body"], &["query"], &["path"], &["header"], &["form"], &["data", "attributes"]];
/// Names that stand for no field.
const NO_FIELD: [&str; 4] = ["base", "non_field_errors", "nonFieldErrors", "__all__"];
const CODES: [&str; 6] = ["code", "Code", "error_code", "errorCode", "__type", "status"];

/// What the error says as a whole, in its own words.
pub(crate) fn headline(body: &Value) -> Option<&str> {
    let places = [Some(body), body.get("error"), body.get("detail")].into_iter().flatten();
    places.filter_map(Value::as_object).find_map(|place| first_text(place, &WHOLE))
}

/// All that an error says, in one sentence: what is wrong as a whole, then what is wrong with each field.
pub(super) fn sentence(body: &Value) -> Option<String> {
    let whole = headline(body).map(|words| truncate(words.trim().to_owned(), SENTENCE));
    let mut complaints = Complaints { whole: whole.as_deref().unwrap_or_default(), told: Vec::new(), more: 0 };
    complaints.take(body, None, 0);
    let error = body.get("error");
    let inside = error.and_then(|error| error.get("details"));
    for place in [Some(body), error, body.get("detail"), body.get("details"), inside] {
        complaints.take_lists(place.and_then(Value::as_object), 0);
    }
    if whole.is_none() && complaints.told.is_empty() {
        complaints.take_fields(body);
    }
    let rest = complaints.joined();
    let sentence = match (whole, rest) {
        (None, None) => return None,
        (Some(whole), None) => whole,
        (None, Some(rest)) => rest,
        (Some(whole), Some(rest)) => format!("{}: {rest}", whole.trim_end_matches(['.', ':', ' '])),
    };
    Some(truncate(sentence, SENTENCE))
}

/// The code of an error, if it has one that says more than a status.
pub(super) fn code(body: &Value) -> Option<String> {
    let only = LISTS.iter().find_map(|name| match body.get(name)?.as_array()? {
        [only] => Some(only),
        _ => None,
    });
    let places = [body.get("error"), Some(body), only, only.and_then(|only| only.get("extensions"))];
    let named = places.into_iter().flatten().filter_map(Value::as_object).find_map(|place| {
        CODES.iter().find_map(|name| match place.get(name)? {
            Value::String(text) => as_code(text).filter(|code| *name != "status" || is_shouted(code)),
            Value::Number(number) if number.as_u64().is_none_or(|code| code > 599) => Some(number.to_string()),
            _ => None,
        })
    });
    // `{"error": "invalid_grant", "error_description": "..."}`: what is no headline beside one is the code.
    let bare = || body.get("error").and_then(Value::as_str).filter(|text| headline(body) != Some(text));
    named.or_else(|| bare().and_then(as_code))
}

/// `ValidationException` of `com.example#ValidationException`; a text with blanks is none.
fn as_code(text: &str) -> Option<String> {
    let code = text.rsplit('#').next().unwrap_or(text);
    let is_code = (1..=LONGEST_CODE).contains(&code.len()) && !code.contains(char::is_whitespace);
    is_code.then(|| code.to_owned())
}

fn is_shouted(code: &str) -> bool {
    code.chars().all(|letter| letter.is_ascii_uppercase() || letter == '_')
}

/// What is wrong with single fields, each once and only if the whole does not say it.
struct Complaints<'a> {
    whole: &'a str,
    told: Vec<String>,
    more: usize,
}

impl Complaints<'_> {
    /// One complaint, a list of them, or more of them inside.
    fn take(&mut self, value: &Value, about: Option<&str>, depth: usize) {
        if depth > MAX_DEPTH {
            return;
        }
        match value {
            Value::String(text) if depth > 0 => self.tell(about, text),
            Value::Array(items) => items.iter().for_each(|item| self.take(item, about, depth + 1)),
            Value::Object(object) if depth > 0 => match first_text(object, &ONE) {
                Some(words) => self.tell(name_of(object).as_deref().or(about), words),
                None => self.take_lists(Some(object), depth),
            },
            _ => {}
        }
    }

    fn take_lists(&mut self, object: Option<&Object>, depth: usize) {
        let lists = LISTS.iter().filter_map(|name| object?.get(name)).filter(|value| value.as_array().is_some());
        lists.for_each(|list| self.take(list, None, depth + 1));
        if let Some(map) = object.and_then(|object| object.get("errors")).and_then(Value::as_object) {
            map.iter().for_each(|(name, value)| self.take(value, Some(name), depth + 1));
        }
    }

    /// Lists of sentences by field and nothing around them.
    fn take_fields(&mut self, body: &Value) {
        for (name, value) in body.as_object().into_iter().flatten() {
            if value.as_array().is_some_and(|items| items.iter().all(|item| item.as_str().is_some())) {
                self.take(value, Some(name), 0);
            }
        }
    }

    fn tell(&mut self, about: Option<&str>, words: &str) {
        let words = words.trim().trim_end_matches('.');
        let told = match about.filter(|name| !NO_FIELD.contains(name)) {
            Some(name) => truncate(format!("{name}: {words}"), COMPLAINT),
            None => truncate(words.to_owned(), COMPLAINT),
        };
        if words.is_empty() || self.whole.contains(words) || self.told.contains(&told) {
            return;
        }
        if self.told.len() < MAX_COMPLAINTS {
            self.told.push(told);
        } else {
            self.more += 1;
        }
    }

    fn joined(mut self) -> Option<String> {
        if self.more > 0 {
            self.told.push(format!("and {} more", self.more));
        }
        (!self.told.is_empty()).then(|| self.told.join("; "))
    }
}

fn first_text<'a>(object: &'a Object, names: &[&str]) -> Option<&'a str> {
    names.iter().find_map(|name| object.get(name)?.as_str().filter(|text| !text.trim().is_empty()))
}

/// What a complaint is about: `legs[0].to`.
fn name_of(complaint: &Object) -> Option<String> {
    // The path of GraphQL is one of the answer.
    let is_graphql = complaint.contains_key("locations") || complaint.contains_key("extensions");
    let names = ABOUT.iter().filter(|name| !(is_graphql && **name == "path"));
    let source = complaint.get("source").and_then(Value::as_object);
    let field = [Some(complaint), source]
        .into_iter()
        .flatten()
        .find_map(|place| names.clone().find_map(|name| Field::of_value(place.get(name)?)))?;
    Some(HEADS.iter().fold(field, |field, heads| field.without(heads)).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_in_any_shape_becomes_one_sentence_and_a_code() {
        for (body, expected) in [
            (
                r#"{"detail": [{"loc": ["body", "x"], "msg": "Field required", "type": "missing"}, {"loc": ["query", "legs", 0, "to"], "msg": "Input should be a valid string"}]}"#,
                "x: Field required; legs[0].to: Input should be a valid string",
            ),
            (
                r#"{"errors": [{"field": "amount", "message": "must be positive"}, {"field": "to", "message": "is unknown."}]}"#,
                "amount: must be positive; to: is unknown",
            ),
            (
                r#"{"errors": [{"source": {"pointer": "/data/attributes/volume"}, "title": "Invalid Attribute", "detail": "Volume does not go to 11.", "code": "V11"}]}"#,
                "V11| volume: Volume does not go to 11",
            ),
            (
                r#"{"errors": [{"message": "Cannot query field x", "path": ["a", "b"], "locations": [], "extensions": {"code": "BAD_USER_INPUT"}}]}"#,
                "BAD_USER_INPUT| Cannot query field x",
            ),
            (r#"{"Message": "Missing required parameter: bucket"}"#, "Missing required parameter: bucket"),
            (r#"{"__type": "com.amazon.x#ValidationException", "message": "1 error"}"#, "ValidationException| 1 error"),
            (
                r#"{"error": {"code": 400, "message": "Request contains an invalid argument.", "status": "INVALID_ARGUMENT", "details": [{"@type": "x", "fieldViolations": [{"field": "order.quantity", "description": "must be positive"}]}]}}"#,
                "INVALID_ARGUMENT| Request contains an invalid argument: order.quantity: must be positive",
            ),
            (r#"{"error": {"code": "MY_CODE", "message": "boom"}}"#, "MY_CODE| boom"),
            (
                r#"{"error": "invalid_grant", "error_description": "the token is old"}"#,
                "invalid_grant| the token is old",
            ),
            (
                r#"{"error": "Bad Request", "message": ["a must be b", "c must be d"]}"#,
                "Bad Request: a must be b; c must be d",
            ),
            (
                r#"{"errors": {"email": ["is invalid", "is taken"], "base": ["Total must equal 100"]}}"#,
                "email: is invalid; email: is taken; Total must equal 100",
            ),
            (
                r#"{"price": ["A valid number is required."], "non_field_errors": ["No."]}"#,
                "price: A valid number is required; No",
            ),
            (
                r#"{"message": "Pod 'x' is invalid: spec.n: must be 1", "details": {"causes": [{"message": "must be 1", "field": "spec.n"}]}, "code": 422}"#,
                "Pod 'x' is invalid: spec.n: must be 1",
            ),
            (r#"{"detail": {"message": "no such order", "code": "GONE"}}"#, "no such order"),
            (r#"{"code": 20404, "message": "not found"}"#, "20404| not found"),
            (r#"[{"message": "first"}, "second"]"#, "first; second"),
            (r#"{"x": 1}"#, "-"),
            ("{}", "-"),
        ] {
            let value = Value::parse(body).expect("it is JSON");
            let code = code(&value).map_or_else(String::new, |code| format!("{code}| "));
            let found = format!("{code}{}", sentence(&value).unwrap_or_else(|| "-".to_owned()));
            assert_eq!(found.strip_suffix("| -").unwrap_or(&found), expected, "{body}");
        }
    }

    #[test]
    fn a_long_list_of_complaints_is_counted_and_not_told() {
        let many: Vec<String> =
            (0..5_000).map(|at| format!(r#"{{"field": "f{at}", "message": "is wrong"}}"#)).collect();
        let body = Value::parse(&format!(r#"{{"errors": [{}]}}"#, many.join(","))).expect("it is JSON");
        let told = sentence(&body).expect("it says something");
        assert!(told.starts_with("f0: is wrong; f1: is wrong; ") && told.ends_with("; and 4992 more"), "{told}");
    }
}
