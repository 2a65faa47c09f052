//! A simulated world: processes, a journal, a tool and models, and whoever checks them. Everything runs on one thread in virtual
//! time, and every choice follows from the seed, so a seed always gives the same world.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use reknit_journal::RunSignal;
use reknit_journal::test_support::SharedJournal;
use reknit_protocol::{CallTool, RunId};
use tokio::sync::{Notify, oneshot};
use tokio::time::Instant;

use crate::checker::{Checked, Checker, ready};
use crate::counts::Counts;
use crate::faults::Faults;
use crate::node::Node;
use crate::plot::Plot;
use crate::process::{Observer, Process, Status};
use crate::random::Random;
use crate::tool::{Tool, ToolAnswer, run_of};

/// Whether the steps of a simulation are written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tracing {
    On,
    Off,
}

/// A simulated world.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) random: Mutex<Random>,
    faults: Mutex<Faults>,
    pub(crate) plot: Plot,
    pub(crate) journal: SharedJournal,
    /// Read without faults.
    observed: reknit_journal::Journal,
    pub(crate) tool: Mutex<Tool>,
    checker: Mutex<Checker>,
    pub(crate) nodes: Mutex<Vec<Arc<Node>>>,
    counts: Mutex<Counts>,
    trace: Option<Mutex<Vec<String>>>,
    failure: Mutex<Option<String>>,
    has_failed: Notify,
    is_over: AtomicBool,
    /// Connections on which no reply ever comes.
    silent: Mutex<Vec<oneshot::Sender<ToolAnswer>>>,
    began: Instant,
}

impl World {
    pub(crate) fn new(seed: u64, tracing: Tracing) -> Self {
        let mut random = Random::new(seed);
        let faults = Faults::draw(&mut random);
        let plot = Plot::draw(&mut random);
        let journal = SharedJournal::default();
        let (observed, _) = journal.open(Arc::new(Observer));
        Self {
            random: Mutex::new(random),
            faults: Mutex::new(faults),
            plot,
            journal,
            tool: Mutex::default(),
            checker: Mutex::new(Checker::new(observed.clone())),
            observed,
            nodes: Mutex::default(),
            counts: Mutex::default(),
            trace: (tracing == Tracing::On).then(Mutex::default),
            failure: Mutex::default(),
            has_failed: Notify::new(),
            is_over: AtomicBool::new(false),
            silent: Mutex::default(),
            began: Instant::now(),
        }
    }

