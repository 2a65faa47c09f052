//! Pinned definitions: what a model reads about a capability is remembered when it is first seen, so that a change is noticed.
//!
//! A service may change what it says about a capability after a person has looked at it. If the capability only reads, the
//! change is reported. If not, the capability is withheld until a person accepts the change. A capability that is added after
//! the definitions of its tool were pinned is withheld in the same way, whatever class it declares.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use reknit_plan::CatalogueEntry;
use reknit_protocol::{CallTool, CapabilityName, Object, Sha256, SideEffect, ToolName, Value, hex, word_enum};

use crate::source::{CallFuture, Route, not_callable};

/// The text of a definition up to this size is kept, to show what has changed; of a larger one only the digest.
const MAX_TEXT: usize = 32 << 10;

/// The most capabilities of a tool that are pinned. Beyond that, those that the tool no longer has are forgotten.
const MAX_PINS: usize = 20_000;

word_enum! {
    /// What happens when a service changes the definition of a capability.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum PinPolicy {
        /// Nothing: definitions are not pinned.
        Off = "off",
        Report = "report",
        /// The change is reported, and a capability that is new or does not only read is withheld until a person accepts it.
        #[default]
        Confirm = "confirm",
    }
}

/// Finds the class of side effect of a call by tool, capability and the class that the tool declares.
type FindClass = dyn Fn(&str, &str, SideEffect) -> SideEffect + Send + Sync;

#[derive(Clone, Default)]
pub(crate) struct PinRules {
    pub(crate) policy: PinPolicy,
    pub(crate) find_class: Option<Arc<FindClass>>,
}

impl fmt::Debug for PinRules {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.policy.fmt(out)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeOutcome {
    /// The new definition is used and pinned.
    Reported,
    /// The capability must not be called until a person accepts the change.
    Withheld,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeKind {
    /// The definition differs from the pinned one.
    Changed,
    /// The capability was added after the definitions of its tool were pinned.
    Added,
}

#[derive(Debug, Clone, PartialEq)]
pub struct DefinitionChange {
    pub tool: ToolName,
    pub capability: CapabilityName,
    pub kind: ChangeKind,
    /// The pinned definition: `description`, `class`, `parameters`, `result` and `tool_description`, what the tool says about
    /// itself. `None` if there is none, or if it is too large to be kept.
    pub before: Option<Value>,
    /// The new definition, in the same form. `None` if it is too large to be kept.
    pub now: Option<Value>,
    pub outcome: ChangeOutcome,
    scope: String,
    pin: Pin,
}

impl DefinitionChange {
    pub(crate) fn pins(&self) -> Pins {
        Pins::new(self.tool.clone(), self.scope.clone())
    }

    /// Why the capability is withheld, with what a person can do about it.
    fn reason(&self) -> String {
        let reason = match self.kind {
            ChangeKind::Changed => "its definition has changed since it was first seen; compare and accept it",
            ChangeKind::Added => "it was added after the definitions of its tool were pinned; look at it and accept it",
        };
        format!("{reason} with `reknit tools accept {}/{}`", self.tool, self.capability)
    }
}

impl fmt::Display for DefinitionChange {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { capability, .. } = self;
        match (self.outcome, self.kind) {
            (ChangeOutcome::Reported, ChangeKind::Changed) => {
                write!(out, "the definition of `{capability}` has changed; the new one is used")
            }
            (ChangeOutcome::Reported, ChangeKind::Added) => write!(out, "`{capability}` is new; it is used"),
            (ChangeOutcome::Withheld, ChangeKind::Changed) => {
                write!(out, "`{capability}` is withheld: {}", self.reason())
            }
            (ChangeOutcome::Withheld, ChangeKind::Added) => {
                write!(out, "`{capability}` is new and withheld: {}", self.reason())
            }
        }
    }
}

/// The definition of one capability as it was first seen, or accepted.
#[derive(Debug, Clone, PartialEq)]
struct Pin {
    class: SideEffect,
    digest: String,
    /// `None` if it is too large to be kept.
    definition: Option<Value>,
}

#[derive(Debug)]
pub(crate) struct Pins {
    pub(crate) tool: ToolName,
    pub(crate) scope: String,
    /// What the tool says about itself now. Models read it with each capability.
    tool_description: String,
    by_capability: BTreeMap<String, Pin>,
    /// Whether the tool is seen for the first time, so that each of its capabilities is pinned as it is.
    pub(crate) is_first_sight: bool,
    /// The digest of the last listing whose definitions were all as pinned.
    pub(crate) listing: Option<String>,
}

impl Pins {
    /// The pins of a tool that is not known yet. `scope` is its place: its address, or that of its registry.
    pub(crate) fn new(tool: ToolName, scope: String) -> Self {
        let (tool_description, by_capability) = (String::new(), BTreeMap::new());
        Self { tool, scope, tool_description, by_capability, is_first_sight: false, listing: None }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.by_capability.is_empty()
    }

