//! The fields of a request, and which of them were read.

use reknit_model_api::{ModelRequest, Temperature, TopP};
use reknit_protocol::{Number, Object, Value};

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

/// The fields of a request.
#[derive(Debug)]
pub(super) struct Options<'a> {
    body: &'a Object,
    read: Vec<&'static str>,
    pub(super) foreign_content: Option<String>,
    pub(super) foreign_tools: Vec<String>,
}

impl<'a> Options<'a> {
    pub(super) fn new(body: &'a Object) -> Self {
        Self { body, read: WITHOUT_MEANING.to_vec(), foreign_content: None, foreign_tools: Vec::new() }
    }

    /// A field, which counts as read.
    pub(super) fn get(&mut self, key: &'static str) -> Option<&'a Value> {
        self.read.push(key);
        field(self.body, key)
    }

    /// A field, which does not count as read.
    pub(super) fn unread_field(&self, key: &str) -> Option<&'a Value> {
        field(self.body, key)
    }

    /// The fields that were not read and are not null.
    pub(super) fn unread(&self) -> impl Iterator<Item = &'a str> {
        let body = self.body;
        body.iter().filter(|(key, value)| !value.is_null() && !self.read.contains(key)).map(|(key, _)| key)
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

    pub(super) fn flag(&mut self, key: &'static str) -> Result<Option<bool>, RequestError> {
        self.get(key).map(|value| value.as_bool().ok_or_else(|| RequestError::not_a(key, "true or false"))).transpose()
    }

    pub(super) fn text(&mut self, key: &'static str) -> Result<Option<&'a str>, RequestError> {
        self.get(key).map(|value| value.as_str().ok_or_else(|| RequestError::not_a(key, "a string"))).transpose()
    }

    pub(super) fn list(&mut self, key: &'static str) -> Result<&'a [Value], RequestError> {
        let Some(value) = self.get(key) else { return Ok(&[]) };
        value.as_array().ok_or_else(|| RequestError::not_a(key, "a list"))
    }

    /// A count of tokens.
    pub(super) fn count(&mut self, key: &'static str) -> Result<Option<u32>, RequestError> {
        let Some(value) = self.get(key) else { return Ok(None) };
        let count = value.as_number().and_then(Number::as_u64).and_then(|count| u32::try_from(count).ok());
        count.map(Some).ok_or_else(|| RequestError::not_a(key, "a count"))
    }

    fn fraction(&mut self, key: &'static str) -> Result<Option<f64>, RequestError> {
        let Some(value) = self.get(key) else { return Ok(None) };
        let number = value.as_number().and_then(|number| number.to_string().parse::<f64>().ok());
        number.map(Some).ok_or_else(|| RequestError::not_a(key, "a number"))
    }

    /// The words of a list, or the only word.
    pub(super) fn words(&mut self, key: &'static str) -> Result<Vec<String>, RequestError> {
        let words = match self.get(key) {
            None => return Ok(Vec::new()),
            Some(Value::String(word)) => return Ok(vec![word.clone()]),
            Some(Value::Array(words)) => words,
            Some(_) => return Err(RequestError::not_a(key, "a list of strings")),
        };
        let words = words.iter().map(|word| word.as_str().map(str::to_owned)).collect::<Option<_>>();
        words.ok_or_else(|| RequestError::not_a(key, "a list of strings"))
    }

    /// The options that all APIs have.
    pub(super) fn sampling(&mut self) -> Result<ModelRequest, RequestError> {
        let mut request = ModelRequest::new(Vec::new(), MAX_TOKENS);
        request.temperature = match self.fraction("temperature")? {
            Some(value) => Some(Temperature::try_from(value).map_err(|error| RequestError(error.to_string()))?),
            None => None,
        };
        request.top_p = match self.fraction("top_p")? {
            Some(value) => Some(TopP::try_from(value).map_err(|error| RequestError(error.to_string()))?),
            None => None,
        };
        if let Some(Value::Object(metadata)) = self.get("metadata") {
            let pairs = metadata.iter().filter_map(|(key, value)| Some((key.to_owned(), value.as_str()?.to_owned())));
            request.metadata = pairs.collect();
        }
        Ok(request)
    }
}
