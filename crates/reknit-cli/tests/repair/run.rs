//! Runs the command and returns its output as text.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::Command;

/// An empty folder to run the command in.
pub(crate) struct Folder {
    path: PathBuf,
}

impl Folder {
    /// Each test needs its own name, because tests run in parallel.
    pub(crate) fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        // An earlier run may have left files.
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("the folder can be made");
        Self { path }
    }

    pub(crate) fn with(self, file: &str, content: impl AsRef<[u8]>) -> Self {
        fs::write(self.path.join(file), content).expect("the file can be written");
        self
    }

    pub(crate) fn run(&self, arguments: &[&str], stdin: &str) -> String {
        let mut command = command();
        command.current_dir(&self.path).args(arguments).write_stdin(stdin);
        show(&mut command)
    }
}

/// Runs `reknit` with these arguments and this text on standard input.
pub(crate) fn run(arguments: &[&str], stdin: &str) -> String {
    show(command().args(arguments).write_stdin(stdin))
}

/// Runs `reknit repair` on a text.
pub(crate) fn repair(stdin: &str) -> String {
    run(&["repair"], stdin)
}

fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_reknit"));
    command.env("LC_ALL", "C");
    command
}

/// `exit status 0 --- stdout`, then each output that is not empty, with the name of the next one above it.
pub(crate) fn show(command: &mut Command) -> String {
    let output = command.output().expect("the command runs");
    let mut shown = format!("exit status {}", output.status.code().expect("the command was not killed"));
    let mut before = " ";
    for (name, bytes) in [("stdout", output.stdout), ("stderr", output.stderr)] {
        let text = String::from_utf8(bytes).expect("the output is UTF-8");
        if !text.is_empty() {
            write!(shown, "{before}--- {name}\n{text}").expect("a string can be written to");
            before = "";
        }
    }
    if before == " " { shown + "\n" } else { shown }
}
