//! Runs the commands of a page, in order, in one folder and one shell, as a reader would.

use std::collections::BTreeMap;
use std::env;
use std::fmt::Write as _;
use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use reknit_fakes::ScriptedModel;
use reknit_fakes::model::Script;
use reknit_protocol::Value;

use crate::output::is_shown;
use crate::page::{Mark, Page, root};

/// The port of `reknit serve` if nobody names another one.
const SERVE_PORT: &str = "8320";
/// When the commands of a page hang.
const LONGEST: Duration = Duration::from_mins(15);

/// A command in a `console` block, and the output that the page shows.
#[derive(Debug, PartialEq)]
pub(crate) struct Example {
    pub(crate) command: String,
    pub(crate) output: String,
}

/// The commands of a `console` block. A line that begins with `> ` continues the command before it.
pub(crate) fn examples(content: &str) -> Vec<Example> {
    let mut examples: Vec<Example> = Vec::new();
    for line in content.lines() {
        match (line.strip_prefix("$ "), line.strip_prefix("> "), examples.last_mut()) {
            (Some(command), _, _) => {
                examples.push(Example { command: command.to_owned(), output: String::new() });
            }
            (None, Some(more), Some(last)) if last.output.is_empty() => last.command.extend(["\n", more]),
            (None, _, last) => last.expect("output follows a command").output.extend([line, "\n"]),
        }
    }
    examples
}

/// The folder, the ports and the models of a page.
struct Session {
    folder: tempfile::TempDir,
    /// The ports in the page, and those that are used instead, so that a server of this machine is not in the way.
    ports: BTreeMap<String, String>,
    path: Vec<PathBuf>,
}

/// What went wrong, or nothing. `path` has further folders with programs.
pub(crate) fn run_page(page: &Page, path: &[PathBuf]) -> Result<(), String> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
    let copied = copied_files(&page.text);
    let texts = copied.iter().map(|(_, text)| text.as_str()).chain([page.text.as_str()]);
    let mut ports: BTreeMap<String, String> = texts.flat_map(ports_of).map(|port| (port, free_port())).collect();
    ports.insert(SERVE_PORT.to_owned(), free_port());
    let mut models = Vec::new();
    for (port, script) in scripted_models(&page.text) {
        let script = Value::parse(script).unwrap_or_else(|error| panic!("{}: the script: {error}", page.name));
        let script = Script::from_value(&script).unwrap_or_else(|error| panic!("{}: the script: {error:?}", page.name));
        let model = runtime.block_on(ScriptedModel::start(script)).expect("a model");
        let own = ports_of(&model.base_url()).next().expect("a model has a port");
        ports.insert(port.to_owned(), own);
        models.push(model);
    }
    let session = Session { folder: tempfile::tempdir().expect("a folder"), ports, path: path.to_vec() };
    session.copy(&copied);
    session.run(page)
}

impl Session {
    fn run(&self, page: &Page) -> Result<(), String> {
        let state = self.folder.path().join(".state");
        fs::create_dir_all(&state).expect("a folder");
        self.write_wrapper(&state);
        let mut script = String::new();
        let mut shown = Vec::new();
        for block in &page.blocks {
            match (&block.mark, block.language.as_str()) {
                (Some(Mark::File(name)), _) => self.add_file(&mut script, &state, name, ">", &block.content),
                (Some(Mark::AddTo(name)), _) => self.add_file(&mut script, &state, name, ">>", &block.content),
                (None, "console") => {
                    for example in examples(&block.content) {
                        self.add_command(&mut script, &state, shown.len(), &example.command);
                        shown.push((page.place(block), example));
                    }
                }
                _ => {}
            }
        }
        self.execute(&script, &state);
        let problems: Vec<String> =
            (0..).zip(&shown).filter_map(|(number, shown)| self.problem(&state, number, shown)).collect();
        if problems.is_empty() { Ok(()) } else { Err(problems.join("\n")) }
    }

    /// Writes files of the repository to the same paths, as in a clone.
    fn copy(&self, files: &[(String, String)]) {
        for (name, text) in files {
            let path = self.folder.path().join(name);
            fs::create_dir_all(path.parent().expect("it is in a folder")).expect("a folder");
            fs::write(path, self.as_here(text)).expect("it is written");
        }
    }

    /// How the output of a command differs from what the page shows.
    fn problem(&self, state: &Path, number: usize, (place, example): &(String, Example)) -> Option<String> {
        let Ok(printed) = fs::read(state.join(format!("{number}.out"))) else {
            return Some(format!("{place}: the time was over before this command: {}", example.command));
        };
        let printed = self.as_on_the_page(&String::from_utf8_lossy(&printed));
        let command = &example.command;
        (!is_shown(&example.output, &printed))
            .then(|| format!("{place}\n$ {command}\n--- printed\n{printed}\n--- shown\n{}", example.output))
    }

    /// `reknit`, which listens on a free port where it would listen on its usual one.
    fn write_wrapper(&self, state: &Path) {
        let program = env!("CARGO_BIN_EXE_reknit");
        let port = &self.ports[SERVE_PORT];
        let script = format!(
            "#!/bin/sh\nif [ \"$1\" = serve ]; then case \"$*\" in *--listen*|*--help*) ;; *) shift; \
             set -- serve --listen 127.0.0.1:{port} \"$@\" ;; esac; fi\nexec '{program}' \"$@\"\n"
        );
        let path = state.join("reknit");
        fs::write(&path, script).expect("it is written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it can be executed");
    }

    fn add_file(&self, script: &mut String, state: &Path, name: &str, redirect: &str, content: &str) {
        let copy = state.join(format!("{}.file", script.len()));
        fs::write(&copy, self.as_here(content)).expect("it is written");
        writeln!(script, "mkdir -p \"$(dirname '{name}')\"; cat '{}' {redirect} '{name}'", copy.display())
            .expect("a string");
    }

