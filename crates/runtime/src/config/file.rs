//! What is written in a file, key by key, with its lines. A key that nobody knows is an error, not a default.

use std::ops::Range;

use ::toml::Spanned;
use ::toml::de::{DeTable, DeValue};
use reknit_protocol::spelling::{folded, nearest};
use reknit_protocol::{Number, Object, Value};
use reknit_salvage::Place;

use super::entry::{Entry, Key, MODEL_KEYS, TOOL_KEYS};
use super::error::{ConfigError, Problem};
use super::kind::Kind;
use super::origin::Choices;
use super::setting::{SETTINGS, meant, meant_section};
use super::show::toml;
use super::{Origin, Setting};

/// The longest piece of a file that an error shows, in letters.
const SHOWN: usize = 60;

/// What a file says.
#[derive(Debug, Default)]
pub(super) struct Written {
    pub(super) choices: Choices,
    pub(super) tools: Vec<Entry>,
    pub(super) models: Vec<Entry>,
}

/// Reads a file. `name` is what it is called in errors.
pub(super) fn read(text: &str, name: &str) -> Result<Written, ConfigError> {
    let table = DeTable::parse(text).map_err(|error| ConfigError::unreadable(name, text, &error))?;
    let file = File { text, name };
    let mut written = Written::default();
    for (key, value) in table.get_ref() {
        match folded(key.get_ref()).as_str() {
            "tools" => written.tools = file.entries("tools", &TOOL_KEYS, value)?,
            "models" => written.models = file.entries("models", &MODEL_KEYS, value)?,
            _ => file.setting(key.get_ref(), key.span(), value, &mut written.choices)?,
        }
    }
    Ok(written)
}

struct File<'a> {
    text: &'a str,
    name: &'a str,
}

