//! The rules in `[[approve]]`: which calls a person approves before they are sent.

use reknit_engine::ApprovalRule;
use reknit_protocol::Object;

use super::SettingOrigin;
use super::entry::Entry;
use super::error::ConfigError;

/// A rule, and where it is written.
pub(super) type RuleWithOrigin = (ApprovalRule, SettingOrigin);

/// Reads the entries of `[[approve]]`.
pub(super) fn read_rules(entries: &[Entry]) -> Result<Vec<RuleWithOrigin>, ConfigError> {
    let rule = |entry: &Entry| {
        let text = |key| entry.text(key).map(str::to_owned);
        let rule = ApprovalRule { capability: text("capability"), class: entry.get("class"), when: text("when") };
        match rule.validate() {
            Ok(()) => Ok((rule, entry.origin().1)),
            Err((key, problem)) => Err(entry.invalid(key, &problem)),
        }
    };
    entries.iter().map(rule).collect()
}

/// A rule under the keys of `[[approve]]`.
pub(super) fn shown_rule(rule: &ApprovalRule) -> Object {
    let mut shown = Object::new();
    shown.extend(rule.capability.as_deref().map(|capability| ("capability".to_owned(), capability.into())));
    shown.extend(rule.class.map(|class| ("class".to_owned(), class.to_value())));
    shown.extend(rule.when.as_deref().map(|when| ("when".to_owned(), when.into())));
    shown
}
