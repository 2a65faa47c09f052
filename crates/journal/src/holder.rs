//! The process that holds a lease, and whether it is still alive.

use std::fmt;
use std::fs;

use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};
use serde::{Deserialize, Serialize};

/// A process that may hold leases, with enough data for a person to find it and for other processes to see that it ended.
///
/// It prints as `process 4242 on laptop`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// The process id.
    pub pid: u32,
    /// The name of the host.
    pub host: String,
    /// Random, so that two holders are never equal.
    pub token: String,
    /// When the process started, in clock ticks since boot. Process ids are reused, but not together with this time.
    started: Option<u64>,
    /// The scope in which the process id is valid: the boot id of the host and the namespace of process ids.
    pid_scope: Option<String>,
}

/// Whether the process of a holder is alive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Liveness {
    /// It is running.
    Alive,
    /// It has certainly ended: its leases may be taken over at once.
    Dead,
    /// This process cannot see it, for example because it is on another host: wait for the lease to expire.
    Unknown,
}

impl Holder {
    /// This process, with a new token for each call.
    pub fn this_process() -> Self {
        Self::of_process(std::process::id())
    }

    /// Another process on this host, for which the caller takes leases.
    pub fn of_process(pid: u32) -> Self {
        Self {
            pid,
            host: host(),
            token: uuid::Uuid::now_v7().simple().to_string(),
            started: ProcessState::of(pid).map(|state| state.started),
            pid_scope: pid_scope(),
        }
    }

    /// A process of a simulation.
    pub(crate) fn simulated(pid: u32, host: &str) -> Self {
        Self { pid, host: host.to_owned(), token: format!("{host}-{pid}"), started: None, pid_scope: None }
    }

    /// Whether the holder belongs to this process.
    pub(crate) fn is_this_process(&self) -> bool {
        let this = (std::process::id(), ProcessState::of(self.pid).map(|state| state.started));
        (self.pid, self.started) == this && self.host == host() && self.pid_scope == pid_scope()
    }

    /// Whether the process is alive. A certain answer needs the same host, the same boot and the same namespace of process
    /// ids: process 7 of another container is not our process 7.
    pub fn liveness(&self) -> Liveness {
        if self.host != host() || self.pid_scope != pid_scope() {
            return Liveness::Unknown;
        }
        let Some(pid) = i32::try_from(self.pid).ok().and_then(Pid::from_raw) else { return Liveness::Unknown };
        if test_kill_process(pid) == Err(Errno::SRCH) {
            return Liveness::Dead;
        }
        match (ProcessState::of(self.pid), self.started) {
            (Some(now), _) if now.has_ended => Liveness::Dead,
            (Some(now), Some(then)) if now.started != then => Liveness::Dead,
            _ => Liveness::Alive,
        }
    }
}

/// The processes that may hold leases, as this process sees them.
pub(crate) trait Processes: fmt::Debug + Send + Sync {
    /// Whether the process of a holder is alive.
    fn liveness(&self, holder: &Holder) -> Liveness;
    /// Whether the holder belongs to this process.
    fn is_this(&self, holder: &Holder) -> bool;
}

/// The processes of the operating system.
#[derive(Debug)]
pub(crate) struct SystemProcesses;

impl Processes for SystemProcesses {
    fn liveness(&self, holder: &Holder) -> Liveness {
        holder.liveness()
    }

    fn is_this(&self, holder: &Holder) -> bool {
        holder.is_this_process()
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "process {} on {}", self.pid, self.host)
    }
}

fn host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// `None` where the system has no `/proc`; then only the host name is compared.
fn pid_scope() -> Option<String> {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let namespace = fs::read_link("/proc/self/ns/pid").ok()?;
    Some(format!("{} {}", boot.trim(), namespace.display()))
}

/// The state of a process, from `/proc/<pid>/stat`.
struct ProcessState {
    /// A killed process stays in the process table until its parent waits for it.
    has_ended: bool,
    started: u64,
}

impl ProcessState {
    fn of(pid: u32) -> Option<Self> {
        Self::parse(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
    }

    /// The program name is in parentheses and may itself contain spaces and parentheses: the fields follow the last one.
    fn parse(stat: &str) -> Option<Self> {
        let (_, fields) = stat.rsplit_once(')')?;
        let mut fields = fields.split_ascii_whitespace();
        let has_ended = matches!(fields.next()?, "Z" | "X");
        // proc_pid_stat(5): the state is field 3, the start time is field 22.
        let started = fields.nth(18)?.parse().ok()?;
        Some(Self { has_ended, started })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_alive_and_prints_its_pid_and_host() {
        let holder = Holder { pid: 4242, host: "laptop".to_owned(), ..Holder::this_process() };
        assert_eq!(holder.to_string(), "process 4242 on laptop");
        assert_eq!(Holder::this_process().liveness(), Liveness::Alive);
        assert_ne!(Holder::this_process(), Holder::this_process());
    }

    #[test]
    fn a_process_that_has_ended_is_dead() {
        let mut child = std::process::Command::new("true").spawn().expect("`true` can be run");
        let holder = Holder { pid: child.id(), started: None, ..Holder::this_process() };
        child.wait().expect("it ends");
        assert_eq!(holder.liveness(), Liveness::Dead);
    }

    #[test]
    fn a_reused_process_id_does_not_keep_a_holder_alive() {
        let this = Holder::this_process();
        let earlier = Holder { started: this.started.map(|started| started - 1), ..this.clone() };
        assert!(this.started.is_none() || earlier.liveness() == Liveness::Dead);
    }

    #[test]
    fn a_process_on_another_host_or_boot_is_never_declared_dead() {
        for elsewhere in [
            Holder { host: "another".to_owned(), pid: u32::MAX, ..Holder::this_process() },
            Holder { pid_scope: Some("another boot".to_owned()), pid: 1, ..Holder::this_process() },
        ] {
            assert_eq!(elsewhere.liveness(), Liveness::Unknown);
        }
    }

    #[test]
    fn a_zombie_process_has_ended() {
        let stat = "7 (a (bad) name) Z 1 7 7 0 -1 4227084 0 0 0 0 0 0 0 0 20 0 1 0 12345 0 0";
        let state = ProcessState::parse(stat).expect("the line is well formed");
        assert_eq!((state.has_ended, state.started), (true, 12345));
    }
}
