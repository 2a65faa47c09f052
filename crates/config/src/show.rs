//! Shows the effective configuration, and where each value comes from. API keys are never shown.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use reknit_model_api::Price;
use reknit_models::{Caching, Streaming, Target};
use reknit_protocol::{Number, Object, Value, redact_url};

use super::capability_rules::{shown_check, shown_confirmation, shown_key, shown_role, shown_rule, shown_trust};
use super::entry::{LISTS, entry_name, redacted_headers};
use super::field::Field;
use super::{Config, KeySource, Setting, SettingOrigin};

/// A setting with its effective value.
#[derive(Debug, Clone)]
pub struct EffectiveSetting {
    pub setting: &'static Setting,
    /// Its value; null if it has none.
    pub value: Value,
    pub origin: SettingOrigin,
}

/// Which settings to show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShowSettings {
    All,
    /// Only those that are set.
    Changed,
}

impl Config {
    /// A file that means the same, with the origin of each value as a comment.
    pub fn to_toml(&self, which: ShowSettings) -> String {
        let mut page = String::new();
        // Settings without a section must come first in a file.
        let (top_level, in_sections): (Vec<&EffectiveSetting>, Vec<&EffectiveSetting>) =
            self.shown(which).partition(|shown| shown.setting.section().is_empty());
        write_section(&mut page, &top_level);
        for section in in_sections.chunk_by(|one, next| one.setting.section() == next.setting.section()) {
            if let Some(first) = section.first() {
                // Writing to a string cannot fail.
                let _ = writeln!(page, "\n[{}]", first.setting.section());
            }
            write_section(&mut page, section);
        }
        for list in LISTS {
            for (entry, origin) in self.shown_entries(list.name) {
                let _ = writeln!(page, "\n[[{}]]  # {origin}", list.name);
                for (key, value) in &entry {
                    let _ = writeln!(page, "{key} = {}", toml(value));
                }
            }
        }
        page.trim_start_matches('\n').to_owned()
    }

    pub fn to_value(&self, which: ShowSettings) -> Value {
        let setting = |shown: &EffectiveSetting| {
            let [variable, _] = shown.setting.variables();
            let mut object = Object::from([
                ("name", shown.setting.name.into()),
                ("value", shown.value.clone()),
                ("default", shown.setting.default()),
                ("variable", variable.into()),
            ]);
            object.extend(origin(&shown.origin));
            Value::Object(object)
        };
        let mut shown = Object::from([("settings", self.shown(which).map(setting).collect())]);
        for list in LISTS {
            let entries = self.shown_entries(list.name).into_iter().map(|(entry, _)| Value::Object(entry));
            shown.insert(list.name, Value::Array(entries.collect()));
        }
        Value::Object(shown)
    }

    fn shown(&self, which: ShowSettings) -> impl Iterator<Item = &EffectiveSetting> {
        let is_shown =
            move |one: &&EffectiveSetting| which == ShowSettings::All || one.origin != SettingOrigin::Default;
        self.effective.iter().filter(is_shown)
    }

    /// The entries of a list, each with the place where it is written.
    fn shown_entries(&self, list: &'static str) -> Vec<(Object, SettingOrigin)> {
        let effects = &self.policy.effects;
        let entries: Vec<Object> = match list {
            "models" => self.models.iter().map(|target| shown_model(target, self.keys.get(&target.name))).collect(),
            "checks" => effects.checks.iter().map(shown_check).collect(),
            "keys" => effects.keys.iter().map(shown_key).collect(),
            "confirm" => effects.confirmations.iter().map(shown_confirmation).collect(),
            // Rules have no names.
            "approve" => {
                return self.approval_rules.iter().map(|(rule, origin)| (shown_rule(rule), origin.clone())).collect();
            }
            "roles" => {
                return self.role_rules.iter().map(|(rule, origin)| (shown_role(rule), origin.clone())).collect();
            }
            "trust" => {
                return self.trust_rules.iter().map(|(rule, origin)| (shown_trust(rule), origin.clone())).collect();
            }
            _ => self.tools.iter().filter(|tool| tool.list == list).map(|tool| tool.shown.clone()).collect(),
        };
        let origin = |entry: &Object| self.origin_of_entry(list, entry_name(entry));
        entries.into_iter().map(|entry| (entry.clone(), origin(&entry))).collect()
    }
}

/// Writes the settings of one section with their origins in one column.
fn write_section(page: &mut String, section: &[&EffectiveSetting]) {
    let assignment = |shown: &EffectiveSetting| match &shown.value {
        Value::Null => format!("# {} is not set", shown.setting.key()),
        value => format!("{} = {}", shown.setting.key(), toml(value)),
    };
    let width = section.iter().map(|shown| assignment(shown).chars().count()).max().unwrap_or(0);
    for shown in section {
        let assignment = assignment(shown);
        let _ = match shown.value {
            Value::Null => writeln!(page, "{assignment}"),
            _ => writeln!(page, "{assignment:width$}  # {}", shown.origin),
        };
    }
}

