//! The gate: whether a proposed tool call is sent, sent and told, asked about, or refused.
//!
//! One pure function, [`judge`]. For each value of the call the first row of the table that applies decides, and the strictest
//! value decides about the call. Only the gate makes a [`Pass`], without which no call effect can be made.

mod declared;
mod role;
mod stated;

pub use declared::ShownRole;
pub(crate) use declared::key_path;
pub(crate) use role::{RoleGuess, find_role, is_own_word, is_phrase};
pub(crate) use stated::StatedText;

use std::fmt;

use reknit_protocol::{JobRequest, SideEffect, word_enum};
use serde::{Deserialize, Serialize};

pub(crate) use crate::declared_roles::ParameterRole;

word_enum! {
    /// What happened to a value since it was written.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) enum ValueDifference {
        None = "none",
        /// Another spelling of the same value.
        Respelled = "respelled",
        Replaced = "replaced",
        Added = "added",
        Dropped = "dropped",
    }
}

word_enum! {
    /// Where a value comes from.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) enum OriginClass {
        /// The request, an input, the plan of a person, or an edit of a person.
        Person = "person",
        /// A reference of the first plan.
        Reference = "reference",
        /// An expression of the first plan.
        Computed = "computed",
        /// A value that a model wrote into the first plan, or an agent into its call.
        Literal = "literal",
        /// The default of the schema.
        Default = "default",
        /// The plan leaves it open, and a result has a field of that name.
        Wired = "wired",
        /// A stored mapping or a learned rule that no person accepted.
        Mapped = "mapped",
        /// A stored mapping or a learned rule that a person accepted.
        Accepted = "accepted",
        /// A model or a rule found it after a call was answered, and the request has it.
        FoundInRequest = "found in the request",
        /// The same, and a capability of the same service returned it as a whole field, or its source is trusted.
        FoundIssued = "found, issued by the service",
        /// The same, and another result or an error has it.
        FoundElsewhere = "found in a result or an error",
        /// The same, and nothing has it.
        FoundNowhere = "found nowhere",
    }
}

impl OriginClass {
    /// Whether it was found after a call was answered.
    fn is_found(self) -> bool {
        matches!(self, Self::FoundInRequest | Self::FoundIssued | Self::FoundElsewhere | Self::FoundNowhere)
    }
}

word_enum! {
    /// The row of the table that decides about a value or a call.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum GateRow {
        Refused = "access was denied, the budget is spent, or a person denied the call",
        SameCallAgain = "the same call again",
        Approved = "a person approved exactly these values",
        DroppedFilter = "a read without a parameter that the request states",
        ReadOfUntrustedAddress = "a read at an address that nobody named",
        Read = "any other read",
        OutsideMandate = "a capability outside the mandate",
        AgainstTheRequest = "another tool, a changed switch, a changed value that the request states, or a change of what was not refused",
        ChangedUnsafeCall = "an unsafe call with a value that was found by name or corrected",
        FoundByNameOrMapping = "a target or a quantity that was found by name",
        ToolOfTheProtocol = "no target, for an undeclared tool of the protocol",
        WithEvidence = "a target or a quantity that was found, with evidence",
        WithoutEvidence = "a target or a quantity that was found, without evidence",
        Told = "changed content, another spelling, or a switch of a model",
        AsWritten = "as it was written",
        Undecided = "anything else",
    }
}

impl GateRow {
    /// The number of the row, counted from 1.
    pub fn number(self) -> usize {
        self as usize + 1
    }

    pub(crate) fn decision(self) -> GateDecision {
        match self {
            Self::Refused => GateDecision::Refuse,
            Self::SameCallAgain | Self::Approved | Self::Read | Self::AsWritten => GateDecision::Send,
            Self::DroppedFilter | Self::ToolOfTheProtocol | Self::WithEvidence | Self::Told => GateDecision::Tell,
            Self::ReadOfUntrustedAddress
            | Self::OutsideMandate
            | Self::AgainstTheRequest
            | Self::ChangedUnsafeCall
            | Self::FoundByNameOrMapping
            | Self::WithoutEvidence
            | Self::Undecided => GateDecision::Ask,
        }
    }
}

