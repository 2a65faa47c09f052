//! A session: an agent that works in turns and always ends with one report.
//!
//! ```text
//!   SessionStarted -> turn 1 -> turn 2 -> ... -> last turn -> ended, with exactly one report
//!
//!   a turn:   asking --answer with calls--> calling --results--> next turn
//!              ^  |'--------- the report ----------------------> ended
//!              |  '--- anything else: a failed attempt --.
//!              '---- the next target, with a notice -----+
//!              '---- waiting: everybody is at a limit ---'
//! ```
//!
//! The rules, in short:
//!
//! - **Attempts.** A turn has `max_retries` of them. The rotation says who is asked next, and whether all are at a limit
//!   and there is a wait. What a failed attempt said is not kept: the history is as it was, byte for byte. What it did
//!   wrong is told to the next attempts of the turn as a notice, which is never part of the history.
//! - **Answers** are told apart: calls, the report, words alone, nothing, reasoning alone, cut, calls that cannot be read,
//!   calls of unknown tools, a refusal. Each is recorded under its own name.
//! - **The window.** A question that does not fit a target goes to one that can read more. If nobody can, older results are
//!   replaced by their names, under which they can be read and searched, and then the turn becomes the last one.
//! - **Calls** are made by a [`Run`] inside the session, whose steps are the calls: so they go through the same ladder of
//!   mending, the same classes and claims as the steps of a plan. Its effects have names that begin with the turn. They
//!   begin only after the answer is complete and written down. A whole plan and another agent can be called too: each is a
//!   machine inside the session, with a share of what is left to spend.
//! - **The last turn** is the one that is left when turns, attempts, context or budget are used up, or somebody wants the
//!   session to stop. Only the report may be given then. If none comes, one that was found in words before is accepted;
//!   if there is none, the machine writes one that says what happened. So there is always one, and only one.
//!
//! Nothing here has a clock, a network or an `await`: [`Session::apply`] takes in what happened, [`Session::pending`] says
//! what is to be done.

mod asking;
mod attempting;
mod calling;
mod children;
mod context;
mod directive;
mod draft;
mod ending;
mod estimate;
mod exit;
mod handing;
mod notice;
mod record;
mod report;
mod sorting;
mod started;
mod state;
mod stopping;
mod stored;
mod telemetry;
mod toolbox;
mod view;
mod words;

use reknit_protocol::ScopeLevel;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use reknit_dialogue::{Message, Rotation, Rules};
use reknit_salvage::Schema;

pub use children::ChildReport;
pub use context::QuestionSize;
pub use directive::{Action, Directive};
pub use exit::Exit;
pub use notice::{Notice, RetryReason};
pub use record::{
    AnswerKind, Attempt, AttemptStatus, CollapseReason, ContextAction, Dropped, ForcedReason, Record, Totals,
    TurnOutcome, WaitEnd,
};
pub use report::{REPORT_ALIAS, REPORT_TOOL, Report, ReportSource, ReportStatus, SyntheticReason};
pub use started::{Plans, ReportFormat, ReportRules, SessionRules, SessionStarted, SubAgent};
pub use stored::READ_TOOL;
pub use toolbox::PLAN_TOOL;
pub use view::{ChildDoing, ChildView, Doing, SessionView};
pub use words::Words;

use crate::budget::Spent;
use crate::effect::Effect;
use crate::event::{Event, MACHINE_VERSION, What};
use crate::machine::Machine;
use crate::policy::Synthesis;
use crate::run::state::{ActiveClock, State as RunState};
use crate::run::{ApplyError, Run};
use children::Child;
pub(crate) use sorting::Doubtful;
use state::{Phase, State};
use toolbox::Toolbox;

