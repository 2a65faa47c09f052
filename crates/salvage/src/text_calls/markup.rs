//! Reads calls that are written as elements of markup.

use reknit_protocol::{Object, Value};

use super::json::whole_object;
use super::{Body, TextCall, is_name, without_marks};

/// What stands around one element of Step 3. It says nothing that the element does not say.
const CALL_MARKS: [&str; 4] =
    ["<｜tool_call_begin｜>", "function<｜tool_sep｜>", "<｜tool_call_end｜>", "<｜tool_sep｜>"];

/// `<invoke name="NAME"><parameter name="KEY">value</parameter></invoke>`, one or several, whatever stands before `invoke` and
/// `parameter`; and `<function=NAME><parameter=KEY>value</parameter></function>`.
pub(super) fn invoke_tags(body: &Body<'_>) -> Option<Vec<TextCall>> {
    let mut calls = Vec::new();
    let mut rest = without_marks(body.text, &CALL_MARKS);
    while !rest.is_empty() {
        let (tag, content) = OpenTag::read(rest)?;
        let close = format!("</{}>", tag.element);
        let (inner, after, is_closed) = match content.split_once(&close) {
            Some((inner, after)) => (inner, after, true),
            None => (content, "", body.is_closed),
        };
        let element = Element { prefix: tag.prefix(&["invoke", "function"])?, inner: inner.trim(), is_closed };
        calls.push(element.call(tag.name)?);
        rest = without_marks(after, &CALL_MARKS);
    }
    (!calls.is_empty()).then_some(calls)
}

/// `<ELEMENT name="NAME" ATTRIBUTES>` or `<ELEMENT=NAME>`.
struct OpenTag<'a> {
    element: &'a str,
    name: Option<&'a str>,
    attributes: &'a str,
}

impl<'a> OpenTag<'a> {
    /// The tag at the beginning of a text, and the text behind it.
    fn read(text: &'a str) -> Option<(Self, &'a str)> {
        let (tag, after) = text.strip_prefix('<')?.split_once('>')?;
        let end = tag.find(|character: char| character.is_whitespace() || character == '=').unwrap_or(tag.len());
        let (element, attributes) = tag.split_at(end);
        let attributes = attributes.trim();
        let (name, attributes) = match attributes.strip_prefix('=') {
            Some(name) => (Some(unquoted(name)), ""),
            None => match attributes.strip_prefix("name").and_then(|rest| rest.trim_start().strip_prefix('=')) {
                Some(rest) => attribute_value(rest.trim_start()),
                None => (None, attributes),
            },
        };
        (!element.is_empty() && !element.starts_with('/')).then_some((Self { element, name, attributes }, after))
    }

    /// What stands before the word of the element, such as `steptml:`.
    fn prefix(&self, words: &[&str]) -> Option<&'a str> {
        words.iter().find_map(|word| self.element.strip_suffix(word))
    }
}

/// The value of an attribute at the beginning of a text, and the attributes behind it.
fn attribute_value(text: &str) -> (Option<&str>, &str) {
    for quote in ['"', '\''] {
        if let Some((value, rest)) = text.strip_prefix(quote).and_then(|rest| rest.split_once(quote)) {
            return (Some(value), rest.trim());
        }
    }
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    (text.get(..end).map(unquoted), text.get(end..).unwrap_or_default().trim())
}

fn unquoted(text: &str) -> &str {
    text.trim().trim_matches(['"', '\''])
}

/// The content of one call.
struct Element<'a> {
    prefix: &'a str,
    inner: &'a str,
    is_closed: bool,
}

