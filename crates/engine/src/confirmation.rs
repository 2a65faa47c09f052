//! What is expected of every result of a capability, whichever plan calls it.

use reknit_expressions::{Expression, Parameters};
use reknit_plan::{REPLY, RESULT};
use reknit_protocol::{CapabilityName, Object, Step, StepId, ToolName, Value, exact, parse_human_duration};
use serde::{Deserialize, Serialize};

/// What is expected of the results of a capability, as `expect` and `verify` of a step say it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Confirmation {
    /// Whether a result is as wished: an expression over `result`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expect: Option<String>,
    /// A read call that tells whether the call had the wished effect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verify: Option<ConfirmingCall>,
}

/// A read call after the call of a capability.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ConfirmingCall {
    #[serde(rename = "agent")]
    pub tool: ToolName,
    /// The tool's capability; it must change nothing.
    pub capability: CapabilityName,
    /// Its parameters, as templates over `result`.
    #[serde(with = "exact")]
    pub parameters: Object,
    /// Whether the reply confirms the effect: an expression over `reply` and `result`.
    pub expect: String,
    /// The time between two replies and how many are asked for, if it is not one: `5 s` and `6`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub again: Option<(String, u32)>,
}

impl Confirmation {
    /// Checks the templates and expressions. Fails with the name of the field that is wrong, and why.
    pub fn validate(&self) -> Result<(), (&'static str, String)> {
        let of_result = [RESULT].map(StepId::from);
        let of_reply = [RESULT, REPLY].map(StepId::from);
        if self.expect.is_none() && self.verify.is_none() {
            return Err(("expect", "write `expect`, `verify` or both".to_owned()));
        }
        let expect = self.expect.iter().try_for_each(|text| Expression::parse(text, &of_result).map(drop));
        expect.map_err(|error| ("expect", error.to_string()))?;
        let Some(verify) = &self.verify else { return Ok(()) };
        Parameters::parse(&verify.parameters, &of_result).map_err(|error| ("with", error.to_string()))?;
        Expression::parse(&verify.expect, &of_reply).map_err(|error| ("reply", error.to_string()))?;
        match &verify.again {
            Some((wait, _)) if parse_human_duration(wait).is_none_or(|ms| ms == 0) => {
                Err(("wait", "write a number and a unit, like `5 s`".to_owned()))
            }
            _ => Ok(()),
        }
    }

    /// Adds what the step does not say itself.
    pub(crate) fn add_to(&self, step: &mut Step) {
        if let Some(expect) = self.expect.as_ref().filter(|_| !step.has_control("expect")) {
            step.metadata.insert("expect", expect.as_str());
        }
        if let Some(verify) = self.verify.as_ref().filter(|_| !step.has_control("verify")) {
            step.metadata.insert("verify", Value::Object(verify.to_object()));
        }
    }
}

impl ConfirmingCall {
    /// The object that a plan has under `verify`.
    fn to_object(&self) -> Object {
        let mut object = Object::from([
            ("tool", Value::from(format!("{}/{}", self.tool, self.capability))),
            ("with", Value::Object(self.parameters.clone())),
            ("expect", Value::from(self.expect.as_str())),
        ]);
        if let Some((wait, times)) = &self.again {
            object.insert("wait", wait.as_str());
            object.insert("times", *times);
        }
        object
    }
}