word_enum! {
    /// What follows from a row, the least strict first.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    pub(crate) enum GateDecision {
        Send = "send",
        /// Send, and say what was changed.
        Tell = "send, tell",
        /// Send only after a person approved it.
        Ask = "ask",
        Refuse = "refuse",
    }
}

/// A call before it is sent.
#[derive(Debug, Clone, Default)]
pub(crate) struct ProposedCall {
    pub(crate) class: SideEffect,
    /// Why nothing may be sent, whatever the values.
    pub(crate) refusal: Option<String>,
    /// Whether a person approved exactly this call.
    pub(crate) is_approved: bool,
    /// The tool that the plan names, if the call goes to another one.
    pub(crate) rerouted_from: Option<String>,
    /// With the guard on: whether neither the first plan nor the mandate of the agent has such a call.
    pub(crate) is_outside_mandate: bool,
    pub(crate) values: Vec<ProposedValue>,
}

/// A value of a proposed call: a leaf of its parameters.
#[derive(Debug, Clone)]
pub(crate) struct ProposedValue {
    /// Its place in the parameters: `payment.to.iban`.
    pub(crate) name: String,
    pub(crate) role: ParameterRole,
    pub(crate) origin: OriginClass,
    pub(crate) difference: ValueDifference,
    /// The value that was written, if the request states it.
    pub(crate) stated: Option<String>,
    /// Whether the value was changed although the refusal speaks only of other parameters.
    pub(crate) is_refused_elsewhere: bool,
    /// With the guard on: whether it is an address that nobody named and that carries a value of a result.
    pub(crate) carries_results: bool,
    /// The capability whose result has it, if it was written after that was read.
    pub(crate) found_in: Option<String>,
    /// The value that the request states, if this one is one edit away from it.
    pub(crate) nearly_stated: Option<String>,
}

/// Why a call is not simply sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) row: GateRow,
    /// The parameter; `None` for the whole call.
    pub(crate) parameter: Option<String>,
    pub(crate) reason: String,
}

impl Finding {
    /// Whether it is about a parameter or a part of it.
    pub(crate) fn is_about(&self, name: &str) -> bool {
        let rest = self.parameter.as_deref().and_then(|parameter| parameter.strip_prefix(name));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.parameter {
            Some(name) => write!(out, "`{name}` {}", self.reason),
            None => out.write_str(&self.reason),
        }
    }
}

/// The findings in one line.
pub(crate) fn joined(findings: &[Finding]) -> String {
    findings.iter().map(Finding::to_string).collect::<Vec<_>>().join("; ")
}

/// What the gate says about a call.
#[derive(Debug)]
pub(crate) enum GateVerdict {
    Send(Pass),
    SendAndTell(Pass, Vec<Finding>),
    Ask(Vec<Finding>),
    Refuse(Vec<Finding>),
}

/// The proof that a call passed the gate.
#[derive(Debug)]
pub(crate) struct Pass(());

impl Pass {
    /// The pass of a call of our own that confirms or checks what another call did; `None` if it might change something.
    pub(crate) fn for_own_read(class: SideEffect) -> Option<Self> {
        (class == SideEffect::Read).then_some(Self(()))
    }

    /// The pass of a question about a job that an earlier call started, which calls nothing.
    pub(crate) fn for_job(_: &JobRequest) -> Self {
        Self(())
    }
}

