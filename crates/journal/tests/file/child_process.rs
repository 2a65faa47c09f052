//! Other processes: a test starts its own program again, with a task.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use reknit_journal::{Append, Durability, Holder, Journal, LeaseError, RunSignal};

use crate::support::{TERM, event, new_run, open, report};

const TASK: &str = "REKNIT_JOURNAL_TEST_TASK";
const FILE: &str = "REKNIT_JOURNAL_TEST_FILE";
/// Marks the lines of the child: the test harness prints lines of its own.
const MARKER: &str = "child says: ";

/// The program that starts another one without capabilities, with its options.
pub(crate) const WITHOUT_CAPABILITIES: [&str; 3] = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"];

/// A process that performs a task on a journal.
pub(crate) struct ChildProcess {
    pub(crate) process: Child,
    lines: std::io::Lines<BufReader<ChildStdout>>,
}

impl ChildProcess {
    pub(crate) fn start(task: &str, file: &Path) -> Self {
        Self::spawn(Command::new(std::env::current_exe().unwrap()), task, file)
    }

    /// Starts a process that may write files of at most `blocks` of 512 bytes. The trap keeps the system from killing it.
    pub(crate) fn start_with_file_limit(task: &str, file: &Path, blocks: u32) -> Self {
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(format!(r#"trap "" XFSZ; ulimit -f {blocks}; exec "$0" "$@""#));
        shell.arg(std::env::current_exe().unwrap());
        Self::spawn(shell, task, file)
    }

    /// Starts a process to which permissions apply although root starts it: root without capabilities may do what an owner may.
    pub(crate) fn start_without_capabilities(task: &str, file: &Path) -> Self {
        let mut command = Command::new(WITHOUT_CAPABILITIES[0]);
        command.args(&WITHOUT_CAPABILITIES[1..]).arg(std::env::current_exe().unwrap());
        Self::spawn(command, task, file)
    }

    fn spawn(mut command: Command, task: &str, file: &Path) -> Self {
        command.args(["--exact", "child_process::a_child_process_performs_its_task", "--nocapture"]);
        command.env(TASK, task).env(FILE, file).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().expect("the test program starts");
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        Self { process, lines }
    }

    /// The next line that it prints; `None` after the last.
    pub(crate) fn next_line(&mut self) -> Option<String> {
        self.lines.by_ref().map_while(Result::ok).find_map(|line| line.strip_prefix(MARKER).map(str::to_owned))
    }

    pub(crate) fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    /// Lets the process end, and returns the rest of its lines.
    pub(crate) fn finish(mut self) -> Vec<String> {
        drop(self.process.stdin.take());
        let lines = std::iter::from_fn(|| self.next_line()).collect();
        assert!(self.process.wait().unwrap().success());
        lines
    }
}

fn print_line(line: impl std::fmt::Display) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "\n{MARKER}{line}").unwrap();
    out.flush().unwrap();
}

/// Waits until the parent closes our standard input.
fn wait_for_parent() {
    std::io::stdin().lock().lines().for_each(drop);
}

#[tokio::test]
async fn a_child_process_performs_its_task() {
    let (Ok(task), Some(file)) = (std::env::var(TASK), std::env::var_os(FILE)) else { return };
    let file = Path::new(&file);
    match task.as_str() {
        "append forever" => append_forever(file).await,
        "append without syncing" => append_without_syncing(file).await,
        "acquire the lease" => acquire_lease(file).await,
        "send" => {
            open(file).send(&"r".into(), RunSignal::new("cancel", "{}"), 0).await.unwrap();
        }
        "create a run" => {
            let run = format!("run of {}", std::process::id());
            open(file).create(new_run(&run), &Holder::this_process(), TERM).await.unwrap();
        }
        "lock until the parent has seen it" => {
            let connection = rusqlite::Connection::open(file).unwrap();
            connection.execute_batch("BEGIN EXCLUSIVE").unwrap();
            print_line("locked");
            wait_for_parent();
            connection.execute_batch("ROLLBACK").unwrap();
        }
        "open" => match Journal::open(file, Durability::Full) {
            Ok(_) => print_line("opened"),
            Err(error) => report(&error).lines().for_each(print_line),
        },
        _ => panic!("unknown task: {task}"),
    }
}

/// Prints the length of the run after each append, and the first error.
async fn append_forever(file: &Path) {
    let journal = open(file);
    let lease = journal.create(new_run("r"), &Holder::this_process(), TERM).await.unwrap();
    let mut len = 1;
    loop {
        match journal.append(&lease, Append::at(len).event(event(len))).await {
            Ok(now) => len = now,
            Err(error) => {
                print_line(error);
                return wait_for_parent();
            }
        }
        print_line(len);
    }
}

async fn append_without_syncing(file: &Path) {
    let journal = Journal::open(file, Durability::Off).unwrap();
    let lease = journal.create(new_run("r"), &Holder::this_process(), TERM).await.unwrap();
    for len in 1..20 {
        journal.append(&lease, Append::at(len).event(event(len))).await.unwrap();
    }
    print_line("done");
    wait_for_parent();
}

async fn acquire_lease(file: &Path) {
    let answer = open(file).acquire_or_take_over(&"r".into(), &Holder::this_process(), TERM).await;
    match answer {
        Ok(lease) => print_line(format!("epoch {}", lease.epoch())),
        Err(LeaseError::Held { .. }) => print_line("held"),
        Err(error) => panic!("{error:?}"),
    }
    wait_for_parent();
}
