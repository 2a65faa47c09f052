//! From the request to a plan that may run. Of a large catalogue, a model first selects the tools that the planner is shown.

use std::borrow::Cow;
use std::sync::Arc;

use reknit_model_api::{Purpose, ResponseFormat};
use reknit_plan::{
    Catalogue, PlanFix, PlanFixKind, PlanLanguage, PlanProblem, ProblemCode, ToolSelection, check_read_calls,
    check_tolerantly, correct_plan, describe_tools, place_controls, plan_json_schema, read_plan, resolve_inputs,
    summarize_tools,
};
use reknit_protocol::spelling::are_alike;
use reknit_protocol::{EffectKind, EffectOwner, Object, Plan, SideEffect, Step, error_chain, truncate};

use super::consultations::{NoAnswer, Topic};
use super::finish::left_out_report;
use super::knowledge::PlanContext;
use super::replaced_call::ReplacedCall;
use super::state::{LostParameters, Phase, RejectedPlan, Stop};
use super::status::RunEnd;
use super::steps::Steps;
use super::{Run, joined};
use crate::consult::Consultation;
use crate::event::Started;
use crate::internal_error::Decided;
use crate::policy::Sampling;
use crate::record::{PlanRejection, Record, RunRecord};
use crate::templates::render;

/// How much of its own rejected answer a model is shown again, in bytes.
const SHOWN_ANSWER: usize = 8_000;

/// How much of a rejected answer the run keeps, in bytes.
const KEPT_ANSWER: usize = 1_000;

/// A model's answer that is not a plan we can run.
pub(super) struct RejectedAnswer<'a> {
    text: &'a str,
    problems: &'a str,
}

impl Run {
    /// Requests a plan; with a large catalogue, tools are selected first.
    pub(super) fn begin_planning(&mut self) -> Decided {
        let count: usize = self.catalogue().tools.iter().map(|tool| tool.visible_capabilities().count()).sum();
        let threshold = self.policy().planning.choose_from;
        if count < threshold as usize || self.started.targets.is_empty() {
            return self.request_plan(None);
        }
        let tools = summarize_tools(&ToolSelection::candidates(self.catalogue(), &self.started.request));
        let values = [("tools", tools.as_str()), ("request", self.shown_request.as_str())];
        let messages = match render(&self.started.templates.choice, &values) {
            Ok(messages) => messages,
            Err(error) => return self.select_by_search(error.to_string()),
        };
        let messages = self.known().messages_with_attachments(messages);
        let request = self.policy().asking.choice.to_model_request(messages).with_format(ResponseFormat::Json);
        let id = (EffectOwner::Plan, EffectKind::Select);
        let consultation = Consultation::open(
            id,
            self.state.asked.selection,
            Purpose::TieredSelection,
            request,
            self.known().rotation(),
        );
        self.state.phase = Phase::Selecting { consultation: Box::new(consultation) };
        self.ask(Topic::Selection)
    }

    pub(super) fn on_selection_text(&mut self, text: &str) -> Decided {
        match ToolSelection::parse(text, self.catalogue()) {
            Ok(choice) => self.plan_with(choice),
            Err(problem) => self.select_by_search(problem),
        }
    }

    /// Selects the tools without a model, for this reason.
    pub(super) fn select_by_search(&mut self, reason: String) -> Decided {
        self.plan_with(ToolSelection::by_search(self.catalogue(), &self.started.request, reason))
    }

    fn plan_with(&mut self, choice: ToolSelection) -> Decided {
        self.record(RunRecord::ToolsSelected(choice.clone()));
        self.state.planning.choice = Some(choice);
        self.request_plan(None)
    }