/// Decides about a call.
pub(crate) fn judge(call: &ProposedCall) -> GateVerdict {
    if let Some(reason) = &call.refusal {
        let finding = Finding { row: GateRow::Refused, parameter: None, reason: reason.clone() };
        return GateVerdict::Refuse(vec![finding]);
    }
    if call.is_approved {
        return GateVerdict::Send(Pass(()));
    }
    let of_call = outside_mandate(call).into_iter().chain(rerouted(call));
    let of_values = call.values.iter().filter_map(|value| {
        let row = row_of(call.class, value);
        let finding = || Finding { row, parameter: Some(value.name.clone()), reason: reason(row, value) };
        (row.decision() != GateDecision::Send).then(finding)
    });
    let findings: Vec<Finding> = of_call.chain(of_values).collect();
    let strictest = findings.iter().map(|finding| finding.row.decision()).max().unwrap_or(GateDecision::Send);
    let of = |wanted: GateDecision| {
        let deciding = |finding: &Finding| finding.row.decision() == wanted;
        findings.iter().filter(|finding| deciding(finding)).cloned().collect::<Vec<_>>()
    };
    match strictest {
        GateDecision::Send => GateVerdict::Send(Pass(())),
        GateDecision::Tell => GateVerdict::SendAndTell(Pass(()), of(GateDecision::Tell)),
        GateDecision::Ask => GateVerdict::Ask(of(GateDecision::Ask)),
        GateDecision::Refuse => GateVerdict::Refuse(of(GateDecision::Refuse)),
    }
}

/// Row 7: a capability that the request does not need.
fn outside_mandate(call: &ProposedCall) -> Option<Finding> {
    let is_outside = call.is_outside_mandate && call.class != SideEffect::Read;
    let reason = "the first plan, or what the agent may do, has no such call".to_owned();
    is_outside.then_some(Finding { row: GateRow::OutsideMandate, parameter: None, reason })
}

/// Row 8 for a call as a whole: another tool than the one that the plan names.
fn rerouted(call: &ProposedCall) -> Option<Finding> {
    let from = call.rerouted_from.as_ref().filter(|_| call.class != SideEffect::Read)?;
    let reason = format!("the plan names the tool `{from}`, and the call goes to another one");
    Some(Finding { row: GateRow::AgainstTheRequest, parameter: None, reason })
}

/// The first row that applies to a value.
pub(crate) fn row_of(class: SideEffect, value: &ProposedValue) -> GateRow {
    if class == SideEffect::Read { row_of_read(value) } else { row_of_changing(class, value) }
}

fn row_of_read(value: &ProposedValue) -> GateRow {
    match value.difference {
        ValueDifference::Dropped if value.stated.is_some() => GateRow::DroppedFilter,
        _ if value.carries_results => GateRow::ReadOfUntrustedAddress,
        _ => GateRow::Read,
    }
}

