//! A session: an agent that works in turns and always ends with one report.
//!
//! ```text
//!   SessionStarted -> turn 1 -> turn 2 -> ... -> final turn -> ended, with exactly one report
//!
//!   a turn:   asking --answer with calls--> calling --results--> next turn
//!              ^  |'--------- the report ----------------------> ended
//!              |  '--- anything else: a failed attempt --.
//!              '---- the next target, with a notice -----+
//!              '---- waiting: every target is limited ---'
//!
//!   ended --FollowedUp, the next message of the user--> the next turn
//! ```
//!
//! Rules:
//!
//! - **Attempts.** A turn has `max_retries` attempts. The rotation chooses the model target of each attempt, or a wait
//!   if every target is at its rate limit. A failed attempt leaves the history unchanged, byte for byte. The next
//!   attempts of the turn get a notice that says what was wrong; notices are never part of the history.
//! - **Answers** are classified: tool calls, the report, text only, empty, reasoning only, truncated, malformed calls,
//!   calls of unknown tools, refusal. Each attempt is recorded with its class.
//! - **Context window.** A question that does not fit a target's window goes to a target with a larger window. If it
//!   fits none, older results are replaced by references (the model can still read and search them), and then the turn
//!   becomes the final one.
//! - **Calls** are the steps of a [`Run`] nested in the session, so they get the same repairs, side-effect classes and
//!   claims as the steps of a plan. They start only after the answer is complete and in the journal. The ids of their
//!   effects start with the turn. The model can also call a whole plan or another agent: each is a nested machine with
//!   a share of the remaining budget.
//! - **The final turn** starts when turns, attempts, context, budget or time are used up, or the user stops the session. The
//!   model may only give its report then. Without one, a fallback report found in an earlier answer is committed;
//!   without that, the machine writes a synthetic report. So a session always has exactly one report.
//! - **A conversation** goes on after the report with the next message of the user: history, stored results and completed
//!   calls stay, the limits count anew, and the turns are numbered on.

mod accept_report;
mod ask_model;
mod attempt_outcome;
mod call;
mod call_facts;
mod child_machines;
mod classify_answer;
mod context_window;
mod keep_facts;
mod machine;
mod mandate;
mod read_data;
mod repeated_calls;
mod report_draft;
mod state;
mod stop;
mod stored_results;
mod token_counts;
mod tool_calls;
mod toolbox;

use std::sync::Arc;

use reknit_mend::{Corrector, MendingPolicy, ResolutionPolicy, RuleChanges};
use reknit_model_api::{Message, Rotation, RotationRules};
use reknit_plan::PlanAuthor;
use reknit_protocol::ScopeLevel;
use reknit_salvage::Schema;
use serde_json::value::RawValue;

pub use context_window::QuestionSize;
pub use machine::{Ending, Machine};
pub use repeated_calls::{add_repeat_argument, needs_repeat_reason, take_repeat_reason};
pub use state::{ChildActivity, ChildView, SessionActivity, SessionView};
pub use stored_results::READ_TOOL;
pub use toolbox::PLAN_TOOL;

use crate::effect::Effect;
use crate::event::{Event, EventKind, Started};
use crate::guard::Earlier;
use crate::policy::Synthesis;
use crate::record::{Record, RecordKind, SessionRecord};
use crate::run::state::State as RunState;
use crate::run::{ApplyError, Run, check_version, with_metadata};
use crate::session_start::{AgentMending, SessionStarted, TextAnswers};
use child_machines::Child;
use state::{AbortReason, Phase, State, Turn};
use stop::final_turn_reserve_ms;
use toolbox::Toolbox;

/// The state machine of one session. [`Session::apply`] takes in an event, [`Session::pending`] lists the effects that
/// are due; neither performs I/O.
#[derive(Debug, Clone)]
pub struct Session {
    started: Arc<SessionStarted>,
    /// Everything that follows from the first event alone.
    setup: Arc<SessionSetup>,
    /// The run whose steps are the tool calls of the current turn.
    call_run: Option<Box<Run>>,
    /// The running plans and agents that the current turn called.
    children: Vec<Child>,
    state: State,
    /// The decisions made for the event that is being applied.
    records: Vec<Record>,
}

#[derive(Debug)]
struct SessionSetup {
    toolbox: Toolbox,
    report_schema: Option<Schema>,
    /// The first event of the run for a turn's calls, without its id.
    calls_started: Started,
    /// The tools that a plan of the model may call: those that the model is shown.
    public_catalogue: Arc<reknit_plan::Catalogue>,
}

