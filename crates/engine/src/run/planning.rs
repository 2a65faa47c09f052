//! From the request to a plan that may run.

use std::borrow::Cow;
use std::error::Error as _;

use reknit_dialogue::{Format, Purpose, Request, Rotation};
use reknit_protocol::Plan;
use reknit_protocol::{EffectKind, EffectOwner};

use super::Run;
use super::ending::NoSteps;
use super::state::{Phase, RefusedPlan, State};
use super::steps::Steps;
use crate::answer::Status;
use crate::budget::Exhausted;
use crate::consult::{AfterFailure, Consultation};
use crate::event::What;
use crate::templates::render;
use reknit_plan::Catalogue;
use reknit_plan::{PlanProblem, correct_names, read_plan};
use reknit_plan::{list_tools, plan_shape};
use reknit_protocol::truncate;

/// How much of its own words a model is shown again.
const LAST_ANSWER: usize = 8_000;

/// How much of them a run keeps.
const KEPT: usize = 1_000;

/// A model's words that are no plan we can run, and why not.
pub(super) struct Refused<'a> {
    text: &'a str,
    problems: &'a str,
}

impl Run {
    /// Asks for a plan, showing the one before with all that is wrong with it.
    pub(super) fn ask_for_plan(&mut self, refused: Option<&Refused<'_>>) {
        let (attempt, asked) = match &self.state.phase {
            Phase::Planning { attempt, consultation } => (attempt + 1, consultation.asked()),
            _ => (1, 0),
        };
        let shown = self.shown_tools();
        let tools = list_tools(&shown);
        let last = refused.map_or_else(String::new, |refused| truncate(refused.text.to_owned(), LAST_ANSWER));
        let values = [
            ("tools", tools.as_str()),
            ("request", self.started.request.as_str()),
            ("last", last.as_str()),
            ("problems", refused.map_or("", |refused| refused.problems)),
        ];
        let messages = match render(&self.started.templates.plan, &values) {
            Ok(messages) => messages,
            Err(error) => return self.end_without_steps(NoSteps::new(Status::Failed, error.to_string())),
        };
        let format =
            plan_shape(&shown).map_or(Format::Json, |schema| Format::Schema { name: "plan".to_owned(), schema });
        let request = self.policy().asking.plan.request(messages).with_format(format);
        let Some(consultation) = self.consult(EffectKind::Ask, asked, Purpose::PlanGeneration, request) else { return };
        self.state.phase = Phase::Planning { attempt, consultation: Box::new(consultation) };
    }

