//! Where a value comes from.

use std::collections::BTreeMap;
use std::fmt;

use reknit_protocol::Value;

use super::error::ConfigError;
use super::setting::SETTINGS;
use super::{Lookup, Setting};

/// Where a value comes from. A flag beats the environment, which beats the file, which beats the default.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Origin {
    /// Nobody set it.
    #[default]
    Default,
    /// It stands in a file.
    File {
        /// What the file is called.
        name: String,
        /// The line, from 1.
        line: usize,
    },
    /// A variable of the environment has it.
    Variable {
        /// Which one.
        name: String,
        /// The other variable for the same, if it is set, too, and does not count.
        beaten: Option<String>,
    },
    /// It was typed.
    Flag(String),
    /// A program that uses the library set it.
    Program,
}

impl fmt::Display for Origin {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => out.write_str("default"),
            Self::File { name, line } => write!(out, "{name}, line {line}"),
            Self::Variable { name, beaten: None } => out.write_str(name),
            Self::Variable { name, beaten: Some(other) } => write!(out, "{name} beats {other}"),
            Self::Flag(flag) => out.write_str(flag),
            Self::Program => out.write_str("the program"),
        }
    }
}

/// What was chosen for settings, and where.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Choices(BTreeMap<&'static str, (Value, Origin)>);

impl Choices {
    /// Chooses a value in the place of what was chosen before; gives back where that was.
    pub(super) fn put(&mut self, setting: &Setting, value: Value, origin: Origin) -> Option<Origin> {
        self.0.insert(setting.name, (value, origin)).map(|(_, origin)| origin)
    }

    /// What was chosen for a setting.
    pub(super) fn get(&self, setting: &Setting) -> Option<&(Value, Origin)> {
        self.0.get(setting.name)
    }

    /// Lets the environment have its way.
    pub(super) fn read_environment(&mut self, environment: Lookup<'_>) -> Result<(), ConfigError> {
        for setting in SETTINGS {
            // Empty counts as not set.
            let set = |name: &String| environment(name).filter(|text| !text.is_empty());
            let [own, other] = setting.variables();
            let (name, text, beaten) = match (set(&own), set(&other)) {
                (Some(text), other_text) => (own, text, other_text.map(|_| other)),
                (None, Some(text)) => (other, text, None),
                (None, None) => continue,
            };
            match read(setting, &text) {
                Ok(value) => self.put(setting, value, Origin::Variable { name, beaten }),
                Err(wanted) => return Err(ConfigError::Variable { variable: name, value: text, wanted }),
            };
        }
        Ok(())
    }
}

/// What a variable holds, or what it should.
fn read(setting: &Setting, text: &str) -> Result<Value, String> {
    if setting.takes_milliseconds() {
        let ms: Result<u32, _> = text.parse();
        return ms.map(|ms| format!("{ms}ms").into()).map_err(|_| "write a whole number of milliseconds".to_owned());
    }
    setting.kind.read(text).ok_or_else(|| setting.kind.wanted())
}
