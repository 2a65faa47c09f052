//! The JSON shapes in which frameworks write their errors, one function each. A body of another shape states no facts.

use std::collections::VecDeque;

use reknit_protocol::{ErrorFields, Object, Value};

use super::field_error::{field_facts, objects, text_at};
use super::object_keys::{facts_in_object, named_field, strings};
use super::phrase::facts_in;
use super::{Fact, FactKind, Field, MAX_FACTS};

/// The readers of all dialects.
pub(crate) const DIALECTS: [fn(&Value) -> Vec<Fact>; 10] =
    [envelope, problem, json_api, pydantic, spring, rails, django, graphql, validator, cloud];

/// The parts of a request that `loc` of pydantic starts with; they are no part of the field.
const REQUEST_PARTS: [&str; 6] = ["body", "query", "path", "header", "cookie", "form"];

/// The envelope of our own protocol: `{"success": false, "error": {"message": ..., "details": {...}}}`.
fn envelope(body: &Value) -> Vec<Fact> {
    let details = body.get("error").and_then(|error| error.get("details")).and_then(Value::as_object);
    details.map_or_else(Vec::new, |details| facts_in_object(details, named_field(details).as_ref()))
}

/// Problem details (RFC 9457, 7807): `errors` with `detail` and `pointer`, or the older `invalid-params`.
fn problem(body: &Value) -> Vec<Fact> {
    let lists = ["errors", "invalid-params", "invalid_params", "invalidParams"];
    let errors = lists.iter().flat_map(|name| objects(body.get(name)));
    errors
        .filter(|object| ["pointer", "detail", "reason"].iter().any(|name| object.contains_key(name)))
        .filter(|object| !object.contains_key("source"))
        .flat_map(|object| {
            let field = named_field(object).or_else(|| Field::from_value(object.get("name")?));
            let message = text_at(object, &["detail", "reason", "message"]);
            field_facts(field, message, text_at(object, &["code", "type"]), Some(object))
        })
        .collect()
}

/// JSON:API: `errors` with `source.pointer` or `source.parameter`.
fn json_api(body: &Value) -> Vec<Fact> {
    let errors = objects(body.get("errors")).filter(|error| error.contains_key("source"));
    let read = |error: &Object| {
        let source = error.get("source");
        let text = |name| source.and_then(|source| source.get(name)).and_then(Value::as_str);
        let pointer = text("pointer").and_then(Field::parse).map(|field| field.without_prefix(&["data", "attributes"]));
        let field = pointer.or_else(|| Field::parse(text("parameter")?));
        let messages = ["detail", "title"].iter().filter_map(|name| error.get(name)?.as_str());
        field_facts(field, messages, text_at(error, &["code"]), error.get("meta").and_then(Value::as_object))
    };
    errors.flat_map(read).collect()
}

/// `FastAPI` and pydantic: `detail` is a list with `loc`, `msg`, `type`, `ctx` and `input`.
fn pydantic(body: &Value) -> Vec<Fact> {
    let lists = [body.get("detail"), body.get("errors"), Some(body)];
    let errors = lists.into_iter().flat_map(objects).filter(|error| error.contains_key("loc"));
    let read = |error: &Object| {
        let mut field = error.get("loc").and_then(Value::as_array).and_then(Field::from_list);
        for part in REQUEST_PARTS {
            field = field.map(|field| field.without_prefix(&[part]));
        }
        let context = error.get("ctx").and_then(Value::as_object);
        field_facts(field, text_at(error, &["msg"]), text_at(error, &["type"]), context)
    };
    errors.flat_map(read).collect()
}

/// Spring, Quarkus and Symfony: lists with `field` or `propertyPath`, `defaultMessage` and `rejectedValue`.
fn spring(body: &Value) -> Vec<Fact> {
    let lists = ["errors", "fieldErrors", "field_errors", "violations", "subErrors", "details"];
    let names = ["field", "propertyPath", "param", "target"];
    let read = |error: &Object| {
        let Some(field) = names.iter().find_map(|name| Field::from_value(error.get(name)?)) else { return Vec::new() };
        let message = text_at(error, &["defaultMessage", "message", "description", "msg"]);
        field_facts(Some(field), message, text_at(error, &["code", "type"]), Some(error))
    };
    listed(body, lists).flat_map(read).collect()
}

