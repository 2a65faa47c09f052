//! The message of an error in a foreign JSON shape, as one sentence for people and for models.
//!
//! ```text
//! {"message": "Not valid.", "errors": [{"field": "x", "message": "is required"}]}   ->   Not valid: x: is required
//! ```

use reknit_protocol::{Object, Value, truncate};

use crate::facts::Field;

/// The most field errors that are listed; the others are counted.
const MAX_FIELD_ERRORS: usize = 8;
/// The longest text of one field error and of the whole sentence, in bytes.
const MAX_FIELD_ERROR_BYTES: usize = 200;
const MAX_SENTENCE_BYTES: usize = 2_000;
/// How deep field errors may be nested; what is deeper is data.
const MAX_DEPTH: usize = 4;
/// A longer text is not taken as a code.
const MAX_CODE_BYTES: usize = 64;

const HEADLINE_KEYS: &str = "message Message detail error_description errorMessage error_message error title msg \
    description";
/// Keys of field errors, as a list or by field.
const LIST_KEYS: &str = "errors detail details fieldViolations causes issues violations fieldErrors field_errors \
    validationErrors subErrors invalid-params invalid_params invalidParams message messages error";
/// Keys of the message of one field error.
const MESSAGE_KEYS: &str = "msg message Message detail description defaultMessage reason title error code keyword";
/// Keys of the field of one field error.
const FIELD_KEYS: &str = "loc field propertyPath instancePath path pointer parameter param property argument \
    attribute target name";
/// Prefixes that are no part of the field.
const FIELD_PREFIXES: [&[&str]; 6] =
    [&["body"], &["query"], &["path"], &["header"], &["form"], &["data", "attributes"]];
/// Names that mean the whole object and no field.
const NO_FIELD: [&str; 4] = ["base", "non_field_errors", "nonFieldErrors", "__all__"];
const CODE_KEYS: &str = "code Code error_code errorCode __type status";

/// The overall message of an error, as the tool wrote it.
pub(super) fn headline(body: &Value) -> Option<&str> {
    let objects = [Some(body), body.get("error"), body.get("detail")];
    objects.into_iter().flatten().filter_map(Value::as_object).find_map(|object| first_text(object, HEADLINE_KEYS))
}

/// The overall message and the field errors in one sentence. `None` if the body has neither.
pub(super) fn sentence(body: &Value) -> Option<String> {
    let headline = headline(body).map(|text| truncate(text.trim().to_owned(), MAX_SENTENCE_BYTES));
    let mut errors = FieldErrors { headline: headline.as_deref().unwrap_or_default(), listed: Vec::new(), more: 0 };
    errors.collect(body, None, 0);
    let error = body.get("error");
    let inside = error.and_then(|error| error.get("details"));
    for value in [Some(body), error, body.get("detail"), body.get("details"), inside] {
        errors.collect_lists(value.and_then(Value::as_object), 0);
    }
    if headline.is_none() && errors.listed.is_empty() {
        errors.collect_by_field(body);
    }
    let errors = errors.joined();
    let sentence = match (headline, errors) {
        (None, None) => return None,
        (Some(headline), None) => headline,
        (None, Some(errors)) => errors,
        (Some(headline), Some(errors)) => format!("{}: {errors}", headline.trim_end_matches(['.', ':', ' '])),
    };
    Some(truncate(sentence, MAX_SENTENCE_BYTES))
}

/// The code of an error, if it has one that says more than the status.
pub(super) fn code(body: &Value) -> Option<String> {
    let only = LIST_KEYS.split(' ').find_map(|name| match body.get(name)?.as_array()? {
        [only] => Some(only),
        _ => None,
    });
    let objects = [body.get("error"), Some(body), only, only.and_then(|only| only.get("extensions"))];
    let under_key = objects.into_iter().flatten().filter_map(Value::as_object).find_map(|object| {
        CODE_KEYS.split(' ').find_map(|name| match object.get(name)? {
            Value::String(text) => as_code(text).filter(|code| name != "status" || is_screaming_snake_case(code)),
            Value::Number(number) if number.as_u64().is_none_or(|code| code > 599) => Some(number.to_string()),
            _ => None,
        })
    });
    // `{"error": "invalid_grant", "error_description": "..."}`: an `error` beside the overall message is the code.
    let in_error = || body.get("error").and_then(Value::as_str).filter(|text| headline(body) != Some(text));
    under_key.or_else(|| in_error().and_then(as_code))
}

