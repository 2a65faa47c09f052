//! The problem of a template or expression that cannot be parsed.

use reknit_expressions::{TemplateParseError, TemplateProblem};
use reknit_protocol::StepId;

use super::{Code, PlanLocation, PlanProblem};
use crate::hint::suggestion;
use crate::{ITEM, REPLY, RESULT};

pub(super) fn template_problem(location: PlanLocation, error: &TemplateParseError) -> PlanProblem {
    let at = error.position + 1;
    let TemplateProblem::UnknownStep { found, available, .. } = &error.problem else {
        return PlanProblem::new(Code::BadExpression, location, format!("character {at}: {}", error.problem));
    };
    let names: Vec<&str> = available.iter().map(StepId::as_str).collect();
    let hint = match found.as_str() {
        ITEM => "only a step with `foreach` has an `item`, and `filter`, `map` and the like".to_owned(),
        RESULT => "only `until`, `expect` and `verify` call the result of their step `result`".to_owned(),
        REPLY => "only the `expect` of a `verify` has a `reply`".to_owned(),
        found => suggestion(found, &names),
    };
    PlanProblem::new(Code::UnknownReference, location, format!("character {at}: there is no step `{found}`"))
        .with_hint(Some(hint))
}
