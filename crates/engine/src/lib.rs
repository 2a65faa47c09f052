//! The state machines that turn a request into an answer. They decide everything and perform no I/O.
//!
//! ```text
//! let records = machine.apply(&event)?;   // an event: a model answered, a tool failed, a wait is over
//! let effects = machine.pending();        // effects: ask a model, call a tool, wait, ask a person, finish
//! ```
//!
//! The code has no clock, no randomness, no network and no `await`. A driver performs the pending effects and reports each
//! outcome as an event. The state follows from the events alone, so a run can stop anywhere and resume in another process.
//! Each event also yields [`Record`]s: the decisions that were made for it. Telemetry, history and progress are built from
//! records.
//!
//! There are two machines: a [`Run`] executes a plan and ends with an [`Answer`]; a [`Session`] works in turns, in which a
//! model chooses the tool calls, and ends with a [`Report`]. A [`Machine`] is either.
//!
//! Where to go next: [`Run`] and [`Session`] are the machines, [`Event`] and [`Effect`] their input and output, [`RunRecord`]
//! and [`SessionRecord`] their decisions, [`Policy`] and [`SessionRules`] their rules.

mod answer;
mod approval_rules;
mod budget;
mod business_key;
mod consult;
mod data_fence;
mod digest;
mod effect;
mod elapsed;
mod event;
mod explanation;
mod history;
mod internal_error;
mod metadata;
mod migrations;
mod nest;
mod outcome_check;
mod overview;
mod policy;
mod record;
mod report;
mod request_digest;
mod result_handle;
mod run;
mod session;
mod session_start;
mod session_texts;
mod synthesis;
mod templates;
mod trace_parent;
mod uncertain_call;
mod utc_time;

pub use answer::{Answer, AnswerAuthor, MissingOutput, Outcome, Status, StepApproval, StepReport};
pub use approval_rules::{ApprovalPolicy, ApprovalRule, AskScope};
pub use budget::{Exhausted, Spent};
pub use business_key::{KeyFinding, KeyHolder, KeySettlement, KnownReceipt};
pub use digest::digest_of_texts;
pub use effect::{AskModel, AskPerson, AskedBy, CountTokens, Effect, OpenBreakerPolicy, PreviewedCall, Question};
pub use event::{DecidedBy, Decision, Event, EventKind, MACHINE_VERSION, REPLAYED_VERSIONS, Started};
pub use explanation::{ExplainedLine, ExplainedStep, Explanation, explain};
pub use history::{HistoryEntry, HistoryKind};
pub use metadata::{Metadata, MetadataError};
pub use migrations::{MIGRATIONS, MigrationError, SnapshotMigration, SnapshotPart, migrate_snapshot};
pub use outcome_check::{IfAbsent, OutcomeCheck};
pub use overview::{BareOverview, BareReply, Overview, OverviewBuilder, RunOverview, SessionOverview};
pub use policy::{Limits, LlmDebug, Policy, Sampling, SamplingPolicy, SideEffectPolicy, Synthesis, UndeclaredPolicy};
pub use record::{
    Action, AnswerKind, Attempt, AttemptStatus, CallEnd, CollapseReason, ContextAction, DropReason, MendDetail,
    ModelQuestion, ModelRecord, ModelWaitReason, PlanRejection, Record, RecordKind, RejectionCause, RetryDirective,
    RunRecord, RungStart, SessionRecord, StepDescription, StepEnd, TextCallForm, TurnOutcome, WaitEnd, WaitReason,
};
pub use report::{
    ChildReport, FinalTurnReason, MendedCall, REPORT_ALIAS, RepeatedCall, Report, ReportSource, ReportStatus,
    SessionExit, SyntheticReason, Totals,
};
pub use request_digest::RequestDigest;
pub use result_handle::{ResultHandle, ResultSource, memory_size_of, result_of};
pub use run::{ApplyError, Progress, RejectedPlan, Run, StepState, StepView};
pub use session::{
    ChildActivity, ChildView, Ending, Machine, Notice, PLAN_TOOL, QuestionSize, READ_TOOL, RetryReason, Session,
    SessionActivity, SessionView,
};
pub use session_start::{
    AgentMending, CallsInText, Plans, ReportFormat, ReportRules, SessionRules, SessionStarted, SubAgent,
};
pub use session_texts::{REPORT_TOOL, SessionTexts};
pub use templates::{PromptBuilder, TemplateError, Templates};
pub use trace_parent::{SpanId, TraceId, TraceParent, TraceParentError};
