//! A learned rule as data.

use std::collections::BTreeMap;

use reknit_expressions::{Expression, ParameterMapping, StepIds};
use reknit_protocol::tool::codes;
use reknit_protocol::{Object, Sha256, StepId, Value, exact, hex, word_enum};
use serde::{Deserialize, Serialize};

use super::ErrorPattern;
use super::faulty_call::FIXED_SOURCES;

/// The length of a computed id, in hexadecimal digits.
const ID_DIGITS: usize = 10;

/// What a call that cannot be sent says about its missing parameters.
const MISSING: &str = "not every parameter has a value: *";

/// The name of the producer's result in the expression of a mapping.
const PRODUCER_RESULT: &str = "it";

/// For this capability and this kind of error, apply this change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LearnedRule {
    /// The id, by which records name the rule.
    pub id: String,
    pub state: RuleState,
    /// Who accepted it, if it is or was accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepted_by: Option<AcceptedBy>,
    /// The capability, as `tool/capability`. The rule applies to no other.
    pub capability: String,
    pub error: ErrorPattern,
    /// Which of the changed parameters the call must not have. It must have the others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub absent: Vec<String>,
    /// The names by which expressions call the results of earlier steps, each with the capability of the step.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub results: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub change: BTreeMap<String, RuleValue>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remove: Vec<String>,
    /// What speaks for and against it.
    #[serde(default, skip_serializing_if = "RuleEvidence::is_empty")]
    pub evidence: RuleEvidence,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RuleValue {
    /// An expression over `parameters`, `error`, `request.number` and the named results.
    pub of: String,
    /// The new value for each value of the expression. The error or the schema must state it, or the rule does not apply.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "exact::option")]
    pub map: Option<Object>,
}

word_enum! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum RuleState {
        /// Nobody has looked at it. It is not used.
        Proposed = "proposed",
        Accepted = "accepted",
        /// A tool rejected what it sent, or a person rejected it. It is not used, and not proposed again.
        Retired = "retired",
    }
}

word_enum! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum AcceptedBy {
        Person = "person",
        /// Enough calls confirmed it. Such a rule is used for calls that only read.
        Confirmations = "confirmations",
    }
}

/// What speaks for and against a rule.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RuleEvidence {
    /// The corrections that the rule would have made as well, each as `run/step`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub helps: Vec<String>,
    /// The corrections for which it would have given other values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub harms: Vec<String>,
    /// Those of `helps` whose values are supported by more than the word of a model.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub confirmations: Vec<String>,
    /// How many model calls the corrections in `helps` needed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub model_calls: u32,
    /// The runs in which a tool rejected what it sent. None of them retires the rule a second time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rejections: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retired: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

impl RuleEvidence {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// What is wrong with a rule, and under which key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleProblem {
    pub keys: Vec<String>,
    pub message: String,
}

impl LearnedRule {
    /// The id that follows from what the rule does: a rule that does something else has another one, so nobody accepts what
    /// they have not seen.
    pub fn computed_id(&self) -> String {
        let mut hash = Sha256::new();
        let mut add = |text: &str| {
            // The length keeps apart what belongs to different fields.
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(text);
        };
        add(&self.capability);
        add(&self.error.status.map_or_else(String::new, |status| status.to_string()));
        add(&self.error.code);
        add(&self.error.message);
        add(&self.error.fields.join("\n"));
        add(&self.absent.join("\n"));
        add(&self.remove.join("\n"));
        for (name, capability) in &self.results {
            add(name);
            add(capability);
        }
        for (name, value) in &self.change {
            add(name);
            add(&value.of);
            add(&value.map.as_ref().map_or_else(String::new, |map| Value::Object(map.clone()).canonical()));
        }
        hex(&hash.finish()).chars().take(ID_DIGITS).collect()
    }

    #[must_use]
    pub fn with_computed_id(self) -> Self {
        Self { id: self.computed_id(), ..self }
    }

    /// Whether another rule does the same, whatever their ids and states are.
    pub fn has_same_content(&self, other: &Self) -> bool {
        self.computed_id() == other.computed_id()
    }

    /// A proposal that changes nothing yet.
    pub(super) fn proposal(capability: String, error: ErrorPattern) -> Self {
        Self {
            id: String::new(),
            state: RuleState::Proposed,
            accepted_by: None,
            capability,
            error,
            absent: Vec::new(),
            results: BTreeMap::new(),
            change: BTreeMap::new(),
            remove: Vec::new(),
            evidence: RuleEvidence::default(),
        }
    }