    /// Asks for a plan, showing the rejected one with all its problems.
    pub(super) fn request_plan(&mut self, rejected: Option<&RejectedAnswer<'_>>) -> Decided {
        if self.started.targets.is_empty() {
            let reason = "there is no model to write a plan: configure one, or pass a plan".to_owned();
            self.end_early(&RunEnd::NoPlan, reason, Vec::new());
            return Ok(());
        }
        let sampling = self.policy().asking.plan;
        // A truncated plan has raised the limit of the last question.
        let (attempt, asked, max_tokens) = match &self.state.phase {
            Phase::Planning { attempt, consultation } => (attempt + 1, consultation.asked(), consultation.max_tokens()),
            _ => (1, self.state.asked.plan, sampling.max_tokens),
        };
        let shown = self.known().shown_tools();
        let tools = describe_tools(&shown);
        let last = rejected.map_or_else(String::new, |rejected| truncate(rejected.text.to_owned(), SHOWN_ANSWER));
        let values = [
            ("tools", tools.as_str()),
            ("request", self.shown_request.as_str()),
            ("last", last.as_str()),
            ("problems", rejected.map_or("", |rejected| rejected.problems)),
        ];
        let rendered = render(&self.started.templates.plan, &values);
        let rendered = if self.known().is_replanning() {
            rendered.and_then(|messages| self.known().second_plan().with_progress(messages))
        } else {
            rendered
        };
        let messages = match rendered {
            Ok(messages) => messages,
            Err(error) => {
                self.end_without_plan(&RunEnd::NoPlan, error.to_string());
                return Ok(());
            }
        };
        let format = plan_json_schema(&shown, self.policy().planning.language)
            .map_or(ResponseFormat::Json, |schema| ResponseFormat::Schema { name: "plan".to_owned(), schema });
        let request = Sampling { max_tokens, ..sampling }
            .to_model_request(self.known().messages_with_attachments(messages))
            .with_format(format);
        let id = (EffectOwner::Plan, EffectKind::Ask);
        let consultation = Consultation::open(id, asked, Purpose::PlanGeneration, request, self.known().rotation());
        self.state.phase = Phase::Planning { attempt, consultation: Box::new(consultation) };
        self.ask(Topic::Plan { attempt })
    }

    pub(super) fn on_no_plan(&mut self, why: NoAnswer) {
        match why {
            NoAnswer::GaveUp(reason) => {
                self.end_without_plan(&RunEnd::NoPlan, format!("no model wrote a plan: {reason}"));
            }
            NoAnswer::Exhausted(exhausted) => {
                let stop = Stop::Exhausted(exhausted);
                self.end_without_plan(&RunEnd::StoppedBefore(&stop), stop.to_string());
            }
        }
    }

    /// Ends a run for which there is no plan. One that wanted a second plan goes on with what it has.
    fn end_without_plan(&mut self, end: &RunEnd<'_>, reason: String) {
        if self.known().is_replanning() {
            self.give_up_replanning(reason);
        } else {
            self.end_early(end, reason, Vec::new());
        }
    }

    pub(super) fn on_plan_text(&mut self, text: &str, attempt: u32) -> Decided {
        let is_last = attempt > self.policy().planning.retries;
        let read = self.known().read_plan(text);
        let steps = read.iter().flat_map(|(plan, _)| &plan.steps);
        let calls: Vec<ReplacedCall> = steps.filter_map(ReplacedCall::of).collect();
        let (cause, problems) = match read {
            Ok((plan, repairs)) if self.known().is_replanning() => {
                match self.accept_second_plan(plan, repairs, is_last)? {
                    Ok(()) => return Ok(()),
                    Err(problems) => (PlanRejection::Problems, problems),
                }
            }
            Ok((plan, repairs)) => match self.accept_plan(plan.clone(), repairs.clone())? {
                Ok(()) => return Ok(()),
                Err(_) if is_last && self.accept_tolerable_plan(plan, repairs)? => return Ok(()),
                Err(problems) => {
                    (PlanRejection::Problems, problems.iter().map(ToString::to_string).collect::<Vec<String>>())
                }
            },
            Err(unreadable) => (PlanRejection::Unreadable, vec![unreadable]),
        };
        let lines = problems.iter().map(|problem| format!("- {problem}")).collect::<Vec<_>>().join("\n");
        let words = truncate(text.trim().to_owned(), KEPT_ANSWER);
        self.state.planning.rejected.push(RejectedPlan { words, problems: problems.clone() });
        self.state.planning.rejected_calls.extend(calls);
        let place = self.records.len();
        if is_last {
            let reason = format!("no plan could be used after {attempt} attempts; the last one:\n{lines}");
            self.end_without_plan(&RunEnd::NoPlan, reason);
        } else {
            self.request_plan(Some(&RejectedAnswer { text, problems: &lines }))?;
        }
        // Only now it is known whether the budget allows another attempt.
        let will_retry = matches!(self.state.phase, Phase::Planning { .. });
        self.records.insert(place, Record::new(RunRecord::PlanRejected { attempt, cause, problems, will_retry }));
        Ok(())
    }

