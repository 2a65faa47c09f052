//! Writes a file with rules.

use std::collections::BTreeMap;

use reknit_mend::{AcceptedBy, ErrorPattern, LearnedRule, RuleBook, RuleEvidence, RuleState, RuleValue};
use reknit_plan::write_yaml;
use reknit_protocol::{Object, Value};

/// The first lines of every file.
pub(super) const HEAD: &str = "\
# Rules that runs have learned from corrections: docs/how-to/learned-rules.md. Only `accepted` rules are used.
# People may change this file. `reknit rules` and runs change the state of rules in it: comments above a rule are kept, those
# inside a rule that changes are lost.
";

pub(super) fn write(book: &RuleBook) -> String {
    let rules: Value = book.rules.iter().map(|rule| Value::Object(rule_object(rule))).collect();
    format!("{HEAD}{}", write_yaml(&Value::from([("rules", rules)])))
}

/// The lines of a rule in the list, with this indent.
pub(super) fn rule_lines(rule: &LearnedRule, indent: &str) -> Vec<String> {
    let text = write_yaml(&std::iter::once(Value::Object(rule_object(rule))).collect::<Value>());
    text.lines().map(|line| format!("{indent}{line}")).collect()
}

fn rule_object(rule: &LearnedRule) -> Object {
    let mut object = Object::from([("id", rule.id.as_str().into()), ("state", Value::from(rule.state.as_str()))]);
    // The other states say it.
    let is_written = rule.accepted_by != Some(AcceptedBy::Person) || rule.state != RuleState::Accepted;
    let accepted_by = rule.accepted_by.filter(|_| is_written);
    object.extend(accepted_by.map(|by| ("accepted-by".to_owned(), Value::from(by.as_str()))));
    object.insert("capability", rule.capability.as_str());
    object.insert("error", Value::Object(error_object(&rule.error)));
    add_texts(&mut object, "absent", &rule.absent);
    if !rule.results.is_empty() {
        object.insert("results", texts_by_name(&rule.results));
    }
    if !rule.change.is_empty() {
        let change: Object = rule.change.iter().map(|(name, value)| (name.clone(), value_of(value))).collect();
        object.insert("change", Value::Object(change));
    }
    add_texts(&mut object, "remove", &rule.remove);
    if !rule.evidence.is_empty() {
        object.insert("evidence", Value::Object(evidence_object(&rule.evidence)));
    }
    object
}

fn error_object(error: &ErrorPattern) -> Object {
    let mut object = Object::new();
    object.extend(error.status.map(|status| ("status".to_owned(), u32::from(status).into())));
    if !error.code.is_empty() {
        object.insert("code", error.code.as_str());
    }
    object.insert("message", error.message.as_str());
    add_texts(&mut object, "fields", &error.fields);
    object
}

fn value_of(value: &RuleValue) -> Value {
    match &value.map {
        None => value.of.as_str().into(),
        Some(map) => Value::from([("of", value.of.as_str().into()), ("map", Value::Object(map.clone()))]),
    }
}

fn evidence_object(evidence: &RuleEvidence) -> Object {
    let mut object = Object::new();
    add_texts(&mut object, "helps", &evidence.helps);
    add_texts(&mut object, "harms", &evidence.harms);
    add_texts(&mut object, "confirmations", &evidence.confirmations);
    if evidence.model_calls > 0 {
        object.insert("model-calls", evidence.model_calls);
    }
    add_texts(&mut object, "rejections", &evidence.rejections);
    object.extend(evidence.retired.as_deref().map(|reason| ("retired".to_owned(), reason.into())));
    object
}

fn add_texts(object: &mut Object, key: &str, texts: &[String]) {
    if !texts.is_empty() {
        object.insert(key, texts.iter().map(|text| Value::from(text.as_str())).collect::<Value>());
    }
}

fn texts_by_name(texts: &BTreeMap<String, String>) -> Value {
    Value::Object(texts.iter().map(|(name, text)| (name.clone(), text.as_str().into())).collect())
}
