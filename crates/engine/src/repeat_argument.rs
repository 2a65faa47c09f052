//! The argument with which a model states why it makes a call again that succeeded before.

use reknit_protocol::{Object, SideEffect, Value};

/// The argument with which a model states why it repeats a call. It is never sent to the tool.
const REPEAT_ARGUMENT: &str = "repeat_reason";

const DESCRIPTION: &str = "Only to make a call again that succeeded before with the same arguments: why it is needed once more. \
    Without it, such a call returns its earlier result.";

/// Whether a repeated call of this class is stopped: the tool changes something each time.
pub fn needs_repeat_reason(class: SideEffect) -> bool {
    matches!(class, SideEffect::Keyed | SideEffect::Unsafe)
}

/// Adds the argument to the schema of a tool, under a name that the schema does not use; returns the name.
pub fn add_repeat_argument(schema: &mut Value) -> Option<String> {
    let object = schema.as_object_mut()?;
    if object.get("properties").is_none_or(|properties| properties.as_object().is_none()) {
        object.insert("properties", Value::Object(Object::new()));
    }
    let properties = object.get_mut("properties")?.as_object_mut()?;
    let mut name = REPEAT_ARGUMENT.to_owned();
    while properties.contains_key(&name) {
        name.insert_str(0, "agent_");
    }
    let argument = Object::from([("type", Value::from("string")), ("description", Value::from(DESCRIPTION))]);
    properties.insert(name.as_str(), Value::Object(argument));
    Some(name)
}

/// Words that models write where they have nothing to say.
const EMPTY_WORDS: [&str; 8] = ["none", "null", "na", "false", "true", "no", "yes", "empty"];

/// Removes the argument from the parameters; returns the reason, if it states one.
pub fn take_repeat_reason(parameters: &mut Object, argument: &str) -> Option<String> {
    let Value::String(text) = parameters.remove(argument)? else { return None };
    let letters: String = text.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    let is_reason = letters.chars().count() > 2 && !EMPTY_WORDS.contains(&letters.as_str());
    is_reason.then(|| text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_argument_gets_a_name_that_the_tool_does_not_use() {
        for (schema, name) in [
            (r#"{"type": "object"}"#, "repeat_reason"),
            (r#"{"type": "object", "properties": {"id": {}}}"#, "repeat_reason"),
            (r#"{"type": "object", "properties": {"repeat_reason": {}}}"#, "agent_repeat_reason"),
        ] {
            let mut schema = Value::parse(schema).unwrap();
            assert_eq!(add_repeat_argument(&mut schema).as_deref(), Some(name));
            assert!(schema.get("properties").and_then(|properties| properties.get(name)?.get("description")).is_some());
        }
        assert_eq!(add_repeat_argument(&mut Value::from(true)), None);
    }

    #[test]
    fn an_empty_reason_is_no_reason() {
        for (arguments, reason) in [
            (r#"{"id": 1, "repeat_reason": "a second box"}"#, Some("a second box")),
            (r#"{"id": 1, "repeat_reason": "  "}"#, None),
            (r#"{"id": 1, "repeat_reason": null}"#, None),
            (r#"{"id": 1, "repeat_reason": false}"#, None),
            (r#"{"id": 1, "repeat_reason": []}"#, None),
            (r#"{"id": 1, "repeat_reason": "n/a"}"#, None),
            ("{\"id\": 1, \"repeat_reason\": \"\u{200b}\"}", None),
            (r#"{"id": 1}"#, None),
        ] {
            let mut parameters = Value::parse(arguments).unwrap().as_object().cloned().unwrap();
            assert_eq!(take_repeat_reason(&mut parameters, "repeat_reason").as_deref(), reason);
            assert_eq!(parameters.to_string(), r#"{"id":1}"#);
        }
    }
}
