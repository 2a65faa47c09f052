//! Names with values, as in queries and forms.

use std::collections::HashMap;

use reknit_protocol::{Value, percent_encoded, percent_encoded_except};

use super::RenderError;
use super::style::StyledText;
use crate::parameter::{ParameterEncoding, ParameterStyle};

/// Reserved characters that have no meaning of their own in the value of a query parameter.
const HARMLESS: &str = ":/?@!$'()*";

/// The pairs of a query or form, and whose they are.
pub(super) struct Pairs {
    /// The names of all parameters, also of those without a value, and how each is encoded.
    declared: Vec<(String, ParameterEncoding)>,
    pairs: Vec<Pair>,
}

struct Pair {
    /// Whose it is.
    parameter: String,
    key: String,
    text: String,
}

impl Pairs {
    pub(super) fn new<'a>(declared: impl Iterator<Item = (&'a str, ParameterEncoding)>) -> Self {
        Self { declared: declared.map(|(name, encoding)| (name.to_owned(), encoding)).collect(), pairs: Vec::new() }
    }

    pub(super) fn add(
        &mut self,
        parameter: &str,
        name: &str,
        encoding: ParameterEncoding,
        value: &Value,
    ) -> Result<(), RenderError> {
        let ParameterEncoding::Styled { style, explode, allow_reserved } = encoding else {
            self.push(parameter, name, percent_encoded(&value.to_string()));
            return Ok(());
        };
        let fail = |reason| RenderError::not_representable(parameter, style.as_str(), reason);
        let kept = if allow_reserved { HARMLESS } else { "" };
        let text = StyledText::new(value).map_err(fail)?;
        let is_delimited = matches!(
            style,
            ParameterStyle::SpaceDelimited | ParameterStyle::PipeDelimited | ParameterStyle::TabDelimited
        );
        match text {
            StyledText::Members(members) if style == ParameterStyle::DeepObject => {
                if members.iter().any(|(key, _)| key.contains(['[', ']'])) {
                    return Err(fail("brackets in a key look like another level"));
                }
                for (key, text) in members {
                    self.push(parameter, &format!("{name}[{key}]"), percent_encoded_except(&text, kept));
                }
            }
            StyledText::Items(_) if style == ParameterStyle::DeepObject => return Err(fail("it is an array")),
            StyledText::Members(_) if is_delimited && explode => {
                return Err(fail("an object cannot be exploded"));
            }
            StyledText::Items(items) if explode => {
                for item in items {
                    self.push(parameter, name, percent_encoded_except(&item, kept));
                }
            }
            StyledText::Members(members) if explode => {
                for (key, text) in members {
                    self.check_key(parameter, name, &key)?;
                    self.push(parameter, &key, percent_encoded_except(&text, kept));
                }
            }
            text if is_delimited && !explode => {
                let text = text.delimited(style).map_err(fail)?;
                self.push(parameter, name, text);
            }
            text => self.push(parameter, name, text.with_commas(false, kept)),
        }
        Ok(())
    }

    /// Adds one pair with a text as it is.
    pub(super) fn add_text(&mut self, parameter: &str, name: &str, text: &str) {
        self.push(parameter, name, percent_encoded(text));
    }

    fn push(&mut self, parameter: &str, key: &str, text: String) {
        self.pairs.push(Pair { parameter: parameter.to_owned(), key: key.to_owned(), text });
    }

    /// A key of an exploded object must not look like another parameter.
    fn check_key(&self, parameter: &str, owner: &str, key: &str) -> Result<(), RenderError> {
        let is_other = |(name, encoding): &(String, ParameterEncoding)| {
            let is_deep = matches!(encoding, ParameterEncoding::Styled { style: ParameterStyle::DeepObject, .. });
            name != owner
                && (name == key
                    || (is_deep && key.strip_prefix(name.as_str()).is_some_and(|rest| rest.starts_with('['))))
        };
        if self.declared.iter().any(is_other) {
            return Err(RenderError::NameClash { parameter: parameter.to_owned(), key: key.to_owned() });
        }
        Ok(())
    }

    /// The encoded pairs.
    pub(super) fn finish(self) -> Result<Vec<String>, RenderError> {
        let mut owners: HashMap<&str, &str> = HashMap::new();
        for pair in &self.pairs {
            let owner = owners.entry(&pair.key).or_insert(&pair.parameter);
            if *owner != pair.parameter {
                return Err(RenderError::NameClash { parameter: pair.parameter.clone(), key: pair.key.clone() });
            }
        }
        Ok(self.pairs.iter().map(|pair| format!("{}={}", percent_encoded(&pair.key), pair.text)).collect())
    }
}