    /// The tools that the planner is shown.
    pub(super) fn shown_tools(&self) -> Cow<'_, Catalogue> {
        match &self.state.choice {
            Some(choice) => Cow::Owned(self.catalogue().only(&choice.shown)),
            None => Cow::Borrowed(self.catalogue()),
        }
    }

    /// Opens and pays for a question; ends the run if it cannot be paid for. Only for questions of the run as a whole.
    pub(super) fn consult(
        &mut self,
        kind: EffectKind,
        asked: u32,
        purpose: Purpose,
        request: Request,
    ) -> Option<Consultation> {
        if self.started.targets.is_empty() {
            let reason = "there is no model to make a plan: configure one, or give a plan".to_owned();
            self.end_without_steps(NoSteps::new(Status::Failed, reason));
            return None;
        }
        let mut consultation = Consultation::open(EffectOwner::Plan, kind, asked, purpose, request, self.rotation());
        if let Err(exhausted) = consultation.pay(&mut self.state.spent, &self.started.policy) {
            self.end_without_steps(NoSteps::new(Status::BudgetExhausted, exhausted.to_string()));
            return None;
        }
        Some(consultation)
    }

    pub(super) fn rotation(&self) -> Rotation {
        Rotation::new(self.targets_left(), self.policy().rotation.clone())
    }

    /// Pays for the next attempt at the question of the run as a whole.
    pub(super) fn pay_for_question(&mut self) -> Result<(), Exhausted> {
        let State { phase, spent, .. } = &mut self.state;
        match phase {
            Phase::Choosing { consultation }
            | Phase::Planning { consultation, .. }
            | Phase::Answering { consultation } => consultation.pay(spent, &self.started.policy),
            Phase::Running | Phase::Ended(_) => Ok(()),
        }
    }

    /// Takes in an answer about the plan; says whether it was one.
    pub(super) fn on_planning(&mut self, what: &What) -> bool {
        let Phase::Planning { attempt, consultation } = &mut self.state.phase else { return false };
        let (attempt, now_ms) = (*attempt, self.state.now_ms);
        match what {
            What::ModelAnswered { effect, answer } if consultation.wants(effect) => {
                self.state.spent.add_tokens(&answer.usage);
                match answer.words() {
                    Ok(text) => self.on_plan_text(text, attempt),
                    Err(failure) => {
                        let after = consultation.failed(&failure, now_ms);
                        self.on_no_plan(after);
                    }
                }
            }
            What::GateClosed { effect, until_ms } if consultation.wants(effect) => {
                self.state.spent.give_back_model_call();
                let after = consultation.closed(*until_ms, now_ms);
                self.on_no_plan(after);
            }
            What::ModelFailed { effect, failure } if consultation.wants(effect) => {
                let after = consultation.failed(failure, now_ms);
                self.on_no_plan(after);
            }
            What::Woke { effect } if consultation.wants(effect) => {
                consultation.woke(now_ms);
                self.pay_to_ask_again();
            }
            _ => return false,
        }
        true
    }

    fn on_no_plan(&mut self, after: AfterFailure) {
        match after {
            AfterFailure::Wait => {}
            AfterFailure::AskNext => self.pay_to_ask_again(),
            AfterFailure::GiveUp(reason) => {
                let reason = format!("no model gave a plan: {reason}");
                self.end_without_steps(NoSteps::new(Status::Failed, reason));
            }
        }
    }

    pub(super) fn pay_to_ask_again(&mut self) {
        if let Err(exhausted) = self.pay_for_question() {
            self.end_without_steps(NoSteps::new(Status::BudgetExhausted, exhausted.to_string()));
        }
    }

    fn on_plan_text(&mut self, text: &str, attempt: u32) {
        let problems = match self.read_plan(text) {
            Ok((plan, repairs)) => match self.take_plan(plan, repairs) {
                Ok(()) => return,
                Err(problems) => problems.iter().map(ToString::to_string).collect::<Vec<String>>(),
            },
            Err(unreadable) => vec![unreadable],
        };
        let lines = problems.iter().map(|problem| format!("- {problem}")).collect::<Vec<_>>().join("\n");
        self.state.refused_plans.push(RefusedPlan { words: truncate(text.trim().to_owned(), KEPT), problems });
        if attempt > self.policy().planning.retries {
            let reason = format!("no plan could be used after {attempt} tries; the last one:\n{lines}");
            return self.end_without_steps(NoSteps::new(Status::Failed, reason));
        }
        self.ask_for_plan(Some(&Refused { text, problems: &lines }));
    }

    /// The plan in a model's words and how they were repaired, or why there is none.
    pub(super) fn read_plan(&self, text: &str) -> Result<(Plan, Vec<String>), String> {
        let (plan, reading) = read_plan(text, &self.started.request).map_err(|error| {
            let causes = std::iter::successors(error.source(), |cause| (*cause).source());
            causes.fold(error.to_string(), |words, cause| format!("{words}: {cause}"))
        })?;
        let mut repairs: Vec<String> = reading.fixes.iter().map(|fix| fix.kind.words().to_owned()).collect();
        repairs.dedup();
        Ok((plan, repairs))
    }

    /// Begins to run a plan that a person gave, or ends with what is wrong with it.
    pub(super) fn take_given_plan(&mut self, plan: Plan) {
        if let Err(problems) = self.take_plan(plan, Vec::new()) {
            let words: Vec<String> = problems.iter().map(ToString::to_string).collect();
            let reason = format!("the plan cannot run: {}", words.join("; "));
            self.end_without_steps(NoSteps::new(Status::Failed, reason));
        }
    }

    /// Begins to run a plan, with its names put right.
    fn take_plan(&mut self, mut plan: Plan, mut repairs: Vec<String>) -> Result<(), Vec<PlanProblem>> {
        repairs.extend(correct_names(&mut plan, self.catalogue(), self.author()).iter().map(ToString::to_string));
        self.prepare(&plan)?;
        self.state.plan_repairs = repairs;
        if plan.steps.is_empty() {
            let reason = "no tool can serve the request".to_owned();
            self.end_without_steps(NoSteps::new(Status::Impossible, reason));
            return Ok(());
        }
        self.state.steps = Steps::new(&self.plan);
        self.state.plan = Some(plan);
        self.state.phase = Phase::Running;
        Ok(())
    }
}
