//! How our own process is killed in the cases of chaos.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use reknit_journal::Journal;

/// How our own process was killed in the cases of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum KillMethod {
    /// All tasks of the driver end at one moment. The journal is in memory, and time is virtual.
    #[default]
    Tasks,
    /// A process of its own is killed with SIGKILL. The journal is a file of `SQLite`, and time is real.
    Process,
}

impl KillMethod {
    /// The name in JSON.
    pub fn key(self) -> &'static str {
        match self {
            Self::Tasks => "tasks",
            Self::Process => "process",
        }
    }
}

impl fmt::Display for KillMethod {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Tasks => "all tasks of the driver end at one moment, with a journal in memory",
            Self::Process => "a process of its own, with SIGKILL and a journal in SQLite",
        })
    }
}

/// Processes that drive a run, to be killed.
#[derive(Debug, Clone)]
pub struct ChildProcesses {
    /// The program.
    pub program: PathBuf,
    /// Its arguments; the file of the journal is one more. It opens that journal and calls
    /// [`drive_chaos_child`](crate::drive_chaos_child).
    pub arguments: Vec<String>,
    /// A folder for journals. The caller removes it.
    pub folder: PathBuf,
    /// Opens a journal.
    pub open: fn(&Path) -> Result<Journal, String>,
}

impl ChildProcesses {
    pub(super) fn command(&self, journal: &Path) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).arg(journal);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }
}
