//! The checks in `[[checks]]`: how to find out whether a call took effect.

use std::collections::BTreeMap;

use reknit_engine::OutcomeCheck;
use reknit_protocol::{Object, Value};

use super::entry::Entry;
use super::error::ConfigError;
use super::field::Field as _;

/// Reads the entries of `[[checks]]`, by the capability whose calls they check.
pub(super) fn read_checks(entries: &[Entry]) -> Result<BTreeMap<String, OutcomeCheck>, ConfigError> {
    let mut checks = BTreeMap::new();
    for entry in entries {
        let of = entry.text("of").unwrap_or_default();
        if split(of).is_none() {
            return Err(entry.invalid("of", "write the tool and its capability, like `refunds/create`"));
        }
        let Some((agent, capability)) = entry.text("call").and_then(split) else {
            return Err(entry.invalid("call", "write the tool and its capability, like `refunds/find`"));
        };
        let check = OutcomeCheck {
            tool: agent.into(),
            capability: capability.into(),
            parameters: entry.get("parameters").unwrap_or_default(),
            happened: entry.text("happened").unwrap_or_default().to_owned(),
            result: entry.text("result").map(str::to_owned),
            if_absent: entry.get("if-absent").unwrap_or_default(),
        };
        if let Err((key, problem)) = check.validate() {
            return Err(entry.invalid(key, &problem));
        }
        if checks.insert(of.to_owned(), check).is_some() {
            return Err(entry.invalid("of", "another check has it; write one check for each capability"));
        }
    }
    Ok(checks)
}

/// A check under the keys of `[[checks]]`.
pub(super) fn shown_check((of, check): (&String, &OutcomeCheck)) -> Object {
    let mut shown = Object::from([
        ("of", of.as_str().into()),
        ("call", format!("{}/{}", check.tool, check.capability).into()),
        ("parameters", Value::Object(check.parameters.clone())),
        ("happened", check.happened.as_str().into()),
    ]);
    if let Some(result) = &check.result {
        shown.insert("result", result.as_str());
    }
    shown.insert("if-absent", check.if_absent.to_value());
    shown
}

fn split(name: &str) -> Option<(&str, &str)> {
    name.split_once('/').filter(|(tool, capability)| !tool.is_empty() && !capability.is_empty())
}
