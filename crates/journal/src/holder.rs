//! Who holds a lease, and whether that process is still there.

use std::fmt;
use std::fs;

use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};
use serde::{Deserialize, Serialize};

/// A process that may hold leases: enough for a person to find it, and to see that it is gone.
///
/// It prints as `process 4242 on laptop`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// The process id.
    pub pid: u32,
    /// The name of the host.
    pub host: String,
    /// Random, so that two holders never look alike.
    pub token: String,
    /// When the process started, in ticks since the host did: a process id is used again, the pair is not.
    started: Option<u64>,
    /// Where the process id means something: the host's boot and the namespace of process ids.
    place: Option<String>,
}

/// Whether the process of a holder is still there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Liveness {
    /// It is there.
    Alive,
    /// It certainly is not: its leases may be taken over at once.
    Dead,
    /// It runs, or ran, where this process cannot look: wait for the end of the term.
    Unknown,
}

impl Holder {
    /// This process, with a token of its own for each call.
    pub fn this_process() -> Self {
        Self::of_process(std::process::id())
    }

    /// Another process on this host, on whose behalf leases are taken.
    pub fn of_process(pid: u32) -> Self {
        Self {
            pid,
            host: host(),
            token: uuid::Uuid::now_v7().simple().to_string(),
            started: ProcessState::of(pid).map(|state| state.started),
            place: place(),
        }
    }

    /// Whether the process is still there. Certainty needs the same host, the same boot of it and the same namespace of
    /// process ids: in a container, another one's process 7 is not ours.
    pub fn liveness(&self) -> Liveness {
        if self.host != host() || self.place != place() {
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

impl fmt::Display for Holder {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "process {} on {}", self.pid, self.host)
    }
}

fn host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// Nothing where the system does not tell; then the name of the host must do.
fn place() -> Option<String> {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let namespace = fs::read_link("/proc/self/ns/pid").ok()?;
    Some(format!("{} {}", boot.trim(), namespace.display()))
}

/// What `/proc/<pid>/stat` says.
struct ProcessState {
    /// A process that was killed stays in the table until its parent has asked for its status.
    has_ended: bool,
    started: u64,
}

impl ProcessState {
    fn of(pid: u32) -> Option<Self> {
        Self::read(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
    }

    /// The name of the program stands in parentheses and may hold spaces and parentheses: the fields follow the last one.
    fn read(stat: &str) -> Option<Self> {
        let (_, fields) = stat.rsplit_once(')')?;
        let mut fields = fields.split_ascii_whitespace();
        let has_ended = matches!(fields.next()?, "Z" | "X");
        // The state is field 3 of the manual page proc_pid_stat(5), the start is field 22.
        let started = fields.nth(18)?.parse().ok()?;
        Some(Self { has_ended, started })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_alive_and_prints_as_a_person_would_say_it() {
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
    fn a_process_that_took_over_the_id_of_the_holder_does_not_keep_it_alive() {
        let this = Holder::this_process();
        let earlier = Holder { started: this.started.map(|started| started - 1), ..this.clone() };
        assert!(this.started.is_none() || earlier.liveness() == Liveness::Dead);
    }

    #[test]
    fn a_process_elsewhere_is_never_declared_dead() {
        for elsewhere in [
            Holder { host: "another".to_owned(), pid: u32::MAX, ..Holder::this_process() },
            Holder { place: Some("another boot".to_owned()), pid: 1, ..Holder::this_process() },
        ] {
            assert_eq!(elsewhere.liveness(), Liveness::Unknown);
        }
    }

    #[test]
    fn a_killed_process_that_nobody_has_asked_about_has_ended() {
        let stat = "7 (a (bad) name) Z 1 7 7 0 -1 4227084 0 0 0 0 0 0 0 0 20 0 1 0 12345 0 0";
        let state = ProcessState::read(stat).expect("the line is well formed");
        assert_eq!((state.has_ended, state.started), (true, 12345));
    }
}
