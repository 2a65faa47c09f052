//! The body of a request.

use std::fmt::Write as _;

use reknit_protocol::{Object, Value};

use super::RenderError;
use super::pairs::Pairs;
use super::style::{StyledText, scalar, separator};
use crate::operation::{BodyContent, BodyKind, PartEncoding, RequestBody};
use crate::parameter::{ParameterEncoding, ParameterStyle};

const FORM: &str = "form body";
const MULTIPART: &str = "multipart body";

/// The content type and the bytes; `None` if no body is sent.
pub(super) fn render(body: &RequestBody, parameters: &Object) -> Result<Option<(String, Vec<u8>)>, RenderError> {
    let (name, value) = match &body.content {
        BodyContent::Whole { parameter } => match parameters.get(parameter) {
            Some(value) => (parameter.as_str(), value.clone()),
            None if body.required => return Err(RenderError::Missing { parameter: parameter.clone() }),
            None => return Ok(None),
        },
        BodyContent::Properties(list) => {
            let mut object = Object::new();
            for property in list {
                if let Some(value) = parameters.get(&property.name) {
                    object.insert(property.wire_name.as_str(), value.clone());
                }
            }
            if object.is_empty() && !body.required {
                return Ok(None);
            }
            if let Some(missing) =
                list.iter().find(|property| property.required && !parameters.contains_key(&property.name))
            {
                return Err(RenderError::Missing { parameter: missing.name.clone() });
            }
            ("body", Value::Object(object))
        }
    };
    let object = || value.as_object().ok_or_else(|| RenderError::not_representable(name, FORM, "it is not an object"));
    Ok(Some(match body.kind {
        BodyKind::Json => (body.media_type.clone(), value.to_string().into_bytes()),
        BodyKind::Text => {
            let text = scalar(&value).map_err(|reason| RenderError::not_representable(name, "text body", reason))?;
            (body.media_type.clone(), text.into_bytes())
        }
        BodyKind::Form => (body.media_type.clone(), form(&body.parts, object()?)?.into_bytes()),
        BodyKind::Multipart => multipart(&body.media_type, &body.parts, object()?)?,
    }))
}

fn part<'a>(parts: &'a [PartEncoding], property: &str) -> Option<&'a PartEncoding> {
    parts.iter().find(|part| part.property == property)
}

fn is_json(content_type: &str) -> bool {
    let name = content_type.split(';').next().unwrap_or_default().trim();
    name.eq_ignore_ascii_case("application/json") || name.to_ascii_lowercase().ends_with("+json")
}

fn form(parts: &[PartEncoding], object: &Object) -> Result<String, RenderError> {
    let styled = |(style, explode)| ParameterEncoding::Styled { style, explode, allow_reserved: false };
    let encoding = |name: &str| part(parts, name).and_then(|part| part.style).map_or(ParameterEncoding::Json, styled);
    let mut pairs = Pairs::new(object.keys().map(|name| (name, encoding(name))));
    for (name, value) in object {
        let part = part(parts, name);
        if part.and_then(|part| part.content_type.as_deref()).is_some_and(is_json) {
            pairs.add_text(name, name, &value.to_string());
        } else if let Some(style) = part.and_then(|part| part.style) {
            // A style is for lists and objects; a single value has one form.
            let style =
                if matches!(value, Value::Array(_) | Value::Object(_)) { style } else { (ParameterStyle::Form, true) };
            pairs.add(name, name, styled(style), value)?;
        } else {
            for text in texts(value).map_err(|reason| RenderError::not_representable(name, FORM, reason))? {
                pairs.add_text(name, name, &text.text);
            }
        }
    }
    Ok(pairs.finish()?.join("&"))
}

/// The text of one value in a form.
struct PartText {
    text: String,
    is_json: bool,
}

/// A value as one text for each item. Objects are written as JSON, also inside of an array.
fn texts(value: &Value) -> Result<Vec<PartText>, &'static str> {
    let one = |value: &Value| match value {
        Value::Array(_) | Value::Object(_) => Ok(PartText { text: value.to_string(), is_json: true }),
        _ => Ok(PartText { text: scalar(value)?, is_json: false }),
    };
    match value {
        Value::Array(items) if items.is_empty() => Err("an empty array looks like an absent one"),
        Value::Array(items) => items.iter().map(one).collect(),
        _ => Ok(vec![one(value)?]),
    }
}

fn multipart(media_type: &str, parts: &[PartEncoding], object: &Object) -> Result<(String, Vec<u8>), RenderError> {
    let mut sections: Vec<(String, String)> = Vec::new();
    for (name, value) in object {
        let fail = |reason| RenderError::not_representable(name, MULTIPART, reason);
        if name.chars().any(|c| c == '"' || c == '\\' || c.is_control()) {
            return Err(fail("its name has characters that the name of a part cannot have"));
        }
        let part = part(parts, name);
        let declared = part.and_then(|part| part.content_type.as_deref());
        let texts = if declared.is_some_and(is_json) {
            vec![PartText { text: value.to_string(), is_json: true }]
        } else if let Some((style, false)) = part.and_then(|part| part.style).filter(|_| value.as_array().is_some()) {
            vec![PartText { text: joined(value, style).map_err(fail)?, is_json: false }]
        } else {
            texts(value).map_err(fail)?
        };
        for text in texts {
            let is_file = part.is_some_and(|part| part.is_file) && !text.is_json;
            let mut headers = format!("Content-Disposition: form-data; name=\"{name}\"");
            if is_file {
                _ = write!(headers, "; filename=\"{name}\"");
            }
            let content_type = match declared {
                Some(declared) => Some(declared),
                None if text.is_json => Some("application/json"),
                None if is_file => Some("application/octet-stream"),
                None => None,
            };
            if let Some(content_type) = content_type {
                _ = write!(headers, "\r\nContent-Type: {content_type}");
            }
            sections.push((headers, text.text));
        }
    }
    let boundary = boundary(&sections);
    let mut bytes = String::new();
    for (headers, text) in &sections {
        _ = write!(bytes, "--{boundary}\r\n{headers}\r\n\r\n{text}\r\n");
    }
    _ = write!(bytes, "--{boundary}--\r\n");
    let name = media_type.split(';').next().unwrap_or_default().trim();
    Ok((format!("{name}; boundary={boundary}"), bytes.into_bytes()))
}

/// A list in one part, with separators as in Swagger 2.
fn joined(value: &Value, style: ParameterStyle) -> Result<String, &'static str> {
    let separator = separator(style);
    match StyledText::new(value)? {
        StyledText::Items(items) if items.iter().any(|item| item.contains(separator)) => {
            Err("the separator inside of a text looks like one between texts")
        }
        StyledText::Items(items) => Ok(items.join(separator)),
        StyledText::Scalar(_) | StyledText::Members(_) => Err("it is not an array"),
    }
}

/// The first boundary that no part has inside. The same parts always get the same one.
fn boundary(sections: &[(String, String)]) -> String {
    let is_free = |boundary: &String| !sections.iter().any(|(_, text)| text.contains(boundary.as_str()));
    let candidates = (0_u64..).map(|number| format!("reknit-boundary-{number}"));
    candidates.into_iter().find(is_free).unwrap_or_default()
}
