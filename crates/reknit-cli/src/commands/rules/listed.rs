//! A rule of either kind, as it is listed.

use reknit_expressions::{MappingStatus, ParameterMapping};
use reknit_journal::{LearnedMapping, StoredMapping};
use reknit_mend::{AcceptedBy, LearnedRule, RuleState};
use reknit_protocol::{Object, Value};

use crate::output::one_line;

#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "there are few rules, and they are listed once")]
pub(super) enum ListedRule {
    /// Where a value is that a plan leaves open.
    Mapping(LearnedMapping),
    /// How a call is corrected that a tool rejects.
    Rule(LearnedRule),
}

impl ListedRule {
    pub(super) fn id(&self) -> String {
        match self {
            Self::Mapping(learned) => learned.mapping.id(),
            Self::Rule(rule) => rule.id.clone(),
        }
    }

    /// The rule after a person has accepted it.
    pub(super) fn accepted(&self, now_ms: i64) -> Self {
        match self {
            Self::Mapping(learned) => {
                let accepted_ms = learned.accepted_ms.or(Some(now_ms));
                Self::Mapping(LearnedMapping { accepted_ms, ..learned.clone() })
            }
            Self::Rule(rule) => {
                let accepted_by = Some(AcceptedBy::Person);
                Self::Rule(LearnedRule { state: RuleState::Accepted, accepted_by, ..rule.clone() })
            }
        }
    }

    /// The rule about a rejected call, or the one that does what a mapping does.
    pub(super) fn as_rule(&self) -> Option<LearnedRule> {
        match self {
            Self::Rule(rule) => Some(rule.clone()),
            Self::Mapping(learned) => {
                let StoredMapping { producer, consumer, parameter, expression } = learned.mapping.clone();
                let status = MappingStatus::Inferred;
                LearnedRule::of_mapping(&ParameterMapping { producer, consumer, parameter, expression, status })
            }
        }
    }

    fn status(&self) -> &'static str {
        match self {
            Self::Mapping(learned) if learned.accepted_ms.is_some() => "accepted",
            Self::Mapping(_) => "inferred",
            Self::Rule(rule) => rule.state.as_str(),
        }
    }

    pub(super) fn line(&self) -> String {
        let text = match self {
            Self::Mapping(learned) => {
                let mapping = &learned.mapping;
                format!(
                    "`{}` of {} is `{}` of the result of {}",
                    mapping.parameter, mapping.consumer, mapping.expression, mapping.producer
                )
            }
            Self::Rule(rule) => {
                let (helps, harms) = (rule.evidence.helps.len(), rule.evidence.harms.len());
                let code = if rule.error.code.is_empty() { String::new() } else { format!("{} ", rule.error.code) };
                let error = format!("{code}\"{}\"", rule.error.message);
                format!("{} after {error}: {}; helps {helps}, harms {harms}", rule.capability, change_text(rule))
            }
        };
        format!("{}  {:<8}  {}", self.id(), self.status(), one_line(&text, usize::MAX))
    }

    pub(super) fn json(&self) -> Value {
        match self {
            Self::Mapping(learned) => {
                let mapping = &learned.mapping;
                let mut object = Object::from([
                    ("rule", mapping.id().into()),
                    ("status", self.status().into()),
                    ("consumer", mapping.consumer.as_str().into()),
                    ("parameter", mapping.parameter.as_str().into()),
                    ("producer", mapping.producer.as_str().into()),
                    ("expression", mapping.expression.as_str().into()),
                    ("learned_ms", learned.learned_ms.into()),
                ]);
                object.extend(learned.accepted_ms.map(|ms| ("accepted_ms".to_owned(), ms.into())));
                Value::Object(object)
            }
            Self::Rule(rule) => {
                let number = |count: usize| Value::from(u64::try_from(count).unwrap_or(u64::MAX));
                let texts = |texts: &[String]| texts.iter().map(|text| Value::from(text.as_str())).collect::<Value>();
                let change = rule.change.iter().map(|(name, value)| (name.clone(), value.to_string().into()));
                let mut object = Object::from([
                    ("rule", rule.id.as_str().into()),
                    ("status", self.status().into()),
                    ("capability", rule.capability.as_str().into()),
                    ("code", rule.error.code.as_str().into()),
                    ("message", rule.error.message.as_str().into()),
                    ("fields", texts(&rule.error.fields)),
                    ("change", Value::Object(change.collect())),
                    ("remove", texts(&rule.remove)),
                    ("helps", number(rule.evidence.helps.len())),
                    ("harms", number(rule.evidence.harms.len())),
                    ("confirmations", number(rule.evidence.confirmations.len())),
                ]);
                object.extend(rule.accepted_by.map(|by| ("accepted_by".to_owned(), by.as_str().into())));
                object.extend(rule.evidence.retired.as_deref().map(|why| ("retired".to_owned(), why.into())));
                Value::Object(object)
            }
        }
    }
}

/// What a rule changes: `shares = parameters.quantity, without quantity`.
pub(super) fn change_text(rule: &LearnedRule) -> String {
    let changed = rule.change.iter().map(|(name, value)| format!("{name} = {value}"));
    let removed = rule.remove.iter().map(|name| format!("without {name}"));
    changed.chain(removed).collect::<Vec<_>>().join(", ")
}
