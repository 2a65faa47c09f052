//! The calls of a run with their outcomes, also those of the sessions that its steps have run.

use std::collections::HashMap;
use std::sync::Arc;

use reknit_engine::{Effect, EventKind, Machine, SessionRequest};
use reknit_journal::{Journal, RunReadError};
use reknit_protocol::{CallTool, Delivery, EffectId, RunId, ToolReply, TransportFailure, TransportKind};

use super::{read_events, refused};
use crate::error::DriveError;

/// A call that a tool got, and its outcome.
#[derive(Debug, Clone)]
pub struct JournalledCall {
    /// The call.
    pub call: Arc<CallTool>,
    /// What came back. A call during which the process ended counts as a broken connection.
    pub outcome: Result<ToolReply, TransportFailure>,
}

/// The calls of a run that have an outcome, in the order in which they were made, then those of each session that its steps have run. A
/// run that is not in the journal any more has none.
pub async fn recorded_calls(journal: &Journal, run: &RunId) -> Result<Vec<JournalledCall>, DriveError> {
    let (mut calls, mut open) = (Vec::new(), vec![run.clone()]);
    while let Some(run) = open.pop() {
        let events = match read_events(journal, &run).await {
            Err(DriveError::Read(RunReadError::NoSuchRun(_))) => continue,
            events => events?,
        };
        let Some((first, rest)) = events.split_first() else { continue };
        let (mut machine, _) = Machine::begin(first).map_err(refused)?;
        let mut due = DueCalls::default();
        due.add(&machine, &mut open);
        for event in rest {
            due.end(&event.kind);
            machine.apply(event).map_err(refused)?;
            due.add(&machine, &mut open);
        }
        calls.extend(
            due.calls.into_iter().filter_map(|(call, outcome)| Some(JournalledCall { call, outcome: outcome? })),
        );
    }
    Ok(calls)
}

/// What came back.
type CallOutcome = Result<ToolReply, TransportFailure>;

/// The calls of one run, in the order in which they became due.
#[derive(Debug, Default)]
struct DueCalls {
    calls: Vec<(Arc<CallTool>, Option<CallOutcome>)>,
    places: HashMap<EffectId, usize>,
}

impl DueCalls {
    /// Adds the calls that have become due, and the sessions that calls of agents start.
    fn add(&mut self, machine: &Machine, sessions: &mut Vec<RunId>) {
        for effect in machine.pending() {
            let Effect::CallTool(call) = effect else { continue };
            if self.places.contains_key(&call.id) {
                continue;
            }
            self.places.insert(call.id.clone(), self.calls.len());
            if let Some(session) = machine.session_call(&call)
                && let SessionRequest::Start(started) = session.request
            {
                sessions.push(started.run.clone());
            }
            self.calls.push((call, None));
        }
    }

    fn end(&mut self, event: &EventKind) {
        let (effect, outcome) = match event {
            EventKind::ToolAnswered { effect, reply } => (effect, Ok(reply.clone())),
            EventKind::ToolFailed { effect, failure } => (effect, Err(failure.clone())),
            EventKind::Interrupted { effect } => {
                let message = "the process ended during the call".to_owned();
                let failure = TransportFailure { kind: TransportKind::Reset, delivery: Delivery::Possible, message };
                (effect, Err(failure))
            }
            _ => return,
        };
        let place = self.places.get(effect).and_then(|place| self.calls.get_mut(*place));
        // A call of an agent has no outcome here: its session has the calls.
        if let Some((call, slot)) = place
            && call.tool.as_str() != reknit_plan::AGENT_TOOL
        {
            *slot = Some(outcome);
        }
    }
}
