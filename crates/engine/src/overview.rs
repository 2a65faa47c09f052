//! What is shown about a run or a session. It is stored when the run ends, so that showing it later needs no machine: a later
//! build may decide differently for the same events.
//!
//! Later builds read what this one stored: fields are only added, with a default.

use std::collections::BTreeMap;
use std::sync::Arc;

use reknit_model_api::{Message, Money, Role};
use reknit_plan::{PlanAuthor, ToolSelection};
use reknit_protocol::{RunId, StepId, Value, exact};
use serde::{Deserialize, Serialize};

use crate::answer::{Answer, Outcome, Replanning};
use crate::budget::Spent;
use crate::history::{HistoryBuilder, HistoryEntry};
use crate::metadata::Metadata;
use crate::record::{Record, SessionRecord};
use crate::report::{MendedCall, Report};
use crate::run::{Progress, RejectedPlan, Run, StepView};
use crate::session::{Ending, Machine, Session, SessionView};
use crate::stored::is_default;
use crate::trace_parent::ForkOrigin;

/// A message of a conversation is cut to this many characters. The events have all of it.
const MESSAGE_CHARS: usize = 1_000;

/// Everything that is shown about a run or a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Overview {
    Run(Box<RunOverview>),
    Session(Box<SessionOverview>),
    /// About a run that no machine of this build can restore.
    Bare(Box<BareOverview>),
}

impl Overview {
    /// The result, once the run or the session has ended.
    pub fn ending(&self) -> Option<Ending<'_>> {
        match self {
            Self::Run(run) => run.answer.as_ref().map(Ending::Answer),
            Self::Session(session) => session.report.as_ref().map(Ending::Report),
            Self::Bare(_) => None,
        }
    }

    /// The learned rules whose change a tool rejected, each with the error; of a fork none, which repeats what its origin did.
    pub fn rejected_rules(&self) -> Option<&BTreeMap<String, String>> {
        match self {
            Self::Run(run) if run.fork.is_none() => Some(&run.rejected_rules),
            Self::Session(session) if session.fork.is_none() => Some(&session.rejected_rules),
            Self::Run(_) | Self::Session(_) | Self::Bare(_) => None,
        }
    }
}

/// Everything that is shown about a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunOverview {
    pub run: RunId,
    pub request: String,
    /// Who the request is for, and the like.
    #[serde(default, skip_serializing_if = "Metadata::is_empty")]
    pub metadata: Metadata,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fork: Option<ForkOrigin>,
    /// The attachments of the request, each with its name, media type and size.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<String>,
    pub spent: Spent,
    /// The part of the cost that the sessions of its agents have spent. Each session is a run of its own in the journal.
    #[serde(default, skip_serializing_if = "Money::is_zero")]
    pub sessions_cost: Money,
    /// How often it was continued after it had ended.
    #[serde(default, skip_serializing_if = "is_default")]
    pub retries: u32,
    pub events: u64,
    /// The time of the last event, in milliseconds since 1970.
    pub now_ms: i64,
    pub progress: Progress,
    /// The end of the wait before a model is asked again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_wait_ms: Option<i64>,
    #[serde(flatten)]
    pub planning: PlanningOverview,
    pub steps: Vec<StepView>,
    pub history: BTreeMap<StepId, Vec<HistoryEntry>>,
    /// What happened to the run as a whole: the questions for its plan and its answer, and the approval of its plan.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub run_history: Vec<HistoryEntry>,
    /// Who wrote the plan; unknown for a run that an older build ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub planned_by: Option<PlanAuthor>,
    /// The learned rules whose change a tool rejected, each with the error.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub rejected_rules: BTreeMap<String, String>,
    /// The answer, once the run has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Answer>,
    /// The results so far. The answer of an ended run has them.
    #[serde(skip)]
    results: BTreeMap<StepId, Arc<Value>>,
}

/// How the plan of a run was made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlanningOverview {
    /// The tools that the planner was shown, if the catalogue was too large for all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_selection: Option<ToolSelection>,
    pub capabilities: usize,
    /// The repairs that turned a model's text into the plan.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub plan_repairs: Vec<String>,
    /// The rejected plans, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rejected_plans: Vec<RejectedPlan>,
    /// The times that the planner was asked for a plan of what is missing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replannings: Vec<Replanning>,
}

impl RunOverview {
    pub fn result(&self, step: &StepId) -> Option<Arc<Value>> {
        let Some(answer) = &self.answer else { return self.results.get(step).cloned() };
        match &answer.steps.iter().find(|report| report.step == *step)?.outcome {
            Outcome::Done(result) | Outcome::Unconfirmed { result, .. } => result.try_load(),
            Outcome::Failed { .. } | Outcome::Skipped { .. } => None,
        }
    }
}

/// Everything that is shown about a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SessionOverview {
    pub run: RunId,
    pub agent: String,
    pub input: String,
    /// Who the request is for, and the like.
    #[serde(default, skip_serializing_if = "Metadata::is_empty")]
    pub metadata: Metadata,
    /// Which run it is a fork of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fork: Option<ForkOrigin>,
    /// The attachments of the question, each with its name, media type and size.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<String>,
    pub spent: Spent,
    pub events: u64,
    /// The time of the last event, in milliseconds since 1970.
    pub now_ms: i64,
    /// The decisions of the session, without those of the machines nested in it.
    pub records: Vec<SessionRecord>,
    /// The calls that were changed or sent again, and succeeded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mended: Vec<MendedCall>,
    /// The calls that were changed or sent again, and failed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tried: Vec<MendedCall>,
    /// The conversation, a line for each text and each call; long ones are cut.
    pub conversation: Vec<String>,
    /// The learned rules whose change a tool rejected, each with the error.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub rejected_rules: BTreeMap<String, String>,
    /// The report, once the session has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report: Option<Report>,
    /// The activity of a session that has not ended.
    #[serde(skip)]
    pub view: Option<SessionView>,
}

