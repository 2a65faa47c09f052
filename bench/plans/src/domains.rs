//! The plans before they are damaged: tools, steps, results and the calls that are right.
//!
//! A reference is written `«step.path»`; each damage writes it in its own way.

use std::collections::BTreeMap;

use reknit_plan::Catalogue;
use reknit_protocol::{Object, Value};

const FILES: [(&str, &str); 10] = [
    ("calendar", include_str!("../domains/calendar.json")),
    ("finance", include_str!("../domains/finance.json")),
    ("machines", include_str!("../domains/machines.json")),
    ("messaging", include_str!("../domains/messaging.json")),
    ("music", include_str!("../domains/music.json")),
    ("parcels", include_str!("../domains/parcels.json")),
    ("people", include_str!("../domains/people.json")),
    ("shop", include_str!("../domains/shop.json")),
    ("travel", include_str!("../domains/travel.json")),
    ("weather", include_str!("../domains/weather.json")),
];

/// A plan that is right, and what it does.
pub struct Scenario {
    pub domain: &'static str,
    pub name: String,
    pub catalogue: Catalogue,
    pub steps: Vec<ScenarioStep>,
    /// The body of the reply to each step.
    pub results: BTreeMap<String, Value>,
    /// The parameters that each step must be called with.
    pub calls: BTreeMap<String, Value>,
}

#[derive(Clone)]
pub struct ScenarioStep {
    pub id: String,
    pub tool: String,
    pub capability: String,
    pub parameters: Object,
    pub after: Vec<String>,
}

pub fn scenarios() -> Vec<Scenario> {
    let mut scenarios = Vec::new();
    for (domain, text) in FILES {
        let file = Value::parse(text).unwrap_or_else(|error| panic!("{domain}: {error}"));
        let catalogue = Catalogue::from_value(file.get("tools").expect("tools")).expect("a catalogue");
        for plan in file.get("plans").and_then(Value::as_array).expect("plans") {
            scenarios.push(Scenario {
                domain,
                name: text_of(plan, "name"),
                catalogue: catalogue.clone(),
                steps: plan.get("steps").and_then(Value::as_array).expect("steps").iter().map(step).collect(),
                results: members(plan, "results"),
                calls: members(plan, "calls"),
            });
        }
    }
    scenarios
}

fn step(value: &Value) -> ScenarioStep {
    let tool = text_of(value, "tool");
    let (agent, capability) = tool.split_once('/').expect("a tool and a capability");
    let after = value.get("after").and_then(Value::as_array).unwrap_or_default();
    ScenarioStep {
        id: text_of(value, "id"),
        tool: agent.to_owned(),
        capability: capability.to_owned(),
        parameters: value.get("with").and_then(Value::as_object).expect("parameters").clone(),
        after: after.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
    }
}

fn text_of(value: &Value, key: &str) -> String {
    value.get(key).and_then(Value::as_str).expect(key).to_owned()
}

fn members(value: &Value, key: &str) -> BTreeMap<String, Value> {
    let object = value.get(key).and_then(Value::as_object).expect(key);
    object.iter().map(|(name, value)| (name.to_owned(), value.clone())).collect()
}
