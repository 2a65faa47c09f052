//! Whether more than the word of a model supports what a rule makes of a call.

use reknit_expressions::Reference;
use reknit_protocol::spelling::are_alike;
use reknit_protocol::{Segment, Value};

use super::faulty_call::{ERROR, PARAMETERS, REQUEST};
use super::{LearnedRule, Lesson, RuleValue};

impl LearnedRule {
    /// Whether a lesson confirms the rule: the rule gives the same parameters, and each new value is the old one in another
    /// form or under another name, is what the error says would have been right, is a choice that the request names, or comes from
    /// the field of a result that has the name of the parameter.
    ///
    /// That a tool accepted a value is no support: a tool also accepts another currency, or another day.
    pub(super) fn is_confirmed_by(&self, lesson: &Lesson) -> bool {
        let is_same = self.apply(&lesson.call).is_some_and(|fix| fix.parameters == lesson.corrected);
        let moves_removed = self.remove.iter().all(|removed| self.uses_parameter(removed));
        is_same
            && !self.change.is_empty()
            && moves_removed
            && self.change.iter().all(|(name, value)| self.is_grounded(name, value, lesson))
    }

    /// Whether the rule puts something else in the place of a parameter. A value that is computed from the one before is the same
    /// in another form, and so is what a map gives for it.
    pub fn replaces(&self, name: &str) -> bool {
        let keeps = |value: &RuleValue| {
            let expression = self.expression(value);
            let references = expression.iter().flat_map(reknit_expressions::Expression::references);
            references.collect::<Vec<_>>().iter().any(|reference| is_parameter(reference, name))
        };
        self.remove.iter().any(|removed| removed == name) || self.change.get(name).is_some_and(|value| !keeps(value))
    }

    fn uses_parameter(&self, name: &str) -> bool {
        self.change
            .values()
            .filter_map(|value| self.expression(value))
            .any(|expression| expression.references().iter().any(|reference| is_parameter(reference, name)))
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
