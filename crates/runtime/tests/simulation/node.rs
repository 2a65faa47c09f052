//! A process with its driver, and the runs that it drives.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use reknit_journal::test_support::{InboxPoll, simulated_holder};
use reknit_journal::{AppendError, FenceError, Journal, RunFilter, StatusFilter};
use reknit_protocol::RunId;
use reknit_runtime::{
    BreakerPolicy, Breakers, CallLimits, CallRate, Clock, DriveError, DriveOutcome, Driver, EventOrigin, RunOwner,
    RunStart, ToolLimits, Watcher,
};
use tokio::task::AbortHandle;
use tokio_util::sync::CancellationToken;

use crate::checker::{Mishap, MishapKind};
use crate::network::SimulatedNetwork;
use crate::plot::owner_of;
use crate::process::{Process, ProcessHandle, Status};
use crate::world::World;

/// With this text a watcher panics on purpose.
pub(crate) const WATCHER_PANIC: &str = "a simulated defect of a watcher";

/// After this time a run whose future was dropped has no lease any more: a driver waits 20 s for calls, and clocks differ.
const RELEASE_MS: u64 = 30_000;

/// A process with its driver.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) process: Arc<Process>,
    pub(crate) journal: Journal,
    pub(crate) poll: InboxPoll,
    pub(crate) cancel: CancellationToken,
    driver: Driver,
    drives: Mutex<BTreeMap<String, Drive>>,
}

/// A run that a process drives.
#[derive(Debug)]
struct Drive {
    task: AbortHandle,
    began_ms: u64,
}

fn owner(name: &str) -> Arc<RunOwner> {
    Arc::new(RunOwner { name: name.to_owned(), tools: None, monthly_budget: None, sees_all_runs: false })
}

impl Node {
    /// Starts a process on a host whose clock is so far ahead.
    pub(crate) fn start(world: &Arc<World>, host: usize, ahead_ms: i64) -> Arc<Self> {
        let mut random = world.random.lock().expect("no panic");
        let rate = *random.pick(&[100, 100, 100, 100, 100, 100, 95, 105]);
        let pid = u32::try_from(world.nodes.lock().expect("no panic").len()).expect("few processes") + 1;
        if ahead_ms != 0 || rate != 100 {
            world.count("process with another clock");
        }
        world.note(|| format!("p{pid} starts on host {host}, {ahead_ms} ms ahead, rate {rate} %"));
        let process = Arc::new(Process::new(pid, host, (ahead_ms, rate), Arc::clone(world)));
        let handle = ProcessHandle(Arc::clone(&process));
        let (journal, poll) = world.journal.open(Arc::new(handle.clone()));
        let clock: Arc<dyn Clock> = Arc::new(handle);
        let limits = CallLimits { per_tool: *random.pick(&[64, 1, 2]), ..CallLimits::default() };
        let mut breakers = Breakers::new(limits, BreakerPolicy::default(), Arc::clone(&clock));
        if random.one_in(6) {
            let rate = CallRate::new(2, Duration::from_secs(3)).expect("a rate");
            let limits = ToolLimits { concurrent: None, rate: Some(rate) };
            breakers = breakers.with_tool_limits(BTreeMap::from([("t".to_owned(), limits)]));
        }
        let panics_at = random.one_in(6).then(|| random.below(6));
        drop(random);
        let network = SimulatedNetwork { process: Arc::clone(&process), world: Arc::clone(world) };
        let cancel = CancellationToken::new();
        let driver = Driver::with_breakers(journal.clone(), Arc::new(network), clock, Arc::new(breakers))
            .with_cancel_token(cancel.clone())
            .with_watcher(watcher(world, panics_at))
            .with_holder(simulated_holder(pid, &format!("host-{host}")));
        let node = Arc::new(Self { process, journal, poll, cancel, driver, drives: Mutex::default() });
        world.nodes.lock().expect("no panic").push(Arc::clone(&node));
        tokio::spawn(resume_unfinished(Arc::clone(world), Arc::clone(&node)));
        node
    }

    pub(crate) fn drives(&self, run: &str) -> bool {
        self.drives.lock().expect("no panic").contains_key(run)
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.drives.lock().expect("no panic").is_empty()
    }

    /// Starts a run, or resumes it.
    pub(crate) fn drive(self: &Arc<Self>, world: &Arc<World>, run: &str, start: Option<RunStart>) {
        if self.drives(run) {
            return;
        }
        let (node, world, run, began_ms) = (Arc::clone(self), Arc::clone(world), run.to_owned(), world.now_ms());
        let name = run.clone();
        let task = tokio::spawn(async move {
            node.process.gate().await;
            let result = match start {
                Some(start) => node.driver.clone().with_owner(owner_of(&run).map(owner)).start(start).await,
                None => node.driver.resume(&RunId::new(run.as_str())).await,
            };
            node.process.gate().await;
            node.end_drive(&world, &run, began_ms, &result);
        });
        let drive = Drive { task: task.abort_handle(), began_ms };
        self.drives.lock().expect("no panic").insert(name, drive);
    }

