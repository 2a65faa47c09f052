//! Reads a configuration file and keeps the line of every value. Unknown keys are errors.

use std::ops::Range;

use ::toml::Spanned;
use ::toml::de::{DeTable, DeValue, ValueDeserializer};
use reknit_protocol::spelling::{folded, nearest};
use reknit_protocol::{Value, redact_urls};
use reknit_salvage::TextPosition;
use serde::Deserialize as _;

use super::entry::{Entry, EntryList, LISTS};
use super::error::ConfigError;
use super::file_content::FileContent;
use super::find_setting::{nearest_section, nearest_setting};
use super::kind::SettingKind;
use super::origin::ConfiguredValues;
use super::show::toml;
use super::{SETTINGS, Setting, SettingOrigin};

/// Errors show at most this many characters of a value.
const MAX_SHOWN: usize = 60;

/// Parses the text of a file. `name` is the name of the file for errors.
pub(super) fn parse(text: &str, name: &str) -> Result<FileContent, ConfigError> {
    let file = File { text, name };
    let table = DeTable::parse(text).map_err(|error| file.syntax_error(&error))?;
    let mut content = FileContent::default();
    for (key, value) in table.get_ref() {
        let name = folded(key.get_ref());
        match LISTS.iter().find(|list| list.name == name) {
            Some(list) => drop(content.entries.insert(list.name, file.entries(list, value)?)),
            None => file.setting(key.get_ref(), key.span(), value, &mut content.values)?,
        }
    }
    Ok(content)
}

struct File<'a> {
    text: &'a str,
    name: &'a str,
}

