//! A setting.

use reknit_protocol::Value;

use super::field::Field;
use super::{Config, SettingKind};

/// The prefixes of environment variables, by priority. The second one is that of another orchestrator of the same
/// protocol, whose users keep their variables.
pub const VARIABLE_PREFIXES: [&str; 2] = ["REKNIT_", "GOMIND_"];

/// A setting.
#[derive(Debug, Clone, Copy)]
pub struct Setting {
    /// Its section and key in the file: `limits.tool-calls`.
    pub name: &'static str,
    pub description: &'static str,
    pub kind: SettingKind,
    pub aliases: &'static [&'static str],
    /// Its variable without the prefix; empty if that follows from the name.
    pub(super) variable: &'static str,
    pub(super) get: fn(&Config) -> Value,
    /// Sets a value that `kind` accepts.
    pub(super) set: fn(&mut Config, &Value),
}

pub(super) fn assign<T: Field>(field: &mut T, value: &Value) {
    if let Some(value) = T::from_value(value) {
        *field = value;
    }
}

impl Setting {
    /// All its names in the file, [`Setting::name`] first.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.name).chain(self.aliases.iter().copied())
    }

    pub fn section(&self) -> &'static str {
        self.name.split_once('.').map_or("", |(section, _)| section)
    }

    pub fn key(&self) -> &'static str {
        self.name.split_once('.').map_or(self.name, |(_, key)| key)
    }

    /// Its environment variables, by priority.
    pub fn variables(&self) -> [String; 2] {
        let name = match self.variable {
            "" => self.name.replace(['.', '-'], "_").to_ascii_uppercase(),
            variable => variable.to_owned(),
        };
        VARIABLE_PREFIXES.map(|prefix| format!("{prefix}{name}"))
    }

    /// Whether its variable takes a number of milliseconds, as the end of its name says.
    pub(super) fn takes_milliseconds(&self) -> bool {
        self.variable.ends_with("_MS")
    }

    /// Its default value; null if it has none.
    pub fn default(&self) -> Value {
        (self.get)(&Config::default())
    }
}