/// A session. [`Session::apply`] takes in what happened, [`Session::pending`] says what is to be done; neither does anything
/// else.
#[derive(Debug, Clone)]
pub struct Session {
    started: Arc<SessionStarted>,
    /// What follows from the beginning alone.
    known: Arc<Known>,
    /// The run that makes the calls of the turn.
    calls: Option<Box<Run>>,
    /// The run of calls that ended with the last event: only for whoever tells of it.
    ended_calls: Option<Box<Run>>,
    /// The plans and agents that were called in the turn.
    children: Vec<Child>,
    /// Those that ended with the last event: only for whoever tells of them.
    ended_children: Vec<Child>,
    state: State,
}

#[derive(Debug)]
struct Known {
    toolbox: Toolbox,
    schema: Option<Schema>,
    /// How the calls of a turn begin, but for their name and the plan.
    calls: crate::event::Started,
    /// What a plan may call: what the model is shown.
    open: Arc<reknit_plan::Catalogue>,
}

impl Session {
    /// Begins a session with its first event.
    pub fn begin(event: &Event) -> Result<Self, ApplyError> {
        let What::SessionStarted(started) = &event.what else { return Err(ApplyError::NotStarted(event.what.name())) };
        let started = Arc::new(started.as_ref().clone());
        let known = Arc::new(Known::new(&started)?);
        let rules = Rules { attempts: started.rules.max_retries, ..started.policy.rotation.clone() };
        let system = format!("{}\n\n{}", started.prompt.trim_end(), started.words.instructions);
        let state = State {
            events: 1,
            now_ms: event.at_ms,
            clock: ActiveClock::new(),
            spent: Spent::default(),
            quote: None,
            kept: crate::budget::Quote::default(),
            late: 0,
            history: vec![Message::system(system.trim_start()), Message::user(started.input.as_str())],
            turn: 0,
            turn_began_ms: event.at_ms,
            asked: 0,
            counted: 0,
            max_turns: started.rules.max_turns,
            rotation: Rotation::new(started.targets.clone(), rules),
            phase: Phase::Asking { attempt: 0, since_ms: event.at_ms },
            notices: notice::Notices::default(),
            forced: None,
            collapsed_in: None,
            pending_report: None,
            final_report_attempts: 0,
            output_tokens: started.rules.max_output_tokens,
            halt: None,
            last_stop_reason: None,
            last_error: None,
            records: Vec::new(),
            totals: Totals::default(),
            doubtful: Vec::new(),
            stored: stored::Stored::default(),
            meters: estimate::Meters::default(),
            uncountable: BTreeSet::new(),
            learned_windows: BTreeMap::new(),
            children: Vec::new(),
        };
        let (children, ended_children) = (Vec::new(), Vec::new());
        let mut session = Self { started, known, calls: None, ended_calls: None, children, ended_children, state };
        session.begin_turn();
        session.settle();
        Ok(session)
    }

    /// Takes in what happened. An answer that nobody waits for is counted and changes nothing else.
    pub fn apply(&mut self, event: &Event) -> Result<(), ApplyError> {
        if matches!(event.what, What::Started(_) | What::SessionStarted(_)) {
            return Err(ApplyError::StartedTwice);
        }
        self.state.events += 1;
        let last_ms = self.state.now_ms;
        self.state.now_ms = last_ms.max(event.at_ms);
        self.ended_calls = None;
        self.ended_children.clear();
        match &event.what {
            What::Resumed => self.on_resumed(last_ms),
            _ if matches!(self.state.phase, Phase::Ended(_)) => self.state.late += 1,
            What::Cancelled => self.halt(state::Halt::Cancelled),
            What::Stopped => self.stop(),
            What::Woke { effect } if self.state.clock.deadline_id() == *effect => self.halt(state::Halt::TimeOver),
            what => {
                if !(self.on_asking(what) || self.on_calls(event.at_ms, what)) {
                    self.state.late += 1;
                }
            }
        }
        self.settle();
        Ok(())
    }

