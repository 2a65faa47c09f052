//! The machine that turns a request into an answer: it decides everything and does nothing.
//!
//! ```text
//! run.apply(&event)     what happened: a model answered, a tool failed, a wait is over
//! run.pending()         what is to be done: ask a model, call a tool, wait, ask a person, finish
//! ```
//!
//! There is no clock, no randomness, no network and no `await` in here. A driver does what is pending and tells what came
//! of it; the state is the fold of the events, so a run can be stopped anywhere and go on elsewhere.
//!
//! Where to go next: [`Run`] is the machine, [`Event`] and [`Effect`] are its two languages, [`Policy`] its rules,
//! [`Catalogue`] the tools it knows, [`check`] what protects it from a bad plan.

mod answer;
mod budget;
mod catalogue;
mod consult;
mod cut;
mod digest;
mod effect;
mod event;
mod fault;
mod mend;
mod plan;
mod planner;
mod policy;
mod reply;
mod run;
mod synthesis;
mod templates;

pub use answer::{Answer, Outcome, Status, StepReport, Writer};
pub use budget::{Exhausted, Spent};
pub use catalogue::{Catalogue, Entry, Tool};
pub use effect::{AskModel, AskPerson, CallTool, Effect, EffectId, Question};
pub use event::{Decision, Event, MACHINE_VERSION, Started, What};
pub use fault::{Fate, Fault, Origin, Verdict, judge_failure, judge_reply};
pub use mend::facts::{Fact, Field, Says, TypeName, facts};
pub use mend::{Mend, MendEffect, Rung};
pub use plan::{Checked, PlanError, PlanProblem, Planned, ProblemCode, check, correct_names, read_plan};
pub use policy::{
    Effects, IndependentSteps, Limits, Mending, People, Policy, Resend, Resolution, Synthesis, Undeclared,
};
pub use reply::{Body, Sent, ToolReply, TransportFailure, TransportKind};
pub use run::{ApplyError, Progress, Run, Shown, StepState, StepView};
pub use templates::{TemplateError, Templates};