impl Session {
    /// Starts a session with its first event.
    pub fn begin(event: &Event) -> Result<(Self, Vec<Record>), ApplyError> {
        let EventKind::SessionStarted(started) = &event.kind else {
            return Err(ApplyError::NotStarted(event.kind.name()));
        };
        let started = Arc::new(started.as_ref().clone());
        let setup = Arc::new(SessionSetup::new(&started)?);
        let rules = RotationRules { max_attempts: started.rules.max_retries, ..started.policy.rotation.clone() };
        let state = State {
            events: 1,
            now_ms: event.at_ms,
            history: first_messages(&started),
            max_turns: started.rules.max_turns,
            rotation: Rotation::new(started.targets.clone(), rules),
            phase: Phase::Asking { attempt: 0, since_ms: event.at_ms },
            current: Turn {
                started_ms: event.at_ms,
                max_output_tokens: started.rules.max_output_tokens,
                ..Turn::default()
            },
            ..State::default()
        };
        let records = Vec::new();
        let mut session = Self { started, setup, call_run: None, children: Vec::new(), state, records };
        let (agent, input) = (session.started.agent.clone(), session.started.input.clone());
        let metadata = session.started.metadata.clone();
        session.record(SessionRecord::Started { agent, input, metadata });
        session.begin_turn();
        session.update_clock();
        let records = std::mem::take(&mut session.records);
        Ok((session, records))
    }

    /// Applies an event and returns what was decided. An outcome that the session does not wait for only increments a
    /// counter.
    pub fn apply(&mut self, event: &Event) -> Result<Vec<Record>, ApplyError> {
        if matches!(event.kind, EventKind::Started(_) | EventKind::SessionStarted(_)) {
            return Err(ApplyError::StartedTwice);
        }
        self.state.events += 1;
        let last_ms = self.state.now_ms;
        self.state.now_ms = last_ms.max(event.at_ms);
        match &event.kind {
            EventKind::Resumed => self.on_resumed(last_ms),
            EventKind::BudgetChanged { budget } => {
                Arc::make_mut(&mut self.started).set_budget(*budget);
                self.setup = Arc::new(SessionSetup::new(&self.started)?);
            }
            EventKind::FollowedUp { input } if self.report().is_some() => self.on_follow_up(input),
            kind if matches!(self.state.phase, Phase::Ended(_)) => self.on_late_outcome(kind),
            EventKind::Cancelled => self.abort(AbortReason::Cancelled),
            EventKind::Stopped => self.stop(),
            EventKind::Woke { effect } if self.state.clock.deadline_id() == *effect => self.on_deadline(),
            kind => {
                if !(self.on_question_event(kind) || self.on_call_event(event.at_ms, kind)) {
                    self.on_late_outcome(kind);
                }
            }
        }
        self.update_clock();
        Ok(std::mem::take(&mut self.records))
    }

    fn on_late_outcome(&mut self, kind: &EventKind) {
        self.state.late_outcomes += 1;
        if let Some(id) = kind.effect().cloned() {
            self.record(SessionRecord::LateOutcome(id));
        }
    }

    fn record(&mut self, record: impl Into<RecordKind>) {
        self.records.push(Record::new(record));
    }

    /// Adds the decisions of a nested machine.
    fn record_nested(&mut self, scope: &[ScopeLevel], records: Vec<Record>) {
        // The calls of the next turn are another run, which must not use these rules again.
        let rejected = records.iter().filter_map(Record::rejected_rule);
        let rejected = rejected.map(|(rule, error)| (rule.to_owned(), error.to_owned()));
        self.state.calls.rejected_rules.extend(rejected);
        self.records.extend(records.into_iter().map(|record| record.nested_in(scope)));
    }

    /// The effects that are due. An effect stays due until an event reports its outcome; the driver drops an effect in
    /// progress that is no longer due.
    pub fn pending(&self) -> Vec<Effect> {
        let mut effects = match &self.state.phase {
            Phase::Ended(report) => return vec![Effect::Report(report.clone())],
            Phase::Asking { .. } => self.question_effect().map(Effect::AskModel).into_iter().collect(),
            Phase::Counting { .. } => self.count_effect().into_iter().collect(),
            Phase::Waiting { until_ms, .. } => vec![Effect::Sleep { id: self.wait_id(), until_ms: *until_ms }],
            Phase::Calling(_) => self.call_effects(),
        };
        // A session that is ending needs no second end: a deadline that stays due would fire again and again.
        if self.state.ending.abort_reason.is_none() {
            effects.extend(self.time_limit_ms().and_then(|limit_ms| self.state.clock.effect(limit_ms)));
        }
        effects
    }

