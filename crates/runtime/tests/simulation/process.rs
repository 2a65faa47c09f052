//! A simulated process: its clock, its disk, and whether it runs, is paused or is dead.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use reknit_journal::test_support::{DiskFuture, JournalAccess, SimulatedProcess, disk_error, lock_error};
use reknit_journal::{Holder, Liveness, StorageError};
use reknit_runtime::{BoxFuture, Clock};
use tokio::sync::Notify;

use crate::world::World;

/// The time at which every simulation begins, in milliseconds since 1970.
const BEGIN_MS: i64 = 1_700_000_000_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    Running,
    /// Nothing of it goes on, as after SIGSTOP.
    Paused,
    /// Nothing of it has any effect from now on.
    Dead,
}

/// A fault that the disk of a process had.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DiskFault {
    pub(crate) at_ms: u64,
    pub(crate) operation: &'static str,
    pub(crate) kind: DiskFaultKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DiskFaultKind {
    /// It took longer than a second.
    Slow,
    /// Nothing was read or written.
    Failed,
    /// It was written, but the process was told that it failed.
    Unacknowledged,
}

/// A simulated process.
#[derive(Debug)]
pub(crate) struct Process {
    pub(crate) pid: u32,
    pub(crate) host: usize,
    /// How far its clock is ahead.
    ahead_ms: i64,
    /// How fast its clock goes, in percent.
    rate: i64,
    status: Mutex<Status>,
    /// Not a `watch` channel, which wakes its receivers in a random order.
    changed: Notify,
    /// Until when its disk fails.
    pub(crate) outage_until_ms: Mutex<u64>,
    pub(crate) faults: Mutex<Vec<DiskFault>>,
    /// When it was last paused or went on.
    pub(crate) paused_at_ms: Mutex<Option<u64>>,
    world: Arc<World>,
}

impl Process {
    pub(crate) fn new(pid: u32, host: usize, (ahead_ms, rate): (i64, i64), world: Arc<World>) -> Self {
        let (status, changed) = (Mutex::new(Status::Running), Notify::new());
        let (outage_until_ms, faults, paused_at_ms) = (Mutex::new(0), Mutex::default(), Mutex::default());
        Self { pid, host, ahead_ms, rate, status, changed, outage_until_ms, faults, paused_at_ms, world }
    }

    pub(crate) fn status(&self) -> Status {
        *self.status.lock().expect("no panic")
    }

    pub(crate) fn set_status(&self, status: Status) {
        *self.paused_at_ms.lock().expect("no panic") = Some(self.world.now_ms());
        *self.status.lock().expect("no panic") = status;
        self.changed.notify_waiters();
    }

    /// Waits until the process runs; forever if it is dead.
    pub(crate) async fn gate(&self) {
        while self.status() != Status::Running {
            self.changed.notified().await;
        }
    }

    pub(crate) async fn sleep(&self, ms: u64) {
        if ms > 0 {
            tokio::time::sleep(Duration::from_millis(ms)).await;
        }
        self.gate().await;
    }

    fn clock_ms(&self) -> i64 {
        let elapsed = i64::try_from(self.world.now_ms()).expect("a short time");
        BEGIN_MS + self.ahead_ms + elapsed * self.rate / 100
    }

    fn add_fault(&self, operation: &'static str, kind: DiskFaultKind) {
        let fault = DiskFault { at_ms: self.world.now_ms(), operation, kind };
        self.faults.lock().expect("no panic").push(fault);
    }

    /// How long an access takes, and whether it fails.
    fn draw_fault(&self) -> (u64, Option<StorageError>) {
        let world = &self.world;
        let faults = world.faults();
        let mut random = world.random.lock().expect("no panic");
        if world.now_ms() < *self.outage_until_ms.lock().expect("no panic") && !random.one_in(8) {
            return (random.below(20), Some(disk_error()));
        }
        if random.chance(faults.disk_error) {
            world.count("disk: error");
            return (random.below(50), Some(disk_error()));
        }
        if random.chance(faults.locked) {
            world.count("disk: locked");
            return (random.between(1_000, 8_000), Some(lock_error()));
        }
        if random.chance(faults.stalled_disk) {
            world.count("disk: stalled");
            return (random.between(10_000, 60_000), None);
        }
        if random.chance(faults.slow_disk) {
            world.count("disk: slow");
            return (random.between(5, 4_000), None);
        }
        (random.below(3), None)
    }

