//! Parameters that a person changes before they approve a call.

use reknit_engine::{AskPerson, DecidedBy, Decision, Event, EventKind, Machine, RecordKind, RunRecord};
use reknit_protocol::{Object, Value};

use crate::output::Failure;

/// What a person changes in the parameters of a call.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ParameterEdit {
    /// All parameters are replaced.
    Whole(Object),
    /// These parameters are set, the others stay.
    Some(Vec<(String, Value)>),
}

impl ParameterEdit {
    /// Parses `--edit`.
    pub(crate) fn whole(text: &str) -> Result<Self, Failure> {
        let hint = "write all parameters as a JSON object, or change one with `--set NAME=VALUE`";
        match Value::parse(text) {
            Ok(Value::Object(parameters)) => Ok(Self::Whole(parameters)),
            Ok(other) => Err(Failure::usage(format!("the parameters are {}, not an object", other.kind()), hint)),
            Err(error) => Err(Failure::usage(format!("the parameters are not JSON: {error}"), hint)),
        }
    }

    /// Parses the values of `--set`: JSON, or else text.
    pub(crate) fn some(texts: &[String]) -> Result<Self, Failure> {
        let pair = |text: &String| {
            let (name, value) = text
                .split_once('=')
                .filter(|(name, _)| !name.trim().is_empty())
                .ok_or_else(|| Failure::usage(format!("`{text}` is not NAME=VALUE"), "write `amount=50`"))?;
            Ok((name.trim().to_owned(), Value::parse(value).unwrap_or_else(|_| value.into())))
        };
        Ok(Self::Some(texts.iter().map(pair).collect::<Result<_, Failure>>()?))
    }

    /// The parameters of a call after the change.
    pub(crate) fn apply(self, current: &Object) -> Object {
        match self {
            Self::Whole(parameters) => parameters,
            Self::Some(pairs) => {
                let mut parameters = current.clone();
                parameters.extend(pairs);
                parameters
            }
        }
    }
}

/// Tries an edit on a copy of the run. Fails with the reason if the call cannot be sent with these parameters.
pub(crate) fn check_edit(machine: &Machine, ask: &AskPerson, parameters: &Object) -> Result<(), String> {
    let mut copy = machine.clone();
    let kind = EventKind::PersonDecided {
        effect: ask.id.clone(),
        hash: ask.hash.clone(),
        decision: Decision::Edit { parameters: parameters.clone() },
        by: DecidedBy::Person,
    };
    let records = copy.apply(&Event { at_ms: machine.now_ms(), kind }).map_err(|error| error.to_string())?;
    let refused = records.into_iter().find_map(|record| match record.kind {
        RecordKind::Run(RunRecord::EditRefused { reason, .. }) => Some(reason),
        _ => None,
    });
    refused.map_or(Ok(()), Err)
}
