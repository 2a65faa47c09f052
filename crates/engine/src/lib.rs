//! The machines that turn a request into an answer: they decide everything and do nothing.
//!
//! ```text
//! run.apply(&event)     what happened: a model answered, a tool failed, a wait is over
//! run.pending()         what is to be done: ask a model, call a tool, wait, ask a person, finish
//! ```
//!
//! There is no clock, no randomness, no network and no `await` in here. A driver does what is pending and tells what came
//! of it; the state is the fold of the events, so a run can be stopped anywhere and go on elsewhere.
//!
//! There are two machines: a [`Run`] has a plan and ends with an answer; a [`Session`] works in turns, in which a model says
//! what to call, and ends with a report. [`Machine`] is either.
//!
//! Where to go next: [`Run`] and [`Session`] are the machines, [`Event`] and [`Effect`] are their two languages, [`Policy`] and
//! [`SessionRules`] their rules, [`Catalogue`] the tools they know, [`check`] what protects a run from a bad plan.

mod answer;
mod budget;
mod consult;
mod digest;
mod effect;
mod event;
mod history;
mod interaction;
mod machine;
mod nest;
mod policy;
mod run;
mod session;
mod synthesis;
pub mod telemetry;
mod templates;

pub use answer::{Answer, MissingOutput, Outcome, Status, StepReport, Writer};
pub use budget::{Exhausted, Spent};
pub use effect::{AskModel, AskPerson, CountTokens, Effect, Question};
pub use event::{Decision, Event, MACHINE_VERSION, Started, What};
pub use history::{Deed, Moment, history};
pub use interaction::{Interaction, interactions};
pub use machine::{Ending, Machine};
pub use policy::{Asking, Effects, Freedom, Limits, LlmDebug, Policy, Synthesis, Undeclared};
pub use run::{ApplyError, Progress, RefusedPlan, Run, Shown, StepState, StepView};
pub use session::{
    Action, AnswerKind, Attempt, AttemptStatus, ChildDoing, ChildReport, ChildView, CollapseReason, ContextAction,
    Directive, Doing, Dropped, Exit, ForcedReason, Notice, PLAN_TOOL, Plans, QuestionSize, READ_TOOL, REPORT_ALIAS,
    REPORT_TOOL, Record, Report, ReportFormat, ReportRules, ReportSource, ReportStatus, RetryReason, Session,
    SessionRules, SessionStarted, SessionView, SubAgent, SyntheticReason, Totals, TurnOutcome, WaitEnd, Words,
};
pub use templates::{PromptBuilder, TemplateError, Templates};
