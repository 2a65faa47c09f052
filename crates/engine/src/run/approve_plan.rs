//! Approval of a whole plan: a person sees all its calls once, before the first of them, with the inputs of the plan filled in.

use std::collections::BTreeMap;
use std::sync::Arc;

use reknit_expressions::{Expression, InputSource, Provenance, Reference, Template, TextPart};
use reknit_mend::PeoplePolicy;
use reknit_plan::{INPUTS, ITEM, PlannedStep, StepIndex};
use reknit_protocol::{EffectId, EffectKind, EffectOwner, Object, SideEffect, StepId, Value};

use super::approve_call::new_question;
use super::knowledge::{CallJudge, StepContext};
use super::stage::Stage;
use super::state::PlanApproval;
use super::{Run, planned};
use crate::answer::StepApproval;
use crate::approval_rules::AskScope;
use crate::effect::{PreviewedCall, Question};
use crate::event::{DecidedBy, Decision, EventKind};
use crate::internal_error::Decided;
use crate::record::RunRecord;

/// What a decision about the plan names instead of a step.
const PLAN: &str = "plan";

impl Run {
    /// Asks a person about a plan with calls that do not only read, if the policy says so.
    pub(super) fn ask_about_plan(&mut self) -> Decided {
        if self.policy().approvals.ask != AskScope::Plan {
            return Ok(());
        }
        let calls = self.known().preview();
        if calls.iter().all(|call| call.side_effect == SideEffect::Read) {
            return Ok(());
        }
        if self.policy().people == PeoplePolicy::Nobody {
            return self.skip_all("the plan needs approval, and no person can be asked for approval");
        }
        let limits = &self.policy().limits;
        let question = Question::RunPlan { calls, tool_calls: limits.tool_calls, money: limits.cost() };
        let id = EffectId::new(EffectOwner::Plan, EffectKind::PlanApproval, self.plan_approval_ordinal());
        let expires_ms = self.known().clock.question_expires_ms();
        let ask = new_question(&self.started.run, (id, StepId::from(PLAN)), question, Vec::new(), expires_ms);
        self.record(RunRecord::ApprovalRequested(Arc::clone(&ask)));
        self.state.planning.approval = PlanApproval::Asking(ask);
        Ok(())
    }

    /// Each question has an ordinal of its own: after a retry, and about a second plan.
    fn plan_approval_ordinal(&self) -> u32 {
        let plans = self.state.planning.replannings.iter().filter(|replanning| !replanning.added.is_empty()).count();
        self.state.retries + 1 + u32::try_from(plans).unwrap_or(u32::MAX)
    }

    /// Applies a decision about the plan; returns whether it was one.
    pub(super) fn on_plan_decision(&mut self, kind: &EventKind) -> Decided<bool> {
        let PlanApproval::Asking(ask) = &self.state.planning.approval else { return Ok(false) };
        let ask = Arc::clone(ask);
        let (decision, by, expired) = match kind {
            EventKind::PersonDecided { effect, hash, decision, by }
                if ask.id == *effect && ask.hash == *hash && !decision.settles_outcome() =>
            {
                (decision.clone(), *by, false)
            }
            EventKind::Woke { effect } if ask.id.with_kind(EffectKind::PlanApprovalExpiry) == *effect => {
                (Decision::Deny { reason: None }, DecidedBy::Person, true)
            }
            _ => return Ok(false),
        };
        if let Decision::Edit { .. } = decision {
            let reason = "a plan is approved as it is; reject it and run another one".to_owned();
            self.record(RunRecord::EditRefused { id: ask.id.clone(), reason });
            return Ok(true);
        }
        self.record(RunRecord::ApprovalDecided { id: ask.id.clone(), decision: decision.clone(), by, expired });
        self.state.planning.approval = PlanApproval::NotAsked;
        if let Decision::Deny { reason } = decision {
            let reason = match reason {
                _ if expired => "the time to approve the plan ran out".to_owned(),
                Some(reason) => format!("the plan was not approved: {reason}"),
                None => "the plan was not approved".to_owned(),
            };
            self.skip_all(&reason)?;
        } else {
            self.state.planning.approval = PlanApproval::Approved;
            self.report_approved_plan(by)?;
        }
        Ok(true)
    }