fn origin(origin: &SettingOrigin) -> Object {
    match origin {
        SettingOrigin::Default => Object::from([("origin", "default".into())]),
        SettingOrigin::File { name, line } => {
            Object::from([("origin", "file".into()), ("file", name.as_str().into()), ("line", (*line).into())])
        }
        SettingOrigin::Variable { name, overridden } => Object::from([
            ("origin", "variable".into()),
            ("set_by", name.as_str().into()),
            ("beaten", overridden.as_deref().map_or(Value::Null, Value::from)),
        ]),
        SettingOrigin::Flag(flag) => Object::from([("origin", "flag".into()), ("set_by", flag.as_str().into())]),
        SettingOrigin::Program => Object::from([("origin", "program".into())]),
    }
}

/// A model under the keys of `[[models]]`. Of its API key only the source is shown.
fn shown_model(target: &Target, key: Option<&KeySource>) -> Object {
    let mut shown = Object::from([
        ("name", target.name.as_str().into()),
        ("provider", target.provider.as_str().into()),
        ("url", redact_url(&target.base_url).into()),
        ("model", target.model.as_str().into()),
    ]);
    match key {
        Some(KeySource::Variable(name) | KeySource::UnsetVariable(name)) => {
            shown.insert("key-env", name.as_str());
        }
        Some(KeySource::File(path) | KeySource::UnusableFile { path, .. }) => {
            shown.insert("key-file", path.as_str());
        }
        Some(KeySource::None) | None => {}
    }
    shown.insert("streaming", target.streaming == Streaming::On);
    shown.insert("format", target.format.to_value());
    if let Some(tokens) = target.max_context {
        shown.insert("max-context", tokens);
    }
    show_request_settings(&mut shown, target);
    let limits = target.timeouts;
    for (key, limit) in [
        ("connect-time", limits.connect),
        ("first-byte-time", limits.first_byte),
        ("first-token-time", limits.first_token),
        ("idle-time", limits.idle),
        ("total-time", limits.total),
    ] {
        shown.insert(key, limit.to_value());
    }
    if let Some(prices) = target.prices {
        for (key, price) in [
            ("price-input", Some(prices.input)),
            ("price-output", Some(prices.output)),
            ("price-cached", prices.cached),
            ("price-cache-written", prices.cache_written),
        ] {
            shown.extend(price.map(|price| (key.to_owned(), shown_price(price))));
        }
    }
    shown
}

/// The settings of requests that are not the default.
fn show_request_settings(shown: &mut Object, target: &Target) {
    let texts = |texts: &[String]| texts.iter().map(|text| Value::from(text.as_str())).collect::<Value>();
    let table = |table: &BTreeMap<String, String>| {
        Value::Object(table.iter().map(|(name, text)| (name.clone(), Value::from(text.as_str()))).collect())
    };
    let (defaults, extras) = (&target.defaults, &target.extras);
    let inputs = target.inputs.as_ref().map(|inputs| inputs.iter().map(|kind| Value::from(kind.as_str())).collect());
    let settings: [(&str, Option<Value>); 9] = [
        ("inputs", inputs),
        ("top-p", defaults.top_p.map(|top_p| top_p.to_number().into())),
        ("thinking-tokens", defaults.thinking_tokens.map(Value::from)),
        ("parallel-tool-calls", defaults.parallel_tool_calls.map(Value::from)),
        ("prompt-caching", (target.caching == Caching::Off).then(|| false.into())),
        ("body", (!extras.body.is_empty()).then(|| extras.body.clone().into())),
        ("body-without", (!extras.without.is_empty()).then(|| texts(&extras.without))),
        ("headers", (!extras.headers.is_empty()).then(|| redacted_headers(&table(&extras.headers)))),
        ("query", (!extras.query.is_empty()).then(|| redacted_headers(&table(&extras.query)))),
    ];
    shown.extend(settings.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))));
}

fn shown_price(price: Price) -> Value {
    let (whole, rest) = (price.micros() / 1_000_000, price.micros() % 1_000_000);
    let text = format!("{whole}.{rest:06}");
    // The text is always a number.
    Number::parse(text.trim_end_matches('0').trim_end_matches('.')).map_or(Value::Null, Value::Number)
}

/// A value in TOML, which is JSON except for tables.
pub(super) fn toml(value: &Value) -> String {
    match value {
        Value::Object(object) if object.is_empty() => "{}".to_owned(),
        Value::Object(object) => {
            let pairs = object.iter().map(|(key, value)| format!("{} = {}", Value::from(key), toml(value)));
            format!("{{ {} }}", pairs.collect::<Vec<_>>().join(", "))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(toml).collect::<Vec<_>>().join(", ")),
        other => other.to_string(),
    }
}