    /// What is to be done now. An effect stays here until an event answers it; one that is under way and no longer here may
    /// be dropped.
    pub fn pending(&self) -> Vec<Effect> {
        let mut effects = match &self.state.phase {
            Phase::Ended(report) => return vec![Effect::Report(report.clone())],
            Phase::Asking { .. } => self.ask().into_iter().collect(),
            Phase::Counting { .. } => self.count_effect().into_iter().collect(),
            Phase::Waiting { until_ms, .. } => vec![Effect::Sleep { id: self.wait_id(), until_ms: *until_ms }],
            Phase::Calling(_) => self.call_effects(),
        };
        // What is ending already needs no second end; a deadline that stays due would come again and again.
        if self.state.halt.is_none() {
            effects.extend(self.state.clock.effect(self.started.policy.limits.active_ms));
        }
        effects
    }

    /// The state as text, for a driver that works in segments.
    pub fn snapshot(&self) -> Result<String, ApplyError> {
        let calls = self.calls.as_ref().map(|run| run.state());
        let children = self.children.iter().map(|child| Ok((child.call, child.machine.snapshot()?)));
        let children = children.collect::<Result<Vec<_>, ApplyError>>()?;
        serde_json::to_string(&(self.started.as_ref(), &self.state, calls, children))
            .map_err(|error| ApplyError::Snapshot(error.to_string()))
    }

    /// The session that [`Session::snapshot`] wrote down.
    pub fn restore(text: &str) -> Result<Self, ApplyError> {
        let (started, state, calls, children): (SessionStarted, State, Option<RunState>, Vec<(usize, String)>) =
            serde_json::from_str(text).map_err(|error| ApplyError::Snapshot(error.to_string()))?;
        let started = Arc::new(started);
        let known = Arc::new(Known::new(&started)?);
        let restored = |(call, text): (usize, String)| Ok(Child { call, machine: Machine::restore(&text)? });
        let children = children.into_iter().map(restored).collect::<Result<_, ApplyError>>()?;
        let ended_children = Vec::new();
        let mut session = Self { started, known, calls: None, ended_calls: None, children, ended_children, state };
        session.restore_calls(calls);
        Ok(session)
    }

    /// What follows from the event without anything new happening.
    fn settle(&mut self) {
        let active = !matches!(self.state.phase, Phase::Ended(_)) && !self.is_waiting_for_person();
        let now_ms = self.state.now_ms;
        self.state.clock.set_active(active, now_ms);
    }

    /// The name that effects of the turn begin with.
    fn turn_scope(&self) -> ScopeLevel {
        ScopeLevel::Turn(self.state.turn)
    }
}

impl Known {
    fn new(started: &SessionStarted) -> Result<Self, ApplyError> {
        if started.machine_version != MACHINE_VERSION {
            return Err(ApplyError::OtherMachine { found: started.machine_version, expected: MACHINE_VERSION });
        }
        let schema = started.rules.report.schema.as_ref().map(Schema::compile).transpose();
        let schema = schema.map_err(|error| ApplyError::ReportSchema(error.to_string()))?;
        let mut policy = started.policy.as_ref().clone();
        policy.synthesis = Synthesis::Template;
        // Mending must not use up the question that the report needs.
        policy.limits.model_calls = policy.limits.model_calls.saturating_sub(1);
        Ok(Self {
            toolbox: Toolbox::new(&started.catalogue, &started.agents, started.rules.plans, &started.rules.report),
            open: Arc::new(started.catalogue.without_internal()),
            schema,
            calls: crate::event::Started {
                run: started.run.clone(),
                request: started.input.clone(),
                plan: None,
                inputs: reknit_protocol::Object::new(),
                catalogue: Arc::clone(&started.catalogue),
                targets: started.targets.clone(),
                policy: Arc::new(policy),
                templates: Arc::clone(&started.templates),
                mappings: Vec::new(),
                seed: started.seed,
                trace_parent: None,
                machine_version: started.machine_version,
            },
        })
    }
}
