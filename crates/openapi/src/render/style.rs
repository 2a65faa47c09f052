//! Values as text in the styles of OpenAPI. Errors say what a style cannot express.

use reknit_protocol::{Object, Value, percent_encoded, percent_encoded_except};

use crate::parameter::ParameterStyle;

/// A value that styles can express: texts, a list of texts, or texts by key. Neither of the last two is empty.
pub(super) enum StyledText {
    Scalar(String),
    Items(Vec<String>),
    Members(Vec<(String, String)>),
}

type Styled = Result<String, &'static str>;

impl StyledText {
    pub(super) fn new(value: &Value) -> Result<Self, &'static str> {
        match value {
            Value::Array(items) => Self::items(items),
            Value::Object(object) => Self::members(object),
            _ => scalar(value).map(Self::Scalar),
        }
    }

    fn items(items: &[Value]) -> Result<Self, &'static str> {
        if items.is_empty() {
            return Err("an empty array looks like an absent one");
        }
        items.iter().map(scalar).collect::<Result<_, _>>().map(Self::Items)
    }

    fn members(object: &Object) -> Result<Self, &'static str> {
        if object.is_empty() {
            return Err("an empty object looks like an absent one");
        }
        if object.contains_key("") {
            return Err("an empty key looks like an absent one");
        }
        object
            .iter()
            .map(|(key, value)| Ok((key.to_owned(), scalar(value)?)))
            .collect::<Result<_, _>>()
            .map(Self::Members)
    }

    pub(super) fn in_path(&self, name: &str, style: ParameterStyle, explode: bool) -> Styled {
        match style {
            ParameterStyle::Label => self.as_label(explode),
            ParameterStyle::Matrix => Ok(self.as_matrix(&percent_encoded(name), explode)),
            ParameterStyle::SpaceDelimited | ParameterStyle::PipeDelimited | ParameterStyle::TabDelimited => {
                self.delimited(style)
            }
            ParameterStyle::Simple | ParameterStyle::Form | ParameterStyle::DeepObject => {
                Ok(self.with_commas(explode, ""))
            }
        }
    }

    /// `a,b` or `k,v,k,v`, or exploded `k=v,k=v`. What separates is encoded inside of the texts.
    pub(super) fn with_commas(&self, explode: bool, kept: &str) -> String {
        match self {
            Self::Scalar(text) => percent_encoded_except(text, kept),
            Self::Items(items) => join(items.iter().map(|item| percent_encoded_except(item, kept)), ","),
            Self::Members(members) => {
                let separator = if explode { "=" } else { "," };
                let encoded = |text: &str| percent_encoded_except(text, kept);
                join(members.iter().map(|(key, text)| encoded(key) + separator + &encoded(text)), ",")
            }
        }
    }

    fn as_label(&self, explode: bool) -> Styled {
        let has_point = match self {
            Self::Scalar(_) => false,
            Self::Items(items) => items.iter().any(|item| item.contains('.')),
            Self::Members(members) => members.iter().any(|(key, text)| key.contains('.') || text.contains('.')),
        };
        if explode && has_point {
            return Err("a point inside of a text looks like a separator");
        }
        let text = self.with_commas(explode, "");
        // In exploded labels, points separate; commas inside of texts are encoded.
        Ok(format!(".{}", if explode { text.replace(',', ".") } else { text }))
    }

    fn as_matrix(&self, name: &str, explode: bool) -> String {
        match self {
            Self::Scalar(text) if text.is_empty() => format!(";{name}"),
            Self::Items(items) if explode => {
                join(items.iter().map(|item| format!(";{name}={}", percent_encoded(item))), "")
            }
            Self::Members(members) if explode => join(
                members.iter().map(|(key, text)| format!(";{}={}", percent_encoded(key), percent_encoded(text))),
                "",
            ),
            _ => format!(";{name}={}", self.with_commas(explode, "")),
        }
    }

    /// Items with an encoded separator between them, so none may have it inside.
    pub(super) fn delimited(&self, style: ParameterStyle) -> Styled {
        let separator = separator(style);
        let texts: Vec<&String> = match self {
            Self::Scalar(_) => return Err("a single value looks like an array"),
            Self::Items(items) => items.iter().collect(),
            Self::Members(members) => members.iter().flat_map(|(key, text)| [key, text]).collect(),
        };
        if texts.iter().any(|text| text.contains(separator)) {
            return Err("the separator inside of a text looks like one between texts");
        }
        Ok(join(texts.into_iter().map(|text| percent_encoded(text)), &percent_encoded(separator)))
    }

    /// Text without percent-encoding, which headers do not have.
    pub(super) fn in_header(&self, style: ParameterStyle, explode: bool) -> Styled {
        let separator = separator(style);
        let has_separator = |text: &String| text.contains(separator) || text.trim() != text || text.is_empty();
        let inside = "a text is empty, has spaces around it, or has the separator inside";
        match self {
            Self::Scalar(text) => Ok(text.clone()),
            Self::Items(items) if items.iter().any(has_separator) => Err(inside),
            Self::Items(items) => Ok(items.join(separator)),
            Self::Members(members) => {
                if members.iter().any(|(key, text)| has_separator(key) || has_separator(text)) {
                    return Err(inside);
                }
                if explode && members.iter().any(|(key, _)| key.contains('=')) {
                    return Err("a key with `=` looks like a key and a value");
                }
                let between = if explode { "=" } else { separator };
                Ok(join(members.iter().map(|(key, text)| format!("{key}{between}{text}")), separator))
            }
        }
    }

    pub(super) fn in_cookie(&self, explode: bool) -> Styled {
        match self {
            Self::Items(_) | Self::Members(_) if explode => Err("a cookie cannot be exploded"),
            _ => Ok(self.with_commas(false, "")),
        }
    }
}

/// What stands between two items.
pub(super) fn separator(style: ParameterStyle) -> &'static str {
    match style {
        ParameterStyle::SpaceDelimited => " ",
        ParameterStyle::PipeDelimited => "|",
        ParameterStyle::TabDelimited => "\t",
        _ => ",",
    }
}

pub(super) fn scalar(value: &Value) -> Result<String, &'static str> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(_) | Value::Bool(_) => Ok(value.to_string()),
        Value::Null => Err("null has no text"),
        Value::Array(_) | Value::Object(_) => Err("it is nested too deeply"),
    }
}

fn join(texts: impl Iterator<Item = String>, separator: &str) -> String {
    texts.collect::<Vec<_>>().join(separator)
}
