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
//! ```
//! use std::sync::Arc;
//!
//! use reknit_engine::{Earlier, Effect, Event, EventKind, MACHINE_VERSION, Metadata, Policy, Run, Started, Synthesis, Templates};
//! use reknit_plan::{Catalogue, CatalogueEntry, CatalogueTool, PlanAuthor};
//! use reknit_protocol::{Capability, Object, Plan, ReplyBody, Step, ToolReply, Value};
//!
//! let price = CatalogueEntry::new(Capability::new("price"), None)?;
//! let shop = CatalogueTool { name: "shop".into(), description: String::new(), capabilities: vec![price] };
//! let started = Started {
//!     run: "run-1".into(),
//!     request: "What does tea cost?".to_owned(),
//!     plan: Some(Plan::new("plan-1", "What does tea cost?", vec![Step::new("tea", "shop", "price", "")])),
//!     plan_author: PlanAuthor::Person,
//!     inputs: Object::new(),
//!     attachments: Vec::new(),
//!     agents: Vec::new(),
//!     metadata: Metadata::default(),
//!     catalogue: Arc::new(Catalogue { tools: vec![shop] }),
//!     targets: Vec::new(),
//!     policy: Arc::new(Policy { synthesis: Synthesis::Template, ..Policy::default() }),
//!     templates: Arc::new(Templates::default()),
//!     mappings: Vec::new(),
//!     seed: 7,
//!     trace_parent: None,
//!     fork: None,
//!     earlier: Earlier::default(),
//!     machine_version: MACHINE_VERSION,
//! };
//! let (mut run, _) = Run::begin(&Event { at_ms: 0, kind: EventKind::Started(Box::new(started)) })?;
//! let calls = |run: &Run| run.pending().into_iter().find_map(|effect| match effect {
//!     Effect::CallTool(call) => Some(call.id.clone()),
//!     _ => None,
//! });
//! let effect = calls(&run).expect("a call is due");
//! assert_eq!(effect.to_string(), "tea/call/1");
//!
//! // A driver makes the call, and reports what the tool answered.
//! let body = ReplyBody::Json(Value::parse(r#"{"price": 4.50}"#)?);
//! let reply = ToolReply { status: 200, retry_after_ms: None, body, job: None };
//! run.apply(&Event { at_ms: 20, kind: EventKind::ToolAnswered { effect, reply } })?;
//! assert!(run.answer().expect("the run has ended").text.contains("4.50"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! There are two machines: a [`Run`] executes a plan and ends with an [`Answer`]; a [`Session`] works in turns, in which a
//! model chooses the tool calls, and ends with a [`Report`]. A [`Machine`] is either.
//!
//! Where to go next: [`Run`] and [`Session`] are the machines, [`Event`] and [`Effect`] their input and output, [`RunRecord`]
//! and [`SessionRecord`] their decisions, [`Policy`] and [`SessionRules`] their rules.

mod admitted_call;
mod answer;
mod approval_rules;
mod budget;
mod business_key;
mod client_reads;
mod consult;
mod declared_roles;
mod digest;
mod effect;
mod event;
mod event_json;
mod exact_word;
mod explanation;
mod gate;
mod guard;
mod history;
mod internal_error;
mod metadata;
mod migrations;
mod notice;
mod number_sources;
mod outcome_check;
mod overview;
mod policy;
mod question_facts;
mod read_results;
mod record;
mod report;
mod request_digest;
mod result_handle;
mod rule_file;
mod run;
mod session;
mod session_start;
mod session_texts;
mod statistics;
mod stored;
mod synthesis;
mod templates;
mod times;
mod tool_name;
mod trace_parent;
mod verdict;

pub use answer::Replanning;
pub use answer::{Answer, AnswerAuthor, MissingOutput, Outcome, Status, StepApproval, StepReport};
pub use approval_rules::{ApprovalPolicy, ApprovalRule, AskScope, names_capability};
pub use budget::{Exhausted, Spent};
pub use business_key::{KeyFinding, KeyHolder, KeySettlement, KnownReceipt};
pub use client_reads::{ClientCall, ClientReads, ClientRequest};
pub use declared_roles::{ParameterRole, RoleRule, TrustRule};
pub use digest::digest_of_texts;
pub use effect::{
    AskModel, AskPerson, AskedBy, CountTokens, Effect, ItemCall, OpenBreakerPolicy, PreviewedCall, Question,
};
pub use event::{DecidedBy, Decision, Event, EventKind, MACHINE_VERSION, REPLAYED_VERSIONS, Started};
pub use event_json::event_json;
pub use explanation::{ExplainedLine, ExplainedStep, Explanation, explain};
pub use gate::{GateRow, ShownRole};
pub use guard::{Earlier, GuardLevel, Mandate, Permission};
pub use history::{HistoryEntry, HistoryKind};
pub use metadata::{Metadata, MetadataError};
pub use migrations::{MIGRATIONS, MigrationError, SnapshotMigration, SnapshotPart, migrate_snapshot};
pub use notice::{Notice, RetryReason};
pub use number_sources::{NumberSource, SourcedNumber, number_sources};
pub use outcome_check::{Confirmation, ConfirmingCall};
pub use outcome_check::{IfAbsent, OutcomeCheck};
pub use overview::{
    BareOverview, BareReply, Overview, OverviewBuilder, PlanningOverview, RunOverview, SessionOverview,
};
pub use policy::{
    EngineKind, Limits, LlmDebug, LoopApprovals, Policy, Sampling, SamplingPolicy, SideEffectPolicy, Synthesis,
    UndeclaredPolicy, UnfitResults,
};
pub use question_facts::QuestionLine;
pub use record::{
    Action, AnswerKind, Attempt, AttemptStatus, CallEnd, CollapseReason, ContextAction, DropReason, MendDetail,
    ModelQuestion, ModelRecord, ModelWaitReason, PlanRejection, Record, RecordKind, RejectionCause, RetryDirective,
    RunRecord, RungStart, SessionRecord, StepDescription, StepEnd, TextCallForm, TurnOutcome, WaitEnd, WaitReason,
    WaitSource,
};
pub use report::{
    ChildReport, FinalTurnReason, MendedCall, REPORT_ALIAS, RepeatedCall, Report, ReportSource, ReportStatus,
    SessionExit, Shortcomings, SyntheticReason, Totals,
};
pub use request_digest::RequestDigest;
pub use result_handle::{ResultHandle, ResultSource, memory_size_of, result_of};
pub use rule_file::{RuleFileError, edit_rule_file, read_rule_file, write_rule_file};
pub use run::{
    ApplyError, Progress, RejectedPlan, Run, SessionCall, SessionRequest, StepState, StepView, session_reply,
};
pub use session::{
    ChildActivity, ChildView, Ending, Machine, PLAN_TOOL, QuestionSize, READ_TOOL, Session, SessionActivity,
    SessionView, add_repeat_argument, needs_repeat_reason, take_repeat_reason,
};
pub use session_start::{
    AgentMending, CallsInText, Plans, ReportFormat, ReportRules, SessionRules, SessionStarted, SubAgent, TextAnswers,
};
pub use session_texts::{REPORT_TOOL, SessionTexts};
pub use statistics::{FailureClass, FailureStatistics, RungStatistics, Statistics, ToolStatistics};
pub use templates::{PromptBuilder, TemplateError, Templates};
pub use tool_name::tool_name;
pub use trace_parent::{ForkOrigin, ForkWrites};
pub use trace_parent::{SpanId, TraceId, TraceParent, TraceParentError};
