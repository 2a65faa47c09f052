//! Where the value of a setting comes from.

use std::collections::BTreeMap;
use std::fmt;

use reknit_protocol::Value;

use super::error::ConfigError;
use super::{EnvironmentLookup, SETTINGS, Setting};

/// Where a value comes from. A flag overrides the environment, which overrides the file, which overrides the default.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum SettingOrigin {
    #[default]
    Default,
    File {
        name: String,
        /// The line, from 1.
        line: usize,
    },
    Variable {
        name: String,
        /// The variable with the other prefix, if it is also set and therefore ignored.
        overridden: Option<String>,
    },
    Flag(String),
    Program,
}

impl fmt::Display for SettingOrigin {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => out.write_str("default"),
            Self::File { name, line } => write!(out, "{name}, line {line}"),
            Self::Variable { name, overridden: None } => out.write_str(name),
            Self::Variable { name, overridden: Some(other) } => write!(out, "{name} overrides {other}"),
            Self::Flag(flag) => out.write_str(flag),
            Self::Program => out.write_str("the program"),
        }
    }
}

/// The settings that are set, each with its value and its origin.
#[derive(Clone, Default, PartialEq, Eq)]
pub(super) struct ConfiguredValues(BTreeMap<&'static str, (Value, SettingOrigin)>);

impl fmt::Debug for ConfiguredValues {
    /// Without the values: an address may contain a password, and the fields of the configuration show them.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_map().entries(self.0.iter().map(|(name, (_, origin))| (name, origin))).finish()
    }
}

impl ConfiguredValues {
    /// Sets a value that the setting accepts. Returns the origin of the value that it replaces.
    pub(super) fn insert(&mut self, setting: &Setting, value: Value, origin: SettingOrigin) -> Option<SettingOrigin> {
        self.0.insert(setting.name, (value, origin)).map(|(_, origin)| origin)
    }

    pub(super) fn get(&self, setting: &Setting) -> Option<&(Value, SettingOrigin)> {
        self.0.get(setting.name)
    }

    /// Adds the values of the environment, which override those of the file. An empty variable counts as not set.
    pub(super) fn add_environment(&mut self, environment: EnvironmentLookup<'_>) -> Result<(), ConfigError> {
        for setting in SETTINGS {
            let read = |name: &String| environment(name).filter(|text| !text.is_empty());
            let [own, other] = setting.variables();
            let (name, text, overridden) = match (read(&own), read(&other)) {
                (Some(text), other_text) => (own, text, other_text.map(|_| other)),
                (None, Some(text)) => (other, text, None),
                (None, None) => continue,
            };
            let value = parse(setting, &text).map_err(|expected| {
                let origin = SettingOrigin::Variable { name: name.clone(), overridden: None };
                ConfigError::invalid_value(origin, setting.name, &setting.kind.shown(format!("{text:?}")), &expected)
            })?;
            self.insert(setting, value, SettingOrigin::Variable { name, overridden });
        }
        Ok(())
    }
}

/// Parses the text of a variable; if it is not accepted, returns what to write instead.
fn parse(setting: &Setting, text: &str) -> Result<Value, String> {
    if setting.takes_milliseconds() {
        let ms: Result<u32, _> = text.parse();
        return ms.map(|ms| format!("{ms}ms").into()).map_err(|_| "write a whole number of milliseconds".to_owned());
    }
    setting.kind.parse(text).ok_or_else(|| setting.kind.expected())
}
