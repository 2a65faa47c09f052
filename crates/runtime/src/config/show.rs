//! What counts, and where it comes from.

use std::fmt::Write as _;

use reknit_protocol::{Object, Value};

use super::origin::Choices;
use super::setting::SETTINGS;
use super::{Config, Origin, Setting};

/// A setting as it counts.
#[derive(Debug, Clone)]
pub struct Effective {
    /// Which one.
    pub setting: &'static Setting,
    /// Its value; null if there is none.
    pub value: Value,
    /// Where that comes from.
    pub origin: Origin,
}

/// Which settings are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// Every one.
    All,
    /// Those that somebody set.
    Set,
}

/// Every setting as it counts.
pub(super) fn effective(config: &Config, choices: &Choices) -> Vec<Effective> {
    let one = |setting: &'static Setting| {
        let origin = choices.get(setting).map(|(_, origin)| origin.clone()).unwrap_or_default();
        Effective { setting, value: (setting.get)(config), origin }
    };
    SETTINGS.iter().map(one).collect()
}

impl Config {
    /// Every setting as it counts, in the order of the list.
    pub fn effective(&self) -> &[Effective] {
        &self.effective
    }

    /// A file that means the same, with where each value comes from behind it. No secret is in it.
    pub fn to_toml(&self, which: Shown) -> String {
        let mut page = String::new();
        // What stands above all sections must come first.
        let (above, below): (Vec<&Effective>, Vec<&Effective>) =
            self.shown(which).partition(|effective| effective.setting.section().is_empty());
        lines(&mut page, &above);
        for section in below.chunk_by(|one, next| one.setting.section() == next.setting.section()) {
            if let Some(first) = section.first() {
                let _ = writeln!(page, "\n[{}]", first.setting.section());
            }
            lines(&mut page, section);
        }
        for (list, entries) in [("tools", self.shown_tools()), ("models", self.shown_models())] {
            for entry in entries {
                let name = entry.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
                let origin = self.named.get(&(list, name)).cloned().unwrap_or_default();
                let _ = writeln!(page, "\n[[{list}]]  # {origin}");
                for (key, value) in &entry {
                    let _ = writeln!(page, "{key} = {}", toml(value));
                }
            }
        }
        page.trim_start_matches('\n').to_owned()
    }

    fn shown(&self, which: Shown) -> impl Iterator<Item = &Effective> {
        self.effective.iter().filter(move |effective| which == Shown::All || effective.origin != Origin::Default)
    }

    /// The same for programs.
    pub fn to_value(&self, which: Shown) -> Value {
        let setting = |effective: &Effective| {
            let mut object = Object::from([
                ("name", effective.setting.name.into()),
                ("value", effective.value.clone()),
                ("default", effective.setting.default()),
                ("variable", effective.setting.variables().first().map_or(Value::Null, |name| name.as_str().into())),
            ]);
            object.extend(origin(&effective.origin));
            Value::Object(object)
        };
        let list = |entries: Vec<Object>| Value::Array(entries.into_iter().map(Value::Object).collect());
        Value::Object(Object::from([
            ("settings", self.shown(which).map(setting).collect()),
            ("tools", list(self.shown_tools())),
            ("models", list(self.shown_models())),
        ]))
    }
}

/// Settings of one section, where their values come from in one column.
fn lines(page: &mut String, section: &[&Effective]) {
    let assignment = |effective: &Effective| match &effective.value {
        Value::Null => format!("# {} is not set", effective.setting.key()),
        value => format!("{} = {}", effective.setting.key(), toml(value)),
    };
    let width = section.iter().map(|effective| assignment(effective).chars().count()).max().unwrap_or(0);
    for effective in section {
        let assignment = assignment(effective);
        // Writing to a string cannot fail.
        let _ = match effective.value {
            Value::Null => writeln!(page, "{assignment}"),
            _ => writeln!(page, "{assignment:width$}  # {}", effective.origin),
        };
    }
}

fn origin(origin: &Origin) -> Object {
    match origin {
        Origin::Default => Object::from([("origin", "default".into())]),
        Origin::File { name, line } => {
            Object::from([("origin", "file".into()), ("file", name.as_str().into()), ("line", (*line).into())])
        }
        Origin::Variable { name, beaten } => Object::from([
            ("origin", "variable".into()),
            ("set_by", name.as_str().into()),
            ("beaten", beaten.as_deref().map_or(Value::Null, Value::from)),
        ]),
        Origin::Flag(flag) => Object::from([("origin", "flag".into()), ("set_by", flag.as_str().into())]),
        Origin::Program => Object::from([("origin", "program".into())]),
    }
}

/// A value as TOML has it: as JSON, but for tables.
pub(super) fn toml(value: &Value) -> String {
    match value {
        Value::Object(object) => {
            let pairs = object.iter().map(|(key, value)| format!("{} = {}", Value::from(key), toml(value)));
            format!("{{ {} }}", pairs.collect::<Vec<_>>().join(", ")).replace("{  }", "{}")
        }
        Value::Array(items) => format!("[{}]", items.iter().map(toml).collect::<Vec<_>>().join(", ")),
        other => other.to_string(),
    }
}
