//! Processes on Linux, from `/proc`.

use std::fs;

use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};

use crate::Liveness;

pub(crate) fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// The boot and the namespace of process ids: process 7 of another container is not our process 7.
pub(crate) fn process_scope() -> Option<String> {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let namespace = fs::read_link("/proc/self/ns/pid").ok()?;
    Some(format!("{} {}", boot.trim(), namespace.display()))
}

/// In clock ticks since boot.
pub(crate) fn process_started(pid: u32) -> Option<u64> {
    ProcessState::of(pid).map(|state| state.started)
}

pub(crate) fn process_liveness(pid: u32, started: Option<u64>) -> Liveness {
    let Some(id) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return Liveness::Unknown };
    if test_kill_process(id) == Err(Errno::SRCH) {
        return Liveness::Dead;
    }
    match (ProcessState::of(pid), started) {
        (Some(now), _) if now.has_ended => Liveness::Dead,
        (Some(now), Some(then)) if now.started != then => Liveness::Dead,
        _ => Liveness::Alive,
    }
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
    fn the_name_of_the_host_is_that_of_the_kernel() {
        let name = fs::read_to_string("/proc/sys/kernel/hostname").expect("the kernel names the host");
        assert_eq!(host_name(), name.trim_end());
    }

    #[test]
    fn a_zombie_process_has_ended() {
        let stat = "7 (a (bad) name) Z 1 7 7 0 -1 4227084 0 0 0 0 0 0 0 0 20 0 1 0 12345 0 0";
        let state = ProcessState::parse(stat).expect("the line is well formed");
        assert_eq!((state.has_ended, state.started), (true, 12345));
    }
}
