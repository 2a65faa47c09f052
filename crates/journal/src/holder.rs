//! The process that holds a lease, and whether it is still alive.

use std::fmt;
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use crate::platform::{Liveness, host_name, process_liveness, process_scope, process_started};

/// A process that may hold leases, with enough data for a person to find it and for other processes to see that it ended.
///
/// It prints as `process 4242 on laptop`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    pub pid: u32,
    pub host: String,
    /// Random, so that two holders are never equal.
    pub token: String,
    /// When the process started, in a unit of the system. Process ids are reused, but not together with this time.
    started: Option<u64>,
    /// The scope in which the process id is valid: the boot id of the host and the namespace of process ids.
    pid_scope: Option<String>,
}

impl Holder {
    /// This process, with a new token for each call.
    pub fn this_process() -> Self {
        // What the system says about a process does not change. A child after a fork is another process.
        static THIS: OnceLock<Holder> = OnceLock::new();
        let this = THIS.get_or_init(|| Self::of_process(std::process::id()));
        if this.pid == std::process::id() {
            Self { token: new_token(), ..this.clone() }
        } else {
            Self::of_process(std::process::id())
        }
    }

    /// Another process on this host, for which the caller takes leases.
    pub fn of_process(pid: u32) -> Self {
        Self { pid, host: host_name(), token: new_token(), started: process_started(pid), pid_scope: process_scope() }
    }

    /// A process of a simulation.
    pub(crate) fn simulated(pid: u32, host: &str) -> Self {
        Self { pid, host: host.to_owned(), token: format!("{host}-{pid}"), started: None, pid_scope: None }
    }

    pub(crate) fn is_this_process(&self) -> bool {
        let this = (std::process::id(), process_started(self.pid));
        (self.pid, self.started) == this && self.host == host_name() && self.pid_scope == process_scope()
    }

    /// Whether the process is alive. A certain answer needs the same host, the same boot and the same namespace of process
    /// ids: process 7 of another container is not our process 7.
    pub fn liveness(&self) -> Liveness {
        if self.host != host_name() || self.pid_scope != process_scope() {
            return Liveness::Unknown;
        }
        process_liveness(self.pid, self.started)
    }
}

fn new_token() -> String {
    uuid::Uuid::now_v7().simple().to_string()
}

/// The processes that may hold leases, as this process sees them.
pub(crate) trait Processes: fmt::Debug + Send + Sync {
    fn liveness(&self, holder: &Holder) -> Liveness;
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
}