    fn end_drive(&self, world: &World, run: &str, began_ms: u64, result: &Result<DriveOutcome, DriveError>) {
        self.drives.lock().expect("no panic").remove(run);
        let pid = self.process.pid;
        world.note(|| match result {
            Ok(DriveOutcome::Waiting) => format!("p{pid} {run} waits for a person"),
            Ok(_) => format!("p{pid} {run} has ended"),
            Err(error) => format!("p{pid} {run} failed: {error:?}"),
        });
        match result {
            Ok(DriveOutcome::Finished(_)) => world.count("run ended"),
            Ok(DriveOutcome::Reported(_)) => world.count("session ended"),
            Ok(DriveOutcome::Waiting) => world.count("driver waits for a person"),
            Err(DriveError::Lease(_)) => world.count("run not leased"),
            Err(error) => {
                world.count("driver returned an error");
                match error {
                    DriveError::Append(AppendError::Fenced { .. })
                    | DriveError::NotStored { source: AppendError::Fenced { .. }, .. } => world.count("fenced append"),
                    DriveError::Fence(FenceError::Fenced { .. }) => world.count("fenced claim or renewal"),
                    _ => {}
                }
            }
        }
        world.check(|checker| checker.check_driver_end(&self.process, run, began_ms, result));
    }

    /// Drops the future that drives a run.
    pub(crate) fn drop_drive(self: &Arc<Self>, world: &Arc<World>) {
        let Some((run, drive)) = self.drives.lock().expect("no panic").pop_first() else { return };
        if drive.began_ms == world.now_ms() {
            // It has not begun yet.
            self.drives.lock().expect("no panic").insert(run, drive);
            return;
        }
        world.count("future dropped");
        let (pid, dropped_ms) = (self.process.pid, world.now_ms());
        world.note(|| format!("the future of {run} at p{pid} is dropped"));
        drive.task.abort();
        world.check(|checker| {
            checker.mishaps.push(Mishap { at_ms: dropped_ms, pid, run: run.clone(), kind: MishapKind::Dropped });
            Ok(())
        });
        let (world, node) = (Arc::clone(world), Arc::clone(self));
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(RELEASE_MS)).await;
            let process = &node.process;
            let was_paused = process.paused_at_ms.lock().expect("no panic").is_some_and(|at_ms| at_ms >= dropped_ms);
            let faults = process.faults.lock().expect("no panic").clone();
            let had_fault = faults.iter().any(|fault| fault.at_ms + 60_000 >= dropped_ms);
            let was_driven_again = world.look(|checker| checker.has_mishap(pid, &run, dropped_ms + 1, u64::MAX));
            let is_disturbed =
                was_paused || had_fault || was_driven_again || node.drives(&run) || process.status() != Status::Running;
            let holder =
                world.look(|checker| checker.runs.get(&run)?.summary.lease.as_ref().map(|lease| lease.holder.pid));
            if !is_disturbed && holder == Some(pid) {
                world.fail(format!("{run}: p{pid} keeps the lease although its future was dropped"));
            }
        });
    }
}

/// A watcher that checks that events are committed before it sees them, and panics after some of them.
fn watcher(world: &Arc<World>, panics_at: Option<u64>) -> Watcher {
    let (weak, seen) = (Arc::downgrade(world), Mutex::new(0));
    Watcher::inline(move |committed| {
        let Some(world) = weak.upgrade() else { return };
        let mut seen = seen.lock().expect("no panic");
        *seen += 1;
        if committed.origin == EventOrigin::New {
            let run = committed.machine.id().as_str();
            let len = world.look(|checker| checker.runs.get(run).map_or(0, |run| run.summary.len));
            if len < committed.machine.event_count() {
                world.fail(format!("{run}: a watcher sees an event that is not committed"));
            }
        }
        let count = *seen;
        drop(seen);
        if panics_at.is_some_and(|at| count > at) {
            world.count("watcher panicked");
            std::panic::panic_any(WATCHER_PANIC);
        }
    })
}

/// Resumes runs that have not ended, again and again, as `resume --all` does.
async fn resume_unfinished(world: Arc<World>, node: Arc<Node>) {
    loop {
        let pause_ms = world.random.lock().expect("no panic").between(2_000, 15_000);
        node.process.sleep(pause_ms).await;
        let filter = RunFilter::of_status(StatusFilter::Unfinished, 100);
        let Ok(runs) = node.journal.runs(&filter).await else { continue };
        for summary in runs {
            let run = summary.run.as_str();
            let waits =
                world.look(|checker| checker.runs.get(run).is_some_and(|run| run.machine.is_waiting_for_person()));
            let has_news = !waits || world.has_mail(run);
            if has_news || world.random.lock().expect("no panic").one_in(8) {
                node.drive(&world, run, None);
            }
        }
    }
}
