//! What a run did, as assertions see it: the same views as `reknit runs show`, and the calls as the tools got them.

use std::sync::Arc;

use reknit_engine::{Answer, Ending, Outcome, Overview, Report, RunOverview, StepState, StepView};
use reknit_expressions::{Backing, EvaluationInput, InputSource, Provenance, ResolvedBy};
use reknit_mend::Fate;
use reknit_model_api::Money;
use reknit_protocol::{Object, Path, StepId, Value};

/// The status of a run that waits for a person.
pub const WAITING: &str = "waiting";

/// What a run did.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ObservedRun {
    /// The final status, or `waiting`.
    pub status: String,
    /// The answer or the report, as the user sees it.
    pub answer: String,
    /// The outputs of a plan, by name.
    pub outputs: Object,
    /// What became of each step of a run: `done`, `failed`, `skipped`, `unconfirmed`.
    pub steps: Vec<(String, String)>,
    /// The calls that tools got, in order.
    pub calls: Vec<MadeCall>,
    /// The parameters of steps that do not stand in the plan as they were sent.
    pub values: Vec<SentValue>,
    /// The repairs, in the order of the steps.
    pub mended: Vec<AppliedRepair>,
    /// Calls of tools, as the budget counts them.
    pub tool_calls: u64,
    /// Questions to models, as the budget counts them.
    pub model_calls: u64,
    pub cost: Money,
    /// The virtual time that the run took, in milliseconds.
    pub time_ms: u64,
    /// What the answer says about itself: missing outputs, doubts, reasons.
    pub remarks: Vec<String>,
    pub results: Vec<(String, Arc<Value>)>,
    /// The failed steps whose call may have taken effect, as the run says.
    pub uncertain_steps: Vec<String>,
}

impl ObservedRun {
    /// The value of a parameter that was sent, and where it came from. `name` is like `pay.amount`.
    pub(crate) fn sent(&self, name: &str) -> Option<(&Value, &str)> {
        if let Some(sent) = self.values.iter().find(|sent| sent.name == name) {
            return Some((&sent.value, &sent.from));
        }
        let (step, parameter) = name.rsplit_once('.')?;
        let call = self.calls.iter().rev().find(|made| made.step == step)?;
        Some((call.parameters.get(parameter)?, "plan"))
    }
}

/// A call that a tool got.
#[derive(Debug, Clone, PartialEq)]
pub struct MadeCall {
    /// The capability, as `tool/capability`.
    pub call: String,
    pub step: String,
    pub parameters: Object,
    /// Whether it only asks about the job of an earlier call.
    pub is_job: bool,
}

/// A parameter that was sent.
#[derive(Debug, Clone, PartialEq)]
pub struct SentValue {
    /// `step.parameter`.
    pub name: String,
    pub value: Value,
    pub from: String,
}

/// A repair that changed a call or sent it again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppliedRepair {
    /// The step of a run, or the call of a session.
    pub step: String,
    pub by: String,
    pub change: String,
}

impl ObservedRun {
    /// What the overview of a run says.
    pub(crate) fn of(overview: &Overview) -> Self {
        let mut facts = Self { status: WAITING.to_owned(), ..Self::default() };
        if let Some(ending) = overview.ending() {
            ending.status().as_str().clone_into(&mut facts.status);
            match ending {
                Ending::Answer(answer) => facts.add_answer(answer),
                Ending::Report(report) => facts.add_report(report),
            }
        }
        let spent = match overview {
            Overview::Run(run) => {
                facts.add_steps(run);
                &run.spent
            }
            Overview::Session(session) => {
                let repairs = session.mended.iter().map(|mended| AppliedRepair {
                    step: mended.call.clone(),
                    by: mended.rung.as_str().to_owned(),
                    change: mended.change.clone(),
                });
                facts.mended = repairs.collect();
                &session.spent
            }
            Overview::Bare(_) => return facts,
        };
        facts.tool_calls = spent.tool_calls.into();
        facts.model_calls = spent.model_calls.into();
        facts.cost = spent.cost;
        facts
    }

