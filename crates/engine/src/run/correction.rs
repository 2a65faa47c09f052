//! A failed call that is corrected, and why it could not be.

use std::sync::Arc;

use reknit_mend::{CallFault, ModelRung};
use reknit_protocol::{Object, Value};

use crate::gate::{Finding, GateRow};

/// A corrected call, for the person who decides whether it is sent.
#[derive(Debug)]
pub(super) struct Correction {
    pub(super) change: String,
    pub(super) reason: String,
    /// Whether the gate lets a person decide.
    pub(super) needs_approval: bool,
    /// The row of the gate that decides so.
    pub(super) row: Option<GateRow>,
}

impl Correction {
    /// A correction with its reason, and with why a person decides about it.
    pub(super) fn new(change: String, reason: &str, held: &JudgedChange) -> Self {
        let JudgedChange { reasons, row, .. } = held;
        let needs_approval = !reasons.is_empty();
        let reasons = [reason].into_iter().chain(reasons.iter().map(String::as_str)).filter(|text| !text.is_empty());
        Self { change, reason: reasons.collect::<Vec<_>>().join("; "), needs_approval, row: *row }
    }
}

/// What the gate says about a call with changed values.
#[derive(Debug, Default)]
pub(super) struct JudgedChange {
    /// Why a person decides about it, one sentence for each value; empty if it may be sent.
    pub(super) reasons: Vec<String>,
    /// The row that decides; `None` if it may be sent.
    pub(super) row: Option<GateRow>,
    /// The numbers among them that nothing supports, each with its parameter.
    pub(super) numbers: Vec<String>,
}

impl JudgedChange {
    pub(super) fn of(findings: &[Finding]) -> Self {
        let row = findings.iter().map(|finding| finding.row).min();
        Self { reasons: findings.iter().map(Finding::to_string).collect(), row, numbers: Vec::new() }
    }
}

/// Why a rung could not help, which decides what is tried next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoHelp {
    /// The answer could not be used; another question can help.
    Unusable,
    /// The model advises against another attempt.
    Declined,
    /// No model can be asked.
    Unavailable,
}

/// A failed call, and the rung on which a model is asked about it.
#[derive(Debug, Clone)]
pub(super) struct Repair {
    pub(super) rung: ModelRung,
    pub(super) fault: Arc<CallFault>,
}

/// The changes, for people: `amount: 0 -> 46828.5`.
pub(super) fn changed_text(before: &Object, after: &Object) -> String {
    // As text, because another spelling of a number is a change too.
    let is_new = |name: &str, value: &Value| before.get(name).is_none_or(|old| old.to_string() != value.to_string());
    let changed = after.iter().filter(|(name, value)| is_new(name, value)).map(|(name, value)| {
        let old = before.get(name).map_or_else(|| "nothing".to_owned(), ToString::to_string);
        format!("{name}: {old} -> {value}")
    });
    let removed = before.iter().filter(|(name, _)| !after.contains_key(name));
    let removed = removed.map(|(name, value)| format!("{name}: {value} -> nothing"));
    changed.chain(removed).collect::<Vec<_>>().join(", ")
}
