//! The tests start themselves again as other processes, each with a part to play.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use reknit_journal::{Append, Durability, Holder, Journal, LeaseError, Signal};

use crate::kit::{TERM, event, new_run, open, report};

const PART: &str = "REKNIT_JOURNAL_TEST_PART";
const FILE: &str = "REKNIT_JOURNAL_TEST_FILE";
/// What a child says stands behind this: the test harness prints things of its own.
const SAYS: &str = "child says: ";

/// A process that plays a part on a journal.
pub(crate) struct Actor {
    pub(crate) process: Child,
    lines: std::io::Lines<BufReader<ChildStdout>>,
}

impl Actor {
    pub(crate) fn start(part: &str, file: &Path) -> Self {
        Self::spawn(Command::new(std::env::current_exe().unwrap()), part, file)
    }

    /// One that may write `blocks` of half a KiB to a file. Without the trap the system would kill it for trying more.
    pub(crate) fn start_with_small_files(part: &str, file: &Path, blocks: u32) -> Self {
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(format!(r#"trap "" XFSZ; ulimit -f {blocks}; exec "$0" "$@""#));
        shell.arg(std::env::current_exe().unwrap());
        Self::spawn(shell, part, file)
    }

    /// One that must keep to permissions, which root need not. `program` is a copy that anybody may run.
    pub(crate) fn start_as_nobody(program: &Path, part: &str, file: &Path) -> Self {
        let mut command = Command::new(program);
        command.uid(65534).gid(65534);
        Self::spawn(command, part, file)
    }

    fn spawn(mut command: Command, part: &str, file: &Path) -> Self {
        command.args(["--exact", "child::plays_its_part_if_another_test_has_started_it", "--nocapture"]);
        command.env(PART, part).env(FILE, file).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().expect("the test can be started again");
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        Self { process, lines }
    }

    /// The next thing it says; nothing after the last.
    pub(crate) fn says(&mut self) -> Option<String> {
        self.lines.by_ref().map_while(Result::ok).find_map(|line| line.strip_prefix(SAYS).map(str::to_owned))
    }

    pub(crate) fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    pub(crate) fn end(mut self) -> Vec<String> {
        drop(self.process.stdin.take());
        let said = std::iter::from_fn(|| self.says()).collect();
        assert!(self.process.wait().unwrap().success());
        said
    }
}

fn say(words: impl std::fmt::Display) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "\n{SAYS}{words}").unwrap();
    out.flush().unwrap();
}

/// Until the other process lets go of our standard input.
fn stay() {
    std::io::stdin().lock().lines().for_each(drop);
}

#[tokio::test]
async fn plays_its_part_if_another_test_has_started_it() {
    let (Ok(part), Some(file)) = (std::env::var(PART), std::env::var_os(FILE)) else { return };
    let file = Path::new(&file);
    match part.as_str() {
        "write for ever" => write_for_ever(file).await,
        "write without waiting for the disk" => write_without_waiting(file).await,
        "ask for the lease" => ask_for_the_lease(file).await,
        "send" => {
            open(file).send(&"r".into(), Signal::new("cancel", "{}"), 0).await.unwrap();
        }
        "make a run of its own" => {
            let run = format!("run of {}", std::process::id());
            open(file).create(new_run(&run), &Holder::this_process(), TERM).await.unwrap();
        }
        "open" => match Journal::open(file, Durability::Full) {
            Ok(_) => say("opened"),
            Err(error) => report(&error).lines().for_each(say),
        },
        _ => panic!("there is no such part: {part}"),
    }
}

/// Says the length after each append that was answered.
async fn write_for_ever(file: &Path) {
    let journal = open(file);
    let lease = journal.create(new_run("r"), &Holder::this_process(), TERM).await.unwrap();
    let mut len = 1;
    loop {
        match journal.append(&lease, Append::at(len).event(event(len))).await {
            Ok(now) => len = now,
            Err(error) => {
                say(error);
                return stay();
            }
        }
        say(len);
    }
}

async fn write_without_waiting(file: &Path) {
    let journal = Journal::open(file, Durability::Off).unwrap();
    let lease = journal.create(new_run("r"), &Holder::this_process(), TERM).await.unwrap();
    for len in 1..20 {
        journal.append(&lease, Append::at(len).event(event(len))).await.unwrap();
    }
    say("done");
    stay();
}

async fn ask_for_the_lease(file: &Path) {
    let answer = open(file).acquire_or_inherit(&"r".into(), &Holder::this_process(), TERM).await;
    match answer {
        Ok(lease) => say(format!("epoch {}", lease.epoch())),
        Err(LeaseError::Held { .. }) => say("held"),
        Err(error) => panic!("{error:?}"),
    }
    stay();
}