    fn add_command(&self, script: &mut String, state: &Path, number: usize, command: &str) {
        let command = self.as_here(command);
        let out = state.join(format!("{number}.out"));
        // Braces and not parentheses: a command may change the folder or a variable for those after it.
        writeln!(script, "{{ {command}\n}} > '{}' 2>&1", out.display()).expect("a string");
        let code = command.split_once("  # ").map_or(command.as_str(), |(code, _comment)| code);
        if code.trim_end().ends_with('&') {
            let mut waits = self.ports.values().filter(|port| command.contains(port.as_str())).peekable();
            let serves = command.contains("reknit serve") && !command.contains("--listen");
            let serve_port = [&self.ports[SERVE_PORT]];
            let waits: Vec<&String> =
                if serves && waits.peek().is_none() { serve_port.to_vec() } else { waits.collect() };
            for port in waits {
                writeln!(
                    script,
                    "for _ in $(seq 1200); do (exec 3<>/dev/tcp/127.0.0.1/{port}) 2>/dev/null && break; sleep 0.1; done"
                )
                .expect("a string");
            }
        }
    }

    fn execute(&self, script: &str, state: &Path) {
        let path = env::var_os("PATH").unwrap_or_default();
        let folders = [state.to_owned()].into_iter().chain(self.path.iter().cloned()).chain(env::split_paths(&path));
        let mut shell = Command::new("bash")
            .args(["-c", script])
            .env_clear()
            .env("PATH", env::join_paths(folders).expect("the path can be extended"))
            .env("HOME", state)
            .env("LANG", "C.UTF-8")
            .env("XDG_DATA_HOME", state.join("data"))
            .env("XDG_STATE_HOME", state.join("state"))
            .env("PYTHONDONTWRITEBYTECODE", "1")
            // Do not use model servers of the machine that runs the test.
            .env("REKNIT_FIND_MODEL", "false")
            .current_dir(self.folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .expect("bash runs");
        let start = Instant::now();
        while shell.try_wait().expect("a status").is_none() && start.elapsed() < LONGEST {
            sleep(Duration::from_millis(20));
        }
        // With all the servers that it has started.
        let group = format!("-{}", shell.id());
        let _ = Command::new("kill").args(["-KILL", "--", &group]).stderr(Stdio::null()).status();
        let _ = shell.wait();
    }

    fn as_here(&self, text: &str) -> String {
        let pairs: Vec<(&str, &str)> = self.ports.iter().map(|(shown, own)| (&**shown, &**own)).collect();
        replaced(text, &pairs)
    }

    fn as_on_the_page(&self, text: &str) -> String {
        let pairs: Vec<(&str, &str)> = self.ports.iter().map(|(shown, own)| (&**own, &**shown)).collect();
        replaced(text, &pairs)
    }
}

/// The text with the first of each pair replaced by the second, in one pass: a port may contain the digits of another one.
fn replaced(text: &str, pairs: &[(&str, &str)]) -> String {
    let (mut rest, mut new) = (text, String::new());
    while let Some(first) = rest.chars().next() {
        let found = pairs.iter().find(|(old, _)| rest.starts_with(old));
        let (written, length) =
            found.map_or((&rest[..first.len_utf8()], first.len_utf8()), |(old, new)| (*new, old.len()));
        new.push_str(written);
        rest = &rest[length..];
    }
    new
}

/// The ports of this machine that a text names.
fn ports_of(text: &str) -> impl Iterator<Item = String> {
    text.split("127.0.0.1:").skip(1).filter_map(|rest| {
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        (digits.len() >= 4).then_some(digits)
    })
}

fn free_port() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    listener.local_addr().expect("an address").port().to_string()
}

/// The files, with their paths, of each folder that a comment of the page names: `<!-- in a clone: examples/pay-once -->`.
fn copied_files(text: &str) -> Vec<(String, String)> {
    let folders = text.lines().filter_map(|line| line.strip_prefix("<!-- in a clone: ")?.strip_suffix(" -->"));
    let files = folders.flat_map(|folder| {
        let entries = fs::read_dir(root().join(folder)).unwrap_or_else(|error| panic!("{folder}: {error}"));
        let paths = entries.map(|entry| entry.expect("the folder can be read").path());
        paths.filter(|path| path.is_file()).map(move |path| {
            let name = path.file_name().and_then(|name| name.to_str()).expect("the name is UTF-8");
            (format!("{folder}/{name}"), fs::read_to_string(&path).expect("the file can be read"))
        })
    });
    files.collect()
}

/// Models whose answers are in a comment of the page: `<!-- scripted model at 127.0.0.1:8080`, the script, `-->`.
fn scripted_models(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.split("<!-- scripted model at 127.0.0.1:").skip(1).filter_map(|rest| {
        let (port, rest) = rest.split_once('\n')?;
        Some((port.trim(), rest.split_once("\n-->")?.0))
    })
}

#[test]
fn a_console_block_has_commands_and_their_output() {
    let example = |command: &str, output: &str| Example { command: command.to_owned(), output: output.to_owned() };
    let content = "$ one\nout 1\n$ two \\\n>   more\n$ three\n\nout 3\n> out 4\n";
    assert_eq!(
        examples(content),
        [example("one", "out 1\n"), example("two \\\n  more", ""), example("three", "\nout 3\n> out 4\n")]
    );
}

#[test]
fn ports_are_replaced_in_one_pass() {
    assert_eq!(replaced("8085 … 8080", &[("8080", "40000"), ("8085", "48080")]), "48080 … 40000");
}