    async fn access(self: Arc<Self>, operation: &'static str) -> Result<(), StorageError> {
        self.gate().await;
        let (delay_ms, error) = self.draw_fault();
        if delay_ms > 1_000 {
            self.add_fault(operation, DiskFaultKind::Slow);
        }
        self.sleep(delay_ms).await;
        let Some(error) = error else { return Ok(()) };
        self.add_fault(operation, DiskFaultKind::Failed);
        self.world.note(|| format!("p{} {operation} fails", self.pid));
        if operation == "renew" {
            self.world.count("renewal failed");
        }
        Err(error)
    }

    async fn acknowledge(self: Arc<Self>, access: JournalAccess) -> Result<(), StorageError> {
        let (delay_ms, is_lost) = {
            let (faults, mut random) = (self.world.faults(), self.world.random.lock().expect("no panic"));
            let is_lost = matches!(access, JournalAccess::Write(_)) && random.chance(faults.lost_acknowledgement);
            let delay_ms = if random.chance(faults.slow_disk) { random.below(2_000) } else { random.below(2) };
            (delay_ms, is_lost)
        };
        self.sleep(delay_ms).await;
        if !is_lost {
            return Ok(());
        }
        self.world.count("disk: lost acknowledgement");
        self.add_fault(name(access), DiskFaultKind::Unacknowledged);
        self.world.note(|| format!("p{} {} is not acknowledged", self.pid, name(access)));
        Err(disk_error())
    }
}

/// The name of an access: an operation that writes, `inbox` for a read of an inbox, or `read`.
fn name(access: JournalAccess) -> &'static str {
    match access {
        JournalAccess::Write(operation) => operation,
        JournalAccess::Read(kind) if kind.contains("InboxMessage") => "inbox",
        JournalAccess::Read(_) => "read",
    }
}

/// A process as its journal and its driver see it.
#[derive(Debug, Clone)]
pub(crate) struct ProcessHandle(pub(crate) Arc<Process>);

impl SimulatedProcess for ProcessHandle {
    fn before(&self, access: JournalAccess) -> DiskFuture {
        Box::pin(Arc::clone(&self.0).access(name(access)))
    }

    fn committed(&self, access: JournalAccess) {
        self.0.world.committed(&self.0, name(access));
    }

    fn after(&self, access: JournalAccess) -> DiskFuture {
        Box::pin(Arc::clone(&self.0).acknowledge(access))
    }

    /// A process sees the processes of its host only.
    fn liveness(&self, holder: &Holder) -> Liveness {
        match self.0.world.process(holder.pid) {
            Some(other) if other.host != self.0.host => Liveness::Unknown,
            Some(other) if other.status() == Status::Dead => Liveness::Dead,
            Some(_) => Liveness::Alive,
            None => Liveness::Unknown,
        }
    }

    fn is_this(&self, holder: &Holder) -> bool {
        holder.pid == self.0.pid
    }
}

impl Clock for ProcessHandle {
    fn now_ms(&self) -> i64 {
        self.0.clock_ms()
    }

    fn sleep_until(&self, at_ms: i64) -> BoxFuture<'static, ()> {
        let process = Arc::clone(&self.0);
        Box::pin(async move {
            loop {
                let remaining = at_ms.saturating_sub(process.clock_ms());
                if remaining <= 0 {
                    return process.gate().await;
                }
                process.sleep(u64::try_from(remaining * 100 / process.rate).unwrap_or(0).max(1)).await;
            }
        })
    }
}

/// The process of whoever checks the journal: always there, without faults.
#[derive(Debug)]
pub(crate) struct Observer;

impl SimulatedProcess for Observer {
    fn before(&self, _: JournalAccess) -> DiskFuture {
        Box::pin(std::future::ready(Ok(())))
    }

    fn committed(&self, _: JournalAccess) {}

    fn after(&self, _: JournalAccess) -> DiskFuture {
        Box::pin(std::future::ready(Ok(())))
    }

    fn liveness(&self, _: &Holder) -> Liveness {
        Liveness::Unknown
    }

    fn is_this(&self, _: &Holder) -> bool {
        false
    }
}
