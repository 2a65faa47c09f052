//! Runs the command in a temporary folder and collects its output.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use reknit_fakes::tool::RunningTool;
use tempfile::TempDir;

use crate::masks::masked;

/// A temporary folder and an empty environment to run the command in.
pub(crate) struct World {
    folder: TempDir,
}

impl World {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a folder") }
    }

    /// A folder with a configuration that contains these tools.
    pub(crate) fn with_tools(tools: &[&RunningTool]) -> Self {
        Self::new().configured(tools, "")
    }

    /// Writes the configuration: these tools, then this text.
    pub(crate) fn configured(self, tools: &[&RunningTool], text: &str) -> Self {
        let section =
            |tool: &&RunningTool| format!("[[tools]]\nname = \"{}\"\nurl = \"{}\"\n", tool.name(), tool.base_url());
        let sections: Vec<String> = tools.iter().map(section).collect();
        self.file("reknit.toml", &(sections.concat() + text))
    }

    pub(crate) fn file(self, name: &str, content: &str) -> Self {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().expect("a file is in a folder")).expect("the folder can be made");
        fs::write(path, content).expect("the file can be written");
        self
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        self.around(Command::new(env!("CARGO_BIN_EXE_reknit")), arguments)
    }

    /// Any program, in this folder and with the same empty environment.
    pub(crate) fn around(&self, mut program: Command, arguments: &[&str]) -> Command {
        program
            .args(arguments)
            .env_clear()
            .env("XDG_DATA_HOME", self.path().join("data"))
            .env("XDG_STATE_HOME", self.path().join("state"))
            // Do not use model servers of the machine that runs the test.
            .env("REKNIT_FIND_MODEL", "false")
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .current_dir(self.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        program
    }

    pub(crate) fn spawn(&self, arguments: &[&str]) -> Child {
        self.command(arguments).spawn().expect("the command can be run")
    }

    pub(crate) fn output(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("the command can be run")
    }

    /// Runs the command and returns its exit status and output as text.
    pub(crate) fn reknit(&self, arguments: &[&str]) -> String {
        self.show(&self.output(arguments))
    }

    /// The same with environment variables.
    pub(crate) fn reknit_with(&self, variables: &[(&str, &str)], arguments: &[&str]) -> String {
        self.show(&self.command(arguments).envs(variables.iter().copied()).output().expect("the command can be run"))
    }

    /// The exit status and the output that is not empty, with masks for what differs between runs.
    pub(crate) fn show(&self, output: &Output) -> String {
        show(output, |text| masked(text, self.path()))
    }
}

/// `exit status 0 --- stdout`, then each output that is not empty, with the name of the next one above it.
fn show(output: &Output, masked: impl Fn(&str) -> String) -> String {
    let mut shown = format!("exit status {}", output.status.code().expect("the command was not killed"));
    let mut before = " ";
    for (name, bytes) in [("stdout", &output.stdout), ("stderr", &output.stderr)] {
        let text = text(bytes);
        if !text.is_empty() {
            write!(shown, "{before}--- {name}\n{}", masked(&text)).expect("a string can be written to");
            before = "";
        }
    }
    if before == " " { shown + "\n" } else { shown }
}

/// Asserts that a command was refused: with nothing but this error, and what to type instead.
#[track_caller]
pub(crate) fn assert_refused(shown: &str, message: &str, hint: &str) {
    assert_eq!(shown, format!("exit status 2 --- stderr\nerror: {message}\n\nhint: {hint}\n"));
}

/// Asserts that an output has this part.
#[track_caller]
pub(crate) fn assert_contains(shown: &str, part: &str) {
    assert!(shown.contains(part), "{part:?} is not in:\n{shown}");
}

/// Asserts that a command ended with this exit status, and that its output has this part.
#[track_caller]
pub(crate) fn assert_ended(shown: &str, status: u8, part: &str) {
    let rest = shown.strip_prefix(&format!("exit status {status}")).unwrap_or_default();
    assert!(rest.starts_with([' ', '\n']) && shown.contains(part), "{part:?}:\n{shown}");
}

/// Asserts that a configuration was refused, for this reason.
#[track_caller]
pub(crate) fn assert_bad_config(shown: &str, cause: &str) {
    assert_eq!(shown, format!("exit status 2 --- stderr\nerror: cannot use the configuration\n  caused by: {cause}\n"));
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("the output is UTF-8")
}

/// A plan for the tool `shop`. Each step has an id, which is also its capability, and parameters as JSON.
pub(crate) fn plan(steps: &[(&str, &str)]) -> String {
    let steps: Vec<String> = steps
        .iter()
        .map(|(name, parameters)| {
            format!(
                r#"{{"step_id": "{name}", "agent_name": "shop", "instruction": "", "metadata": {{"capability": "{name}", "parameters": {parameters}}}}}"#
            )
        })
        .collect();
    format!(r#"{{"plan_id": "p", "original_request": "shopping", "steps": [{}]}}"#, steps.join(", "))
}
