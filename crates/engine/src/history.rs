//! The history of each step: what was sent, what came back, which models were asked, what was decided and why, and how long
//! everything took.

use std::collections::BTreeMap;

use reknit_mend::Mend;
use reknit_model_api::{TargetName, Usage};
use reknit_protocol::{CallTool, EffectId, EffectKind, EffectOwner, Object, SmallMap, StepId, exact};
use serde::{Deserialize, Serialize};

use crate::business_key::KeyFinding;
use crate::event::{DecidedBy, Decision};
use crate::record::{CallEnd, ModelRecord, Record, RecordKind, RunRecord, StepDescription};
use crate::stored::is_default;
use crate::times::ms_between;

/// What a model is asked for in the history of a run, where a step has the name of a rung.
pub(crate) const PLAN: &str = "plan";
pub(crate) const TOOL_SELECTION: &str = "tool_selection";
pub(crate) const ANSWER: &str = "answer";

/// Something that happened to a step, or to a run as a whole.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HistoryEntry {
    /// When it began, in milliseconds since 1970.
    pub at_ms: i64,
    /// How long it took; 0 for a decision.
    pub took_ms: u64,
    pub kind: HistoryKind,
}

/// What happened to a step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HistoryKind {
    Called {
        #[serde(with = "exact")]
        parameters: Object,
        /// The status, if the tool replied.
        status: Option<u16>,
        /// Why the call failed; `None` for a success.
        error: Option<String>,
        /// The repairs that made the reply readable.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        mended: Vec<String>,
    },
    /// A tool was asked whether the call of the step took effect.
    Checked {
        /// The capability, as `tool/capability`.
        capability: String,
        #[serde(with = "exact")]
        parameters: Object,
        /// The status, if the tool replied.
        status: Option<u16>,
    },
    /// A model was asked about the step.
    Asked {
        /// The rung; `plan`, `tool_selection` or `answer` if it was asked about the run.
        rung: String,
        target: TargetName,
        /// The tokens that the answer used; `None` without an answer.
        usage: Option<Usage>,
        /// Why there is no answer.
        error: Option<String>,
    },
    /// The step waited before it was tried again.
    Waited,
    /// The step waited for a job of its tool.
    AwaitedJob {
        /// How often the tool was asked for the state of the job.
        asked: u32,
    },
    /// The call or the question was not sent: a circuit breaker was open.
    #[serde(rename = "turned_away")]
    BreakerOpen,
    /// The call was not sent, because of what the journal knew about its business key.
    KeyFound(KeyFinding),
    Decided {
        decision: Decision,
        #[serde(default, skip_serializing_if = "is_default")]
        by: DecidedBy,
    },
    /// It is unknown how far the call got.
    Interrupted,
    /// A rung repaired the call, or could not help.
    Mended(Mend),
}

/// When an effect began, and the model that was asked.
type StartedEffect = (i64, Option<TargetName>);

/// Collects the history of each step of a run from the records of its events.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct HistoryBuilder {
    /// The effects in progress. They are few at a time, and many runs wait for one each: a sorted vector is a tenth of a tree.
    started: SmallMap<EffectId, StartedEffect>,
    pub(crate) entries: BTreeMap<StepId, Vec<HistoryEntry>>,
    /// What happened to the run as a whole: the questions for its plan and its answer, and the approval of its plan.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) of_run: Vec<HistoryEntry>,
}

impl HistoryBuilder {
    pub(crate) fn add(&mut self, at_ms: i64, record: &Record) {
        match &record.kind {
            RecordKind::Model(record) => self.add_model(at_ms, record),
            RecordKind::Run(record) => self.add_run(at_ms, record),
            RecordKind::Session(_) => {}
        }
    }

    fn add_model(&mut self, at_ms: i64, record: &ModelRecord) {
        match record {
            ModelRecord::Asked(question) => self.start(&question.id, at_ms, Some(question.target.clone())),
            ModelRecord::Answered { id, answer, .. } => self.end_question(id, at_ms, Some(answer.usage), None),
            ModelRecord::Failed { id, failure } => self.end_question(id, at_ms, None, Some(failure.to_string())),
            ModelRecord::Skipped { id, .. } => self.end(id, at_ms, HistoryKind::BreakerOpen),
        }
    }