    fn add_answer(&mut self, answer: &Answer) {
        self.answer = answer.full_text();
        self.outputs = answer.outputs.clone();
        self.remarks.extend(answer.reason.clone());
        self.remarks.extend(answer.doubts.iter().cloned());
        self.remarks
            .extend(answer.missing_outputs.iter().map(|missing| format!("{}: {}", missing.name, missing.reason)));
        for step in &answer.steps {
            match &step.outcome {
                Outcome::Failed { reason, fate } => {
                    self.remarks.push(format!("{}: {reason}", step.step));
                    if *fate == Fate::Unknown {
                        self.uncertain_steps.push(step.step.to_string());
                    }
                }
                Outcome::Unconfirmed { reason, .. } => self.remarks.push(format!("{}: {reason}", step.step)),
                Outcome::Done(result) => {
                    self.results.extend(result.try_load().map(|result| (step.step.to_string(), result)));
                }
                Outcome::Skipped { .. } => {}
            }
        }
    }

    fn add_report(&mut self, report: &Report) {
        self.answer.clone_from(&report.content);
        if let Some(json) = &report.content_json {
            self.outputs = json.as_object().cloned().unwrap_or_default();
        }
        self.remarks.extend(report.shortcomings.doubts.iter().cloned());
        self.remarks.extend(report.shortcomings.in_doubt.iter().cloned());
        self.remarks.extend(report.shortcomings.not_done.iter().cloned());
    }

    fn add_steps(&mut self, run: &RunOverview) {
        for step in &run.steps {
            self.steps.push((step.id.to_string(), state_word(&step.state).to_owned()));
            self.mended.extend(step.mended().map(|mend| AppliedRepair {
                step: step.id.to_string(),
                by: mend.rung.as_str().to_owned(),
                change: mend.description.clone(),
            }));
            self.values.extend(sent_values(step));
        }
    }
}

fn state_word(state: &StepState) -> &'static str {
    match state {
        StepState::Done => "done",
        StepState::Failed { .. } => "failed",
        StepState::Skipped { .. } => "skipped",
        StepState::Unconfirmed { .. } => "unconfirmed",
        StepState::AwaitingApproval(_) => "awaiting approval",
        _ => "running",
    }
}

/// The parameters that do not stand in the plan as they were sent.
fn sent_values(step: &StepView) -> Vec<SentValue> {
    let sent =
        step.provenance.iter().filter(|(_, origin)| *origin != Provenance::Literal).filter_map(|(name, origin)| {
            let value = step.parameters.get(name)?.clone();
            Some(SentValue { name: format!("{}.{name}", step.id), value, from: origin_text(origin) })
        });
    sent.collect()
}

/// Where a value comes from, in a form that does not change with the value.
pub(crate) fn origin_text(origin: &Provenance) -> String {
    match origin {
        Provenance::Literal => "plan".to_owned(),
        Provenance::Reference { step, path } => source(step, path),
        Provenance::Wired { step, path } => format!("wired from {}", source(step, path)),
        Provenance::Expression { text, .. } => text.clone(),
        Provenance::Text { inputs, .. } => format!("text with {}", sources(inputs).join(" and ")),
        Provenance::Nested { parts } => {
            let parts: Vec<String> = parts.iter().map(|part| origin_text(&part.provenance)).collect();
            format!("parts from {}", parts.join(" and "))
        }
        Provenance::Resolved { by, origin } => {
            let by = match by {
                ResolvedBy::Model => "found by a model",
                ResolvedBy::Learned => "found as in an earlier run",
                ResolvedBy::Accepted => "found by an accepted rule",
            };
            format!("{}, {by}", origin_text(origin))
        }
        Provenance::Inferred => "written by a model".to_owned(),
        Provenance::Person => "written by a person".to_owned(),
        Provenance::Corrected { rung, backing } => match backing {
            Backing::Known => format!("corrected by {rung}"),
            Backing::Explained { text } => format!("corrected by {rung}, as {text}"),
            Backing::Rule { rule, text } => format!("corrected by {rung}, as {text} of {rule}"),
            Backing::Inferred => format!("corrected by {rung}, written by a model"),
        },
    }
}

fn sources(inputs: &[EvaluationInput]) -> Vec<String> {
    let source = |input: &EvaluationInput| match &input.source {
        InputSource::Literal => input.value.to_string(),
        InputSource::Reference { step, path } => source(step, path),
    };
    inputs.iter().map(source).collect()
}

/// `quote.price`.
fn source(step: &StepId, path: &Path) -> String {
    let path = path.to_string();
    format!("{step}{}", path.strip_prefix('$').unwrap_or(&path))
}