    pub(crate) fn described_as(self, tool_description: &str) -> Self {
        Self { tool_description: tool_description.to_owned(), ..self }
    }

    pub(crate) fn restore(mut self, saved: &str) -> Result<Self, String> {
        let saved = Value::parse(saved).map_err(|error| error.to_string())?;
        let pins = saved.get("capabilities").and_then(Value::as_object).ok_or("it has no capabilities")?;
        for (name, pin) in pins {
            let text = |key| pin.get(key).and_then(Value::as_str);
            let class = text("class").and_then(SideEffect::from_word).ok_or("a pin has no class")?;
            let digest = text("digest").ok_or("a pin has no digest")?.to_owned();
            self.by_capability
                .insert(name.to_owned(), Pin { class, digest, definition: pin.get("definition").cloned() });
        }
        self.listing = saved.get("listing").and_then(Value::as_str).map(str::to_owned);
        Ok(self)
    }

    /// A text from which [`Pins::restore`] makes these pins again.
    pub(crate) fn saved(&self) -> String {
        let pin = |(name, pin): (&String, &Pin)| {
            let mut object =
                Object::from([("class", pin.class.as_str().into()), ("digest", pin.digest.as_str().into())]);
            if let Some(definition) = &pin.definition {
                object.insert("definition", definition.clone());
            }
            (name.clone(), Value::Object(object))
        };
        let capabilities: Object = self.by_capability.iter().map(pin).collect();
        let listing = self.listing.as_deref().map_or(Value::Null, Value::from);
        let saved = [
            ("listing", listing),
            ("tool", self.tool.as_str().into()),
            ("address", self.scope.as_str().into()),
            ("capabilities", Value::Object(capabilities)),
        ];
        Object::from(saved).to_string()
    }

    /// Compares a capability with its pin, and withholds it if a person must accept a change, or that it was added.
    pub(crate) fn check(&mut self, entry: &mut CatalogueEntry, rules: &PinRules) -> Option<DefinitionChange> {
        let name = entry.capability.name.clone();
        let seen = Pin::of(entry, &self.tool_description);
        let pinned = self.by_capability.get(name.as_str());
        let kind = match pinned {
            Some(pinned) if pinned.digest == seen.digest => return None,
            Some(_) => ChangeKind::Changed,
            None if self.is_first_sight => {
                self.by_capability.insert(name.as_str().to_owned(), seen);
                return None;
            }
            None => ChangeKind::Added,
        };
        // What a service declares about a capability that nobody has seen is its word alone; the class that the user gives counts.
        let classes = pinned.map_or([SideEffect::Undeclared; 2], |pinned| [pinned.class, seen.class]);
        let only_reads = classes.into_iter().all(|declared| {
            let find = rules.find_class.as_ref();
            let class = find.map_or(declared, |find| find(self.tool.as_str(), name.as_str(), declared));
            class == SideEffect::Read
        });
        let is_reported = only_reads || rules.policy == PinPolicy::Report;
        let change = DefinitionChange {
            tool: self.tool.clone(),
            capability: name.clone(),
            kind,
            before: pinned.and_then(|pinned| pinned.definition.clone()),
            now: seen.definition.clone(),
            outcome: if is_reported { ChangeOutcome::Reported } else { ChangeOutcome::Withheld },
            scope: self.scope.clone(),
            pin: seen.clone(),
        };
        match change.outcome {
            ChangeOutcome::Reported => _ = self.by_capability.insert(name.as_str().to_owned(), seen),
            ChangeOutcome::Withheld => entry.withheld = Some(change.reason()),
        }
        Some(change)
    }