    fn add_run(&mut self, at_ms: i64, record: &RunRecord) {
        match record {
            RunRecord::StepStarted(StepDescription { step, .. }) | RunRecord::StepEnded { step, .. } => {
                self.entries.entry(step.clone()).or_default();
            }
            RunRecord::CallStarted(call) => self.start(&call.id, at_ms, None),
            RunRecord::CallEnded { call, end, .. }
                if matches!(call.id.kind(), EffectKind::Check | EffectKind::Verify) =>
            {
                self.end_check(at_ms, call, end);
            }
            RunRecord::CallEnded { call, end, fault } => {
                let called = |status, mended| HistoryKind::Called {
                    parameters: call.parameters.clone(),
                    status,
                    error: fault.as_ref().map(ToString::to_string),
                    mended,
                };
                let kind = match end {
                    CallEnd::Replied { status, fixes } => called(Some(*status), fixes.clone()),
                    CallEnd::Failed { .. } => called(None, Vec::new()),
                    CallEnd::Interrupted => HistoryKind::Interrupted,
                };
                self.end(&call.id, at_ms, kind);
            }
            RunRecord::CallSkipped { id, .. } => self.end(id, at_ms, HistoryKind::BreakerOpen),
            RunRecord::KeyFound { id, finding } => self.end(id, at_ms, HistoryKind::KeyFound(finding.clone())),
            RunRecord::WaitStarted { id, .. } => self.start(id, at_ms, None),
            RunRecord::ApprovalRequested(ask) => self.start(&ask.id, at_ms, None),
            RunRecord::WaitEnded(id) | RunRecord::ApprovalDecided { id, expired: true, .. } => {
                self.end(id, at_ms, HistoryKind::Waited);
            }
            RunRecord::JobEnded { id, asked } => self.end(id, at_ms, HistoryKind::AwaitedJob { asked: *asked }),
            RunRecord::ApprovalDecided { id, decision, by, .. } => {
                self.end(id, at_ms, HistoryKind::Decided { decision: decision.clone(), by: *by });
            }
            RunRecord::Mended { step, mend, .. } => {
                self.push(step, HistoryEntry { at_ms, took_ms: 0, kind: HistoryKind::Mended(mend.clone()) });
            }
            _ => {}
        }
    }

    fn end_check(&mut self, at_ms: i64, call: &CallTool, end: &CallEnd) {
        let status = end.status();
        let capability = format!("{}/{}", call.tool, call.capability);
        self.end(&call.id, at_ms, HistoryKind::Checked { capability, parameters: call.parameters.clone(), status });
    }

    /// Notes the start of an effect. One that is started again after a crash keeps its first start.
    fn start(&mut self, id: &EffectId, at_ms: i64, target: Option<TargetName>) {
        if !self.started.contains_key(id) {
            self.started.insert(id.clone(), (at_ms, target));
        }
    }

    fn end_question(&mut self, id: &EffectId, at_ms: i64, usage: Option<Usage>, error: Option<String>) {
        let target = self.started.get(id).and_then(|(_, target)| target.clone());
        if let Some(target) = target {
            let rung = match (id.owner(), id.kind()) {
                (EffectOwner::Plan, EffectKind::Select) => TOOL_SELECTION,
                (EffectOwner::Plan, _) => PLAN,
                (EffectOwner::Answer, _) => ANSWER,
                (_, kind) => kind.as_str(),
            };
            let rung = rung.to_owned();
            self.end(id, at_ms, HistoryKind::Asked { rung, target, usage, error });
        }
    }

    /// Adds the end of an effect to the history of its step, or of the run.
    fn end(&mut self, id: &EffectId, at_ms: i64, kind: HistoryKind) {
        let Some((since_ms, _)) = self.started.remove(id) else { return };
        let entry = HistoryEntry { at_ms: since_ms, took_ms: ms_between(since_ms, at_ms), kind };
        match id.owner() {
            EffectOwner::Step(step) => self.push(step, entry),
            EffectOwner::Run | EffectOwner::Plan | EffectOwner::Answer => self.of_run.push(entry),
            // A session has records of its own.
            EffectOwner::Turn(_) => {}
        }
    }

    fn push(&mut self, step: &StepId, entry: HistoryEntry) {
        self.entries.entry(step.clone()).or_default().push(entry);
    }
}