    /// Notes the approval for each call that does not only read.
    fn report_approved_plan(&mut self, by: DecidedBy) -> Decided {
        let plan = Arc::clone(&self.plan);
        for (index, planned) in plan.indices().zip(&plan.steps) {
            if self.known().side_effect(planned) != SideEffect::Read && self.known().is_previewed_step(index) {
                let approval = StepApproval { by, reason: "as part of the plan".to_owned(), change: None };
                self.state.steps.get_mut(index)?.approval.reports.push(approval);
            }
        }
        Ok(())
    }

    fn skip_all(&mut self, reason: &str) -> Decided {
        for index in self.plan.indices() {
            if matches!(self.state.steps.get(index)?.stage(), Stage::Waiting) {
                self.at(index).set_stage(Stage::Skipped { reason: reason.to_owned() })?;
            }
        }
        Ok(())
    }
}

impl StepContext<'_> {
    /// The calls of the plan as they are written in it, with the values of its inputs.
    fn preview(&self) -> Vec<PreviewedCall> {
        let written = self.planning.plan.as_ref().map(|plan| plan.steps.as_slice()).unwrap_or_default();
        let inputs = self.inputs;
        let parameters = |id: &StepId, known: Option<&KnownInputs>| -> Object {
            let step = written.iter().find(|step| step.step_id == *id);
            let written = step.and_then(|step| step.parameters()).cloned().unwrap_or_default();
            match known {
                Some(known) => written.iter().map(|(name, value)| (name.to_owned(), known.fill(value))).collect(),
                None => written,
            }
        };
        let call = |planned: &PlannedStep| {
            let item = planned.foreach().map(|_| ITEM.into());
            let ids = self.source_ids(planned).into_iter().chain(item).collect();
            let known = inputs.map(|inputs| KnownInputs::new(ids, inputs));
            let list = |list: &Expression| {
                known.as_ref().map_or_else(|| list.to_string(), |known| known.fill_expression(list))
            };
            PreviewedCall {
                step: planned.id.clone(),
                tool: planned.tool.clone(),
                capability: planned.capability.clone(),
                side_effect: self.side_effect(planned),
                parameters: parameters(&planned.id, known.as_ref()),
                foreach: planned.foreach().map(|foreach| list(&foreach.list)),
            }
        };
        let steps = self.plan.indices().zip(self.plan.written_steps());
        steps.filter(|(index, _)| self.is_previewed_step(*index)).map(|(_, planned)| call(planned)).collect()
    }

    /// Whether a question about the plan is about a step. Of a second plan only its own steps have not run.
    fn is_previewed_step(&self, index: StepIndex) -> bool {
        let waits = || self.steps.get(index).is_ok_and(|step| matches!(step.stage(), Stage::Waiting));
        self.planning.replannings.is_empty() || waits()
    }
}

impl CallJudge<'_> {
    /// Whether the next call of a step is one that a person saw in the preview: not corrected, with values that the plan
    /// contains or refers to.
    pub(super) fn is_in_approved_plan(&self, index: StepIndex) -> Decided<bool> {
        let step = self.known.steps.get(index)?;
        let is_approved = self.known.planning.approval == PlanApproval::Approved;
        let is_shown = step.correction == 0 && step.provenance.iter().all(|(_, origin)| is_previewed(origin));
        // Whoever writes a rule wants to judge the values that it is about.
        let has_unseen_value = step.provenance.iter().any(|(_, origin)| has_result(origin));
        let call = self.known.call_of(planned(self.known.plan, index)?, &step.parameters);
        Ok(is_approved && is_shown && !(has_unseen_value && self.known.policy().approvals.has_rule_for(&call)))
    }
}

