//! Plans and results for the measurements.

use std::collections::HashMap;

use reknit_expressions::{Parameters, bind};
use reknit_protocol::{Object, StepId, Value};
use reknit_salvage::Schema;

use crate::{Result, check, ids};

/// A large result, and a step with ten references to it.
pub struct Shop {
    pub ids: Vec<StepId>,
    pub results: HashMap<StepId, Value>,
    pub references: Parameters,
    pub sums: Parameters,
    pub schema: Schema,
}

const REFERENCES: &str = r#"{"first": "{{shop.items[0].id}}", "last": "{{shop.response.items[440].price}}", "name": "{{shop.items[7].name}}",
    "city": "{{shop.address.city}}", "total": "{{100 * shop.items[3].price}}", "note": "{{shop.items[1].name}} at {{shop.items[1].price}}",
    "nested": {"lat": "{{shop.address.lat}}", "lon": "{{shop.address.lon}}"}, "tags": "{{shop.items[2].tags}}", "fixed": "plain"}"#;

const SUMS: &str = r#"{"total": "{{sum(pluck(shop.items, \"price\"))}}", "count": "{{len(shop.items)}}"}"#;

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
        let references = Parameters::parse(&object(REFERENCES)?, &ids)?;
        let sums = Parameters::parse(&object(SUMS)?, &ids)?;
        let schema = Schema::compile(&Value::parse(SCHEMA)?)?;
        check(bind(&references, &results, &ids, None))?;
        check(bind(&references, &results, &ids, Some(&schema)))?;
        check(bind(&sums, &results, &ids, None))?;
        Ok(Self { ids, results, references, sums, schema })
    }
}

/// Many steps with small results, and a step with references to ten of them.
pub struct ManySteps {
    pub ids: Vec<StepId>,
    pub results: HashMap<StepId, Value>,
    pub plan: Object,
    pub parameters: Parameters,
}

impl ManySteps {
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
    Ok(Value::parse(text)?.as_object().ok_or("not an object")?.clone())
}