impl Element<'_> {
    fn call(&self, name: Option<&str>) -> Option<TextCall> {
        let (name, parameters, fixes) = match name {
            Some(name) if self.inner.starts_with('{') => {
                let (parameters, fixes) = whole_object(self.inner)?;
                (name, parameters, fixes)
            }
            Some(name) => (name, self.parameters(self.inner)?, Vec::new()),
            None => {
                let (name, parameters) = self.named_elements()?;
                (name, parameters, Vec::new())
            }
        };
        is_name(name).then(|| TextCall::between_tags(name, parameters, fixes))
    }

    /// `<parameter name="KEY">value</parameter>`, `<param name="KEY">` or `<parameter=KEY>`. What is cut is no call.
    fn parameters(&self, content: &str) -> Option<Object> {
        let mut parameters = Object::new();
        let mut rest = content.trim();
        while !rest.is_empty() {
            let (tag, after) = OpenTag::read(rest)?;
            if tag.prefix(&["parameter", "param"])? != self.prefix {
                return None;
            }
            let close = format!("</{}>", tag.element);
            let next = format!("<{}", tag.element);
            let (value, after) = match (after.find(&close), after.find(&next)) {
                // A model may leave out the end before the next parameter.
                (Some(end), Some(next)) if next < end && ends_with_line(after, next) => after.split_at(next),
                (Some(end), _) => (after.get(..end)?, after.get(end + close.len()..)?),
                (None, Some(next)) => after.split_at(next),
                (None, None) if self.is_closed => (after, ""),
                (None, None) => return None,
            };
            if parameters.insert(tag.name?, parameter_value(value, tag.attributes)).is_some() {
                return None;
            }
            rest = after.trim_start();
        }
        self.is_closed.then_some(parameters)
    }

    /// `<tool_name>NAME</tool_name><parameters><KEY>value</KEY></parameters>`.
    fn named_elements(&self) -> Option<(&str, Object)> {
        let (name, rest) = self.inner.strip_prefix("<tool_name>")?.split_once("</tool_name>")?;
        let mut parameters = Object::new();
        let mut rest = match rest.trim() {
            "" => "",
            rest => rest.strip_prefix("<parameters>")?.strip_suffix("</parameters>")?.trim(),
        };
        while !rest.is_empty() {
            let (tag, after) = OpenTag::read(rest)?;
            let (value, after) = after.split_once(&format!("</{}>", tag.element))?;
            if parameters.insert(tag.element, value.trim()).is_some() {
                return None;
            }
            rest = after.trim_start();
        }
        self.is_closed.then_some((name.trim(), parameters))
    }
}

/// Whether a line begins at the place.
fn ends_with_line(text: &str, at: usize) -> bool {
    text.get(..at).is_some_and(|before| before.ends_with('\n'))
}

/// The value of a parameter. It is text, unless the tag says otherwise: the schema of the tool knows its type.
fn parameter_value(text: &str, attributes: &str) -> Value {
    let literal = text.trim().strip_prefix("<![CDATA[").and_then(|text| text.strip_suffix("]]>"));
    let text = literal.unwrap_or_else(|| {
        let text = text.strip_prefix('\n').unwrap_or(text);
        text.strip_suffix('\n').unwrap_or(text)
    });
    let is_json = attributes.contains(r#"string="false""#);
    is_json.then(|| Value::parse(text.trim()).ok()).flatten().unwrap_or_else(|| Value::from(text))
}

/// `NAME<arg_key>KEY</arg_key><arg_value>value</arg_value>`, with or without line breaks.
pub(super) fn argument_pairs(body: &Body<'_>) -> Option<Vec<TextCall>> {
    let end = body.text.find(['<', '\n']).unwrap_or(body.text.len());
    let (name, rest) = body.text.split_at_checked(end)?;
    let mut rest = rest.trim().trim_start_matches("<tool_sep>").trim();
    // A name alone may be cut.
    if rest.is_empty() && !body.is_closed {
        return None;
    }
    let mut parameters = Object::new();
    while !rest.is_empty() {
        let (key, after) = rest.strip_prefix("<arg_key>")?.split_once("</arg_key>")?;
        let (value, after) = after.trim_start().strip_prefix("<arg_value>")?.split_once("</arg_value>")?;
        if parameters.insert(key.trim(), value).is_some() {
            return None;
        }
        rest = after.trim_start();
    }
    let name = name.trim();
    is_name(name).then(|| vec![TextCall::between_tags(name, parameters, Vec::new())])
}

/// `<tool_call>NAME...</tool_call>`, several inside of another tag.
pub(super) fn nested_calls(body: &Body<'_>) -> Option<Vec<TextCall>> {
    let mut calls = Vec::new();
    let mut rest = body.text;
    while !rest.is_empty() {
        let (text, after) = rest.strip_prefix("<tool_call>")?.split_once("</tool_call>")?;
        calls.extend(argument_pairs(&Body { text: text.trim(), is_closed: true })?);
        rest = after.trim_start();
    }
    (!calls.is_empty()).then_some(calls)
}
