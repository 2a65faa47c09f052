//! What a rule makes of a failed call, and whether more than the word of a model supports it.

use reknit_expressions::Reference;
use reknit_protocol::spelling::are_alike;
use reknit_protocol::{Object, Segment, Value};

use super::faulty_call::{ERROR, PARAMETERS, REQUEST};
use super::{AcceptedBy, FaultyCall, LearnedRule, Lesson, RuleValue};

/// What a rule makes of a failed call.
#[derive(Debug, Clone, PartialEq)]
pub struct RuleFix {
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

    /// Whether a lesson confirms the rule: the rule gives the same parameters, and each new value is the old one in another
    /// form or under another name, is what the error says would have been right, is a choice that the request names, or comes from
    /// the field of a result that has the name of the parameter.
    ///
    /// That a tool accepted a value is no support: a tool also accepts another currency, or another day.
    pub(super) fn is_confirmed_by(&self, lesson: &Lesson) -> bool {
        let is_same = self.apply(&lesson.call).is_some_and(|fix| fix.parameters == lesson.corrected);
        let is_used = |name: &String| self.change.values().any(|value| self.uses_parameter(value, name));
        is_same
            && !self.change.is_empty()
            && self.remove.iter().all(is_used)
            && self.change.iter().all(|(name, value)| self.is_grounded(name, value, lesson))
    }

    /// Whether the rule puts something else in the place of a parameter. A value that is computed from the one before is the same
    /// in another form, and so is what a map gives for it.
    pub fn replaces(&self, name: &str) -> bool {
        self.remove.iter().any(|removed| removed == name)
            || self.change.get(name).is_some_and(|value| !self.uses_parameter(value, name))
    }

    fn uses_parameter(&self, value: &RuleValue, name: &str) -> bool {
        let expression = self.expression(value);
        expression.is_some_and(|parsed| parsed.references().iter().any(|reference| is_parameter(reference, name)))
    }

    fn is_grounded(&self, name: &str, value: &RuleValue, lesson: &Lesson) -> bool {
        let Some(expression) = self.expression(value) else { return false };
        if value.map.is_some() {
            return lesson.corrected.get(name).is_some_and(|new| lesson.call.is_named_in_request(new));
        }
        let is_number = |literal: &&Value| literal.as_number().is_some();
        let is_lossy = |function: &&str| LOSSY.contains(function);
        if expression.literals().iter().any(is_number) || expression.functions().iter().any(is_lossy) {
            return false;
        }
        expression.references().iter().all(|reference| match reference.step().as_str() {
            REQUEST => false,
            ERROR => states_what_is_right(reference),
            PARAMETERS => self.named().any(|named| is_parameter(reference, named)),
            _ => matches!(reference.path().segments().last(), Some(Segment::Key(key)) if are_alike(key, name)),
        })
    }
}

/// Functions that drop a part of a value, or choose one: only a person can say that the rest is what was meant. A date whose parts are
/// ordered anew may be another day.
const LOSSY: [&str; 4] = ["round", "abs", "first", "split"];

fn is_parameter(reference: &Reference, name: &str) -> bool {
    reference.step().as_str() == PARAMETERS && matches!(reference.path().segments(), [Segment::Key(key)] if key == name)
}

/// The beginnings of keys under which an error has the value that would have been right.
const RIGHT_VALUE_KEYS: [&str; 9] =
    ["suggest", "didyoumean", "did_you_mean", "closest", "expected", "current", "latest", "correct", "canonical"];

/// Whether a reference into an error leads to the value that would have been right, by the name of its key. Under another key
/// there may be a limit, an example, or what was sent.
fn states_what_is_right(reference: &Reference) -> bool {
    let is_right = |key: &str| RIGHT_VALUE_KEYS.iter().any(|start| key.to_lowercase().starts_with(start));
    matches!(reference.path().segments().last(), Some(Segment::Key(key)) if is_right(key))
}

impl std::fmt::Display for RuleValue {
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
