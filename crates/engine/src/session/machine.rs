//! A run or a session, for drivers that treat both alike.

use std::collections::BTreeMap;
use std::sync::Arc;

use reknit_protocol::{CallTool, EffectId, RunId};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::Session;
use crate::answer::{Answer, Status, one_line, shown_missing_lines};
use crate::budget::Spent;
use crate::business_key::{Avoided, UncertainCall};
use crate::effect::{AskPerson, Effect};
use crate::event::{Event, EventKind};
use crate::policy::Policy;
use crate::record::Record;
use crate::report::{Report, SessionExit};
use crate::result_handle::ResultSource;
use crate::run::{ApplyError, Run, SessionCall};
use crate::trace_parent::{ForkOrigin, TraceParent};
use crate::verdict::{Fact, verdict};

/// A run or a session. Both take in events and return the effects that are due.
#[derive(Debug, Clone)]
pub enum Machine {
    /// A run: from a request to an answer.
    Run(Box<Run>),
    /// A session: from a question to a report.
    Session(Box<Session>),
}

/// The result of a machine that has ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Ending<'a> {
    Answer(&'a Answer),
    Report(&'a Report),
}

impl Ending<'_> {
    /// What a reader must know beside the text, one sentence each: what was not done, what may have taken effect, and what no
    /// source states.
    pub fn shortcomings(self) -> Vec<String> {
        match self {
            // A complete answer has steps that its plan skips, and perhaps a limit that prevented nothing.
            Self::Answer(answer) if answer.status == Status::Complete => answer.doubts.clone(),
            Self::Answer(answer) => {
                let missing = shown_missing_lines(&answer.steps, &answer.missing_outputs);
                let missing = missing.iter().map(|line| line.trim_start_matches("- ").to_owned());
                answer.reason.iter().cloned().chain(missing).chain(answer.doubts.iter().cloned()).collect()
            }
            Self::Report(report) => report.shortcomings.sentences(),
        }
    }

    /// A line below the text for readers who see nothing else: the status, and the shortcomings that the text does not list. `None`
    /// if all was done and nothing is in doubt.
    pub fn status_line(self) -> Option<String> {
        let status = self.status();
        let shortcomings = match self {
            // The full text of an answer lists what is missing.
            Self::Answer(answer) => {
                let is_news = |reason: &&String| status != Status::Complete && !answer.text.contains(reason.as_str());
                answer.reason.iter().filter(is_news).chain(&answer.doubts).cloned().collect()
            }
            Self::Report(_) => self.shortcomings(),
        };
        if status == Status::Complete && shortcomings.is_empty() {
            return None;
        }
        let shortcomings: Vec<String> = shortcomings.iter().map(|line| one_line(line)).collect();
        let colon = if shortcomings.is_empty() { "" } else { ": " };
        Some(format!("Status: {}{colon}{}.", status.as_str().replace('_', " "), shortcomings.join("; ")))
    }

    /// The text for readers who see nothing else, with the line about its status. In JSON a line would break it, so a report in
    /// JSON has none.
    pub fn full_text(self) -> String {
        let text = match self {
            Self::Answer(answer) => answer.full_text(),
            Self::Report(report) if report.content_json.is_some() => return report.content.clone(),
            Self::Report(report) => report.content.clone(),
        };
        match self.status_line() {
            Some(line) => format!("{text}\n\n{line}").trim_start().to_owned(),
            None => text,
        }
    }

    /// The final status, as the journal stores it.
    pub fn status(self) -> Status {
        match self {
            Self::Answer(answer) => answer.status,
            Self::Report(report) => {
                let fact = match report.exit {
                    SessionExit::SignalReceived => Some(Fact::Cancelled),
                    _ if report.is_answer() => None,
                    SessionExit::BudgetExhausted | SessionExit::TimeLimit | SessionExit::TokenLimit => {
                        Some(Fact::LimitReached)
                    }
                    _ => Some(Fact::NothingDone),
                };
                // Without a report of a model nobody claims anything.
                let claim = if fact.is_some() { Status::Complete } else { report.status.into() };
                verdict(claim, fact)
            }
        }
    }
}

/// The snapshot of a machine, by its kind.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum SnapshotText {
    Run(Box<RawValue>),
    Session(Box<RawValue>),
}

/// Evaluates an expression for the run or the session in a machine.
macro_rules! either {
    ($machine:expr, $inner:ident => $value:expr) => {
        match $machine {
            Self::Run($inner) => $value,
            Self::Session($inner) => $value,
        }
    };
}

/// A machine after its events, and the records of each event.
type Replayed = (Machine, Vec<Vec<Record>>);

impl Machine {
    /// Starts the machine that the first event describes.
    pub fn begin(event: &Event) -> Result<(Self, Vec<Record>), ApplyError> {
        Self::begin_without(event, &Avoided::default())
    }

    /// Replays the events of a run or session. Returns the machine, and what was decided for each event.
    pub fn replay(events: &[Event]) -> Result<Option<Replayed>, ApplyError> {
        let Some((first, rest)) = events.split_first() else { return Ok(None) };
        let (mut machine, records) = Self::begin(first)?;
        let mut decided = vec![records];
        for event in rest {
            decided.push(machine.apply(event)?);
        }
        Ok(Some((machine, decided)))
    }