fn row_of_changing(class: SideEffect, value: &ProposedValue) -> GateRow {
    use OriginClass as Origin;
    let (role, origin) = (value.role, value.origin);
    let is_exact = matches!(role, ParameterRole::Target | ParameterRole::Quantity);
    // A person, a schema, or what a person accepted, though not for the values of one unsafe call.
    let is_decided =
        matches!(origin, Origin::Person | Origin::Default) || origin == Origin::Accepted && class != SideEffect::Unsafe;
    let is_corrected =
        matches!(value.difference, ValueDifference::Replaced | ValueDifference::Added | ValueDifference::Dropped);
    let takes_away = matches!(value.difference, ValueDifference::Replaced | ValueDifference::Dropped);
    let is_by_name = matches!(origin, Origin::Wired | Origin::Mapped);
    let is_lost = value.difference == ValueDifference::Dropped;
    // Another spelling of what a second plan found is still found.
    if value.difference == ValueDifference::Respelled && !is_by_name && !(is_exact && origin.is_found()) {
        return GateRow::Told;
    }
    if is_corrected && !is_decided {
        let is_against_request = role == ParameterRole::Switch
            || is_exact && takes_away && value.stated.is_some()
            || value.is_refused_elsewhere;
        if is_against_request {
            return GateRow::AgainstTheRequest;
        }
        if class == SideEffect::Unsafe {
            return GateRow::ChangedUnsafeCall;
        }
    }
    match class {
        SideEffect::Unsafe if is_by_name => return GateRow::ChangedUnsafeCall,
        SideEffect::Undeclared if role != ParameterRole::Target => {
            let is_known_number =
                role == ParameterRole::Quantity && origin.is_found() && origin != Origin::FoundNowhere && !is_lost;
            let is_corrected_text = role == ParameterRole::Content && origin.is_found() && is_corrected;
            if origin == Origin::Wired || is_known_number || is_corrected_text {
                return GateRow::ToolOfTheProtocol;
            }
        }
        SideEffect::Unsafe | SideEffect::Undeclared => {}
        _ if is_exact && is_by_name => return GateRow::FoundByNameOrMapping,
        _ => {}
    }
    match origin {
        Origin::FoundInRequest | Origin::FoundIssued if is_exact && !is_lost => GateRow::WithEvidence,
        Origin::FoundElsewhere | Origin::FoundNowhere if is_exact => GateRow::WithoutEvidence,
        Origin::Literal if role == ParameterRole::Target && value.nearly_stated.is_some() => GateRow::WithoutEvidence,
        _ if role == ParameterRole::Content && is_corrected && !(is_lost && value.stated.is_some()) => GateRow::Told,
        _ if role == ParameterRole::Switch && origin.is_found() && class != SideEffect::Unsafe => GateRow::Told,
        Origin::Person
        | Origin::Reference
        | Origin::Computed
        | Origin::Literal
        | Origin::Default
        | Origin::Accepted => GateRow::AsWritten,
        _ if role == ParameterRole::Content && origin.is_found() && !is_lost => GateRow::AsWritten,
        _ => GateRow::Undecided,
    }
}

/// Why a row applies to a value, as the end of a sentence that begins with the name of the parameter.
fn reason(row: GateRow, value: &ProposedValue) -> String {
    let changed = match value.difference {
        ValueDifference::None => "is not sent without approval",
        ValueDifference::Added => "is not added without approval",
        ValueDifference::Dropped => "is not left out without approval",
        ValueDifference::Respelled | ValueDifference::Replaced => "is not changed without approval",
    };
    let why = match row {
        GateRow::AgainstTheRequest => match &value.stated {
            Some(stated) if value.role != ParameterRole::Switch => format!("the request says `{stated}`"),
            _ if value.role == ParameterRole::Switch => "it decides what the call does".to_owned(),
            _ => "the error refers to other parameters".to_owned(),
        },
        GateRow::ChangedUnsafeCall | GateRow::FoundByNameOrMapping | GateRow::WithoutEvidence | GateRow::Undecided => {
            match (&value.nearly_stated, value.origin) {
                (Some(stated), OriginClass::Literal) => format!("the request says `{stated}`"),
                (_, OriginClass::Wired) => "the plan leaves it open, and a result has a field of that name".to_owned(),
                (_, OriginClass::Mapped) => {
                    "it was found by a rule of an earlier run that no person has accepted (`reknit rules list`)"
                        .to_owned()
                }
                (_, OriginClass::Accepted) => "it was found by an accepted rule, and the call is unsafe".to_owned(),
                _ if row == GateRow::ChangedUnsafeCall => "the call must not take effect twice".to_owned(),
                (_, OriginClass::FoundElsewhere) => match &value.found_in {
                    Some(source) => format!("the value comes from a result of `{source}`, and not from the request"),
                    None => "the value comes from a result or an error, and not from the request".to_owned(),
                },
                _ => "the value does not appear in the request, in a result or in the error".to_owned(),
            }
        }
        GateRow::ReadOfUntrustedAddress => "nobody named this address, and it contains a value of a result".to_owned(),
        GateRow::DroppedFilter => return "is left out, although the request asks for it".to_owned(),
        _ if value.difference == ValueDifference::None => return format!("is {}", value.origin),
        _ => return format!("is {}: {}", value.difference.as_str(), value.origin.as_str()),
    };
    format!("{changed}: {why}")
}

#[cfg(test)]
mod tests;