    /// Milliseconds since the beginning.
    pub(crate) fn now_ms(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).expect("a short time")
    }

    /// Waits until a time; returns at once if something is wrong.
    pub(crate) async fn wait_until(&self, at_ms: u64) {
        tokio::select! {
            biased;
            () = self.has_failed.notified() => self.has_failed.notify_one(),
            () = tokio::time::sleep_until(self.began + Duration::from_millis(at_ms)) => {}
        }
    }

    pub(crate) fn faults(&self) -> Faults {
        self.faults.lock().expect("no panic").clone()
    }

    /// From now on nothing fails.
    pub(crate) fn end_faults(&self) {
        *self.faults.lock().expect("no panic") = Faults::default();
    }

    pub(crate) fn count(&self, name: &str) {
        self.counts.lock().expect("no panic").add(name, 1);
    }

    pub(crate) fn note(&self, words: impl FnOnce() -> String) {
        if let Some(trace) = &self.trace {
            trace.lock().expect("no panic").push(format!("{:>9} {}", self.now_ms(), words()));
        }
    }

    /// Something is wrong. Only the first problem is kept.
    pub(crate) fn fail(&self, problem: String) {
        self.note(|| format!("WRONG: {problem}"));
        self.failure.lock().expect("no panic").get_or_insert(problem);
        self.has_failed.notify_one();
    }

    pub(crate) fn is_failed(&self) -> bool {
        self.failure.lock().expect("no panic").is_some()
    }

    /// The simulation ends: what is dropped from now on says nothing.
    pub(crate) fn end(&self) {
        self.is_over.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    pub(crate) fn keep_silent(&self, connection: oneshot::Sender<ToolAnswer>) {
        self.silent.lock().expect("no panic").push(connection);
    }

    pub(crate) fn check(&self, check: impl FnOnce(&mut Checker) -> Checked) {
        let checked = check(&mut self.checker.lock().expect("no panic"));
        if let Err(problem) = checked {
            self.fail(problem);
        }
    }

    /// What the checker knows.
    pub(crate) fn look<T>(&self, look: impl FnOnce(&Checker) -> T) -> T {
        look(&self.checker.lock().expect("no panic"))
    }

    /// A call has done its deed.
    pub(crate) fn check_deeds(&self, call: &CallTool) {
        self.count("deed done");
        let tool = self.tool.lock().expect("no panic");
        self.check(|checker| checker.check_deeds(call, &run_of(call), &tool.deeds));
    }

    pub(crate) fn process(&self, pid: u32) -> Option<Arc<Process>> {
        let nodes = self.nodes.lock().expect("no panic");
        nodes.iter().map(|node| &node.process).find(|process| process.pid == pid).cloned()
    }

    /// The processes that run.
    pub(crate) fn running(&self) -> Vec<Arc<Node>> {
        let nodes = self.nodes.lock().expect("no panic");
        nodes.iter().filter(|node| node.process.status() == Status::Running).cloned().collect()
    }

    /// A process has written to the journal.
    pub(crate) fn committed(&self, process: &Process, operation: &'static str) {
        if operation == "renew" {
            self.count("renewal");
        }
        let is_alive = |pid| self.process(pid).is_some_and(|process| process.status() != Status::Dead);
        let seen = self.checker.lock().expect("no panic").observe(process, operation, self.now_ms(), is_alive);
        match seen {
            Err(problem) => self.fail(problem),
            Ok(seen) => {
                seen.counts.iter().for_each(|name| self.count(name));
                for note in seen.notes {
                    self.count("event");
                    self.note(|| note);
                }
            }
        }
        self.note(|| format!("p{} {operation}", process.pid));
        if operation == "send" {
            self.wake_others(process.pid);
        }
    }

    /// Other processes poll the file for signals; some notice them late.
    fn wake_others(&self, sender: u32) {
        let runs = self.look(|checker| checker.runs.keys().cloned().collect::<Vec<String>>());
        let has_mail = |run: &RunId| ready(self.observed.inbox(run)).is_ok_and(|inbox| !inbox.is_empty());
        let runs: Vec<RunId> = runs.iter().map(|run| RunId::new(run.as_str())).filter(has_mail).collect();
        for node in self.nodes.lock().expect("no panic").iter().filter(|node| node.process.pid != sender) {
            let (node, runs) = (Arc::clone(node), runs.clone());
            let delay_ms = {
                let (faults, mut random) = (self.faults(), self.random.lock().expect("no panic"));
                if random.chance(faults.late_wakeup) {
                    self.count("late wake-up");
                    random.between(1_000, 60_000)
                } else {
                    random.below(200)
                }
            };
            tokio::spawn(async move {
                node.process.sleep(delay_ms).await;
                for run in &runs {
                    node.poll.found(run);
                }
            });
        }
    }

    pub(crate) fn has_mail(&self, run: &str) -> bool {
        ready(self.observed.inbox(&RunId::new(run))).is_ok_and(|inbox| !inbox.is_empty())
    }

    /// Sends a signal from one of the processes; returns whether nobody needs to send it again.
    pub(crate) async fn send_signal(&self, run: &str, signal: RunSignal) -> bool {
        let nodes = self.running();
        if nodes.is_empty() {
            return false;
        }
        let node = Arc::clone(self.random.lock().expect("no panic").pick(&nodes));
        self.note(|| format!("p{} sends {} to {run}", node.process.pid, signal.kind));
        let run = RunId::new(run);
        let sent = tokio::time::timeout(Duration::from_mins(1), node.journal.send(&run, signal, 0)).await;
        matches!(sent, Ok(Ok(_) | Err(reknit_journal::SendError::Ended { .. })))
    }

    /// What happened, the trace, and what is wrong. The processes are forgotten: they and the world refer to each other.
    pub(crate) fn finish(&self) -> (Counts, Vec<String>, Option<String>) {
        self.nodes.lock().expect("no panic").clear();
        let trace = self.trace.as_ref().map(|trace| std::mem::take(&mut *trace.lock().expect("no panic")));
        let failure = self.failure.lock().expect("no panic").clone();
        (std::mem::take(&mut *self.counts.lock().expect("no panic")), trace.unwrap_or_default(), failure)
    }
}