    /// Starts a machine that must not do what is known to be wrong.
    pub(crate) fn begin_without(event: &Event, avoided: &Avoided) -> Result<(Self, Vec<Record>), ApplyError> {
        match &event.kind {
            EventKind::SessionStarted(_) => {
                let (mut session, records) = Session::begin(event)?;
                session.avoid(avoided);
                Ok((Self::Session(Box::new(session)), records))
            }
            _ => Run::begin_without(event, avoided).map(|(run, records)| (Self::Run(Box::new(run)), records)),
        }
    }

    /// Applies an event and returns what was decided.
    pub fn apply(&mut self, event: &Event) -> Result<Vec<Record>, ApplyError> {
        either!(self, machine => machine.apply(event))
    }

    /// Drops large results of a run from memory: see [`Run::release_results`]. A session keeps its results.
    pub fn release_results(&mut self, source: &Arc<dyn ResultSource>) {
        if let Self::Run(run) = self {
            run.release_results(source);
        }
    }

    /// The effects that are due.
    pub fn pending(&self) -> Vec<Effect> {
        either!(self, machine => machine.pending())
    }

    /// The questions to a person that are open, also those of machines that are nested in this one.
    pub fn questions(&self) -> Vec<AskPerson> {
        let question = |effect| match effect {
            Effect::AskPerson(question) => Some(Arc::unwrap_or_clone(question)),
            _ => None,
        };
        self.pending().into_iter().filter_map(question).collect()
    }

    /// The state as JSON.
    pub fn snapshot(&self) -> Result<String, ApplyError> {
        Ok(match self {
            Self::Run(run) => format!(r#"{{"run":{}}}"#, run.snapshot()?),
            Self::Session(session) => format!(r#"{{"session":{}}}"#, session.snapshot()?),
        })
    }

    /// The machine that [`Machine::snapshot`] wrote.
    pub fn restore(text: &str) -> Result<Self, ApplyError> {
        match serde_json::from_str(text)? {
            SnapshotText::Run(text) => Run::restore(text.get()).map(|run| Self::Run(Box::new(run))),
            SnapshotText::Session(text) => Session::restore(text.get()).map(|session| Self::Session(Box::new(session))),
        }
    }

    pub fn id(&self) -> &RunId {
        either!(self, machine => &machine.started().run)
    }

    /// The parent span of another program, if any.
    pub fn trace_parent(&self) -> Option<TraceParent> {
        either!(self, machine => machine.started().trace_parent)
    }

    pub fn fork(&self) -> Option<&ForkOrigin> {
        either!(self, machine => machine.started().fork.as_ref())
    }

    /// The learned rules whose change a tool rejected, in the machine or in one nested in it, each with the error.
    pub fn rejected_rules(&self) -> &BTreeMap<String, String> {
        either!(self, machine => machine.rejected_rules())
    }

    pub fn policy(&self) -> &Policy {
        either!(self, machine => &machine.started().policy)
    }

    /// The number of events applied, the first included.
    pub fn event_count(&self) -> u64 {
        either!(self, machine => machine.event_count())
    }

    /// The time of the last event, in milliseconds since 1970.
    pub fn now_ms(&self) -> i64 {
        either!(self, machine => machine.now_ms())
    }

    /// The result, once the machine has ended.
    pub fn ending(&self) -> Option<Ending<'_>> {
        match self {
            Self::Run(run) => run.answer().map(Ending::Answer),
            Self::Session(session) => session.report().map(Ending::Report),
        }
    }

    pub fn spent(&self) -> Spent {
        either!(self, machine => machine.spent())
    }

    /// Calls that failed but may have taken effect.
    pub(crate) fn uncertain_calls(&self) -> Vec<UncertainCall> {
        either!(self, machine => machine.uncertain_calls())
    }

    /// The calls that a person denied.
    pub(crate) fn denied_calls(&self) -> Vec<UncertainCall> {
        either!(self, machine => machine.denied_calls())
    }

    /// Whether the machine can only go on after a person's decision.
    pub fn is_waiting_for_person(&self) -> bool {
        either!(self, machine => machine.is_waiting_for_person())
    }

    /// Whether the machine can only go on after a person's decision or the end of a job.
    pub fn is_idle(&self) -> bool {
        either!(self, machine => machine.is_idle())
    }

    /// What a call of an agent asks for: see [`Run::session_call`]. A session has no such calls.
    pub fn session_call(&self, call: &CallTool) -> Option<SessionCall> {
        match self {
            Self::Run(run) => run.session_call(call),
            Self::Session(_) => None,
        }
    }

    /// Whether a call is that of an agent, which a step of a run makes.
    pub fn is_session_call(&self, call: &CallTool) -> bool {
        matches!(self, Self::Run(run) if run.is_session_call(call))
    }

    /// The sessions that steps of a run have started and nobody waits for: see [`Run::abandoned_sessions`].
    pub fn abandoned_sessions(&self) -> Vec<RunId> {
        match self {
            Self::Run(run) => run.abandoned_sessions(),
            Self::Session(_) => Vec::new(),
        }
    }

    /// Whether the machine waits for the reply to a call, or for the end of a job that the call has started.
    pub fn awaits_call(&self, call: &EffectId) -> bool {
        either!(self, machine => machine.awaits_call(call))
    }

    pub fn as_run(&self) -> Option<&Run> {
        match self {
            Self::Run(run) => Some(run),
            Self::Session(_) => None,
        }
    }

    pub fn as_session(&self) -> Option<&Session> {
        match self {
            Self::Run(_) => None,
            Self::Session(session) => Some(session),
        }
    }
}
