//! Processes on macOS, and on other Unix systems without `/proc`.

use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};

use crate::Liveness;

pub(crate) fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// The system tells neither the boot nor the start of a process without unsafe code.
pub(crate) fn process_scope() -> Option<String> {
    None
}

pub(crate) fn process_started(_pid: u32) -> Option<u64> {
    None
}

/// A process that exists may be another one with the same id, so only its absence is certain. A lease of a live process then
/// ends with its time.
pub(crate) fn process_liveness(pid: u32, _started: Option<u64>) -> Liveness {
    if pid == std::process::id() {
        return Liveness::Alive;
    }
    match i32::try_from(pid).ok().and_then(Pid::from_raw).map(test_kill_process) {
        Some(Err(Errno::SRCH)) => Liveness::Dead,
        _ => Liveness::Unknown,
    }
}