/// `ValidationException` of `com.example#ValidationException`; a text with white space is no code.
fn as_code(text: &str) -> Option<String> {
    let code = text.rsplit('#').next().unwrap_or(text);
    let is_code = (1..=MAX_CODE_BYTES).contains(&code.len()) && !code.contains(char::is_whitespace);
    is_code.then(|| code.to_owned())
}

fn is_screaming_snake_case(code: &str) -> bool {
    code.chars().all(|letter| letter.is_ascii_uppercase() || letter == '_')
}

/// The field errors, each once and without those that the headline contains.
struct FieldErrors<'a> {
    headline: &'a str,
    listed: Vec<String>,
    more: usize,
}

impl FieldErrors<'_> {
    /// Adds one field error, a list of them, or those nested in it.
    fn collect(&mut self, value: &Value, field: Option<&str>, depth: usize) {
        if depth > MAX_DEPTH {
            return;
        }
        match value {
            Value::String(text) if depth > 0 => self.add(field, text),
            Value::Array(items) => items.iter().for_each(|item| self.collect(item, field, depth + 1)),
            Value::Object(object) if depth > 0 => match first_text(object, MESSAGE_KEYS) {
                Some(message) => self.add(field_name(object).as_deref().or(field), message),
                None => self.collect_lists(Some(object), depth),
            },
            _ => {}
        }
    }

    fn collect_lists(&mut self, object: Option<&Object>, depth: usize) {
        let lists =
            LIST_KEYS.split(' ').filter_map(|name| object?.get(name)).filter(|value| value.as_array().is_some());
        lists.for_each(|list| self.collect(list, None, depth + 1));
        if let Some(map) = object.and_then(|object| object.get("errors")).and_then(Value::as_object) {
            map.iter().for_each(|(name, value)| self.collect(value, Some(name), depth + 1));
        }
    }

    /// Adds the lists of sentences under the names of fields in the body itself.
    fn collect_by_field(&mut self, body: &Value) {
        for (name, value) in body.as_object().into_iter().flatten() {
            if value.as_array().is_some_and(|items| items.iter().all(|item| item.as_str().is_some())) {
                self.collect(value, Some(name), 0);
            }
        }
    }

    fn add(&mut self, field: Option<&str>, message: &str) {
        let message = message.trim().trim_end_matches('.');
        let error = match field.filter(|name| !NO_FIELD.contains(name)) {
            Some(name) => truncate(format!("{name}: {message}"), MAX_FIELD_ERROR_BYTES),
            None => truncate(message.to_owned(), MAX_FIELD_ERROR_BYTES),
        };
        if message.is_empty() || self.headline.contains(message) || self.listed.contains(&error) {
            return;
        }
        if self.listed.len() < MAX_FIELD_ERRORS {
            self.listed.push(error);
        } else {
            self.more += 1;
        }
    }

    fn joined(mut self) -> Option<String> {
        if self.more > 0 {
            self.listed.push(format!("and {} more", self.more));
        }
        (!self.listed.is_empty()).then(|| self.listed.join("; "))
    }
}

fn first_text<'a>(object: &'a Object, names: &str) -> Option<&'a str> {
    names.split(' ').find_map(|name| object.get(name)?.as_str().filter(|text| !text.trim().is_empty()))
}

