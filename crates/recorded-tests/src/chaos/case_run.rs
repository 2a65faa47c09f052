//! Runs one case: a run with one fault, which may end the process.

use std::sync::{Arc, Mutex};

use reknit_journal::{Holder, Journal, LeaseTerm, RunFilter, RunSummary};
use reknit_protocol::error_chain;
use reknit_runtime::{CallLimits, Clock, Driver, RunStart, Transport};

use super::ChaosCase;
use super::double::{Double, DoubleState, lock};
use super::fault::ChaosFault;
use crate::drive::TestClock;
use crate::drive::{drive_to_end, facts, in_virtual_time};
use crate::facts::ObservedRun;
use crate::people::People;
use crate::test_file::TestFile;

/// What a run did, and what took effect.
#[derive(Debug)]
pub(super) struct CaseRun {
    pub(super) facts: ObservedRun,
    pub(super) done: DoubleState,
    /// Why the run could not be driven to its end.
    pub(super) failure: Option<String>,
}

pub(super) enum ProcessEnd {
    Done(Option<String>),
    Killed,
}

impl ProcessEnd {
    /// Why the second process could not drive the run to its end.
    pub(super) fn failure(self) -> Option<String> {
        match self {
            Self::Done(failure) => failure,
            Self::Killed => Some("the process was killed twice".to_owned()),
        }
    }
}

/// The most runs that a case has: the run, and the sessions of its steps.
const MAX_RUNS: u32 = 10_000;

/// How long a process needs to be started again.
const RESTART_MS: i64 = 2_000;

pub(super) fn run_case(file: &TestFile, start: &RunStart, case: Option<&ChaosCase>) -> CaseRun {
    let (journal, state) = (Journal::in_memory(), Arc::new(Mutex::new(DoubleState::default())));
    let mut people = People::of(file);
    let process = Process { file, case, journal: &journal, state: &state };
    let (failure, time_ms) = live_twice(file, case, |at_ms, takes_over| {
        process.live(at_ms, (!takes_over).then(|| start.clone()), &mut people)
    });
    let mut facts = in_virtual_time(|| facts(&journal));
    facts.time_ms = time_ms;
    CaseRun { facts, done: lock(&state).clone(), failure }
}

/// Lets a process live, and another one that takes over the run if the first one is killed. `live` gets the time at which a process starts,
/// and whether it takes over. Returns why the run could not be driven to its end, and the time that it took.
pub(super) fn live_twice(
    file: &TestFile,
    case: Option<&ChaosCase>,
    mut live: impl FnMut(i64, bool) -> (ProcessEnd, u64),
) -> (Option<String>, u64) {
    let (end, time_ms) = live(file.at_ms, false);
    let ProcessEnd::Killed = end else { return (end.failure(), time_ms) };
    let step_ms = match case.map(|case| &case.fault) {
        Some(ChaosFault::Process(fault)) => fault.clock_step_ms(),
        _ => 0,
    };
    let now_ms = file.at_ms.saturating_add_unsigned(time_ms).saturating_add(RESTART_MS + step_ms);
    let (end, more_ms) = live(now_ms, true);
    (end.failure(), time_ms + RESTART_MS.unsigned_abs() + more_ms)
}

struct Process<'a> {
    file: &'a TestFile,
    case: Option<&'a ChaosCase>,
    journal: &'a Journal,
    state: &'a Arc<Mutex<DoubleState>>,
}

impl Process<'_> {
    /// Lives until the run has ended, or until it is killed: then nothing that it does in parallel comes to its end. Returns how long it
    /// lived.
    fn live(&self, at_ms: i64, start: Option<RunStart>, people: &mut People) -> (ProcessEnd, u64) {
        in_virtual_time(|| async move {
            let clock = TestClock::starting_at(at_ms);
            let shared: Arc<dyn Clock> = Arc::new(clock);
            let double = Double::new(self.file, self.case, Arc::clone(&shared), Arc::clone(self.state));
            let killed = Arc::clone(&double.killed);
            let transport: Arc<dyn Transport> = Arc::new(double);
            let driver = Driver::new(self.journal.clone(), transport, shared, CallLimits::default());
            if start.is_none() {
                self.take_leases(at_ms).await;
            }
            let ending = drive_to_end(&driver, self.journal, &clock, start, people);
            let end = tokio::select! {
                ended = ending => ProcessEnd::Done(ended.err().map(|error| error_chain(&error))),
                () = killed.notified() => ProcessEnd::Killed,
            };
            (end, clock.elapsed_ms())
        })
    }

    /// The journal sees that this process is alive, and must take the one before for dead: it held the leases of the run, and of the
    /// sessions of its steps.
    async fn take_leases(&self, now_ms: i64) {
        let runs = self.journal.runs(&RunFilter::newest(MAX_RUNS)).await.unwrap_or_default();
        for RunSummary { run, epoch, .. } in runs.into_iter().filter(|summary| summary.lease.is_some()) {
            let term = LeaseTerm { now_ms, ttl_ms: 1 };
            let lease = self.journal.acquire_forced(&run, &Holder::this_process(), term, epoch).await;
            if let Ok(lease) = lease {
                // If it cannot be released, it expires after a millisecond.
                let _ = self.journal.release(&lease).await;
            }
        }
    }
}
