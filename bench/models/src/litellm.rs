//! `litellm` in a Python process, which reads commands and writes durations, a line each.
//!
//! ```text
//! peer  -> bench  the versions of litellm and Python
//! bench -> peer   litellm|bare whole|stream CALLS
//! peer  -> bench  the nanoseconds of each call
//! ```

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::lines::LineProcess;
use crate::{MAX_TOKENS, MODEL, Mode, QUESTION, Result, SYSTEM, WORDS};

pub struct Litellm {
    process: LineProcess,
    version: String,
}

impl Litellm {
    pub fn start(private: &Path, url: &str) -> Result<Self> {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/litellm_peer.py");
        let mut command = Command::new(private.join("python-litellm/bin/python"));
        let (tokens, words) = (MAX_TOKENS.to_string(), WORDS.to_string());
        command.arg(script).args([url, MODEL, SYSTEM, QUESTION, &tokens, &words]);
        let mut process = LineProcess::start("litellm", &mut command)?;
        let version = process.read_line()?;
        Ok(Self { process, version })
    }

    pub fn version(&self) -> &str {
        &self.version
    }

    pub fn round(&mut self, client: &str, mode: Mode, calls: usize) -> Result<Vec<Duration>> {
        self.process.write_line(&format!("{client} {} {calls}", mode.name()))?;
        let times = self.process.read_line()?;
        times.split(' ').map(|nanos| Ok(Duration::from_nanos(nanos.parse()?))).collect()
    }
}
