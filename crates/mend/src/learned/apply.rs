//! Applying a rule to a failed call.

use reknit_protocol::{Object, Value};

use super::{AcceptedBy, FaultyCall, LearnedRule};

/// What a rule makes of a failed call.
#[derive(Debug, Clone, PartialEq)]
pub struct RuleFix {
    /// The id of the rule.
    pub rule: String,
    /// All parameters after the change.
    pub parameters: Object,
    /// The changed parameters, each with the expression of the rule.
    pub changes: Vec<(String, String)>,
}

impl LearnedRule {
    /// Whether the rule is about a call: its capability, its error, and which parameters it has.
    pub fn matches(&self, call: &FaultyCall) -> bool {
        let has = |name: &String| call.parameters.contains_key(name);
        self.capability == call.capability
            && self.error.matches(call)
            && self.change.keys().all(|name| has(name) != self.absent.contains(name))
            && self.remove.iter().all(has)
    }

    /// The changed call. `None` if the rule is not about the call, if a value that it needs is missing, if neither the error
    /// nor the schema states a value of its map, or if nothing changes.
    ///
    /// Parameters that the rule does not name keep their values.
    pub fn apply(&self, call: &FaultyCall) -> Option<RuleFix> {
        if !self.matches(call) {
            return None;
        }
        let sources = call.sources(&self.results)?;
        let mut parameters = call.parameters.clone();
        let mut changes = Vec::new();
        for name in &self.remove {
            parameters.remove(name);
        }
        for (name, value) in &self.change {
            let found = self.expression(value)?.evaluate(&sources).ok()?.value;
            let new = match &value.map {
                None => found,
                Some(map) => map.get(found.as_str()?).filter(|new| call.states(name, new))?.clone(),
            };
            if new == Value::Null {
                return None;
            }
            parameters.insert(name.as_str(), new);
            changes.push((name.clone(), value.to_string()));
        }
        (parameters != call.parameters).then(|| RuleFix { rule: self.id.clone(), parameters, changes })
    }

    /// What a run sends: the changed call, as [`LearnedRule::apply`] says. If no person accepted the rule, the request must name what a
    /// map gives, as the requests did that confirmed the rule.
    pub fn fix(&self, call: &FaultyCall) -> Option<RuleFix> {
        let fix = self.apply(call)?;
        let is_named = |name: &String| fix.parameters.get(name).is_some_and(|new| call.is_named_in_request(new));
        let mut mapped = self.change.iter().filter(|(_, value)| value.map.is_some());
        let is_supported = self.accepted_by == Some(AcceptedBy::Person) || mapped.all(|(name, _)| is_named(name));
        is_supported.then_some(fix)
    }
}

impl std::fmt::Display for super::RuleValue {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.map {
            None => out.write_str(&self.of),
            Some(map) => {
                let entries: Vec<String> = map.iter().map(|(from, to)| format!("{from} -> {to}")).collect();
                write!(out, "{} by {}", self.of, entries.join(", "))
            }
        }
    }
}
