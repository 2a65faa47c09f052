//! What is expected of results in `[[confirm]]`: conditions and read calls, by capability.

use std::collections::BTreeMap;

use reknit_engine::{Confirmation, ConfirmingCall};
use reknit_protocol::{Object, Value};

use super::entry::Entry;
use super::error::ConfigError;

/// Reads the entries of `[[confirm]]`, by the capability whose results they confirm.
pub(super) fn read_confirmations(entries: &[Entry]) -> Result<BTreeMap<String, Confirmation>, ConfigError> {
    let mut confirmations = BTreeMap::new();
    for entry in entries {
        let capability = entry.text("capability").unwrap_or_default();
        if split(capability).is_none() {
            return Err(entry.invalid("capability", "write the tool and its capability, like `bank/refund`"));
        }
        let confirmation = Confirmation { expect: entry.text("expect").map(str::to_owned), verify: read_call(entry)? };
        if let Err((key, problem)) = confirmation.validate() {
            return Err(entry.invalid(key, &problem));
        }
        if confirmations.insert(capability.to_owned(), confirmation).is_some() {
            return Err(entry.invalid("capability", "another entry has it; write one for each capability"));
        }
    }
    Ok(confirmations)
}

fn read_call(entry: &Entry) -> Result<Option<ConfirmingCall>, ConfigError> {
    let Some(name) = entry.text("verify") else {
        return match ["with", "reply", "wait", "times"].into_iter().find(|key| entry.has(key)) {
            Some(key) => Err(entry.invalid(key, "it belongs to `verify`, which is missing")),
            None => Ok(None),
        };
    };
    let Some((agent, capability)) = split(name) else {
        return Err(entry.invalid("verify", "write the tool and its capability, like `bank/get_refund`"));
    };
    let Some(expect) = entry.text("reply") else {
        return Err(
            entry.invalid("reply", "write when the reply confirms the effect, like `reply.status == \"booked\"`")
        );
    };
    let again = match (entry.text("wait"), entry.get::<u32>("times")) {
        (Some(wait), Some(times)) => Some((wait.to_owned(), times)),
        (None, None) => None,
        (wait, _) => {
            let missing = if wait.is_some() { "times" } else { "wait" };
            return Err(entry.invalid(missing, "`wait` and `times` belong together"));
        }
    };
    Ok(Some(ConfirmingCall {
        tool: agent.into(),
        capability: capability.into(),
        parameters: entry.get("with").unwrap_or_default(),
        expect: expect.to_owned(),
        again,
    }))
}

/// A confirmation under the keys of `[[confirm]]`.
pub(super) fn shown_confirmation((capability, confirmation): (&String, &Confirmation)) -> Object {
    let mut shown = Object::from([("capability", Value::from(capability.as_str()))]);
    shown.extend(confirmation.expect.as_ref().map(|expect| ("expect".to_owned(), expect.as_str().into())));
    if let Some(call) = &confirmation.verify {
        shown.insert("verify", format!("{}/{}", call.tool, call.capability));
        shown.insert("with", Value::Object(call.parameters.clone()));
        shown.insert("reply", call.expect.as_str());
        if let Some((wait, times)) = &call.again {
            shown.insert("wait", wait.as_str());
            shown.insert("times", *times);
        }
    }
    shown
}

fn split(name: &str) -> Option<(&str, &str)> {
    name.split_once('/').filter(|(tool, capability)| !tool.is_empty() && !capability.is_empty())
}
