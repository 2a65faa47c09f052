//! How a run ends: stopped, or with every step over and an answer written.

use reknit_mend::Fate;
use reknit_model_api::Purpose;
use reknit_plan::{OnFailure, PlanProblem, PlannedOutput, PlannedStep, write_plan_file};
use reknit_protocol::{EffectKind, EffectOwner, Object, Plan, SideEffect, Step, StepId, join_first};
use reknit_salvage::fit;

use super::Run;
use super::agent_sessions::AgentReply;
use super::consultations::Topic;
use super::knowledge::{PlanContext, Reports, StepContext};
use super::stage::Stage;
use super::state::{Phase, PlanApproval, Stop};
use super::status::{RunEnd, StepFacts, status_of};
use super::step_handle::StepHandle;
use super::step_run::StepRun;
use crate::answer::{Answer, AnswerAuthor, MissingOutput, Outcome, StepReport, mended_lines, replanned_lines};
use crate::consult::Consultation;
use crate::internal_error::Decided;
use crate::policy::Synthesis;
use crate::record::RunRecord;
use crate::synthesis::{self, PlanOutputs};
use crate::templates::render;

impl Run {
    /// Ends a run that was only to make a plan.
    pub(super) fn end_with_plan(&mut self, plan: &Plan) {
        let text = write_plan_file(plan).trim_end().to_owned();
        self.end_with_text(&RunEnd::PlanWritten, text, "only a plan was asked for".to_owned(), Vec::new());
    }

    /// Ends the run with a reason as its answer.
    pub(super) fn end_early(&mut self, end: &RunEnd<'_>, reason: String, steps: Vec<StepReport>) {
        self.end_with_text(end, reason.clone(), reason, steps);
    }

    fn end_with_text(&mut self, end: &RunEnd<'_>, text: String, reason: String, steps: Vec<StepReport>) {
        self.finish(Answer {
            status: status_of(end),
            text,
            written_by: AnswerAuthor::Template,
            reason: Some(reason),
            doubts: Vec::new(),
            steps,
            outputs: Object::new(),
            computed_outputs: Vec::new(),
            missing_outputs: Vec::new(),
            replannings: self.state.planning.replannings.clone(),
            spent: self.spent(),
        });
    }

    fn finish(&mut self, answer: Answer) {
        self.record(RunRecord::Ended {
            status: answer.status,
            reason: answer.reason.clone().unwrap_or_default(),
            steps: self.plan.steps.len(),
            spent: Box::new(answer.spent.clone()),
        });
        match &self.state.phase {
            Phase::Selecting { consultation } => self.state.asked.selection = consultation.asked(),
            Phase::Planning { consultation, .. } => self.state.asked.plan = consultation.asked(),
            Phase::Answering { consultation } => self.state.asked.answer = consultation.asked(),
            Phase::Running | Phase::Ended(_) => {}
        }
        self.state.phase = Phase::Ended(Box::new(answer));
    }

    /// Ends the run if a decision failed through an error in the machine itself. What was done so far is reported.
    pub(super) fn end_if_internal_error(&mut self, decided: Decided) {
        if let Err(error) = decided {
            self.end_early(&RunEnd::InternalError, error.to_string(), self.known().reports().step_reports());
        }
    }

