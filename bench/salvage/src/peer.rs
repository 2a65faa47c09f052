//! Peers: other libraries, each in its own process and language.
//!
//! ```text
//! peer INPUT          INPUT has one JSON object per line: `text`, and `schema` if fitting is measured
//!   -> version TAB n  ready; n texts have a result
//!   <- milliseconds   process all texts, repeatedly for at least this long
//!   -> seconds        the fastest round, measured in the process around the calls only
//! ```

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use reknit_protocol::{Object, Value};

use crate::Result;
use crate::contest::Contestant;
use crate::line_process::LineProcess;

/// The locations of the peers.
pub struct Peers {
    private: PathBuf,
    scripts: PathBuf,
}

impl Peers {
    pub fn new(private: PathBuf) -> Self {
        Self { private, scripts: Path::new(env!("CARGO_MANIFEST_DIR")).join("peers") }
    }

    /// Writes the input file of all peers of one contest.
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

    /// `serde_json` with its default features. Its program is next to this one.
    pub fn serde_default(input: &Path) -> Result<Peer> {
        let program = env::current_exe()?.with_file_name("serde_default");
        Peer::start("serde_json", Command::new(program).arg(input))
    }

    /// `json_repair` from `PyPI`: `repair`, `schema` or `prepared`.
    pub fn json_repair(&self, mode: &str, input: &Path) -> Result<Peer> {
        let python = self.private.join("python/bin/python");
        let script = self.scripts.join("json_repair_peer.py");
        Peer::start("json_repair", Command::new(python).arg(script).arg(mode).arg(input))
    }

    /// What a library reads from each text of the input: its version, then one line of JSON for each text.
    pub fn answers(&self, name: &str, input: &Path) -> Result<String> {
        let mut command = match name {
            "jsonrepair" | "typia" => {
                let mut node = Command::new("node");
                node.arg(self.scripts.join("answers.mjs")).arg(self.private.join("npm"));
                node
            }
            _ => {
                let mut python = Command::new(self.private.join("python/bin/python"));
                python.arg(self.scripts.join("answers.py"));
                python
            }
        };
        let output = command.arg(name).arg(input).output()?;
        if !output.status.success() {
            return Err(format!("{name}: {}", String::from_utf8_lossy(&output.stderr)).into());
        }
        Ok(String::from_utf8(output.stdout)?)
    }

    /// `jsonrepair` from npm: `repair` or `value`.
    pub fn jsonrepair(&self, mode: &str, input: &Path) -> Result<Peer> {
        let script = self.scripts.join("jsonrepair.mjs");
        let mut node = Command::new("node");
        Peer::start("jsonrepair", node.arg(script).arg(self.private.join("npm")).arg(mode).arg(input))
    }
}

/// A running peer, which waits for commands.
pub struct Peer {
    process: LineProcess,
    /// The versions of the library and of its runtime.
    pub version: String,
    /// The number of texts with a result.
    pub answers: usize,
}

impl Peer {
    fn start(name: &'static str, command: &mut Command) -> Result<Self> {
        let mut process = LineProcess::start(name, command)?;
        let ready = process.read_line()?;
        let (version, answers) =
            ready.split_once('\t').ok_or_else(|| format!("unexpected line from {name}: {ready:?}"))?;
        Ok(Self { process, version: format!("{name} {version}"), answers: answers.parse()? })
    }
}

impl Contestant for Peer {
    fn best_round(&mut self, at_least: Duration) -> Result<f64> {
        self.process.write_line(&at_least.as_millis().to_string())?;
        Ok(self.process.read_line()?.parse()?)
    }
}