/// What is known about a run without its machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BareOverview {
    pub run: RunId,
    /// The request, or the name of the plan.
    pub title: String,
    /// The status: `parked`, or the one with which it ended.
    pub status: String,
    /// Why no machine can restore it.
    #[serde(default)]
    pub problem: Option<String>,
    /// Why a person closed it.
    #[serde(default)]
    pub closed: Option<String>,
    pub events: u64,
    /// The history of each step when the run last waited.
    #[serde(default)]
    pub history: BTreeMap<StepId, Vec<HistoryEntry>>,
    /// The replies of tools, in order.
    #[serde(default)]
    pub replies: Vec<BareReply>,
    /// The calls that may have been made and have no outcome.
    #[serde(default)]
    pub open_calls: Vec<String>,
}

/// The reply to a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BareReply {
    /// The call: `pay/call/1`.
    pub effect: String,
    #[serde(with = "exact")]
    pub reply: Value,
}

/// Collects from the records of a machine what its state does not contain.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct OverviewBuilder {
    history: HistoryBuilder,
    records: Vec<SessionRecord>,
}

impl OverviewBuilder {
    /// Adds the records of an event.
    pub fn add(&mut self, at_ms: i64, records: &[Record]) {
        for record in records.iter().filter(|record| record.scope.is_empty()) {
            self.history.add(at_ms, record);
            // The question and the report have places of their own; a later question follows the earlier report.
            let is_kept =
                |record: &&SessionRecord| !matches!(record, SessionRecord::Started { .. } | SessionRecord::Reported(_));
            self.records.extend(record.as_own_session().filter(is_kept).cloned());
        }
    }

    pub fn history(&self) -> &BTreeMap<StepId, Vec<HistoryEntry>> {
        &self.history.entries
    }

    /// The decisions of a session so far.
    pub fn records(&self) -> &[SessionRecord] {
        &self.records
    }

    /// The overview of the machine that made these records.
    pub fn overview(&self, machine: &Machine) -> Overview {
        match machine {
            Machine::Run(run) => Overview::Run(Box::new(self.of_run(run))),
            Machine::Session(session) => Overview::Session(Box::new(self.of_session(session))),
        }
    }

    fn of_run(&self, run: &Run) -> RunOverview {
        let started = run.started();
        let steps = run.steps();
        let results = match run.answer() {
            Some(_) => BTreeMap::new(),
            None => {
                steps.iter().filter_map(|step| Some((step.id.clone(), run.load_result(step.id.as_str())?))).collect()
            }
        };
        RunOverview {
            run: started.run.clone(),
            request: started.request.clone(),
            metadata: started.metadata.clone(),
            fork: started.fork.clone(),
            attachments: started.attachments.iter().map(ToString::to_string).collect(),
            spent: run.spent(),
            sessions_cost: run.sessions_cost(),
            retries: run.retries(),
            events: run.event_count(),
            now_ms: run.now_ms(),
            progress: run.progress(),
            model_wait_ms: run.model_wait_ms(),
            planning: PlanningOverview {
                tool_selection: run.tool_selection().cloned(),
                capabilities: started.catalogue.tools.iter().map(|tool| tool.capabilities.len()).sum(),
                plan_repairs: run.plan_repairs().to_vec(),
                rejected_plans: run.rejected_plans().to_vec(),
                replannings: run.replannings().to_vec(),
            },
            history: self.history.entries.clone(),
            run_history: self.history.of_run.clone(),
            planned_by: match &started.plan {
                Some(_) => Some(started.plan_author),
                None => (!steps.is_empty()).then_some(PlanAuthor::Model),
            },
            rejected_rules: run.rejected_rules().clone(),
            answer: run.answer().cloned(),
            results,
            steps,
        }
    }

    fn of_session(&self, session: &Session) -> SessionOverview {
        let started = session.started();
        SessionOverview {
            run: started.run.clone(),
            agent: started.agent.clone(),
            input: started.input.clone(),
            metadata: started.metadata.clone(),
            fork: started.fork.clone(),
            attachments: started.attachments.iter().map(ToString::to_string).collect(),
            spent: session.spent(),
            events: session.event_count(),
            now_ms: session.now_ms(),
            records: self.records.clone(),
            mended: session.mended().to_vec(),
            tried: session.tried().to_vec(),
            // The first two messages are the prompt and the question.
            conversation: session.history().iter().skip(2).flat_map(message_lines).collect(),
            rejected_rules: session.rejected_rules().clone(),
            report: session.report().cloned(),
            view: Some(session.view()),
        }
    }
}

fn message_lines(message: &Message) -> Vec<String> {
    match message {
        Message::Tool { name, text, is_error, .. } => {
            let label = if *is_error { "failed" } else { "result" };
            vec![format!("{label}   {name}: {}", cut(text))]
        }
        other => {
            let calls = other.tool_calls().iter();
            let calls = calls.map(|call| format!("call     {} {}", call.name, cut(&call.arguments)));
            let text = Some(other.text()).filter(|text| !text.trim().is_empty());
            let label = if other.role() == Role::User { "asked " } else { "said  " };
            text.map(|text| format!("{label}   {}", cut(text))).into_iter().chain(calls).collect()
        }
    }
}

fn cut(text: &str) -> &str {
    text.char_indices().nth(MESSAGE_CHARS).map_or(text, |(end, _)| text.get(..end).unwrap_or(text))
}