    /// The state as text.
    pub fn snapshot(&self) -> Result<String, ApplyError> {
        let call_run = self.call_run.as_ref().map(|run| run.state());
        let snapshot = |child: &Child| Ok((child.call, RawValue::from_string(child.machine.snapshot()?)?));
        let children = self.children.iter().map(snapshot);
        let children = children.collect::<Result<Vec<_>, ApplyError>>()?;
        Ok(serde_json::to_string(&(self.started.as_ref(), &self.state, call_run, children))?)
    }

    /// The session that [`Session::snapshot`] wrote.
    pub fn restore(text: &str) -> Result<Self, ApplyError> {
        type Parts = (SessionStarted, State, Option<RunState>, Vec<(usize, Box<RawValue>)>);
        let (started, state, call_run, children): Parts = serde_json::from_str(text)?;
        let started = Arc::new(started);
        let setup = Arc::new(SessionSetup::new(&started)?);
        let restored =
            |(call, text): (usize, Box<RawValue>)| Ok(Child { call, machine: Machine::restore(text.get())? });
        let children = children.into_iter().map(restored).collect::<Result<_, ApplyError>>()?;
        let mut session = Self { started, setup, call_run: None, children, state, records: Vec::new() };
        session.restore_call_run(call_run)?;
        Ok(session)
    }

    /// Starts or stops the clock that measures active time.
    fn update_clock(&mut self) {
        let active = !matches!(self.state.phase, Phase::Ended(_)) && !self.is_idle();
        let now_ms = self.state.now_ms;
        self.state.clock.set_active(active, now_ms);
    }

    /// The scope of the effects of the current turn.
    fn turn_scope(&self) -> ScopeLevel {
        ScopeLevel::Turn(self.state.current.number)
    }
}

/// The prompt and the question.
fn first_messages(started: &SessionStarted) -> Vec<Message> {
    let instructions = match started.rules.text_answers {
        TextAnswers::Refused => &started.words.instructions,
        TextAnswers::Accepted => &started.words.conversation,
    };
    let system = format!("{}\n\n{instructions}", started.prompt.trim_end());
    let input = Message::user(with_metadata(&started.input, &started.metadata, &started.policy));
    vec![Message::system(system.trim_start()), input.with_attachments(started.attachments.clone())]
}

/// Turns off the repairs that the rules of an agent do not allow.
fn limit_mending(policy: &mut MendingPolicy, allowed: AgentMending, corrector: Corrector) {
    if allowed == AgentMending::Models {
        return;
    }
    policy.resolution = ResolutionPolicy::Off;
    policy.feedback = 0;
    policy.context = 0;
    policy.corrector = corrector;
    if allowed == AgentMending::Spelling {
        policy.rule_changes = RuleChanges::SpellingOnly;
    }
}

impl SessionSetup {
    fn new(started: &SessionStarted) -> Result<Self, ApplyError> {
        check_version(started.machine_version)?;
        let report_schema = started.rules.report.schema.as_ref().map(Schema::compile).transpose();
        let report_schema = report_schema.map_err(|error| ApplyError::ReportSchema(error.to_string()))?;
        let mut policy = started.policy.as_ref().clone();
        policy.synthesis = Synthesis::Template;
        limit_mending(&mut policy.mending, started.rules.mending, started.rules.corrector);
        // Calls that are given up at the time limit must leave time for the final turn.
        let reserve_ms = started.rules.max_time_ms.map_or(u64::MAX, final_turn_reserve_ms);
        policy.limits.active_ms = None;
        policy.limits.drain_ms = policy.limits.drain_ms.min(reserve_ms / 2);
        // Repairs must not use up the model call that the report needs.
        policy.limits.model_calls = policy.limits.model_calls.saturating_sub(1);
        Ok(Self {
            toolbox: Toolbox::new(started),
            public_catalogue: Arc::new(started.catalogue.without_internal()),
            report_schema,
            calls_started: Started {
                run: started.run.clone(),
                request: started.input.clone(),
                plan: None,
                plan_author: PlanAuthor::Person,
                inputs: reknit_protocol::Object::new(),
                attachments: Vec::new(),
                agents: Vec::new(),
                metadata: started.metadata.clone(),
                catalogue: Arc::clone(&started.catalogue),
                targets: started.targets.clone(),
                policy: Arc::new(policy),
                templates: Arc::clone(&started.templates),
                mappings: Vec::new(),
                seed: started.seed,
                trace_parent: None,
                fork: None,
                earlier: Earlier::default(),
                machine_version: started.machine_version,
            },
        })
    }
}
