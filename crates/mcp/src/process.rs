//! The process of a server, with everything that it started, and the last lines that it wrote.

use std::collections::VecDeque;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use reknit_tools::{KnownSecrets, Leftovers, Sandbox};
use rustix::process::{Pid, Signal, kill_process_group};
use secrecy::ExposeSecret as _;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::{ChildStdin, ChildStdout, Command};
use tokio::sync::watch;

use crate::options::McpProgram;

/// The variables of our environment that a server gets.
const INHERITED: [&str; 13] =
    ["PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "TMP", "TEMP", "TERM"];

/// How long a server may take to end by itself after its input is closed.
const GRACE: Duration = Duration::from_secs(2);
/// How long the last output of a server that has ended is waited for.
const OUTPUT_GRACE: Duration = Duration::from_millis(200);

/// The process of a server. Dropping it kills the process and everything that it started.
#[derive(Debug)]
pub(crate) struct ServerProcess {
    group: Arc<ProcessGroup>,
    output: LastOutput,
    /// How it ended; `None` while it runs.
    end: watch::Receiver<Option<String>>,
}

#[derive(Debug)]
struct ProcessGroup {
    leader: Pid,
    /// Whether the group was killed after its leader ended. Its number may then belong to others.
    is_gone: AtomicBool,
    /// What left the group.
    leftovers: Mutex<Option<Leftovers>>,
}

impl ProcessGroup {
    fn kill(&self) {
        if !self.is_gone.swap(true, Ordering::AcqRel) {
            // Fails if nothing of the group is left, which is fine.
            let _ = kill_process_group(self.leader, Signal::KILL);
            drop(self.leftovers.lock().take());
        }
    }
}

impl ServerProcess {
    /// Starts a server. Fails with the reason.
    pub(crate) fn start(program: &McpProgram) -> Result<(Self, ChildStdin, ChildStdout), String> {
        let sandbox = program.sandbox.clone().unwrap_or_else(Sandbox::off);
        let (mut child, leftovers) = sandbox
            .spawn(command(program), program.directory.as_deref())
            .map_err(|error| format!("the program `{}` cannot be started: {error}", program.program.display()))?;
        let leader = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        let (Some(leader), Some(input), Some(out), Some(errors)) =
            (leader, child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err("the program ended while it was started".to_owned());
        };
        let output = LastOutput::new(program.secrets.iter().map(|(_, value)| value).collect());
        let reading = tokio::spawn(output.clone().read_all(errors));
        let group =
            Arc::new(ProcessGroup { leader, is_gone: AtomicBool::new(false), leftovers: Mutex::new(Some(leftovers)) });
        let (tell_end, end) = watch::channel(None);
        let ended_group = Arc::clone(&group);
        tokio::spawn(async move {
            let status = child.wait().await;
            // What the server started must not outlive it, nor hold its output open.
            ended_group.kill();
            // What it wrote last says why it ended. A program that left the group may hold the pipe open.
            let _ = tokio::time::timeout(OUTPUT_GRACE, reading).await;
            let closed = "it closed its output".to_owned();
            tell_end.send_replace(Some(status.map_or(closed, |status| format!("it ended ({status})"))));
        });
        Ok((Self { group, output, end }, input, out))
    }

    pub(crate) fn output(&self) -> &LastOutput {
        &self.output
    }

    /// How the server ended, with its last output, for messages.
    pub(crate) async fn describe_end(&self) -> String {
        // Its output may be closed a moment before its status is known.
        let how = self.end_within(Duration::from_millis(500)).await;
        format!("{}{}", how.unwrap_or_else(|| "it closed its output".to_owned()), self.output.note())
    }

    async fn end_within(&self, limit: Duration) -> Option<String> {
        let mut end = self.end.clone();
        tokio::time::timeout(limit, end.wait_for(Option::is_some)).await.ok()?.ok()?.clone()
    }

    /// Waits until the server ends by itself, after its input was closed, and kills what is left of it.
    pub(crate) async fn finish(&self) {
        let _ = self.end_within(GRACE).await;
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

const MAX_LINES: usize = 8;
const MAX_LINE: usize = 300;

/// The last lines that a program wrote. Cloning shares them.
#[derive(Debug, Clone, Default)]
pub(crate) struct LastOutput {
    lines: Arc<Mutex<VecDeque<String>>>,
    secrets: KnownSecrets,
}

impl LastOutput {
    pub(crate) fn new(secrets: KnownSecrets) -> Self {
        Self { lines: Arc::default(), secrets }
    }

    pub(crate) fn secrets(&self) -> &KnownSecrets {
        &self.secrets
    }

    /// Keeps a line, shortened, with control characters escaped.
    pub(crate) fn push(&self, line: &[u8]) {
        let line = line.get(..MAX_LINE * 4).unwrap_or(line);
        let text = String::from_utf8_lossy(line);
        let text = self.secrets.redact(text.trim_end());
        if text.trim().is_empty() {
            return;
        }
        let mut shown = String::new();
        for char in text.chars().take(MAX_LINE) {
            if char.is_control() && char != '\t' { shown.extend(char.escape_default()) } else { shown.push(char) }
        }
        let mut lines = self.lines.lock();
        lines.push_back(shown);
        if lines.len() > MAX_LINES {
            lines.pop_front();
        }
    }

    /// Reads a stream to its end and keeps its last lines. A line without an end is kept up to its limit.
    pub(crate) async fn read_all(self, mut from: impl AsyncRead + Unpin) {
        let (mut chunk, mut line) = ([0_u8; 4096], Vec::new());
        while let Ok(count @ 1..) = from.read(&mut chunk).await {
            for byte in chunk.iter().take(count) {
                if *byte == b'\n' {
                    self.push(&line);
                    line.clear();
                } else if line.len() < MAX_LINE * 4 {
                    line.push(*byte);
                }
            }
        }
        self.push(&line);
    }

    /// The lines for a message; empty if there are none.
    pub(crate) fn note(&self) -> String {
        let lines = self.lines.lock();
        if lines.is_empty() {
            return String::new();
        }
        format!("; its last output: {}", lines.iter().cloned().collect::<Vec<_>>().join(" | "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_last_lines_are_kept_shortened_and_escaped() {
        let output = LastOutput::new([&"s3cret".into()].into_iter().collect());
        let mut text = (0..20).map(|line| format!("line {line}")).collect::<Vec<_>>().join("\n");
        text.push('\n');
        text.push_str(&"x".repeat(100_000));
        text.push_str("\n\u{1b}[31mred s3cret\r\n\n");
        output.clone().read_all(text.as_bytes()).await;
        let note = output.note();
        assert!(note.starts_with("; its last output: line 14 | "), "{note}");
        assert!(note.ends_with(r" | \u{1b}[31mred [redacted]"), "{note}");
        assert!(note.len() < 1_000, "{} bytes", note.len());
        assert_eq!(LastOutput::default().note(), "");
    }
}
