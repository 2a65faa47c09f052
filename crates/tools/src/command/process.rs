//! One process and what it starts, from start to end.

use std::io;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, Command};
use tokio::runtime::Handle;
use tokio::time::timeout;

use super::CommandOptions;
use crate::leftovers::Leftovers;

/// How long a process may take to end after SIGTERM before SIGKILL follows.
const GRACE: Duration = Duration::from_secs(2);

/// How much of the end of standard error is kept, in bytes.
const MAX_ERROR_TEXT: usize = 4096;

#[derive(Debug)]
pub(super) struct Finished {
    pub(super) status: ExitStatus,
    pub(super) stdout: Vec<u8>,
    /// The end of it.
    pub(super) stderr: Vec<u8>,
}

#[derive(Debug)]
pub(super) enum RunError {
    Start(io::Error),
    TooLarge(usize),
    Wait(io::Error),
}

/// Runs a process to its end. What it leaves running in its group is killed then. Dropping the future ends all of them.
pub(super) async fn run(
    mut command: Command,
    options: &CommandOptions,
    input: Option<String>,
) -> Result<Finished, RunError> {
    let max_output = options.max_output;
    command.stdin(if input.is_some() { Stdio::piped() } else { Stdio::null() });
    command.process_group(0);
    let started = options.sandbox.spawn(command, options.folder.as_deref()).map_err(RunError::Start)?;
    let (mut child, leftovers) = started;
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let mut group = ProcessGroup::of(child, leftovers);
    let (mut output, mut errors) = (Vec::new(), Vec::new());
    let status = {
        let write = async {
            if let (Some(mut stdin), Some(input)) = (stdin, input) {
                // A process need not read its input; its status says whether it succeeded.
                let _ = stdin.write_all(input.as_bytes()).await;
            }
            Ok(())
        };
        let transfer = async {
            tokio::try_join!(write, read_up_to(stdout, max_output, &mut output), read_end(stderr, &mut errors))
        };
        tokio::pin!(transfer);
        tokio::select! {
            transferred = &mut transfer => {
                transferred?;
                group.wait().await
            }
            status = group.wait() => {
                // Processes that it left behind keep the pipes open.
                group.end_rest().await;
                // After that time a process that cannot be killed has them. All that the command itself wrote was read long ago.
                if let Ok(transferred) = timeout(GRACE, transfer).await {
                    transferred?;
                }
                status
            }
        }
    };
    let status = status.map_err(RunError::Wait)?;
    // Nothing that it left behind outlives it.
    group.end_rest().await;
    group.child = None;
    Ok(Finished { status, stdout: output, stderr: errors })
}

async fn read_up_to(pipe: Option<impl AsyncRead + Unpin>, limit: usize, bytes: &mut Vec<u8>) -> Result<(), RunError> {
    let Some(pipe) = pipe else { return Ok(()) };
    let one_more = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    // What was read before an error counts; the status says whether the process succeeded.
    let _ = pipe.take(one_more).read_to_end(bytes).await;
    if bytes.len() > limit { Err(RunError::TooLarge(limit)) } else { Ok(()) }
}

async fn read_end(pipe: Option<impl AsyncRead + Unpin>, bytes: &mut Vec<u8>) -> Result<(), RunError> {
    let Some(mut pipe) = pipe else { return Ok(()) };
    let mut buffer = [0; 1024];
    while let Ok(count @ 1..) = pipe.read(&mut buffer).await {
        bytes.extend_from_slice(buffer.get(..count).unwrap_or_default());
        bytes.drain(..bytes.len().saturating_sub(MAX_ERROR_TEXT));
    }
    Ok(())
}

/// A process and all that it started, in a group of their own. Dropping it ends them: SIGTERM, and SIGKILL after [`GRACE`]; what left
/// the group is killed then.
#[derive(Debug)]
struct ProcessGroup {
    /// `None` when it has ended, or is being ended.
    child: Option<Child>,
    id: Option<Pid>,
    leftovers: Option<Leftovers>,
}

impl ProcessGroup {
    fn of(child: Child, leftovers: Leftovers) -> Self {
        let id = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        Self { child: Some(child), id, leftovers: Some(leftovers) }
    }

    async fn wait(&mut self) -> io::Result<ExitStatus> {
        match &mut self.child {
            Some(child) => child.wait().await,
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn kill(&self) {
        signal(self.id, Signal::KILL);
    }

    /// Kills what is left after the process has ended.
    async fn end_rest(&mut self) {
        self.kill();
        if let Some(leftovers) = self.leftovers.take() {
            leftovers.end().await;
        }
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        let Some(mut child) = self.child.take() else { return self.kill() };
        signal(self.id, Signal::TERM);
        // The group is killed when this is dropped. Without a runtime no task can wait, and one that ends drops the task.
        let ending = Self { child: None, id: self.id, leftovers: self.leftovers.take() };
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(async move {
                // Whatever the outcome, the group is killed next.
                let _ = timeout(GRACE, child.wait()).await;
                drop(ending);
            });
        }
    }
}

fn signal(group: Option<Pid>, signal: Signal) {
    if let Some(group) = group {
        // It fails if no process is left, which is what is wanted.
        let _ = kill_process_group(group, signal);
    }
}
