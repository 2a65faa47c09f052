//! The parameters of a plan with its inputs filled in, so that a person who approves the plan sees what is sent.

use std::collections::BTreeMap;

use reknit_expressions::{Expression, Reference, Template, TextPart};
use reknit_plan::INPUTS;
use reknit_protocol::{StepId, Value};

/// Fills in the inputs of a plan.
pub(super) struct KnownInputs {
    /// The names that a template can refer to.
    ids: Vec<StepId>,
    inputs: BTreeMap<StepId, Value>,
}

impl KnownInputs {
    pub(super) fn new(ids: Vec<StepId>, inputs: &Value) -> Self {
        Self { ids, inputs: BTreeMap::from([(StepId::from(INPUTS), inputs.clone())]) }
    }

    /// A parameter with what its inputs give. References to results stay as they are written.
    pub(super) fn fill(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => self.fill_text(text).unwrap_or_else(|| value.clone()),
            Value::Array(items) => Value::Array(items.iter().map(|item| self.fill(item)).collect()),
            Value::Object(object) => {
                Value::Object(object.iter().map(|(key, value)| (key.to_owned(), self.fill(value))).collect())
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        }
    }

    /// An expression with what its inputs give.
    pub(super) fn fill_expression(&self, expression: &Expression) -> String {
        self.known(expression).map_or_else(|| self.with_known_parts(expression), |value| value.to_string())
    }

    /// `None` if the text refers to no input.
    fn fill_text(&self, text: &str) -> Option<Value> {
        let template = Template::parse(&Value::from(text), &self.ids).ok()?;
        if !template.references().into_iter().any(is_input) {
            return None;
        }
        let expression = match template {
            Template::Reference(reference) => Expression::from(reference),
            Template::Expression(expression) => expression,
            Template::Text(text) => {
                let parts = text.parts.iter().map(|part| match part {
                    TextPart::Literal(literal) => literal.clone(),
                    TextPart::Placeholder(expression) => match self.known(expression) {
                        Some(Value::String(known)) => known,
                        Some(known) => known.to_string(),
                        None => format!("{{{{{}}}}}", self.with_known_parts(expression)),
                    },
                });
                return Some(Value::String(parts.collect()));
            }
            Template::Literal(_) | Template::Array(_) | Template::Object(_) => return None,
        };
        let known = self.known(&expression);
        known.or_else(|| Some(Value::String(format!("{{{{{}}}}}", self.with_known_parts(&expression)))))
    }

    /// The value of an expression over inputs alone.
    fn known(&self, expression: &Expression) -> Option<Value> {
        let references = expression.references();
        let is_known = !references.is_empty() && references.into_iter().all(is_input);
        is_known.then(|| expression.evaluate(&self.inputs).ok().map(|found| found.value)).flatten()
    }

    /// The text of an expression with the values of its inputs.
    fn with_known_parts(&self, expression: &Expression) -> String {
        let value_of = |reference: &Reference| {
            let is_known = is_input(reference).then(|| Expression::from(reference.clone()).evaluate(&self.inputs));
            Some(is_known?.ok()?.value)
        };
        expression.with_values(&value_of).to_string()
    }
}

fn is_input(reference: &Reference) -> bool {
    reference.step().as_str() == INPUTS
}
