//! The scripted model, in its own process.

use std::io::{Read, Write};
use std::process::{Command, ExitCode};

use reknit_fakes::model::{Script, RequestMatcher};
use reknit_fakes::{Reply, ScriptedModel};

use crate::lines::LineProcess;
use crate::{Result, WORDS};

/// Serves until stdin is closed.
pub fn serve() -> Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let words: Vec<String> = (1..=WORDS).map(|number| format!("word{number:02}")).collect();
    let script = Script::new().on(RequestMatcher::any(), Reply::text(words.join(" ")).usage(120, WORDS as u64));
    let model = runtime.block_on(ScriptedModel::start(script))?;
    println!("{}", model.base_url());
    std::io::stdout().flush()?;
    let waiting = std::thread::spawn(|| std::io::stdin().read_to_end(&mut Vec::new()));
    runtime.block_on(async {
        while !waiting.is_finished() {
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
    });
    Ok(ExitCode::SUCCESS)
}

pub struct Server {
    _process: LineProcess,
    url: String,
}

impl Server {
    pub fn start() -> Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        let mut process = LineProcess::start("the server", command.arg("serve"))?;
        let url = process.read_line()?;
        Ok(Self { _process: process, url })
    }

    /// `http://127.0.0.1:PORT/v1`.
    pub fn url(&self) -> &str {
        &self.url
    }
}
