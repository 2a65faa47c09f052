//! One of several things of a kind: a tool, a model.

use std::collections::BTreeMap;

use reknit_models::{FormatSupport, Provider};
use reknit_protocol::{Value, shown_url};

use super::Origin;
use super::duration::millis;
use super::error::{ConfigError, Problem};
use super::kind::{Kind, count, number};
use super::place::{Words, words_of};

/// A key of a tool or of a model.
#[derive(Debug, Clone, Copy)]
pub(super) struct Key {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    pub(super) needed: bool,
    pub(super) meaning: &'static str,
}

const fn key(name: &'static str, kind: Kind, meaning: &'static str) -> Key {
    Key { name, kind, needed: false, meaning }
}

const fn needed(name: &'static str, meaning: &'static str) -> Key {
    Key { name, kind: Kind::Text, needed: true, meaning }
}

const TIME: Kind = Kind::Time { least_ms: 1 };

/// What can be said of a tool.
pub(super) const TOOL_KEYS: [Key; 2] =
    [needed("name", "What plans call it."), needed("url", "Where it answers, like `http://127.0.0.1:8085`.")];

/// What can be said of a model.
pub(super) const MODEL_KEYS: [Key; 18] = [
    needed("name", "What it is called here."),
    needed("model", "What its provider calls it."),
    key("provider", Kind::Word(providers), "Whose wire format it speaks; `compatible` is OpenAI's at any address."),
    key("url", Kind::Text, "Where it answers, if that is not where its provider usually does."),
    key("key-env", Kind::Text, "The variable of the environment that holds its key, if that is not the usual one."),
    key("key-file", Kind::Text, "The file that holds its key."),
    key("streaming", Kind::Switch, "Whether its answers come in pieces."),
    key("format", Kind::Word(words_of::<FormatSupport>), "How far it can be held to a form."),
    key("max-context", Kind::Count { least: 1, most: u32::MAX }, "How many tokens it can read."),
    key("connect-time", TIME, "How long a connection may take."),
    key("first-byte-time", TIME, "How long the answer may take to begin: as its first word."),
    key(
        "first-token-time",
        TIME,
        "How long its first word may take: 2 min, or 12 s where another model stands behind it, it streams and it does not think unseen.",
    ),
    key("idle-time", TIME, "How long it may pause: 60 s, or 30 s where another model stands behind it."),
    key("total-time", TIME, "How long the whole answer may take."),
    key("price-input", Kind::Price, "What a million tokens of the question cost."),
    key("price-output", Kind::Price, "What a million tokens of the answer cost."),
    key("price-cached", Kind::Price, "What a million tokens cost that the provider remembered."),
    key("price-cache-written", Kind::Price, "What a million tokens cost that the provider keeps for the next time."),
];

fn providers() -> Vec<&'static str> {
    Provider::ALL.iter().map(|provider| provider.as_str()).collect()
}

impl Words for FormatSupport {
    const WORDS: &'static [(&'static str, Self)] =
        &[("schema", Self::Schema), ("json", Self::Json), ("text", Self::Text)];
}

/// A tool or a model, as it is written. Each value is of the kind of its key.
#[derive(Debug)]
pub(super) struct Entry {
    list: &'static str,
    file: String,
    line: usize,
    values: BTreeMap<&'static str, (Value, usize)>,
}

impl Entry {
    pub(super) fn new(list: &'static str, file: &str, line: usize) -> Self {
        Self { list, file: file.to_owned(), line, values: BTreeMap::new() }
    }

    pub(super) fn put(&mut self, key: &'static str, value: Value, line: usize) {
        self.values.insert(key, (value, line));
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.values.contains_key(key)
    }

    /// Which one it is, and where it is named.
    pub(super) fn named(&self) -> ((&'static str, String), Origin) {
        let name = self.text("name").unwrap_or_default().to_owned();
        ((self.list, name), Origin::File { name: self.file.clone(), line: self.line })
    }

    fn value(&self, key: &str) -> Option<&Value> {
        self.values.get(key).map(|(value, _)| value)
    }

    pub(super) fn text(&self, key: &str) -> Option<&str> {
        self.value(key)?.as_str()
    }

    pub(super) fn flag(&self, key: &str) -> Option<bool> {
        self.value(key)?.as_bool()
    }

    pub(super) fn count(&self, key: &str) -> Option<u32> {
        self.value(key).and_then(count)
    }

    pub(super) fn number(&self, key: &str) -> Option<f64> {
        self.value(key).and_then(number)
    }

    pub(super) fn millis(&self, key: &str) -> Option<u64> {
        self.text(key).and_then(millis)
    }

    /// The name, which must be there only once.
    pub(super) fn name(&self, is_taken: impl Fn(&str) -> bool) -> Result<&str, ConfigError> {
        let name = self.text("name").unwrap_or_default();
        if is_taken(name) {
            return Err(self.problem("name", "another one has this name; write a different one"));
        }
        Ok(name)
    }

    /// Something is wrong with what a key says.
    pub(super) fn problem(&self, key: &str, wanted: impl Into<String>) -> ConfigError {
        let shown = |value: &Value| match value.as_str() {
            Some(url) if key == "url" => Value::from(shown_url(url)).to_string(),
            _ => value.to_string(),
        };
        let (written, line) =
            self.values.get(key).map_or(("missing".to_owned(), self.line), |(value, line)| (shown(value), *line));
        Problem::new(&format!("{}.{key}", self.list), &written, wanted).at(&self.file, line)
    }
}
