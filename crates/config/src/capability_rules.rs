//! The entries about the calls of capabilities: `[[checks]]`, `[[keys]]`, `[[confirm]]`, `[[approve]]`, `[[roles]]` and `[[trust]]`.

use std::collections::BTreeMap;
use std::time::Duration;

use reknit_engine::{ApprovalRule, Confirmation, ConfirmingCall, OutcomeCheck, RoleRule, TrustRule, names_capability};
use reknit_plan::{Catalogue, CatalogueEntry};
use reknit_protocol::spelling::nearest;
use reknit_protocol::{KeyRule, Object, SideEffect, Value};

use super::SettingOrigin;
use super::entry::Entry;
use super::error::ConfigError;
use super::field::Field as _;
use super::units::format_ms;

/// A rule, and where it is written.
pub(super) type RuleWithOrigin = (ApprovalRule, SettingOrigin);

/// Reads entries, by the capability under `key`. Fails with `twice` if two entries have the same one.
fn by_capability<T>(
    entries: &[Entry],
    (key, example, twice): (&str, &str, &str),
    read: impl Fn(&Entry) -> Result<T, ConfigError>,
) -> Result<BTreeMap<String, T>, ConfigError> {
    let mut known = BTreeMap::new();
    for entry in entries {
        let (tool, capability) = named_capability(entry, key, example)?;
        if known.insert(format!("{tool}/{capability}"), read(entry)?).is_some() {
            return Err(entry.invalid(key, twice));
        }
    }
    Ok(known)
}

/// The tool and the capability that an entry names. Fails if one of them is missing.
fn named_capability<'a>(entry: &'a Entry, key: &str, example: &str) -> Result<(&'a str, &'a str), ConfigError> {
    let name = entry.text(key).and_then(|name| name.split_once('/'));
    let name = name.filter(|(tool, capability)| !tool.is_empty() && !capability.is_empty());
    name.ok_or_else(|| entry.invalid(key, &format!("write the tool and its capability, like `{example}`")))
}

/// Reads the entries of `[[checks]]`, by the capability whose calls they check.
pub(super) fn read_checks(entries: &[Entry]) -> Result<BTreeMap<String, OutcomeCheck>, ConfigError> {
    let twice = "another check has it; write one check for each capability";
    by_capability(entries, ("of", "refunds/create", twice), |entry| {
        let (tool, capability) = named_capability(entry, "call", "refunds/find")?;
        let check = OutcomeCheck {
            tool: tool.into(),
            capability: capability.into(),
            parameters: entry.get("parameters").unwrap_or_default(),
            happened: entry.text("happened").unwrap_or_default().to_owned(),
            result: entry.text("result").map(str::to_owned),
            if_absent: entry.get("if-absent").unwrap_or_default(),
        };
        check.validate().map_err(|(key, problem)| entry.invalid(key, &problem))?;
        Ok(check)
    })
}

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

/// Reads the entries of `[[keys]]`, by the capability whose calls they identify.
pub(super) fn read_keys(entries: &[Entry]) -> Result<BTreeMap<String, KeyRule>, ConfigError> {
    let twice = "another key has it; write one key for each capability";
    by_capability(entries, ("capability", "shop/refund", twice), |entry| {
        let mut rule = KeyRule::new(entry.texts("fields"));
        if rule.fields.is_empty() || rule.fields.iter().any(|field| field.trim().is_empty()) {
            let problem = "write the parameters that identify the deed, like `[\"order_id\", \"amount\"]`";
            return Err(entry.invalid("fields", problem));
        }
        if let Some(window) = entry.get::<Duration>("window") {
            if window.subsec_nanos() > 0 {
                return Err(entry.invalid("window", "write whole seconds, like `24h`"));
            }
            rule.window_s = window.as_secs();
        }
        Ok(rule)
    })
}

pub(super) fn shown_key((capability, rule): (&String, &KeyRule)) -> Object {
    let fields = rule.fields.iter().map(|field| Value::from(field.as_str())).collect();
    let window = format_ms(rule.window_s.saturating_mul(1_000));
    Object::from([("capability", capability.as_str().into()), ("fields", fields), ("window", window.into())])
}

/// Why a key cannot be used for a capability, which has the side effect `class`.
pub(super) fn problem_of_key(rule: &KeyRule, entry: &CatalogueEntry, class: SideEffect) -> Option<String> {
    if class == SideEffect::Read {
        return Some("its calls only read, so there is no deed to identify: remove the key".to_owned());
    }
    unknown_parameter(rule, entry)
}

/// Which field of a key is no parameter of a capability.
fn unknown_parameter(rule: &KeyRule, entry: &CatalogueEntry) -> Option<String> {
    let schema = entry.json_schema()?;
    let (field, names) = rule.unknown_field(&schema)?;
    let hint = match nearest(field, &names) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("there is: {}", names.join(", ")),
    };
    Some(format!("it has no parameter `{field}`; {hint}"))
}