    /// Forgets pins of capabilities that the tool no longer has, if there are too many.
    pub(crate) fn bound(&mut self, has: impl Fn(&str) -> bool) {
        if self.by_capability.len() > MAX_PINS {
            self.by_capability.retain(|name, _| has(name));
        }
    }

    pub(crate) fn accept(&mut self, change: &DefinitionChange) {
        self.by_capability.insert(change.capability.as_str().to_owned(), change.pin.clone());
        self.listing = None;
    }
}

impl Pin {
    fn of(entry: &CatalogueEntry, tool_description: &str) -> Self {
        let capability = &entry.capability;
        let parameters = entry.json_schema();
        let result = capability.output_schema();
        let texts = [
            tool_description.to_owned(),
            capability.description.clone(),
            capability.effect.as_str().to_owned(),
            capability.internal.to_string(),
            parameters.as_ref().map(Value::canonical).unwrap_or_default(),
            result.as_ref().map(Value::canonical).unwrap_or_default(),
        ];
        let digest = digest(texts.iter().map(String::as_str));
        let is_small = texts.iter().map(String::len).sum::<usize>() <= MAX_TEXT;
        let definition = is_small.then(|| {
            let mut shown = Object::from([
                ("description", capability.description.as_str().into()),
                ("class", capability.effect.as_str().into()),
                ("parameters", parameters.unwrap_or(Value::Null)),
                ("result", result.unwrap_or(Value::Null)),
            ]);
            if !tool_description.is_empty() {
                shown.insert("tool_description", tool_description);
            }
            if capability.internal {
                shown.insert("internal", true);
            }
            Value::Object(shown)
        });
        Self { class: capability.effect, digest, definition }
    }
}

/// The digest of several texts. Each is preceded by its length, so different splits have different digests.
pub(crate) fn digest<'a>(texts: impl Iterator<Item = &'a str>) -> String {
    let mut hash = Sha256::new();
    for text in texts {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text);
    }
    hex(&hash.finish())
}

/// The route of a capability that is withheld: every call fails with the reason, and nothing is sent.
#[derive(Debug)]
pub(crate) struct WithheldRoute {
    pub(crate) reason: String,
}

impl Route for WithheldRoute {
    fn call<'a>(&'a self, call: &'a CallTool, _traceparent: Option<&'a str>) -> CallFuture<'a> {
        let message = format!("`{}` of `{}` is withheld: {}", call.capability, call.tool, self.reason);
        Box::pin(std::future::ready(Err(not_callable(message))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pins_of_capabilities_that_are_gone_are_forgotten_only_if_there_are_too_many() {
        let mut pins = Pins::new("shop".into(), "here".to_owned());
        let pin = Pin { class: SideEffect::Read, digest: String::new(), definition: None };
        pins.by_capability.extend((0..MAX_PINS).map(|number| (number.to_string(), pin.clone())));
        pins.bound(|name| name == "7");
        assert_eq!(pins.by_capability.len(), MAX_PINS);
        pins.by_capability.insert("one more".to_owned(), pin);
        pins.bound(|name| name == "7");
        assert_eq!((pins.by_capability.len(), pins.by_capability.contains_key("7")), (1, true));
    }
}
