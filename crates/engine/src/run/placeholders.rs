//! Values that a planner writes where it has none: `amount: 0`, `recipient: "unknown"`. A call that changes something is not sent
//! with one: the value is looked for as if the plan had omitted it. About any other call, the answer says what was sent.

use reknit_expressions::{Binding, Provenance, UnboundParameter, UnboundReason};
use reknit_mend::names_quantity;
use reknit_plan::PlannedStep;
use reknit_protocol::{Number, Object, SideEffect, Value};

use super::knowledge::{PlanContext, Reports};
use super::stage::Stage;
use crate::synthesis::numbers_in_text::numbers_in;

/// Texts that stand for a value that nobody has.
const WORDS: [&str; 14] = [
    "",
    "unknown",
    "tbd",
    "todo",
    "n/a",
    "na",
    "none",
    "null",
    "undefined",
    "string",
    "placeholder",
    "example",
    "xxx",
    "...",
];

/// Beginnings of texts that stand for a value that nobody has.
const BEGINNINGS: [&str; 3] = ["1970-01-01", "your_", "your-"];

/// Names before `@example.com` that nobody has. `ann@example.com` may be a real customer of a test system.
const EXAMPLE_USERS: &str = "user email name test someone recipient me you foo john.doe jane.doe";

impl PlanContext<'_> {
    /// The binding of a step in which a placeholder of a changing call counts as omitted.
    pub(super) fn without_placeholders(&self, planned: &PlannedStep, binding: Binding) -> Binding {
        let is_held = match self.side_effect(planned) {
            SideEffect::Read | SideEffect::Undeclared => false,
            SideEffect::Idempotent | SideEffect::Keyed | SideEffect::Unknown | SideEffect::Unsafe => true,
        };
        let mut bound = match binding {
            Binding::Bound(bound) if is_held => bound,
            other => return other,
        };
        let found = self.placeholders(planned, &bound.parameters, &bound.provenance);
        if found.is_empty() {
            return Binding::Bound(bound);
        }
        let unbound = |(parameter, value): &(String, Value)| UnboundParameter {
            parameter: parameter.clone(),
            reason: UnboundReason::Placeholder { value: value.to_string() },
        };
        let unbound = found.iter().map(unbound).collect();
        for (name, _) in &found {
            bound.parameters.remove(name);
            bound.provenance.retain(|(known, _)| known != name);
        }
        Binding::Unbound { partial: bound, unbound }
    }

    /// The required targets and quantities of a model's plan that are placeholders, and that the request does not state.
    fn placeholders(
        &self,
        planned: &PlannedStep,
        parameters: &Object,
        provenance: &[(String, Provenance)],
    ) -> Vec<(String, Value)> {
        // A person knows what is in a plan. The calls of a session have no plan: their model has read results.
        let is_by_model = self.started.plan.is_none() && self.planning.plan.is_some();
        let Some(schema) = planned.schema.as_ref().filter(|_| is_by_model) else { return Vec::new() };
        let mut found = placeholders_in(schema.source(), parameters, &[self.request]);
        found.retain(|(name, _)| {
            provenance.iter().any(|(known, origin)| known == name && *origin == Provenance::Literal)
        });
        found
    }
}

/// The required targets and quantities of a call that are placeholders, and that none of the texts states.
pub(crate) fn placeholders_in(schema: &Value, parameters: &Object, texts: &[&str]) -> Vec<(String, Value)> {
    let required = schema.get("required").and_then(Value::as_array).unwrap_or_default();
    let named = parameters.iter().filter(|(name, _)| required.iter().any(|word| word.as_str() == Some(*name)));
    let found = named.filter(|(name, value)| {
        let property = schema.get("properties").and_then(|properties| properties.get(name));
        is_placeholder(name, value) && !is_announced(value, property) && !texts.iter().any(|text| states(text, value))
    });
    found.map(|(name, value)| (name.to_owned(), value.clone())).collect()
}

/// Whether a text contains the value.
fn states(text: &str, value: &Value) -> bool {
    let words = text.to_lowercase();
    match value {
        Value::String(stated) => !stated.trim().is_empty() && words.contains(&stated.trim().to_lowercase()),
        _ => words.contains("zero") || numbers_in(text).iter().any(|number| number.is_whole(0)),
    }
}

impl Reports<'_> {
    /// The doubts about placeholders that calls were sent with and that the tools accepted.
    pub(super) fn doubts_about_placeholders(&self) -> Vec<String> {
        let done = self.known.steps_in_order().filter(|(_, step)| matches!(step.stage(), Stage::Done(_)));
        let found = done.flat_map(|(planned, step)| {
            let found = self.known.placeholders(planned, &step.parameters, &step.provenance);
            found.into_iter().map(|(name, value)| (planned.id.clone(), name, value))
        });
        let doubt = |(step, name, value)| {
            format!(
                "step `{step}` was sent `{name}: {value}`, which looks like a placeholder: the request does not state it"
            )
        };
        found.map(doubt).collect()
    }
}

/// Whether the schema itself offers the value.
fn is_announced(value: &Value, property: Option<&Value>) -> bool {
    let listed =
        |key: &str| property.and_then(|schema| schema.get(key)?.as_array()).is_some_and(|all| all.contains(value));
    let single = |key: &str| property.and_then(|schema| schema.get(key)) == Some(value);
    listed("enum") || listed("examples") || single("const") || single("default") || single("example")
}

fn is_placeholder(name: &str, value: &Value) -> bool {
    match value {
        Value::Number(number) => *number == Number::from(0) && names_quantity(name),
        Value::String(text) => {
            let text = text.trim().to_lowercase();
            WORDS.contains(&text.as_str())
                || BEGINNINGS.iter().any(|beginning| text.starts_with(beginning))
                || is_example_address(&text)
                || text.starts_with('<') && text.ends_with('>')
                || text == "0" && names_quantity(name)
        }
        _ => false,
    }
}

/// `example.com`, `https://www.example.org`, `user@example.net`.
fn is_example_address(text: &str) -> bool {
    let text = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://")).unwrap_or(text);
    let text = text.strip_prefix("www.").unwrap_or(text).trim_end_matches('/');
    let (user, host) = text.split_once('@').unwrap_or(("user", text));
    ["example.com", "example.org", "example.net"].contains(&host) && EXAMPLE_USERS.split(' ').any(|known| known == user)
}