impl File<'_> {
    fn line(&self, span: &Range<usize>) -> usize {
        TextPosition::at_offset(self.text, span.start).line
    }

    fn origin(&self, span: &Range<usize>) -> SettingOrigin {
        SettingOrigin::File { name: self.name.to_owned(), line: self.line(span) }
    }

    /// Adds the text of the line, since the message of `error` alone does not name the key.
    fn syntax_error(&self, error: &::toml::de::Error) -> ConfigError {
        let span = error.span().unwrap_or_default();
        let line = self.text.lines().nth(self.line(&span) - 1).unwrap_or_default().trim();
        // The value may be a key without quotes.
        let written = match line.split_once('=') {
            Some((name, _)) if name.to_ascii_lowercase().contains("key") => format!("{name}= ..."),
            _ => redact_urls(line),
        };
        let message = error.message().trim().replace('\n', "; ");
        ConfigError::Invalid { origin: self.origin(&span), problem: format!("cannot read `{written}`: {message}") }
    }

    /// A part of the file on one line.
    fn excerpt(&self, span: Range<usize>) -> String {
        cut(self.text.get(span).unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" "))
    }

    /// Reads a setting, or all settings of a section. `span` is that of the key.
    fn setting(
        &self,
        name: &str,
        span: Range<usize>,
        value: &Spanned<DeValue<'_>>,
        values: &mut ConfiguredValues,
    ) -> Result<(), ConfigError> {
        if let Some(setting) = Setting::find(name) {
            let read = self.value(setting.name, setting.kind, &span, value)?;
            return match values.insert(setting, read, self.origin(&span)) {
                Some(SettingOrigin::File { line: other, .. }) => {
                    // The parser does not keep the order of tables.
                    let (first, line) = (self.line(&span).min(other), self.line(&span).max(other));
                    let origin = SettingOrigin::File { name: self.name.to_owned(), line };
                    let problem = format!("`{}` is set twice; it is already set in line {first}", setting.name);
                    Err(ConfigError::Invalid { origin, problem })
                }
                _ => Ok(()),
            };
        }
        match value.get_ref() {
            DeValue::Table(table) if is_section(name) => table.iter().try_for_each(|(key, value)| {
                self.setting(&format!("{name}.{}", key.get_ref()), key.span(), value, values)
            }),
            _ if is_section(name) => {
                let expected = format!("write a section: `[{name}]`");
                Err(ConfigError::invalid_value(self.origin(&span), name, &self.excerpt(value.span()), &expected))
            }
            other => {
                let section = if matches!(other, DeValue::Table(_)) { nearest_section(name) } else { None };
                let list =
                    if matches!(other, DeValue::Array(_)) { nearest(name, LISTS.map(|list| list.name)) } else { None };
                let hint = match (section, list, nearest_setting(name)) {
                    (Some(section), _, _) => format!("did you mean `[{section}]`?"),
                    (None, Some(list), _) => format!("did you mean `[[{list}]]`?"),
                    (None, None, Some(setting)) => format!("did you mean `{setting}`?"),
                    (None, None, None) => "`reknit config reference` lists all settings".to_owned(),
                };
                Err(ConfigError::unknown_setting(self.origin(&span), name, &hint))
            }
        }
    }

    /// Reads a list of entries such as `[[tools]]`.
    fn entries(&self, list: &EntryList, value: &Spanned<DeValue<'_>>) -> Result<Vec<Entry>, ConfigError> {
        let invalid = |value: &Spanned<DeValue<'_>>| {
            let expected = format!("write each of them as `[[{}]]`", list.name);
            ConfigError::invalid_value(self.origin(&value.span()), list.name, &self.excerpt(value.span()), &expected)
        };
        let DeValue::Array(items) = value.get_ref() else { return Err(invalid(value)) };
        let entry = |item: &Spanned<DeValue<'_>>| match item.get_ref() {
            DeValue::Table(table) => self.entry(list, table, &item.span()),
            _ => Err(invalid(item)),
        };
        items.iter().map(entry).collect()
    }

    fn entry(&self, list: &EntryList, table: &DeTable<'_>, span: &Range<usize>) -> Result<Entry, ConfigError> {
        let keys = || list.keys.iter().copied().flatten();
        let mut entry = Entry::new(list.name, self.origin(span));
        for (key, value) in table {
            let Some(known) = keys().find(|known| folded(known.name) == folded(key.get_ref())) else {
                let names = || keys().map(|key| key.name);
                let hint = match nearest(key.get_ref(), names()) {
                    Some(name) => format!("did you mean `{name}`?"),
                    None => format!("there is: {}", names().collect::<Vec<_>>().join(", ")),
                };
                let name = format!("{}.{}", list.name, key.get_ref());
                return Err(ConfigError::unknown_setting(self.origin(&key.span()), &name, &hint));
            };
            let read = self.value(&format!("{}.{}", list.name, known.name), known.kind, &key.span(), value)?;
            entry.insert(known.name, read, self.origin(&key.span()));
        }
        match keys().find(|key| key.is_required && !entry.has(key.name)) {
            Some(key) => Err(entry.invalid(key.name, &key.kind.expected())),
            None => Ok(entry),
        }
    }

    /// Reads a value. `key` is the span of its key.
    fn value(
        &self,
        name: &str,
        kind: SettingKind,
        key: &Range<usize>,
        value: &Spanned<DeValue<'_>>,
    ) -> Result<Value, ConfigError> {
        // Null stands for what JSON cannot hold, such as infinity. No setting accepts it.
        let read = Value::deserialize(ValueDeserializer::from(value.clone())).unwrap_or(Value::Null);
        if kind.accepts(&read) {
            return Ok(read);
        }
        let quotes = match (kind.is_text(), matches!(value.get_ref(), DeValue::String(_))) {
            (true, false) => ", in quotes",
            (false, true) => ", without quotes",
            _ => "",
        };
        // The span of a table is only its header.
        let is_table = matches!(value.get_ref(), DeValue::Table(_));
        let written = kind.shown(if is_table { cut(toml(&read)) } else { self.excerpt(value.span()) });
        let meant = match (kind, read.as_str()) {
            // A short word is near to ones that mean something else: `safe` to `unsafe`.
            (SettingKind::Word(words), Some(word)) if word.len() > 4 => nearest(word, words()),
            _ => None,
        };
        let meant = meant.map_or_else(String::new, |word| format!("did you mean `{word}`? "));
        Err(ConfigError::invalid_value(self.origin(key), name, &written, &(meant + &kind.expected() + quotes)))
    }
}

fn cut(text: String) -> String {
    match text.char_indices().nth(MAX_SHOWN) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

/// Whether a setting has a name in this section.
fn is_section(name: &str) -> bool {
    let is_in = |setting: &str| setting.rsplit_once('.').is_some_and(|(section, _)| folded(section) == folded(name));
    SETTINGS.iter().any(|setting| setting.names().any(is_in))
}