/// The field of a field error: `legs[0].to`.
fn field_name(error: &Object) -> Option<String> {
    // In GraphQL `path` points into the response.
    let is_graphql = error.contains_key("locations") || error.contains_key("extensions");
    let names = FIELD_KEYS.split(' ').filter(|name| !(is_graphql && *name == "path"));
    let source = error.get("source").and_then(Value::as_object);
    let field = [Some(error), source]
        .into_iter()
        .flatten()
        .find_map(|object| names.clone().find_map(|name| Field::from_value(object.get(name)?)))?;
    Some(FIELD_PREFIXES.iter().fold(field, |field, prefix| field.without_prefix(prefix)).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_in_any_shape_becomes_one_sentence_and_a_code() {
        let rows = r#"
            {"detail": [{"loc": ["body", "x"], "msg": "Field required", "type": "missing"}, {"loc": ["query", "legs", 0, "to"], "msg": "Input should be a valid string"}]} => x: Field required; legs[0].to: Input should be a valid string
            {"errors": [{"field": "amount", "message": "must be positive"}, {"field": "to", "message": "is unknown."}]} => amount: must be positive; to: is unknown
            {"errors": [{"source": {"pointer": "/data/attributes/volume"}, "title": "Invalid Attribute", "detail": "Volume does not go to 11.", "code": "V11"}]} => V11| volume: Volume does not go to 11
            {"errors": [{"message": "Cannot query field x", "path": ["a", "b"], "locations": [], "extensions": {"code": "BAD_USER_INPUT"}}]} => BAD_USER_INPUT| Cannot query field x
            {"Message": "Missing required parameter: bucket"} => Missing required parameter: bucket
            {"__type": "com.amazon.x#ValidationException", "message": "1 error"} => ValidationException| 1 error
            {"error": {"code": 400, "message": "Request contains an invalid argument.", "status": "INVALID_ARGUMENT", "details": [{"@type": "x", "fieldViolations": [{"field": "order.quantity", "description": "must be positive"}]}]}} => INVALID_ARGUMENT| Request contains an invalid argument: order.quantity: must be positive
            {"error": {"code": "MY_CODE", "message": "boom"}} => MY_CODE| boom
            {"error": "invalid_grant", "error_description": "the token is old"} => invalid_grant| the token is old
            {"error": "Bad Request", "message": ["a must be b", "c must be d"]} => Bad Request: a must be b; c must be d
            {"errors": {"email": ["is invalid", "is taken"], "base": ["Total must equal 100"]}} => email: is invalid; email: is taken; Total must equal 100
            {"price": ["A valid number is required."], "non_field_errors": ["No."]} => price: A valid number is required; No
            {"message": "Pod 'x' is invalid: spec.n: must be 1", "details": {"causes": [{"message": "must be 1", "field": "spec.n"}]}, "code": 422} => Pod 'x' is invalid: spec.n: must be 1
            {"detail": {"message": "no such order", "code": "GONE"}} => no such order
            {"code": 20404, "message": "not found"} => 20404| not found
            [{"message": "first"}, "second"] => first; second
            {"x": 1} => -
            {} => -
        "#;
        for row in rows.trim().lines() {
            let (body, expected) = row.trim().split_once(" => ").expect("a row has an arrow");
            let value = Value::parse(body).expect("it is JSON");
            let code = code(&value).map_or_else(String::new, |code| format!("{code}| "));
            let found = format!("{code}{}", sentence(&value).unwrap_or_else(|| "-".to_owned()));
            assert_eq!(found.strip_suffix("| -").unwrap_or(&found), expected, "{body}");
        }
    }

    #[test]
    fn a_list_nested_too_deeply_is_data() {
        let sentence_of = |body: &str| sentence(&Value::parse(body).expect("it is JSON"));
        let nested = r#"{"errors": [{"errors": [{"field": "amount", "message": "must be positive"}]}]}"#;
        assert_eq!(sentence_of(nested).as_deref(), Some("amount: must be positive"));
        assert_eq!(sentence_of(&format!(r#"{{"errors": [{nested}]}}"#)), None);
    }

    #[test]
    fn a_long_list_of_field_errors_is_counted() {
        let many: Vec<String> =
            (0..5_000).map(|at| format!(r#"{{"field": "f{at}", "message": "is wrong"}}"#)).collect();
        let body = Value::parse(&format!(r#"{{"errors": [{}]}}"#, many.join(","))).expect("it is JSON");
        let sentence = sentence(&body).expect("it has field errors");
        assert!(
            sentence.starts_with("f0: is wrong; f1: is wrong; ") && sentence.ends_with("; and 4992 more"),
            "{sentence}"
        );
    }
}
