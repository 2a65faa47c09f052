//! The process of a server, with everything that it started.

use std::process::{ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use reknit_tools::Sandbox;
use rustix::process::{Pid, Signal, kill_process_group};
use secrecy::ExposeSecret as _;
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use crate::last_output::LastOutput;
use crate::options::McpProgram;
use crate::secrets::Secrets;

/// The variables of our environment that a server gets.
const INHERITED: [&str; 13] =
    ["PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "TMP", "TEMP", "TERM"];

/// How long a server may take to end by itself after its input is closed.
const GRACE: Duration = Duration::from_secs(2);

/// The process of a server. Dropping it kills the process and everything that it started, as far as that stayed in its process
/// group.
#[derive(Debug)]
pub(crate) struct ServerProcess {
    group: Arc<ProcessGroup>,
    end: Arc<Mutex<Option<ExitStatus>>>,
    output: LastOutput,
    ended: tokio::sync::watch::Receiver<bool>,
}

#[derive(Debug)]
struct ProcessGroup {
    leader: Pid,
    /// Whether the group was killed after its leader ended. Its number may then belong to others.
    is_gone: AtomicBool,
}

impl ProcessGroup {
    fn kill(&self) {
        if !self.is_gone.swap(true, Ordering::AcqRel) {
            // Fails if nothing of the group is left, which is fine.
            let _ = kill_process_group(self.leader, Signal::KILL);
        }
    }
}

impl ServerProcess {
    /// Starts a server. Fails with the reason.
    pub(crate) fn start(program: &McpProgram) -> Result<(Self, ChildStdin, ChildStdout), String> {
        let sandbox = program.sandbox.clone().unwrap_or_else(Sandbox::off);
        let mut child = sandbox
            .spawn(command(program), program.directory.as_deref())
            .map_err(|error| format!("the program `{}` cannot be started: {error}", program.program.display()))?;
        let leader = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        let (Some(leader), Some(input), Some(out), Some(errors)) =
            (leader, child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err("the program ended while it was started".to_owned());
        };
        let output = LastOutput::new(Secrets::new(program.secrets.iter().map(|(_, value)| value)));
        tokio::spawn(output.clone().read_all(errors));
        let group = Arc::new(ProcessGroup { leader, is_gone: AtomicBool::new(false) });
        let end = Arc::new(Mutex::new(None));
        let (tell_end, ended) = tokio::sync::watch::channel(false);
        tokio::spawn(wait_for_end(child, Arc::clone(&group), Arc::clone(&end), tell_end));
        Ok((Self { group, end, output, ended }, input, out))
    }

    /// The lines that the server wrote last.
    pub(crate) fn output(&self) -> &LastOutput {
        &self.output
    }

    /// How the server ended, with its last output, for messages.
    pub(crate) async fn describe_end(&self) -> String {
        // Its output may be closed a moment before its status is known.
        let mut ended = self.ended.clone();
        let _ = tokio::time::timeout(Duration::from_millis(500), ended.wait_for(|ended| *ended)).await;
        let status = *self.end.lock().unwrap_or_else(PoisonError::into_inner);
        let how = status.map_or_else(|| "it closed its output".to_owned(), |status| format!("it ended ({status})"));
        format!("{how}{}", self.output.note())
    }

    /// Waits until the server ends by itself, after its input was closed, and kills what is left of it.
    pub(crate) async fn finish(&self) {
        let mut ended = self.ended.clone();
        let _ = tokio::time::timeout(GRACE, ended.wait_for(|ended| *ended)).await;
        self.group.kill();
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        self.group.kill();
    }
}

fn command(program: &McpProgram) -> Command {
    let mut command = Command::new(&program.program);
    command.args(&program.arguments).env_clear();
    command.envs(INHERITED.into_iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
    command.envs(program.environment.iter().map(|(name, value)| (name, value)));
    command.envs(program.secrets.iter().map(|(name, value)| (name, value.expose_secret())));
    if let Some(directory) = &program.directory {
        command.current_dir(directory);
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.process_group(0).kill_on_drop(true);
    command
}

async fn wait_for_end(
    mut child: Child,
    group: Arc<ProcessGroup>,
    end: Arc<Mutex<Option<ExitStatus>>>,
    tell_end: tokio::sync::watch::Sender<bool>,
) {
    let status = child.wait().await;
    // What the server started must not outlive it, nor hold its output open.
    group.kill();
    *end.lock().unwrap_or_else(PoisonError::into_inner) = status.ok();
    tell_end.send_replace(true);
}
