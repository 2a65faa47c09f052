//! Texts and values with placeholders such as `{city}`, which stand for parameters of a call.

use reknit_protocol::{Object, Value};

/// A text with placeholders. Two braces stand for one: `{{` and `}}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TemplateText {
    parts: Vec<TemplatePart>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum TemplatePart {
    Literal(String),
    Parameter(String),
}

impl TemplateText {
    /// Parses a text. Fails with what to write instead.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut parts = Vec::new();
        let mut literal = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            let (before, from_brace) = rest.split_at(at);
            literal.push_str(before);
            if let Some(after) = from_brace.strip_prefix("{{") {
                literal.push('{');
                rest = after;
            } else if let Some(after) = from_brace.strip_prefix("}}") {
                literal.push('}');
                rest = after;
            } else {
                let placeholder = from_brace.strip_prefix('{').and_then(|inside| inside.split_once('}'));
                let (name, after) = placeholder.filter(|(name, _)| !name.is_empty() && !name.contains('{')).ok_or(
                    "it has a brace without its partner; a placeholder is `{name}`, and `{{` and `}}` are braces",
                )?;
                if !literal.is_empty() {
                    parts.push(TemplatePart::Literal(std::mem::take(&mut literal)));
                }
                parts.push(TemplatePart::Parameter(name.to_owned()));
                rest = after;
            }
        }
        literal.push_str(rest);
        if !literal.is_empty() {
            parts.push(TemplatePart::Literal(literal));
        }
        Ok(Self { parts })
    }

    pub(crate) fn parameters(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            TemplatePart::Literal(_) => None,
            TemplatePart::Parameter(name) => Some(name.as_str()),
        })
    }

    /// The parameter that is the whole text.
    pub(crate) fn whole(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [TemplatePart::Parameter(name)] => Some(name),
            _ => None,
        }
    }

    /// Whether it begins with a value that a caller chooses.
    #[cfg(feature = "commands")]
    pub(crate) fn begins_with_parameter(&self) -> bool {
        matches!(self.parts.first(), Some(TemplatePart::Parameter(_)))
    }

    /// The text with the values of parameters, each changed by `encode`. `None` if a parameter is missing or null.
    pub(crate) fn render(&self, parameters: &Object, encode: impl Fn(String) -> String) -> Option<String> {
        let mut text = String::new();
        for part in &self.parts {
            match part {
                TemplatePart::Literal(literal) => text.push_str(literal),
                TemplatePart::Parameter(name) => text.push_str(&encode(text_of(parameters.get(name)?)?)),
            }
        }
        Some(text)
    }
}

/// A value in a text: a string as it is, a number with its digits, a list or an object as JSON. `None` for null.
pub(crate) fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => Some(value.to_string()),
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum TemplateValue {
    /// A value without placeholders.
    Literal(Value),
    /// The value of a parameter, with its type.
    Parameter(String),
    /// A text with placeholders inside.
    Text(TemplateText),
    Array(Vec<TemplateValue>),
    Object(Vec<(String, TemplateValue)>),
}

impl TemplateValue {
    /// Reads a value. Fails with what to write instead.
    pub(crate) fn parse(value: &Value) -> Result<Self, String> {
        Ok(match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => Self::Literal(value.clone()),
            Value::String(text) => {
                let text = TemplateText::parse(text)?;
                match text.whole() {
                    Some(name) => Self::Parameter(name.to_owned()),
                    None => Self::Text(text),
                }
            }
            Value::Array(items) => Self::Array(items.iter().map(Self::parse).collect::<Result<_, _>>()?),
            Value::Object(object) => {
                let member = |(name, value): (&str, &Value)| {
                    if name.contains(['{', '}']) {
                        return Err(format!("the name `{name}` has a brace; only values have placeholders"));
                    }
                    Ok((name.to_owned(), Self::parse(value)?))
                };
                Self::Object(object.iter().map(member).collect::<Result<_, _>>()?)
            }
        })
    }

    pub(crate) fn parameters(&self) -> Vec<&str> {
        match self {
            Self::Literal(_) => Vec::new(),
            Self::Parameter(name) => vec![name],
            Self::Text(text) => text.parameters().collect(),
            Self::Array(items) => items.iter().flat_map(Self::parameters).collect(),
            Self::Object(members) => members.iter().flat_map(|(_, value)| value.parameters()).collect(),
        }
    }

    /// The value with the values of parameters. What needs a missing parameter is left out. `None` if nothing is left.
    pub(crate) fn render(&self, parameters: &Object) -> Option<Value> {
        match self {
            Self::Literal(value) => Some(value.clone()),
            Self::Parameter(name) => parameters.get(name).cloned(),
            Self::Text(text) => text.render(parameters, |value| value).map(Value::from),
            Self::Array(items) => Some(items.iter().filter_map(|item| item.render(parameters)).collect()),
            Self::Object(members) => {
                let member = |(name, value): &(String, Self)| Some((name.clone(), value.render(parameters)?));
                Some(Value::Object(members.iter().filter_map(member).collect()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(text: &str) -> Object {
        Value::parse(text).unwrap().as_object().cloned().unwrap()
    }

    #[test]
    fn a_text_has_the_values_of_its_parameters_and_single_braces_for_double_ones() {
        let parameters = object(r#"{"city": "Seoul", "days": 3.10, "tags": ["a"], "none": null}"#);
        for (template, expected) in [
            ("", Some("")),
            ("plain", Some("plain")),
            ("{city}", Some("Seoul")),
            ("in {city} for {days} days", Some("in Seoul for 3.10 days")),
            ("{{city}} {{{city}}}", Some("{city} {Seoul}")),
            ("{tags}", Some(r#"["a"]"#)),
            ("{none}", None),
            ("x{missing}", None),
        ] {
            let rendered = TemplateText::parse(template).unwrap().render(&parameters, |value| value);
            assert_eq!(rendered.as_deref(), expected, "{template}");
        }
        for wrong in ["{", "}", "{city", "city}", "{}", "{a{b}", "{a}}"] {
            assert!(TemplateText::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_whole_placeholder_keeps_its_type_and_a_missing_parameter_drops_its_key() {
        let template = r#"{"amount": "{amount}", "note": "for {city}", "gone": "{gone}", "list": ["{gone}", 1, "{amount}"],
            "fixed": {"a": true}, "none": "{none}"}"#;
        let template = TemplateValue::parse(&Value::parse(template).unwrap()).unwrap();
        let rendered = template.render(&object(r#"{"amount": 1.50, "city": "Seoul", "none": null}"#)).unwrap();
        let expected = r#"{"amount":1.50,"note":"for Seoul","list":[1,1.50],"fixed":{"a":true},"none":null}"#;
        assert_eq!(rendered.to_string(), expected);
        assert!(TemplateValue::parse(&Value::parse(r#"{"{name}": 1}"#).unwrap()).is_err());
    }
}