    /// What a person must have seen before they decide about the rule: it changes with what the rule does, with its state, and with
    /// each rejection by a tool.
    pub fn version(&self) -> String {
        let by = self.accepted_by.map_or("nobody", AcceptedBy::as_str);
        format!("{}-{}-{by}-{}", self.computed_id(), self.state.as_str(), self.evidence.rejections.len())
    }

    /// The rule without its evidence, as runs get it.
    #[must_use]
    pub fn for_runs(&self) -> Self {
        Self { evidence: RuleEvidence::default(), ..self.clone() }
    }

    /// The parameters that the rule changes or removes.
    pub fn named(&self) -> impl Iterator<Item = &str> {
        self.change.keys().chain(&self.remove).map(String::as_str)
    }

    /// The names that expressions may refer to.
    pub(super) fn source_ids(&self) -> Vec<StepId> {
        FIXED_SOURCES.into_iter().chain(self.results.keys().map(String::as_str)).map(StepId::from).collect()
    }

    pub(super) fn expression(&self, value: &RuleValue) -> Option<Expression> {
        Expression::parse(&value.of, &self.source_ids()).ok()
    }

    /// Checks that the rule can apply and that it states no value of its own.
    pub fn validate(&self) -> Result<(), RuleProblem> {
        let problem = |keys: &[&str], message: String| {
            Err(RuleProblem { keys: keys.iter().map(|key| (*key).to_owned()).collect(), message })
        };
        let capability = self.capability.split_once('/');
        if capability.is_none_or(|(tool, name)| tool.is_empty() || name.is_empty()) {
            return problem(&["capability"], "write the tool and its capability, like `bank/refund`".to_owned());
        }
        if self.change.is_empty() && self.remove.is_empty() {
            return problem(&["change"], "the rule changes nothing".to_owned());
        }
        if let Some(name) = self.remove.iter().find(|name| self.change.contains_key(*name)) {
            return problem(&["remove"], format!("`{name}` is both changed and removed"));
        }
        if let Some(name) = self.absent.iter().find(|name| !self.change.contains_key(*name)) {
            return problem(&["absent"], format!("`{name}` is not among the changed parameters"));
        }
        if !self.error.is_specific() {
            let message = "every error would match: give a `code`, a `message` with words, or `fields`";
            return problem(&["error"], message.to_owned());
        }
        if let Some(name) = self.results.keys().find(|name| FIXED_SOURCES.contains(&name.as_str())) {
            return problem(&["results", name], format!("`{name}` already has a meaning; choose another name"));
        }
        let ids = self.source_ids();
        for (name, value) in &self.change {
            let message = match Expression::parse(&value.of, &ids) {
                Err(error) => format!("`{}` is not an expression: {error}", value.of),
                Ok(expression) if expression.references().is_empty() => {
                    let known: Vec<&str> = ids.iter().map(StepId::as_str).collect();
                    format!("a rule states no value of its own; refer to one of {}", known.join(", "))
                }
                Ok(_) if value.map.as_ref().is_some_and(Object::is_empty) => "the map is empty".to_owned(),
                Ok(_) => continue,
            };
            return problem(&["change", name], message);
        }
        Ok(())
    }

    /// The proposal of a rule that does what a mapping does. `None` if the expression of the mapping cannot be read.
    pub fn of_mapping(mapping: &ParameterMapping) -> Option<Self> {
        let short = mapping.producer.rsplit('/').next().unwrap_or_default();
        let name = if FIXED_SOURCES.contains(&short) { mapping.producer.as_str() } else { short };
        let ids: [StepId; 1] = [name.into()];
        let expression = Expression::parse(&mapping.expression, &[PRODUCER_RESULT.into()]).ok()?;
        let general = expression.generalize(&|_| Some(name.into()), &|_| None, &StepIds::new(&ids))?;
        let fields = vec![mapping.parameter.clone()];
        let (code, message) = (codes::INVALID_FORMAT.to_owned(), MISSING.to_owned());
        let rule = Self {
            absent: vec![mapping.parameter.clone()],
            results: BTreeMap::from([(name.to_owned(), mapping.producer.clone())]),
            change: BTreeMap::from([(mapping.parameter.clone(), RuleValue { of: general.to_string(), map: None })]),
            ..Self::proposal(mapping.consumer.clone(), ErrorPattern { status: None, code, message, fields })
        };
        rule.validate().is_ok().then(|| rule.with_computed_id())
    }
}
