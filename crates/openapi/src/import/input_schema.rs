//! One schema for all parameters of an operation.

use reknit_protocol::{Object, Value};

use super::body::ImportedBody;
use super::names::parameter_names;
use super::parameters::ImportedParameter;
use crate::operation::{BodyContent, RequestBody};
use crate::parameter::ApiParameter;

/// All parameters, inside and outside of the body, in one schema.
pub(super) fn merge(
    parameters: Vec<ImportedParameter>,
    body: Option<ImportedBody>,
) -> (Value, Vec<ApiParameter>, Option<RequestBody>) {
    let own_names =
        parameters.iter().map(|parameter| (parameter.parameter.name.clone(), parameter.parameter.location.as_str()));
    let own_names: Vec<_> = own_names.chain(body.iter().flat_map(ImportedBody::names)).collect();
    let mut names = parameter_names(&own_names).into_iter();
    let mut input = InputSchema::default();
    let parameters = parameters.into_iter().map(|imported| {
        let mut parameter = imported.parameter;
        parameter.name = names.next().unwrap_or_default();
        input.put(&parameter.name, imported.schema, parameter.required);
        parameter
    });
    let parameters = parameters.collect();
    let body = body.map(|body| name_body(body, &mut names, &mut input));
    (input.finish(), parameters, body)
}

/// Gives names to the parameters of a body.
fn name_body(body: ImportedBody, names: &mut impl Iterator<Item = String>, input: &mut InputSchema) -> RequestBody {
    let ImportedBody { mut body, schemas } = body;
    let mut schemas = schemas.into_iter();
    match &mut body.content {
        BodyContent::Whole { parameter } => {
            *parameter = names.next().unwrap_or_default();
            input.put(parameter, schemas.next().unwrap_or(Value::Bool(true)), body.required);
        }
        BodyContent::Properties(list) => {
            let mut required = Vec::new();
            for (property, schema) in list.iter_mut().zip(schemas) {
                property.name = names.next().unwrap_or_default();
                input.put(&property.name, schema, property.required && body.required);
                if property.required {
                    required.push(property.name.clone());
                }
            }
            if !body.required {
                // Without a body nothing is required; with one, all that the body requires.
                input.dependent = list.iter().map(|property| (property.name.clone(), required.clone())).collect();
            }
        }
    }
    body
}

/// The schema of all parameters while it is built.
#[derive(Default)]
struct InputSchema {
    properties: Object,
    required: Vec<Value>,
    dependent: Vec<(String, Vec<String>)>,
}

impl InputSchema {
    fn put(&mut self, name: &str, schema: Value, required: bool) {
        self.properties.insert(name, schema);
        if required {
            self.required.push(name.into());
        }
    }

    fn finish(self) -> Value {
        let mut schema = Object::from([("type", "object".into()), ("properties", self.properties.into())]);
        if !self.required.is_empty() {
            schema.insert("required", self.required);
        }
        let mut dependent = Object::new();
        for (name, required) in self.dependent {
            let others: Vec<Value> = required.into_iter().filter(|other| *other != name).map(Value::from).collect();
            if !others.is_empty() {
                dependent.insert(name, others);
            }
        }
        if !dependent.is_empty() {
            schema.insert("dependentRequired", dependent);
        }
        schema.insert("additionalProperties", false);
        Value::Object(schema)
    }
}
