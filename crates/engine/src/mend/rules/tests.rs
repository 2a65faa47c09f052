mod laws;
mod table;

use super::*;
use crate::mend::facts::{Field, Says, facts_in};
use reknit_protocol::StepId;
use reknit_salvage::Schema;

fn object(text: &str) -> Object {
    Value::parse(text).expect("it is JSON").as_object().expect("it is an object").clone()
}

/// A world in which a call was refused.
#[derive(Debug)]
struct World {
    schema: Option<Schema>,
    facts: Vec<Fact>,
    message: String,
    parameters: Object,
    results: Vec<(StepId, Value)>,
    plan: Vec<Object>,
    request: String,
    referenced: Vec<String>,
}

impl World {
    fn new(parameters: &str, schema: &str, message: &str) -> Self {
        let schema = (!schema.is_empty())
            .then(|| Schema::compile(&Value::parse(schema).expect("it is JSON")).expect("it is a schema"));
        Self {
            schema,
            facts: facts_in(message, None),
            message: message.to_owned(),
            parameters: object(parameters),
            results: Vec::new(),
            plan: Vec::new(),
            request: String::new(),
            referenced: Vec::new(),
        }
    }

    fn amend(&self) -> Option<Amendment> {
        amend(Case {
            parameters: self.parameters.clone(),
            schema: self.schema.as_ref(),
            facts: &self.facts,
            message: &self.message,
            referenced: self.referenced.clone(),
            plan: self.plan.iter().collect(),
            request: [&self.request, ""],
            results: self.results.iter().map(|(id, value)| (id, value)).collect(),
        })
    }

    fn amended(&self) -> Option<String> {
        self.amend().map(|amendment| Value::Object(amendment.parameters).to_string())
    }
}
