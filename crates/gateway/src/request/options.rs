//! The fields of a request, and which of them were read.

use std::fmt::Display;

use reknit_model_api::ModelRequest;
use reknit_protocol::{Object, Value};

use super::RequestError;
use crate::json::{field, text};

/// The answer's limit if the request states none.
pub(super) const MAX_TOKENS: u32 = 16_384;

/// Fields that say nothing about the answer.
const WITHOUT_MEANING: [&str; 11] = [
    "model",
    "stream",
    "stream_options",
    "user",
    "store",
    "safety_identifier",
    "prompt_cache_key",
    "prompt_cache_retention",
    "service_tier",
    "background",
    "include",
];

#[derive(Debug)]
pub(super) struct Options<'a> {
    body: &'a Object,
    known: Vec<&'static str>,
    pub(super) foreign_content: Option<String>,
    pub(super) foreign_tools: Vec<String>,
}

impl<'a> Options<'a> {
    pub(super) fn new(body: &'a Object) -> Self {
        Self { body, known: WITHOUT_MEANING.to_vec(), foreign_content: None, foreign_tools: Vec::new() }
    }

    /// A field, which counts as read.
    pub(super) fn get(&mut self, key: &'static str) -> Option<&'a Value> {
        self.known.push(key);
        field(self.body, key)
    }

    /// A field, which does not count as read.
    pub(super) fn unread_field(&self, key: &str) -> Option<&'a Value> {
        field(self.body, key)
    }

    /// The fields that were not read and are not null.
    pub(super) fn unread(&self) -> impl Iterator<Item = &'a str> {
        let body = self.body;
        body.iter().filter(|(key, value)| !value.is_null() && !self.known.contains(key)).map(|(key, _)| key)
    }

    /// Notes content that only a server with the same API understands. The first counts.
    pub(super) fn note_foreign(&mut self, what: String) {
        self.foreign_content.get_or_insert(what);
    }

    /// Notes a tool that only the provider knows. Calls of it name it, or its type.
    pub(super) fn note_foreign_tool(&mut self, tool: &Value) {
        let kind = text(tool, &["type"]).unwrap_or_default();
        self.note_foreign(format!("a tool of the type `{kind}`"));
        let name = text(tool, &["name"]).or(text(tool, &[kind, "name"]));
        self.foreign_tools.push(name.unwrap_or(kind).to_owned());
    }

    /// A field, which counts as read, as `read` gives it; fails if it is not of this kind.
    fn read<T>(
        &mut self,
        key: &'static str,
        kind: &str,
        read: impl FnOnce(&'a Value) -> Option<T>,
    ) -> Result<Option<T>, RequestError> {
        self.get(key).map(|value| read(value).ok_or_else(|| RequestError::not_a(key, kind))).transpose()
    }

    pub(super) fn flag(&mut self, key: &'static str) -> Result<Option<bool>, RequestError> {
        self.read(key, "true or false", Value::as_bool)
    }

    pub(super) fn text(&mut self, key: &'static str) -> Result<Option<&'a str>, RequestError> {
        self.read(key, "a string", Value::as_str)
    }

    pub(super) fn list(&mut self, key: &'static str) -> Result<&'a [Value], RequestError> {
        Ok(self.read(key, "a list", Value::as_array)?.unwrap_or_default())
    }

    pub(super) fn count(&mut self, key: &'static str) -> Result<Option<u32>, RequestError> {
        self.read(key, "a count", |value| u32::try_from(value.as_number()?.as_u64()?).ok())
    }

    fn fraction<T: TryFrom<f64, Error: Display>>(&mut self, key: &'static str) -> Result<Option<T>, RequestError> {
        let number = self.read(key, "a number", |value| value.as_number()?.to_string().parse::<f64>().ok())?;
        number.map(T::try_from).transpose().map_err(|error| RequestError(error.to_string()))
    }

    pub(super) fn words(&mut self, key: &'static str) -> Result<Vec<String>, RequestError> {
        let words = self.read(key, "a list of strings", |value| match value {
            Value::String(word) => Some(vec![word.clone()]),
            words => words.as_array()?.iter().map(|word| word.as_str().map(str::to_owned)).collect(),
        });
        Ok(words?.unwrap_or_default())
    }

    pub(super) fn sampling(&mut self) -> Result<ModelRequest, RequestError> {
        let mut request = ModelRequest::new(Vec::new(), MAX_TOKENS);
        request.temperature = self.fraction("temperature")?;
        request.top_p = self.fraction("top_p")?;
        if let Some(Value::Object(metadata)) = self.get("metadata") {
            let pairs = metadata.iter().filter_map(|(key, value)| Some((key.to_owned(), value.as_str()?.to_owned())));
            request.metadata = pairs.collect();
        }
        Ok(request)
    }
}