    /// Starts a plan that a person gave, or ends the run with its problems.
    pub(super) fn accept_given_plan(&mut self, plan: Plan) -> Decided {
        if let Err(problems) = self.accept_plan(plan, Vec::new())? {
            self.end_early(&RunEnd::NoPlan, format!("the plan cannot run: {}", joined(&problems)), Vec::new());
        }
        Ok(())
    }

    /// Starts a plan whose problems are each about one step: a literal that does not fit, a missing parameter, an unknown
    /// parameter, which is left out of a call that only reads, or an unknown tool in a step that no other needs, which is left
    /// out too. Returns whether it did.
    fn accept_tolerable_plan(&mut self, mut plan: Plan, mut repairs: Vec<String>) -> Decided<bool> {
        let written = plan.clone();
        repairs.extend(self.correct_first_plan(&mut plan));
        self.known().add_confirmations(&mut plan);
        let Ok(tolerable) =
            check_tolerantly(&plan, self.catalogue(), self.known().author(), |step| self.known().only_reads(step))
        else {
            return Ok(false);
        };
        if !self.known().read_call_problems(&tolerable.plan).is_empty() {
            return Ok(false);
        }
        let Ok(inputs) = resolve_inputs(&tolerable.plan, &self.started.inputs) else { return Ok(false) };
        self.plan = Arc::new(tolerable.checked);
        self.note_lost_parameters(&written, &tolerable.plan);
        self.set_inputs(&tolerable.plan, inputs);
        self.state.planning.left_out = tolerable.dropped.iter().map(left_out_report).collect();
        repairs.extend(tolerable.dropped.iter().map(|(_, problem)| format!("a step was left out: {problem}")));
        repairs.extend(tolerable.left_out.iter().map(|problem| format!("left out a parameter: {problem}")));
        repairs.extend(tolerable.kept.iter().map(|problem| match problem.code {
            ProblemCode::MissingParameter => format!("kept a step that lacks a parameter: {problem}"),
            ProblemCode::UnknownParameter => format!("kept a step with an unknown parameter: {problem}"),
            _ => format!("kept a value that does not fit: {problem}"),
        }));
        self.start_plan(tolerable.plan, repairs)?;
        Ok(true)
    }

    /// Starts a plan after correcting it.
    fn accept_plan(&mut self, mut plan: Plan, mut repairs: Vec<String>) -> Decided<Result<(), Vec<PlanProblem>>> {
        repairs.extend(self.correct_first_plan(&mut plan));
        self.known().add_confirmations(&mut plan);
        if let Err(problems) = self.prepare(&plan) {
            return Ok(Err(problems));
        }
        self.start_plan(plan, repairs)?;
        Ok(Ok(()))
    }

    /// Corrects a first plan, and keeps what differs in its steps.
    fn correct_first_plan(&mut self, plan: &mut Plan) -> Vec<String> {
        let fixes = correct_plan(plan, self.catalogue(), self.known().author());
        self.state.planning.rerouted.clear();
        self.state.planning.corrected_values.clear();
        self.note_corrected(&fixes, plan);
        fixes.iter().map(ToString::to_string).collect()
    }