/// Why a role says nothing: none of the capabilities that it names has the parameter.
pub(super) fn problem_of_role(rule: &RoleRule, catalogue: &Catalogue) -> Option<String> {
    let entries = catalogue.tools.iter().flat_map(|tool| tool.capabilities.iter().map(move |entry| (tool, entry)));
    let named = entries
        .filter(|(tool, entry)| names_capability(&rule.capability, tool.name.as_str(), entry.capability.name.as_str()));
    let fields = KeyRule::new(vec![rule.parameter.clone()]);
    let problems: Vec<Option<String>> = named.map(|(_, entry)| unknown_parameter(&fields, entry)).collect();
    if problems.iter().any(Option::is_none) { None } else { problems.into_iter().flatten().next() }
}

/// Reads the entries of `[[confirm]]`, by the capability whose results they confirm.
pub(super) fn read_confirmations(entries: &[Entry]) -> Result<BTreeMap<String, Confirmation>, ConfigError> {
    let twice = "another entry has it; write one for each capability";
    by_capability(entries, ("capability", "bank/refund", twice), |entry| {
        let confirmation = Confirmation { expect: entry.text("expect").map(str::to_owned), verify: read_call(entry)? };
        confirmation.validate().map_err(|(key, problem)| entry.invalid(key, &problem))?;
        Ok(confirmation)
    })
}

fn read_call(entry: &Entry) -> Result<Option<ConfirmingCall>, ConfigError> {
    if !entry.has("verify") {
        return match ["with", "reply", "wait", "times"].into_iter().find(|key| entry.has(key)) {
            Some(key) => Err(entry.invalid(key, "it belongs to `verify`, which is missing")),
            None => Ok(None),
        };
    }
    let (tool, capability) = named_capability(entry, "verify", "bank/get_refund")?;
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
        tool: tool.into(),
        capability: capability.into(),
        parameters: entry.get("with").unwrap_or_default(),
        expect: expect.to_owned(),
        again,
    }))
}

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

/// Reads the entries of `[[approve]]`.
pub(super) fn read_approvals(entries: &[Entry]) -> Result<Vec<RuleWithOrigin>, ConfigError> {
    let rule = |entry: &Entry| {
        let text = |key| entry.text(key).map(str::to_owned);
        let rule = ApprovalRule { capability: text("capability"), class: entry.get("class"), when: text("when") };
        rule.validate().map_err(|(key, problem)| entry.invalid(key, &problem))?;
        Ok((rule, entry.origin().1))
    };
    entries.iter().map(rule).collect()
}

pub(super) fn shown_rule(rule: &ApprovalRule) -> Object {
    let mut shown = Object::new();
    shown.extend(rule.capability.as_deref().map(|capability| ("capability".to_owned(), capability.into())));
    shown.extend(rule.class.map(|class| ("class".to_owned(), class.to_value())));
    shown.extend(rule.when.as_deref().map(|when| ("when".to_owned(), when.into())));
    shown
}

/// Reads the entries of `[[roles]]`.
pub(super) fn read_roles(entries: &[Entry]) -> Result<Vec<(RoleRule, SettingOrigin)>, ConfigError> {
    let rule = |entry: &Entry| {
        let parameter = entry.text("parameter").unwrap_or_default().to_owned();
        if parameter.split('.').any(str::is_empty) || parameter.contains(['[', '*']) {
            let expected =
                "write a parameter or a part of it, like `amount` or `lines.price`, without the numbers of items";
            return Err(entry.invalid("parameter", expected));
        }
        let Some(role) = entry.get("role") else { return Err(entry.invalid("role", "write what it is for")) };
        Ok((RoleRule { capability: pattern(entry)?, parameter, role }, entry.origin().1))
    };
    entries.iter().map(rule).collect()
}

/// Reads the entries of `[[trust]]`.
pub(super) fn read_trust(entries: &[Entry]) -> Result<Vec<(TrustRule, SettingOrigin)>, ConfigError> {
    let rule = |entry: &Entry| {
        let fields = entry.texts("fields");
        if entry.has("fields") && (fields.is_empty() || fields.iter().any(|field| field.split('.').any(str::is_empty)))
        {
            return Err(
                entry.invalid("fields", "write fields of the result, like `[\"customer.email\"]`, or leave it out")
            );
        }
        Ok((TrustRule { capability: pattern(entry)?, fields }, entry.origin().1))
    };
    entries.iter().map(rule).collect()
}

/// The capability, or the pattern of capabilities, that an entry names.
fn pattern(entry: &Entry) -> Result<String, ConfigError> {
    let pattern = entry.text("capability").unwrap_or_default();
    let is_complete = pattern.split('/').all(|part| !part.is_empty()) && pattern.matches('/').count() <= 1;
    let expected = "write a tool and its capability, like `bank/transfer` or `bank/*`";
    if is_complete { Ok(pattern.to_owned()) } else { Err(entry.invalid("capability", expected)) }
}

pub(super) fn shown_role(rule: &RoleRule) -> Object {
    let texts =
        [("capability", rule.capability.as_str()), ("parameter", &rule.parameter), ("role", rule.role.as_str())];
    Object::from(texts.map(|(key, text)| (key, Value::from(text))))
}

pub(super) fn shown_trust(rule: &TrustRule) -> Object {
    let mut shown = Object::from([("capability", Value::from(rule.capability.as_str()))]);
    if !rule.fields.is_empty() {
        shown.insert("fields", rule.fields.iter().map(|field| Value::from(field.as_str())).collect::<Value>());
    }
    shown
}