/// Whether a part of a value comes from the result of a step, which did not exist when the plan was previewed.
fn has_result(origin: &Provenance) -> bool {
    let is_result = |step: &StepId| step.as_str() != INPUTS;
    match origin {
        Provenance::Reference { step, .. } | Provenance::Wired { step, .. } => is_result(step),
        Provenance::Expression { inputs, .. } | Provenance::Text { inputs, .. } => {
            inputs.iter().any(|input| matches!(&input.source, InputSource::Reference { step, .. } if is_result(step)))
        }
        Provenance::Nested { parts } => parts.iter().any(|part| has_result(&part.provenance)),
        Provenance::Resolved { origin, .. } => has_result(origin),
        Provenance::Literal | Provenance::Inferred | Provenance::Person | Provenance::Corrected { .. } => false,
    }
}

/// Whether the preview shows a value or the reference that it comes from.
fn is_previewed(origin: &Provenance) -> bool {
    match origin {
        Provenance::Literal
        | Provenance::Reference { .. }
        | Provenance::Expression { .. }
        | Provenance::Text { .. } => true,
        Provenance::Nested { parts } => parts.iter().all(|part| is_previewed(&part.provenance)),
        Provenance::Wired { .. }
        | Provenance::Resolved { .. }
        | Provenance::Inferred
        | Provenance::Person
        | Provenance::Corrected { .. } => false,
    }
}

/// Fills in the inputs of a plan.
struct KnownInputs {
    /// The names that a template can refer to.
    ids: Vec<StepId>,
    inputs: BTreeMap<StepId, Value>,
}

impl KnownInputs {
    fn new(ids: Vec<StepId>, inputs: &Value) -> Self {
        Self { ids, inputs: BTreeMap::from([(StepId::from(INPUTS), inputs.clone())]) }
    }

    /// A parameter with what its inputs give. References to results stay as they are written.
    fn fill(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => self.fill_text(text).unwrap_or_else(|| value.clone()),
            Value::Array(items) => Value::Array(items.iter().map(|item| self.fill(item)).collect()),
            Value::Object(object) => {
                Value::Object(object.iter().map(|(key, value)| (key.to_owned(), self.fill(value))).collect())
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        }
    }

    fn fill_expression(&self, expression: &Expression) -> String {
        self.known(expression).map_or_else(|| self.with_known_parts(expression), |value| value.to_string())
    }

    /// `None` if the text refers to no input.
    fn fill_text(&self, text: &str) -> Option<Value> {
        let template = Template::parse(&Value::from(text), &self.ids).ok()?;
        if !template.references().into_iter().any(is_input) {
            return None;
        }
        let expression = match template {
            Template::Reference(reference) => Expression::from(reference),
            Template::Expression(expression) => expression,
            Template::Text(text) => {
                let parts = text.parts.iter().map(|part| match part {
                    TextPart::Literal(literal) => literal.clone(),
                    TextPart::Placeholder(expression) => match self.known(expression) {
                        Some(Value::String(known)) => known,
                        Some(known) => known.to_string(),
                        None => format!("{{{{{}}}}}", self.with_known_parts(expression)),
                    },
                });
                return Some(Value::String(parts.collect()));
            }
            Template::Literal(_) | Template::Array(_) | Template::Object(_) => return None,
        };
        let known = self.known(&expression);
        known.or_else(|| Some(Value::String(format!("{{{{{}}}}}", self.with_known_parts(&expression)))))
    }

    /// The value of an expression over inputs alone.
    fn known(&self, expression: &Expression) -> Option<Value> {
        let references = expression.references();
        let is_known = !references.is_empty() && references.into_iter().all(is_input);
        is_known.then(|| expression.evaluate(&self.inputs).ok().map(|found| found.value)).flatten()
    }

    /// The text of an expression with the values of its inputs.
    fn with_known_parts(&self, expression: &Expression) -> String {
        let value_of = |reference: &Reference| {
            let is_known = is_input(reference).then(|| Expression::from(reference.clone()).evaluate(&self.inputs));
            Some(is_known?.ok()?.value)
        };
        expression.with_values(&value_of).to_string()
    }
}

fn is_input(reference: &Reference) -> bool {
    reference.step().as_str() == INPUTS
}
