//! A setting, and all of them.

use reknit_dialogue::{Effort, OnAuthError, Policy as RotationPolicy};
use reknit_engine::{Synthesis, Undeclared};
use reknit_journal::Durability;
use reknit_protocol::Value;
use reknit_protocol::spelling::{folded, nearest};

use super::list::{SECTIONS, each_setting};
use super::place::{Place, words_of};
use super::{Config, Kind};
use crate::telemetry::log::{Form, Level};

/// What stands in front of a variable, and what may stand there instead, so that what was set for other orchestrators of
/// the same protocol keeps working.
const PREFIXES: [&str; 2] = ["REKNIT_", "GOMIND_"];

/// Something that can be set.
#[derive(Debug, Clone, Copy)]
pub struct Setting {
    /// Its name: the section and the key in the file.
    pub name: &'static str,
    /// What it does, in one sentence.
    pub meaning: &'static str,
    /// What may be written for it.
    pub kind: Kind,
    /// Other names for it in the file.
    pub aliases: &'static [&'static str],
    variable: Option<&'static str>,
    pub(super) get: fn(&Config) -> Value,
    pub(super) set: fn(&mut Config, &Value) -> Option<()>,
}

macro_rules! list {
    ($(
        $(#[doc = $meaning:literal])+
        $method:tt($kind:ident $(<$choice:ty>)?) $name:literal $(= $variable:literal)? $(| $alias:literal)*
            => $($place:ident).+ $(, $($other:ident).+)*;
    )*) => {
        /// Everything that can be set.
        pub const SETTINGS: &[Setting] = &[$(Setting {
            name: $name,
            meaning: concat!($($meaning),+),
            kind: kind!($kind $($choice)?),
            aliases: &[$($alias),*],
            variable: first!($($variable)?),
            get: |config| config.$($place).+.show(),
            set: |config, value| {
                config.$($place).+.put(value)?;
                $(config.$($other).+.put(value)?;)*
                Some(())
            },
        }),*];
    };
}

macro_rules! first {
    () => {
        None
    };
    ($value:literal) => {
        Some($value)
    };
}

macro_rules! kind {
    (switch) => {
        Kind::Switch
    };
    (count) => {
        Kind::Count { least: 0, most: u32::MAX }
    };
    (positive) => {
        Kind::Count { least: 1, most: u32::MAX }
    };
    (percent) => {
        Kind::Count { least: 1, most: 100 }
    };
    (time) => {
        Kind::Time { least_ms: 0 }
    };
    (positive_time) => {
        Kind::Time { least_ms: 1 }
    };
    (word $choice:ty) => {
        Kind::Word(words_of::<$choice>)
    };
    (temperature) => {
        Kind::Temperature
    };
    (temperature_or_default) => {
        Kind::TemperatureOrDefault
    };
    (money) => {
        Kind::Money
    };
    (statuses) => {
        Kind::Statuses
    };
    (classes) => {
        Kind::Classes
    };
    (text) => {
        Kind::Text
    };
}

each_setting!(list);

impl Setting {
    /// The setting that a name in a file means, however it is spelt.
    pub fn find(name: &str) -> Option<&'static Self> {
        let wanted = folded(name);
        SETTINGS.iter().find(|setting| setting.names().any(|name| folded(name) == wanted))
    }

    /// Its names in the file.
    fn names(&self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.name).chain(self.aliases.iter().copied())
    }

    /// The section of its name; empty if it has none.
    pub fn section(&self) -> &'static str {
        self.name.split_once('.').map_or("", |(section, _)| section)
    }

    /// Its name without the section.
    pub fn key(&self) -> &'static str {
        self.name.split_once('.').map_or(self.name, |(_, key)| key)
    }

    /// Its variables in the environment, our own first.
    pub fn variables(&self) -> [String; 2] {
        let own = || self.name.replace(['.', '-'], "_").to_ascii_uppercase();
        let name = self.variable.map_or_else(own, str::to_owned);
        PREFIXES.map(|prefix| format!("{prefix}{name}"))
    }

    /// Whether its variable says in its name that it takes milliseconds.
    pub(super) fn takes_milliseconds(&self) -> bool {
        self.variable.is_some_and(|variable| variable.ends_with("_MS"))
    }

    /// What counts if nobody sets it.
    pub fn default(&self) -> Value {
        (self.get)(&Config::default())
    }
}

/// What may have been meant by a name of a section that there is not.
pub(super) fn meant_section(name: &str) -> Option<&'static str> {
    nearest(name, SECTIONS.iter().map(|(section, _)| *section).chain(["tools", "models"]))
}

/// What may have been meant by a name that nothing has.
pub(super) fn meant(name: &str) -> Option<&'static str> {
    let key = folded(name.rsplit('.').next().unwrap_or(name));
    // The right key in the wrong section is nearer than any slip.
    let elsewhere = SETTINGS.iter().find(|setting| folded(setting.key()) == key).map(|setting| setting.name);
    elsewhere.or_else(|| nearest(name, SETTINGS.iter().map(|setting| setting.name)))
}
