//! `litellm`, a process that waits for its turn.
//!
//! ```text
//! peer -> us    its version and that of its language
//! us   -> peer  litellm|bare whole|stream CALLS
//! peer -> us    the nanoseconds of each call
//! ```

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::lines::Lines;
use crate::{MAX_TOKENS, MODEL, Mode, QUESTION, Result, SYSTEM, WORDS};

pub struct Litellm {
    process: Lines,
    version: String,
}

impl Litellm {
    pub fn start(private: &Path, url: &str) -> Result<Self> {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/litellm_peer.py");
        let mut command = Command::new(private.join("python-litellm/bin/python"));
        let (tokens, words) = (MAX_TOKENS.to_string(), WORDS.to_string());
        command.arg(script).args([url, MODEL, SYSTEM, QUESTION, &tokens, &words]);
        let mut process = Lines::start("litellm", &mut command)?;
        let version = process.hear()?;
        Ok(Self { process, version })
    }

    pub fn version(&self) -> &str {
        &self.version
    }

    pub fn turn(&mut self, who: &str, mode: Mode, calls: usize) -> Result<Vec<Duration>> {
        self.process.say(&format!("{who} {} {calls}", mode.word()))?;
        let times = self.process.hear()?;
        times.split(' ').map(|nanos| Ok(Duration::from_nanos(nanos.parse()?))).collect()
    }
}
