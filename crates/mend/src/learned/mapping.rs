//! A learned mapping as a rule: the value of a missing parameter, from the result of another capability.

use std::collections::BTreeMap;

use reknit_expressions::{Expression, ParameterMapping, StepIds};
use reknit_protocol::StepId;
use reknit_protocol::tool::codes;

use super::faulty_call::{ERROR, PARAMETERS, REQUEST};
use super::{ErrorPattern, LearnedRule, RuleEvidence, RuleState, RuleValue};

/// What a call that cannot be sent says about its missing parameters.
const MISSING: &str = "not every parameter has a value: *";

/// The name of the producer's result in the expression of a mapping.
const PRODUCER_RESULT: &str = "it";

impl LearnedRule {
    /// The proposal of a rule that does what a mapping does. `None` if the expression of the mapping cannot be read.
    pub fn of_mapping(mapping: &ParameterMapping) -> Option<Self> {
        let short = mapping.producer.rsplit('/').next().unwrap_or_default();
        let is_taken = [PARAMETERS, ERROR, REQUEST].contains(&short);
        let name = if is_taken { mapping.producer.as_str() } else { short };
        let ids: [StepId; 1] = [name.into()];
        let expression = Expression::parse(&mapping.expression, &[PRODUCER_RESULT.into()]).ok()?;
        let general = expression.generalize(&|_| Some(name.into()), &|_| None, &StepIds::new(&ids))?;
        let rule = Self {
            id: String::new(),
            state: RuleState::Proposed,
            accepted_by: None,
            capability: mapping.consumer.clone(),
            error: ErrorPattern {
                status: None,
                code: codes::INVALID_FORMAT.to_owned(),
                message: MISSING.to_owned(),
                fields: vec![mapping.parameter.clone()],
            },
            absent: vec![mapping.parameter.clone()],
            results: BTreeMap::from([(name.to_owned(), mapping.producer.clone())]),
            change: BTreeMap::from([(mapping.parameter.clone(), RuleValue { of: general.to_string(), map: None })]),
            remove: Vec::new(),
            evidence: RuleEvidence::default(),
        };
        rule.validate().is_ok().then(|| rule.with_computed_id())
    }
}