    /// Stops everything that can stop at once. Calls in progress are aborted, and their outcomes awaited.
    pub(super) fn stop(&mut self, stop: &Stop) -> Decided {
        let reason = stop.to_string();
        self.state.refund_resumed_calls();
        self.state.account.stopped_ms.get_or_insert(self.state.now_ms);
        self.state.account.stop = Some(stop.clone());
        self.state.settle_open_questions();
        if matches!(self.state.planning.approval, PlanApproval::Asking(_)) {
            self.state.planning.approval = PlanApproval::NotAsked;
        }
        match &self.state.phase {
            Phase::Ended(_) => {}
            Phase::Planning { .. } if self.known().is_replanning() => {
                self.give_up_replanning(reason.clone());
                self.end(AnswerAuthor::TemplateInstead(reason), None);
            }
            Phase::Selecting { .. } | Phase::Planning { .. } => {
                self.end_early(&RunEnd::StoppedBefore(stop), reason, Vec::new());
            }
            Phase::Answering { .. } => self.end(AnswerAuthor::TemplateInstead(reason), None),
            Phase::Running => {
                for index in self.plan.indices() {
                    self.at(index).stop_job(&reason)?;
                    if let Some(stage) = stopped(self.state.steps.get(index)?, &reason) {
                        self.at(index).set_stage(stage)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Writes the answer once every step is over.
    pub(super) fn finish_if_over(&mut self) -> Decided {
        if !self.state.steps.are_over() || !matches!(self.state.phase, Phase::Running) {
            return Ok(());
        }
        if self.replan()? {
            return Ok(());
        }
        let at_once = self.state.account.stop.as_ref().is_some_and(Stop::is_immediate);
        match self.policy().synthesis {
            Synthesis::Template => self.end(AnswerAuthor::Template, None),
            Synthesis::Raw => {
                let text = synthesis::raw_text(&self.known().reports().step_reports());
                self.end(AnswerAuthor::Raw, Some(text));
            }
            // Without any result a model can only guess.
            Synthesis::Model if at_once || !self.known().reports().has_result() => {
                self.end(AnswerAuthor::Template, None);
            }
            Synthesis::Model => return self.ask_for_answer(),
        }
        Ok(())
    }

    fn ask_for_answer(&mut self) -> Decided {
        if self.started.targets.is_empty() {
            self.end(AnswerAuthor::Template, None);
            return Ok(());
        }
        let (reports, plan_outputs) = (self.known().reports().step_reports(), self.known().reports().plan_outputs());
        let lost = self.known().reports().lost_filters().into_iter().map(|line| format!("- {line}"));
        let missing = [synthesis::missing_text(&reports, &plan_outputs)].into_iter().chain(lost);
        let missing = missing.filter(|lines| !lines.is_empty()).collect::<Vec<_>>().join("\n");
        let mended = [replanned_lines(&self.state.planning.replannings), mended_lines(&reports)].concat().join("\n");
        let results = synthesis::results_text(&reports, &plan_outputs);
        let request = self.shown_request.as_str();
        let values = [("request", request), ("results", &results), ("missing", &missing), ("mended", &mended)];
        let messages = match render(&self.started.templates.answer, &values) {
            Ok(messages) => messages,
            Err(error) => {
                self.end(AnswerAuthor::TemplateInstead(error.to_string()), None);
                return Ok(());
            }
        };
        let request = self.policy().asking.answer.to_model_request(self.known().messages_with_attachments(messages));
        let id = (EffectOwner::Answer, EffectKind::Ask);
        let consultation =
            Consultation::open(id, self.state.asked.answer, Purpose::Synthesis, request, self.known().rotation());
        self.state.phase = Phase::Answering { consultation: Box::new(consultation) };
        self.ask(Topic::Answer)
    }

    /// Ends the run with this text, or with one that code writes.
    pub(super) fn end(&mut self, written_by: AnswerAuthor, text: Option<String>) {
        let (steps, plan_outputs) = (self.known().reports().step_reports(), self.known().reports().plan_outputs());
        let (has_all, has_lost) = (plan_outputs.missing.is_empty(), !self.known().reports().lost_filters().is_empty());
        let facts = StepFacts::new(&self.state, &self.plan, &steps, has_all, has_lost);
        let status = status_of(&RunEnd::Over(facts));
        let by_model = text.as_deref().filter(|_| written_by == AnswerAuthor::Model);
        let doubts = self.known().reports().doubts(&steps, &plan_outputs, by_model);
        let text = text.unwrap_or_else(|| {
            synthesis::template_text(status, &steps, &plan_outputs, &self.state.planning.replannings)
        });
        let reason = self.state.account.stop.as_ref().map(ToString::to_string);
        let PlanOutputs { outputs, computed: computed_outputs, missing: missing_outputs } = plan_outputs;
        let (spent, replannings) = (self.spent(), self.state.planning.replannings.clone());
        self.finish(Answer {
            status,
            text,
            written_by,
            reason,
            doubts,
            steps,
            outputs,
            computed_outputs,
            missing_outputs,
            replannings,
            spent,
        });
    }
}

impl StepHandle<'_> {
    /// A step failed after which the plan starts no other one. What is in progress goes on.
    pub(super) fn stop_after_failure(&mut self) -> Decided {
        let cause = Stop::StepFailed(self.planned()?.id.clone());
        let reason = cause.to_string();
        self.account.stop.get_or_insert(cause);
        for index in self.plan.indices() {
            let step = self.steps.get(index)?;
            let stage = stopped(step, &reason).filter(|stage| matches!(stage, Stage::Skipped { .. }));
            if let Some(stage) = stage {
                self.set_stage_of(index, stage)?;
            }
        }
        Ok(())
    }
}

impl Reports<'_> {
    fn has_result(&self) -> bool {
        self.known.steps.iter().any(|step| matches!(step.stage(), Stage::Done(_)))
    }

    /// What a reader of the answer should verify.
    fn doubts(&self, steps: &[StepReport], plan_outputs: &PlanOutputs, text: Option<&str>) -> Vec<String> {
        let (request, Some(plan)) = (self.known.request, &self.known.planning.plan) else { return Vec::new() };
        let of_answer = text.and_then(|text| synthesis::doubt_about_answer(text, request, plan, steps, plan_outputs));
        // The author of a hand-written plan knows what is in it.
        let by_model = self.known.started.plan.is_none();
        let of_plan = if by_model { synthesis::doubt_about_plan(request, plan, steps) } else { None };
        let of_results = self.notes_about_unfit_results();
        let of_agents = steps.iter().filter_map(AgentReply::of).flat_map(|reply| reply.shortcomings());
        let of_answer = of_answer.into_iter().chain(of_plan).chain(of_results).chain(of_agents);
        of_answer.chain(self.doubts_about_placeholders()).chain(self.lost_filters()).collect()
    }

    /// The outputs of the plan, as far as they can be computed.
    fn plan_outputs(&self) -> PlanOutputs {
        let mut plan_outputs = PlanOutputs::default();
        for PlannedOutput { name, expression, schema } in &self.known.plan.outputs {
            let evaluated = expression.evaluate(&self.known.results(None)).map_err(|error| error.to_string());
            let fitted = evaluated.and_then(|evaluated| match schema {
                None => Ok(evaluated.value),
                Some(schema) => fit(evaluated.value, schema).map(|fitted| fitted.value).map_err(|misfit| {
                    format!("its value does not have the declared type: {}", join_first(&misfit.problems))
                }),
            });
            if fitted.is_ok() && expression.as_reference().is_none() {
                plan_outputs.computed.push(name.clone());
            }
            match fitted {
                Ok(value) => _ = plan_outputs.outputs.insert(name.as_str(), value),
                Err(reason) => plan_outputs.missing.push(MissingOutput { name: name.clone(), reason }),
            }
        }
        plan_outputs
    }

    /// The outcome of each step so far, with the steps that were left out of the plan at the end.
    pub(crate) fn step_reports(&self) -> Vec<StepReport> {
        let reports = self.known.steps_in_order().map(|(planned, step)| StepReport {
            step: planned.id.clone(),
            item_of: self.known.loop_of(planned),
            tool: planned.tool.clone(),
            capability: planned.capability.clone(),
            session: self.known.session(planned, step.sent()),
            outcome: match step.stage() {
                Stage::Done(value) => Outcome::Done(value.clone()),
                Stage::Failed { reason, fault } => {
                    let words = fault.as_ref().map_or_else(|| reason.clone(), |fault| format!("{fault}; {reason}"));
                    let fate = match self.known.side_effect(planned) {
                        // A read that may have happened has changed nothing.
                        SideEffect::Read => Fate::Rejected,
                        class if step.may_have_happened(class, fault.as_deref()) => Fate::Unknown,
                        _ => fault.as_ref().map_or(Fate::NotSent, |fault| fault.fate),
                    };
                    Outcome::Failed { reason: with_replacement(words, planned), fate }
                }
                Stage::Unconfirmed { reason, result } => {
                    Outcome::Unconfirmed { reason: with_replacement(reason.clone(), planned), result: result.clone() }
                }
                Stage::Skipped { reason } | Stage::SkippedByCondition { reason } => {
                    Outcome::Skipped { reason: reason.clone() }
                }
                _ => Outcome::Skipped { reason: "it was not finished".to_owned() },
            },
            replaced: step.replaced,
            mends: step.mends.clone(),
            approvals: step.approval.reports.clone(),
            calls: step.sent(),
        });
        reports.chain(self.known.planning.left_out.iter().cloned()).collect()
    }
}

impl PlanContext<'_> {
    /// The step with the loop that a step is an item of.
    pub(super) fn loop_of(&self, planned: &PlannedStep) -> Option<StepId> {
        Some(self.plan.get(planned.item?.of)?.id.clone())
    }
}

impl<'a> StepContext<'a> {
    /// The steps with the items of each loop after it.
    pub(super) fn steps_in_order(self) -> impl Iterator<Item = (&'a PlannedStep, &'a StepRun)> {
        let steps = self.steps.in_order();
        steps.filter_map(move |index| Some((self.plan.get(index)?, self.steps.get(index).ok()?)))
    }
}

/// What is reported about a step that was left out of the plan because it could not run.
pub(super) fn left_out_report((step, problem): &(Step, PlanProblem)) -> StepReport {
    StepReport {
        step: step.step_id.clone(),
        item_of: None,
        tool: step.tool.clone(),
        capability: step.capability().unwrap_or_default().into(),
        session: None,
        outcome: Outcome::Skipped { reason: format!("left out of the plan: {problem}") },
        replaced: false,
        mends: Vec::new(),
        approvals: Vec::new(),
        calls: 0,
    }
}

/// Why a step has no result, and what the plan uses instead.
fn with_replacement(reason: String, planned: &PlannedStep) -> String {
    match &planned.controls.on_failure {
        OnFailure::Use(value) => format!("{reason}; the plan uses {value} instead"),
        _ => reason,
    }
}

/// The stage of a step when the run stops; `None` if the step is over or stopping already.
fn stopped(step: &StepRun, reason: &str) -> Option<Stage> {
    let reason = match &step.key_holder {
        Some(holder) => format!("{reason}; {holder}"),
        None => reason.to_owned(),
    };
    let last_fault = || step.last_fault().cloned();
    match step.stage() {
        Stage::Waiting => Some(Stage::Skipped { reason }),
        Stage::Queued | Stage::BackingOff { .. } | Stage::AwaitingApproval { fault: None, .. } if step.sent() == 0 => {
            Some(Stage::Skipped { reason })
        }
        Stage::Queued | Stage::BackingOff { .. } | Stage::AwaitingApproval { fault: None, .. } => {
            Some(Stage::Failed { reason, fault: last_fault() })
        }
        Stage::Consulting { fault, .. }
        | Stage::Checking { fault, .. }
        | Stage::AwaitingApproval { fault: Some(fault), .. } => {
            Some(Stage::Failed { reason, fault: Some(fault.clone()) })
        }
        Stage::Calling(call) => Some(Stage::Stopping(call.clone())),
        Stage::Verifying(verification) => {
            let reason = format!("its effect was not verified: {reason}");
            Some(Stage::Unconfirmed { result: verification.result.clone(), reason })
        }
        // A loop ends when the calls of its items are over. `stop_job` has told the tool to cancel its job.
        _ => None,
    }
}