/// The objects in the lists with these names, in the body and in its `error`.
fn listed<'a, const N: usize>(body: &'a Value, lists: [&'static str; N]) -> impl Iterator<Item = &'a Object> {
    let inside = body.get("error");
    let all = lists.into_iter().flat_map(move |name| [body.get(name), inside.and_then(|error| error.get(name))]);
    all.flat_map(objects)
}

/// Rails, Laravel and ASP.NET: `errors` is an object with a list of sentences under the name of each field.
fn rails(body: &Value) -> Vec<Fact> {
    let inside = body.get("error").and_then(|error| error.get("errors"));
    let maps = [body.get("errors"), inside].into_iter().filter_map(|map| map?.as_object());
    maps.flat_map(|map| sentences(map, None)).collect()
}

/// The facts of an object of sentences. An object inside it holds the fields of a nested object.
fn sentences(map: &Object, outer: Option<&Field>) -> Vec<Fact> {
    let mut facts = Vec::new();
    for (name, value) in map.iter().take(MAX_FACTS) {
        let field = match (outer, name) {
            (_, "base" | "non_field_errors" | "nonFieldErrors" | "__all__") => outer.cloned(),
            (Some(outer), name) => Some(outer.child(name)),
            (None, name) => Field::parse(name),
        };
        match value {
            // Objects below the first level are data, not errors.
            Value::Object(inner) if outer.is_none() => facts.extend(sentences(inner, field.as_ref())),
            value => facts.extend(strings(value).iter().flat_map(|text| facts_in(text, field.as_ref()))),
        }
    }
    facts
}

/// Django REST: the body has a list of sentences under the name of each field.
fn django(body: &Value) -> Vec<Fact> {
    let is_list = |value: &Value| {
        value.as_array().is_some_and(|items| !items.is_empty() && items.iter().all(|item| item.as_str().is_some()))
    };
    let fields = body.as_object().into_iter().flatten();
    let lists = fields.filter(|(_, value)| is_list(value)).map(|(name, value)| (name.to_owned(), value.clone()));
    sentences(&lists.collect(), None)
}

/// GraphQL: `errors` with `message` and `extensions`. `path` points into the response and names no argument.
fn graphql(body: &Value) -> Vec<Fact> {
    let is_graphql = |error: &&Object| error.contains_key("extensions") || error.contains_key("locations");
    let read = |error: &Object| {
        let extensions = error.get("extensions").and_then(Value::as_object);
        field_facts(extensions.and_then(named_field), text_at(error, &["message"]), None, extensions)
    };
    objects(body.get("errors")).filter(is_graphql).flat_map(read).collect()
}

/// Schema validators: ajv (`instancePath`, `keyword`, `params`) and zod (`issues` with `path` and `code`).
fn validator(body: &Value) -> Vec<Fact> {
    listed(body, ["errors", "issues", "validationErrors"])
        .flat_map(|error| match (error.contains_key("instancePath"), error.get("path")) {
            (true, _) => ajv(error),
            (false, Some(Value::Array(_))) => zod(error),
            _ => Vec::new(),
        })
        .collect()
}

fn ajv(error: &Object) -> Vec<Fact> {
    let field = error.get("instancePath").and_then(Value::as_str).and_then(Field::parse);
    let params = error.get("params").and_then(Value::as_object);
    let named = |name: &str| params.and_then(|params| params.get(name)).and_then(Value::as_str);
    let inner = |name: &str| field.as_ref().map_or_else(|| Field::parse(name), |field| Some(field.child(name)));
    if let Some(field) = named("missingProperty").and_then(inner) {
        return vec![Fact::new(Some(field), FactKind::Missing)];
    }
    if let Some(field) = named("additionalProperty").and_then(inner) {
        return vec![Fact::new(Some(field), FactKind::UnknownField { known: Vec::new() })];
    }
    field_facts(field, text_at(error, &["message"]), text_at(error, &["keyword"]), params)
}

fn zod(error: &Object) -> Vec<Fact> {
    let field = error.get("path").and_then(Field::from_value);
    // `received` names a type in zod, and no value.
    let mut members = error.clone();
    members.remove("received");
    members.remove("path");
    match text_at(error, &["message"]) {
        Some("Required") => vec![Fact::new(field, FactKind::Missing)],
        message => field_facts(field, message, text_at(error, &["code"]), Some(&members)),
    }
}

/// Google and Kubernetes: field errors under `error.details[].fieldViolations` and `details.causes`.
fn cloud(body: &Value) -> Vec<Fact> {
    let details = objects(body.get("error").and_then(|error| error.get("details")));
    let violations = details.flat_map(|detail| objects(detail.get("fieldViolations")));
    let causes = objects(body.get("details").and_then(|details| details.get("causes")));
    let read = |error: &Object| {
        let field = error.get("field").and_then(Field::from_value);
        field_facts(field, text_at(error, &["description", "message"]), None, None)
    };
    violations.chain(causes).flat_map(read).collect()
}

/// The shape that the tool itself declares: every object that names a parameter in the declared field.
pub(crate) fn declared(body: &Value, fields: &ErrorFields) -> Vec<Fact> {
    let mut facts = Vec::new();
    let mut values = VecDeque::from([body]);
    while let Some(value) = values.pop_front() {
        if facts.len() >= MAX_FACTS {
            break;
        }
        if let Some(object) = value.as_object()
            && let Some(field) = object.get(&fields.parameter).and_then(Field::from_value)
        {
            let messages = fields.message.iter().filter_map(|name| object.get(name)?.as_str());
            facts.extend(field_facts(Some(field), messages, text_at(object, &["code", "type"]), Some(object)));
        }
        let inner = value.as_object().into_iter().flat_map(Object::values);
        values.extend(inner.chain(value.as_array().into_iter().flatten()).take(MAX_FACTS));
    }
    facts
}
