//! The guard against hostile data: how strict it is, what an agent may do, and where the values of its calls come from.
//!
//! What a model writes after it has read a result may have been written by whoever wrote the result. With the guard on, such a call
//! is judged by who else says the same: the person, the service that is called, or the configuration.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use reknit_protocol::{Value, word_enum};
use serde::{Deserialize, Serialize};

use crate::approval_rules::names_capability;

word_enum! {
    /// How strict the guard against hostile data is.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum GuardLevel {
        /// No call is held because of what was read before it was written.
        #[default]
        Off = "off",
        /// Who, where and which needs evidence, and what an agent does needs a mandate.
        Targets = "targets",
        /// How much needs evidence, too.
        Strict = "strict",
    }
}

impl GuardLevel {
    pub(crate) fn is_on(self) -> bool {
        self != Self::Off
    }
}

/// What an agent may change, decided before it has read anything. Reads need no permission.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Mandate(pub Vec<Permission>);

/// A capability that an agent may call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Permission {
    /// `tool/capability` or `tool`; `*` stands for any text.
    pub capability: String,
    /// How often; `None` is any number of times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<u32>,
    /// Whose results may name its targets, beside the request: for each parameter, `tool/capability` or `tool`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub from: BTreeMap<String, Vec<String>>,
}

impl Mandate {
    /// How often a capability may be called: 0 without a permission, `None` without a limit.
    pub(crate) fn times(&self, tool: &str, capability: &str) -> Option<u32> {
        let of = self.permissions(tool, capability).map(|permission| permission.times);
        of.reduce(|one, other| Some(one?.saturating_add(other?))).unwrap_or(Some(0))
    }

    /// Whether the results of a source may name a parameter of a capability.
    pub(crate) fn names_source(&self, (tool, capability): (&str, &str), parameter: &str, source: (&str, &str)) -> bool {
        let mut sources =
            self.permissions(tool, capability).filter_map(|permission| permission.from.get(parameter)).flatten();
        sources.any(|pattern| names_capability(pattern, source.0, source.1))
    }

    /// What is left of it after so many calls of each capability, by `tool/capability`.
    pub(crate) fn less(&self, made: &BTreeMap<String, u32>) -> Self {
        let mut left = self.clone();
        for (name, calls) in made {
            let (tool, capability) = name.split_once('/').unwrap_or((name, ""));
            let mut calls = *calls;
            let permissions = left.0.iter_mut().filter(|one| names_capability(&one.capability, tool, capability));
            for times in permissions.filter_map(|permission| permission.times.as_mut()) {
                let used = calls.min(*times);
                (*times, calls) = (*times - used, calls - used);
            }
        }
        left
    }

    fn permissions<'a>(&'a self, tool: &'a str, capability: &'a str) -> impl Iterator<Item = &'a Permission> {
        self.0.iter().filter(move |permission| names_capability(&permission.capability, tool, capability))
    }
}

impl fmt::Display for Mandate {
    /// `bank/pay once, calendar/add`, or `nothing`.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let permission = |permission: &Permission| {
            let times = match permission.times {
                None => String::new(),
                Some(1) => " once".to_owned(),
                Some(times) => format!(" {times} times"),
            };
            let from = permission.from.iter().filter(|(_, sources)| !sources.is_empty());
            let from: Vec<String> =
                from.map(|(name, sources)| format!("{name} from {}", sources.join(" or "))).collect();
            let from = if from.is_empty() { String::new() } else { format!(" ({})", from.join(", ")) };
            format!("{}{times}{from}", permission.capability)
        };
        match self.0.as_slice() {
            [] => out.write_str("nothing"),
            permissions => out.write_str(&permissions.iter().map(permission).collect::<Vec<_>>().join(", ")),
        }
    }
}

/// Who says the value of a call, beside the model that wrote it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ResultOrigin {
    /// Some result, inside a longer text and nowhere as a whole field.
    InText,
    /// Some result, as a field that nothing vouches for.
    AnyResult,
    /// The same service, as a whole field or line.
    SameService,
    /// A source that the configuration trusts or the mandate names.
    Vouched,
}

/// What a machine is told about what was read before it started. Empty unless the guard is on.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Earlier {
    /// Whether its calls were written after data was read.
    pub(crate) has_read: bool,
    /// Whether nobody said what the person asked for. Then a value is only asked about if a result has it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_without_request: bool,
    /// What the person wrote. Nothing else is stated.
    pub(crate) person: Vec<String>,
    /// The values of its calls that a result has, by [`Earlier::key`].
    pub(crate) values: BTreeMap<String, ResultOrigin>,
    /// Which capability returned them, by the same key.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) sources: BTreeMap<String, String>,
    /// The steps that no permission is left for.
    pub(crate) outside: BTreeSet<String>,
    /// The addresses in its calls that contain a value of a result and are none themselves.
    pub(crate) carriers: BTreeSet<String>,
    /// What is left of the mandate of the agent that called this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) mandate: Option<Mandate>,
}

impl Earlier {
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The key of a value of a parameter of a capability. Numbers and texts of the same digits are the same value.
    pub(crate) fn key((tool, capability): (&str, &str), parameter: &str, value: &Value) -> String {
        format!("{tool}/{capability} {parameter}={}", plain_text(value))
    }

    /// The capability whose result has a value.
    pub(crate) fn source_of(&self, callee: (&str, &str), parameter: &str, value: &Value) -> Option<&str> {
        self.sources.get(&Self::key(callee, parameter, value)).map(String::as_str)
    }

    /// What the results say about a value of a call; `None` if they do not have it.
    pub(crate) fn said_of(&self, callee: (&str, &str), parameter: &str, value: &Value) -> Option<ResultOrigin> {
        let known = self.values.get(&Self::key(callee, parameter, value));
        // A client may have spelt the name of a parameter in another way. Where the request is known, such a value needs evidence.
        let same = format!("={}", plain_text(value));
        let any_name = || self.values.iter().filter(|(key, _)| key.ends_with(&same)).map(|(_, origin)| origin).min();
        known.or_else(|| self.is_without_request.then(any_name).flatten()).copied()
    }
}

/// Shorter values of results are in many addresses by chance.
const SHORTEST_CARRIED: usize = 5;

/// Whether a text is an address or a URL.
pub(crate) fn is_address(text: &str) -> bool {
    text.contains("://") || text.contains('@')
}

/// Whether a text is an address that contains a field of results and is none of them.
pub(crate) fn carries_field<'a>(text: &str, fields: impl IntoIterator<Item = Cow<'a, str>>) -> bool {
    if !is_address(text) {
        return false;
    }
    let mut carries = false;
    for field in fields {
        if field == text {
            return false;
        }
        carries |= field.chars().count() >= SHORTEST_CARRIED && text.contains(field.as_ref());
    }
    carries
}

/// A scalar as its text, without quotes and white space around it.
pub(crate) fn plain_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), |text| text.trim().to_owned())
}
