//! What the configuration says about the results of a capability: how to find out whether a call took effect, and what is expected
//! of every result, whichever plan calls it.

use std::collections::BTreeMap;

use reknit_expressions::{Binding, Expression, Parameters, bind};
use reknit_mend::{ReplyContext, Verdict, classify_reply};
use reknit_plan::{Catalogue, CatalogueEntry, REPLY, RESULT, StepControls, Verify};
use reknit_protocol::{
    CallTool, CapabilityName, Object, SideEffect, Step, StepId, ToolName, ToolReply, Value, exact, parse_human_duration,
};
use serde::{Deserialize, Serialize};

/// Names that the templates of a check may use, beside the parameters of the call.
const CALL: &str = "call";
const KEY: &str = "key";
const STATUS: &str = "status";

/// A read capability that tells whether a call took effect.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OutcomeCheck {
    #[serde(rename = "agent")]
    pub tool: ToolName,
    /// The tool's capability; it must change nothing.
    pub capability: CapabilityName,
    /// Its parameters, as templates: `{{call.order_id}}` is a parameter of the call, `{{key}}` its idempotency key.
    #[serde(with = "exact")]
    pub parameters: Object,
    /// Whether the call took effect, as an expression over `call`, `key`, `status` and `reply`: `len(reply.items) > 0`.
    pub happened: String,
    /// The result of the call, as an expression over the same names. Without one it is the whole reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// What follows if the check does not find the call.
    pub if_absent: IfAbsent,
}

/// What follows if a check does not find a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IfAbsent {
    /// A person is asked: the call may still be under way.
    #[default]
    Ask,
    /// The call is sent again.
    SendAgain,
}

/// What a check found out.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Finding {
    /// The call took effect, with this result.
    Happened(Value),
    /// The check does not find the call.
    Absent,
    /// The check does not tell; with the reason.
    Unclear(String),
}

impl OutcomeCheck {
    /// Checks the templates and expressions. Fails with the name of the field that is wrong, and why.
    pub fn validate(&self) -> Result<(), (&'static str, String)> {
        let before = [CALL, KEY].map(StepId::from);
        Parameters::parse(&self.parameters, &before).map_err(|error| ("parameters", error.to_string()))?;
        let after = [CALL, KEY, STATUS, REPLY].map(StepId::from);
        Expression::parse(&self.happened, &after).map_err(|error| ("happened", error.to_string()))?;
        let result = self.result.iter().try_for_each(|text| Expression::parse(text, &after).map(drop));
        result.map_err(|error| ("result", error.to_string()))
    }

    /// The parameters of the check for a call, or why they have no values.
    pub(crate) fn parameters_for(&self, call: &CallTool) -> Result<Object, String> {
        let known = values_of(call);
        let ids: Vec<StepId> = known.keys().cloned().collect();
        let parameters = Parameters::parse(&self.parameters, &ids).map_err(|error| error.to_string())?;
        match bind(&parameters, &known, &[], None) {
            Binding::Bound(bound) | Binding::Misfit { bound, .. } => Ok(bound.parameters),
            Binding::Unbound { unbound, .. } => {
                Err(unbound.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))
            }
        }
    }

    /// What the reply to the check says about the call.
    pub(crate) fn read(&self, call: &CallTool, reply: &ToolReply) -> Finding {
        // These say nothing about the call: the service is down, refuses access, or is asked too often.
        if matches!(reply.status, 300..=399 | 401 | 403 | 405 | 407 | 408 | 429 | 500..) {
            return Finding::Unclear(format!("it answered with status {}", reply.status));
        }
        // With the status of a success the check may still report an error, or a proxy may show a page.
        let is_success = matches!(reply.status, 200..=299);
        let is_page = reply.body.to_value().as_str().is_some_and(|text| text.trim_start().starts_with('<'));
        if is_success
            && (is_page
                || !matches!(classify_reply(reply, ReplyContext::new(SideEffect::Read, 0)), Verdict::Success(_)))
        {
            return Finding::Unclear("it answered with an error or a page although its status is a success".to_owned());
        }
        let mut known = values_of(call);
        known.insert(STATUS.into(), u32::from(reply.status).into());
        known.insert(REPLY.into(), reply.body.to_value());
        match evaluate(&self.happened, &known) {
            Ok(Value::Bool(false)) => Finding::Absent,
            Ok(Value::Bool(true)) => match self.result.as_deref().map(|text| evaluate(text, &known)) {
                None => Finding::Happened(reply.body.to_value()),
                Some(Ok(result)) => Finding::Happened(result),
                Some(Err(problem)) => Finding::Unclear(format!("its answer has no result: {problem}")),
            },
            Ok(other) => Finding::Unclear(format!("`{}` is {other}, neither true nor false", self.happened)),
            Err(problem) => Finding::Unclear(format!("`{}` has no value: {problem}", self.happened)),
        }
    }
}

fn values_of(call: &CallTool) -> BTreeMap<StepId, Value> {
    let key = call.idempotency_key.as_deref().map_or(Value::Null, Value::from);
    BTreeMap::from([(CALL.into(), Value::Object(call.parameters.clone())), (KEY.into(), key)])
}

fn evaluate(text: &str, known: &BTreeMap<StepId, Value>) -> Result<Value, String> {
    let ids: Vec<StepId> = known.keys().cloned().collect();
    let expression = Expression::parse(text, &ids).map_err(|error| error.to_string())?;
    expression.evaluate(known).map(|evaluation| evaluation.value).map_err(|reason| reason.to_string())
}

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

impl Confirmation {
    /// The same for a call that no plan contains. Expressions that `validate` refuses are left out.
    pub(crate) fn controls(&self, catalogue: &Catalogue) -> StepControls {
        let (of_result, of_reply) = ([RESULT].map(StepId::from), [RESULT, REPLY].map(StepId::from));
        let verify = |call: &ConfirmingCall| {
            let (wait, times) = call.again.as_ref().map_or(("", 1), |(wait, times)| (wait.as_str(), *times));
            let entry = catalogue.entry(call.tool.as_str(), call.capability.as_str());
            Some(Verify {
                tool: call.tool.clone(),
                capability: call.capability.clone(),
                parameters: Parameters::parse(&call.parameters, &of_result).ok()?,
                schema: entry.and_then(CatalogueEntry::compiled_schema),
                expect: Expression::parse(&call.expect, &of_reply).ok()?,
                wait_ms: parse_human_duration(wait).unwrap_or(0),
                times,
            })
        };
        StepControls {
            expect: self.expect.as_ref().and_then(|text| Expression::parse(text, &of_result).ok()),
            verify: self.verify.as_ref().and_then(verify),
            ..StepControls::default()
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
