//! Plans and results to bind.

use std::collections::HashMap;

use reknit_bind::{Parameters, bind};
use reknit_protocol::{Object, StepId, Value};
use reknit_salvage::Schema;

use crate::{Result, check, ids};

/// One large result, and a step with ten references to it.
pub struct Shop {
    pub ids: Vec<StepId>,
    pub results: HashMap<StepId, Value>,
    pub plain: Parameters,
    pub lists: Parameters,
    pub schema: Schema,
}

const PLAIN: &str = r#"{"first": "{{shop.items[0].id}}", "last": "{{shop.response.items[440].price}}", "name": "{{shop.items[7].name}}",
    "city": "{{shop.address.city}}", "total": "{{100 * shop.items[3].price}}", "note": "{{shop.items[1].name}} at {{shop.items[1].price}}",
    "nested": {"lat": "{{shop.address.lat}}", "lon": "{{shop.address.lon}}"}, "tags": "{{shop.items[2].tags}}", "fixed": "plain"}"#;

const LISTS: &str = r#"{"total": "{{sum(pluck(shop.items, \"price\"))}}", "count": "{{len(shop.items)}}"}"#;

const SCHEMA: &str = r#"{"type": "object", "required": ["first", "last", "name", "city", "total", "note", "nested", "tags", "shop_id"],
    "additionalProperties": false, "properties": {"first": {"type": "integer"}, "last": {"type": "number"}, "name": {"type": "string"},
    "city": {"type": "string"}, "total": {"type": "number"}, "note": {"type": "string"}, "tags": {"type": "array", "items": {"type": "string"}},
    "nested": {"type": "object", "properties": {"lat": {"type": "number"}, "lon": {"type": "number"}}}, "fixed": {"type": "string"},
    "shop_id": {"type": "string"}, "limit": {"type": "integer"}, "language": {"type": "string"}}}"#;

impl Shop {
    pub fn new(bytes: usize) -> Result<Self> {
        let item = |n: usize| {
            format!(
                r#"{{"id": {n}, "name": "item number {n}", "price": {n}.99, "active": true, "parent": null, "tags": ["new", "tag {n}"],
                    "position": {{"lat": 35.{n}, "note": "between the shelves on the left, where nobody looks for it {n}"}}}}"#
            )
        };
        let items: Vec<String> = (0..bytes / 200).map(|n| item(100 + n)).collect();
        let body = Value::parse(&format!(
            r#"{{"success": true, "shop_id": "s-1", "data": {{"items": [{}], "address": {{"city": "Seoul", "lat": 37.5, "lon": 127.0}}}}}}"#,
            items.join(",")
        ))?;
        let size = body.to_string().len();
        if size < bytes {
            return Err(format!("the result has only {size} bytes").into());
        }
        let ids = ids(&["shop".to_owned()]);
        let results = HashMap::from([(ids[0].clone(), body)]);
        let plain = Parameters::parse(&object(PLAIN)?, &ids)?;
        let lists = Parameters::parse(&object(LISTS)?, &ids)?;
        let schema = Schema::compile(&Value::parse(SCHEMA)?)?;
        check(bind(&plain, &results, &ids, None))?;
        check(bind(&plain, &results, &ids, Some(&schema)))?;
        check(bind(&lists, &results, &ids, None))?;
        Ok(Self { ids, results, plain, lists, schema })
    }
}

/// Many steps with small results, and one with references to ten of them.
pub struct Chain {
    pub ids: Vec<StepId>,
    pub results: HashMap<StepId, Value>,
    pub plan: Object,
    pub parameters: Parameters,
}

impl Chain {
    pub fn new(steps: usize) -> Result<Self> {
        let name = |n: usize| format!("step-{n:04}");
        let ids = ids(&(0..steps).map(name).collect::<Vec<_>>());
        let body = Value::parse(r#"{"data": {"value": 468.285, "name": "Tesla"}}"#)?;
        let results = ids.iter().map(|id| (id.clone(), body.clone())).collect();
        let references = (0..10).map(|n| format!(r#""p{n}": "{{{{{}.value}}}}""#, name(n * steps / 10)));
        let plan = object(&format!("{{{}}}", references.collect::<Vec<_>>().join(",")))?;
        let parameters = Parameters::parse(&plan, &ids)?;
        check(bind(&parameters, &results, &[], None))?;
        Ok(Self { ids, results, plan, parameters })
    }
}

fn object(text: &str) -> Result<Object> {
    Ok(Value::parse(text)?.as_object().ok_or("it is no object")?.clone())
}