    /// Keeps which steps go to another tool than the one that the plan names, and which values are not those of the plan.
    pub(super) fn note_corrected(&mut self, fixes: &[PlanFix], plan: &Plan) {
        let capability = |fix: &PlanFix| plan.steps.iter().find(|step| step.step_id == fix.step)?.capability();
        let rerouted = fixes.iter().filter(|fix| fix.is_other_tool(capability(fix).unwrap_or_default()));
        self.state.planning.rerouted.extend(rerouted.map(|fix| (fix.step.clone(), fix.before.clone())));
        for fix in fixes.iter().filter(|fix| fix.kind == PlanFixKind::Value) {
            let corrected = self.state.planning.corrected_values.entry(fix.step.clone()).or_default();
            let separator = if corrected.is_empty() { "" } else { "; " };
            let change = format!("{separator}corrected the value `{}` of the plan to `{}`", fix.before, fix.after);
            corrected.push_str(&change);
        }
    }

    /// Keeps the parameters that were left out of the steps of a plan.
    pub(super) fn note_lost_parameters(&mut self, written: &Plan, kept: &Plan) {
        for step in &kept.steps {
            let before = written.steps.iter().find(|before| before.step_id == step.step_id).and_then(Step::parameters);
            let is_lost =
                |name: &str| !step.parameters().is_some_and(|kept| kept.keys().any(|known| are_alike(known, name)));
            let lost = before.into_iter().flatten().filter(|(name, _)| is_lost(name));
            let lost: Object = lost.map(|(name, value)| (name.to_owned(), value.clone())).collect();
            if !lost.is_empty() {
                self.state.planning.lost_parameters.insert(step.step_id.clone(), LostParameters(lost));
            }
        }
    }

    /// Starts a plan that was checked.
    fn start_plan(&mut self, plan: Plan, repairs: Vec<String>) -> Decided {
        self.record(RunRecord::PlanAccepted { steps: plan.steps.len(), repairs: repairs.clone() });
        self.state.planning.repairs = repairs;
        if plan.steps.is_empty() {
            self.end_early(&RunEnd::NoToolFits, "no tool can serve the request".to_owned(), Vec::new());
            return Ok(());
        }
        if self.policy().planning.only {
            self.end_with_plan(&plan);
            return Ok(());
        }
        self.note_plan_questions();
        self.note_dropped_filters(&plan, |_| true);
        self.state.steps = Steps::new(&self.plan);
        self.state.planning.plan = Some(plan);
        self.state.phase = Phase::Running;
        self.ask_about_plan()
    }
}

impl Started {
    /// The plan in a model's text and the repairs it needed, or why there is none.
    fn read_plan(&self, text: &str) -> Result<(Plan, Vec<String>), String> {
        let (mut plan, reading) = read_plan(text, &self.request).map_err(|error| error_chain(&error))?;
        let mut repairs: Vec<String> = reading.fixes.iter().map(|fix| fix.kind.description().to_owned()).collect();
        repairs.dedup();
        if self.policy.planning.language == PlanLanguage::Controls {
            repairs.extend(place_controls(&mut plan, &self.catalogue).iter().map(ToString::to_string));
        }
        Ok((plan, repairs))
    }

    /// Whether the call of a step changes nothing.
    pub(super) fn only_reads(&self, step: &Step) -> bool {
        self.policy.effects.class_of_step(step, &self.catalogue) == Some(SideEffect::Read)
    }

    /// The calls that are made again and again although they do not only read.
    pub(super) fn read_call_problems(&self, plan: &Plan) -> Vec<PlanProblem> {
        check_read_calls(plan, |step| self.policy.effects.class_of_step(step, &self.catalogue))
    }

    /// Adds what the configuration expects of results. A plan that is only written does not get it.
    pub(super) fn add_confirmations(&self, plan: &mut Plan) {
        if !self.policy.planning.only {
            self.policy.effects.add_confirmations(plan);
        }
    }
}

impl<'a> PlanContext<'a> {
    pub(super) fn shown_tools(self) -> Cow<'a, Catalogue> {
        match &self.planning.choice {
            Some(choice) => Cow::Owned(self.catalogue().restricted_to(&choice.shown)),
            None => Cow::Borrowed(self.catalogue()),
        }
    }
}