impl File<'_> {
    fn line(&self, span: &Range<usize>) -> usize {
        Place::of(self.text, span.start).line
    }

    fn origin(&self, line: usize) -> Origin {
        Origin::File { name: self.name.to_owned(), line }
    }

    /// A piece of the file on one line.
    fn piece(&self, span: Range<usize>) -> String {
        cut(self.text.get(span).unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" "))
    }

    /// Takes in a setting, or all that are in a section.
    fn setting(
        &self,
        name: &str,
        span: Range<usize>,
        value: &Spanned<DeValue<'_>>,
        choices: &mut Choices,
    ) -> Result<(), ConfigError> {
        if let Some(setting) = Setting::find(name) {
            let read = self.value(setting.name, setting.kind, &span, value)?;
            let line = self.line(&span);
            return match choices.put(setting, read, self.origin(line)) {
                Some(Origin::File { line: other, .. }) => {
                    // Tables do not come in the order in which they are written.
                    let (first, line) = (line.min(other), line.max(other));
                    Err(ConfigError::Twice { origin: self.origin(line), name: setting.name.to_owned(), first })
                }
                _ => Ok(()),
            };
        }
        match value.get_ref() {
            DeValue::Table(table) if is_section(name) => {
                for (key, value) in table {
                    self.setting(&format!("{name}.{}", key.get_ref()), key.span(), value, choices)?;
                }
                Ok(())
            }
            _ if is_section(name) => {
                let problem = Problem::new(name, &self.piece(value.span()), format!("write a section: `[{name}]`"));
                Err(problem.at(self.name, self.line(&span)))
            }
            other => {
                let section = if matches!(other, DeValue::Table(_)) { meant_section(name) } else { None };
                let hint = match (section, meant(name)) {
                    (Some(section), _) => format!("did you mean `[{section}]`?"),
                    (None, Some(meant)) => format!("did you mean `{meant}`?"),
                    (None, None) => "`reknit config reference` lists all there are".to_owned(),
                };
                Err(ConfigError::Unknown { origin: self.origin(self.line(&span)), name: name.to_owned(), hint })
            }
        }
    }

    /// The tools or the models.
    fn entries(
        &self,
        list: &'static str,
        keys: &'static [Key],
        value: &Spanned<DeValue<'_>>,
    ) -> Result<Vec<Entry>, ConfigError> {
        let wrong = |value: &Spanned<DeValue<'_>>| {
            let wanted = format!("write each of them as `[[{list}]]`");
            Problem::new(list, &self.piece(value.span()), wanted).at(self.name, self.line(&value.span()))
        };
        let DeValue::Array(items) = value.get_ref() else { return Err(wrong(value)) };
        items
            .iter()
            .map(|item| match item.get_ref() {
                DeValue::Table(table) => self.entry(list, keys, table, &item.span()),
                _ => Err(wrong(item)),
            })
            .collect()
    }

    fn entry(
        &self,
        list: &'static str,
        keys: &'static [Key],
        table: &DeTable<'_>,
        span: &Range<usize>,
    ) -> Result<Entry, ConfigError> {
        let mut entry = Entry::new(list, self.name, self.line(span));
        for (key, value) in table {
            let Some(known) = keys.iter().find(|known| folded(known.name) == folded(key.get_ref())) else {
                let names = || keys.iter().map(|key| key.name);
                let hint = match nearest(key.get_ref(), names()) {
                    Some(name) => format!("did you mean `{name}`?"),
                    None => format!("there is: {}", names().collect::<Vec<_>>().join(", ")),
                };
                let name = format!("{list}.{}", key.get_ref());
                return Err(ConfigError::Unknown { origin: self.origin(self.line(&key.span())), name, hint });
            };
            let name = format!("{list}.{}", known.name);
            let read = self.value(&name, known.kind, &key.span(), value)?;
            entry.put(known.name, read, self.line(&key.span()));
        }
        match keys.iter().find(|key| key.needed && !entry.has(key.name)) {
            Some(key) => {
                let problem = Problem::new(&format!("{list}.{}", key.name), "missing", key.kind.wanted());
                Err(problem.at(self.name, self.line(span)))
            }
            None => Ok(entry),
        }
    }

    fn value(
        &self,
        name: &str,
        kind: Kind,
        key: &Range<usize>,
        value: &Spanned<DeValue<'_>>,
    ) -> Result<Value, ConfigError> {
        let read = json(value.get_ref());
        if kind.allows(&read) {
            return Ok(read);
        }
        let quotes = match (kind.is_text(), matches!(value.get_ref(), DeValue::String(_))) {
            (true, false) => ", in quotes",
            (false, true) => ", without quotes",
            _ => "",
        };
        let wanted = format!("{}{quotes}", kind.wanted());
        // Of a table the file has the first line in one place and the rest in others.
        let written = if read.as_object().is_some() { cut(toml(&read)) } else { self.piece(value.span()) };
        Err(Problem::new(name, &written, wanted).at(self.name, self.line(key)))
    }
}

fn cut(piece: String) -> String {
    match piece.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", piece.get(..end).unwrap_or_default()),
        None => piece,
    }
}

/// Whether settings or their other names are in a section of this name.
fn is_section(name: &str) -> bool {
    let wanted = folded(name);
    let of = |name: &str| name.rsplit_once('.').is_some_and(|(section, _)| folded(section) == wanted);
    SETTINGS.iter().any(|setting| of(setting.name) || setting.aliases.iter().any(|alias| of(alias)))
}

/// A value of TOML as one of JSON. What JSON cannot say becomes null, which no setting takes.
fn json(value: &DeValue<'_>) -> Value {
    match value {
        DeValue::String(text) => text.as_ref().into(),
        DeValue::Boolean(on) => Value::Bool(*on),
        DeValue::Integer(number) => {
            i64::from_str_radix(number.as_str(), number.radix()).map_or(Value::Null, Value::from)
        }
        DeValue::Float(number) => Number::parse(number.as_str()).map_or(Value::Null, Value::Number),
        DeValue::Datetime(_) => Value::Null,
        DeValue::Array(items) => items.iter().map(|item| json(item.get_ref())).collect(),
        DeValue::Table(table) => {
            let pair = |(key, value): (&Spanned<_>, &Spanned<DeValue<'_>>)| {
                let key: &std::borrow::Cow<'_, str> = key.get_ref();
                (key.to_string(), json(value.get_ref()))
            };
            Value::Object(table.iter().map(pair).collect::<Object>())
        }
    }
}
