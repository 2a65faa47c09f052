//! Corrections of a rejected call that the facts in its error determine, without a model.
//!
//! A rule returns one change or none. It uses only values from the schema, the error, the plan, the request or the results,
//! changes only the field that its fact names, and returns none where two changes are possible.

mod closest_match;
mod field_location;
mod fill_missing;
mod nested_values;
mod number_rules;
mod referred_parameters;
mod reformat_date;
mod rejected_call;
mod rename;
mod schema_problems;
mod spelling;
mod value_rules;

pub use field_location::schemas_at;
pub use rejected_call::{AllowedChanges, RejectedCall};
pub use schema_problems::facts_from_problems;
pub use spelling::is_same_value;

use reknit_protocol::{Object, Path, Segment, Value};

use crate::facts::Fact;
use crate::only;
use field_location::set;

#[derive(Debug, Clone, PartialEq)]
enum Change {
    Set {
        at: Path,
        value: Value,
        from: Option<&'static str>,
    },
    Remove {
        at: Path,
    },
    /// Moves the value at a path to another key of the same object.
    Rename {
        at: Path,
        to: String,
    },
    /// Exchanges the values at two paths.
    Swap {
        one: Path,
        other: Path,
    },
}

/// A rule: its name, and the function that turns one fact into a change.
type Rule = (&'static str, fn(&RejectedCall<'_>, &Fact) -> Option<Change>);

/// All rules, in the order in which they apply: moving a value comes before changing or dropping it.
const RULES: [Rule; 12] = [
    ("rename", rename::rename_field),
    ("trim", value_rules::trim),
    ("convert", value_rules::convert_type),
    ("allowed", value_rules::allowed_value),
    ("suggested", value_rules::suggested_value),
    ("expected", value_rules::expected_value),
    ("identifier", value_rules::same_digits),
    ("date", reformat_date::rule),
    ("sign", number_rules::remove_sign),
    ("swap", number_rules::swap_coordinates),
    ("fill", fill_missing::fill_missing),
    ("drop", rename::drop_unknown),
];

/// The correction that all rules together made.
#[derive(Debug, Clone, PartialEq)]
pub struct RuleRepair {
    pub parameters: Object,
    /// Which rule changed what and because of which fact, for people and models.
    pub description: String,
}

/// Applies every rule to every fact; each rule sees the changes of those before it. `None` if no rule applies.
pub fn repair_by_rules(mut call: RejectedCall<'_>) -> Option<RuleRepair> {
    let mut changes: Vec<String> = Vec::new();
    for (name, rule) in RULES {
        for fact in call.facts {
            let Some(change) = rule(&call, fact) else { continue };
            if !is_allowed(&change, &call) {
                continue;
            }
            let mut parameters = Value::Object(call.parameters.clone());
            if let Some(change) = change.apply(&mut parameters)
                && let Value::Object(changed) = parameters
            {
                changes.push(format!("{name}: {change} ({fact})"));
                call.parameters = changed;
            }
        }
    }
    (!changes.is_empty()).then(|| RuleRepair { parameters: call.parameters, description: changes.join("; ") })
}

/// The change of a sum of money that the error determines. It is for a person to decide: code does not move money by itself.
pub fn propose_sum(call: &RejectedCall<'_>) -> Option<RuleRepair> {
    let change = number_rules::other_sum(call).filter(|change| !call.is_referenced(change))?;
    let mut parameters = Value::Object(call.parameters.clone());
    let description = format!("sum: {}", change.apply(&mut parameters)?);
    match parameters {
        Value::Object(parameters) => Some(RuleRepair { parameters, description }),
        _ => None,
    }
}

fn is_allowed(change: &Change, call: &RejectedCall<'_>) -> bool {
    // A value that the plan takes from a result is respelt and never replaced, whatever the call does.
    let limit = if call.is_referenced(change) { AllowedChanges::SpellingOnly } else { call.allowed_changes };
    match limit {
        AllowedChanges::Any => true,
        AllowedChanges::WithEvidence => change.has_evidence() || spelling::changes_only_spelling(change, call),
        AllowedChanges::SpellingOnly => spelling::changes_only_spelling(change, call),
    }
}

impl Change {
    /// Whether the new value comes from the request, a result, the error or the value itself. A default says what is usual,
    /// not what was asked for, and a call without a parameter (`dry_run`) is another call.
    fn has_evidence(&self) -> bool {
        match self {
            Self::Set { from, .. } => *from != Some(fill_missing::THE_DEFAULT),
            Self::Swap { .. } => true,
            Self::Remove { .. } | Self::Rename { .. } => false,
        }
    }

    /// Makes the change and describes it. `None` if there is nothing to change.
    fn apply(self, parameters: &mut Value) -> Option<String> {
        match self {
            Self::Set { at, value, from } => {
                let old = parameters.at(&at).cloned();
                if old.as_ref() == Some(&value) {
                    return None;
                }
                let old = old.map_or_else(|| "nothing".to_owned(), |old| old.to_string());
                let from = from.map_or_else(String::new, |from| format!(", from {from}"));
                let text = format!("{} {old} -> {value}{from}", display_path(&at));
                set(parameters, &at, value)?;
                Some(text)
            }
            Self::Remove { at } => {
                let (parent, name) = parent_of(&at)?;
                let old = parameters.at_mut(&parent)?.as_object_mut()?.remove(&name)?;
                Some(format!("{} {old} left out", display_path(&at)))
            }
            Self::Rename { at, to } => {
                let (parent, name) = parent_of(&at)?;
                let object = parameters.at_mut(&parent)?.as_object_mut()?;
                (!object.contains_key(&to) && object.rename(&name, to.as_str())).then(|| format!("{name} -> {to}"))
            }
            Self::Swap { one, other } => {
                let (first, second) = (parameters.at(&one)?.clone(), parameters.at(&other)?.clone());
                *parameters.at_mut(&one)? = second;
                *parameters.at_mut(&other)? = first;
                Some(format!("{} <-> {}", display_path(&one), display_path(&other)))
            }
        }
    }
}

/// The path of the object that has a field, and the key of the field in it.
fn parent_of(at: &Path) -> Option<(Path, String)> {
    let mut parent = at.clone();
    match parent.pop()? {
        Segment::Key(name) => Some((parent, name)),
        Segment::Index(_) => None,
    }
}

fn display_path(at: &Path) -> String {
    let text = at.to_string();
    text.strip_prefix("$.").unwrap_or(&text).to_owned()
}

#[cfg(test)]
mod tests;
