//! Programs of others, each in a process and language of its own.
//!
//! ```text
//! peer INPUT          INPUT has one JSON object to a line: `text`, and `schema` where fitting is measured
//!   -> version TAB n  ready; n texts got an answer
//!   <- milliseconds   do all texts, again and again for at least so long
//!   -> seconds        those of the fastest round, measured inside the process around the calls only
//! ```

use std::env;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use reknit_protocol::{Object, Value};

use crate::Result;
use crate::contest::Contestant;

/// Where the peers are.
pub struct Peers {
    private: PathBuf,
    scripts: PathBuf,
}

impl Peers {
    pub fn new(private: PathBuf) -> Self {
        Self { private, scripts: Path::new(env!("CARGO_MANIFEST_DIR")).join("peers") }
    }

    /// Writes the file that all peers of one contest read.
    pub fn input<'a>(&self, name: &str, lines: impl Iterator<Item = (&'a str, Option<&'a Value>)>) -> Result<PathBuf> {
        let mut content = String::new();
        for (text, schema) in lines {
            let mut line = Object::new();
            line.insert("text", text);
            if let Some(schema) = schema {
                line.insert("schema", schema.clone());
            }
            content.push_str(&Value::Object(line).to_string());
            content.push('\n');
        }
        let path = self.private.join("inputs").join(format!("{name}.jsonl"));
        fs::write(&path, content)?;
        Ok(path)
    }

    /// `serde_json` with its default features, a program that lies beside this one.
    pub fn serde_default(input: &Path) -> Result<Peer> {
        let program = env::current_exe()?.with_file_name("serde_default");
        Peer::start("serde_json", Command::new(program).arg(input))
    }

    /// `json_repair` of `PyPI`: `repair`, `schema` or `prepared`.
    pub fn json_repair(&self, mode: &str, input: &Path) -> Result<Peer> {
        let python = self.private.join("python/bin/python");
        let script = self.scripts.join("json_repair_peer.py");
        Peer::start("json_repair", Command::new(python).arg(script).arg(mode).arg(input))
    }

    /// `jsonrepair` of npm: `repair` or `value`.
    pub fn jsonrepair(&self, mode: &str, input: &Path) -> Result<Peer> {
        let script = self.scripts.join("jsonrepair.mjs");
        let mut node = Command::new("node");
        Peer::start("jsonrepair", node.arg(script).arg(self.private.join("npm")).arg(mode).arg(input))
    }
}

/// A peer that runs and waits for its turn.
pub struct Peer {
    name: &'static str,
    process: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    /// Its version and that of what runs it.
    pub version: String,
    /// How many of the texts it gave an answer to.
    pub answers: usize,
}

impl Peer {
    fn start(name: &'static str, command: &mut Command) -> Result<Self> {
        let mut process = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("{name} does not start: {error}"))?;
        let (to, from) = (process.stdin.take(), process.stdout.take());
        let (to, from) = (to.ok_or("no pipe")?, BufReader::new(from.ok_or("no pipe")?));
        let mut peer = Self { name, process, to, from, version: String::new(), answers: 0 };
        let ready = peer.hear()?;
        let (version, answers) = ready.split_once('\t').ok_or_else(|| format!("{name} says {ready:?}"))?;
        peer.version = format!("{name} {version}");
        peer.answers = answers.parse()?;
        Ok(peer)
    }

    fn hear(&mut self) -> Result<String> {
        let mut line = String::new();
        if self.from.read_line(&mut line)? == 0 {
            return Err(format!("{} has ended early", self.name).into());
        }
        Ok(line.trim_end().to_owned())
    }
}

impl Contestant for Peer {
    fn best_round(&mut self, at_least: Duration) -> Result<f64> {
        writeln!(self.to, "{}", at_least.as_millis())?;
        Ok(self.hear()?.parse()?)
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // It may be gone already; there is nothing to be done about either.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
