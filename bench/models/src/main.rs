//! Overhead of a model client over the bare HTTP exchange: ours, `litellm` and `rig-core`.
//!
//! `bench/README.md` says what is measured and how.

mod bare_exchange;
// The runtime benchmark talks to its peers in the same way.
#[path = "../../runtime/src/line_process.rs"]
mod lines;
mod litellm;
mod real_server;
mod reknit_client;
mod rig;
mod server;
mod table;

use std::path::PathBuf;
use std::process::ExitCode;

use table::{Samples, Table};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

pub type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// How an answer is requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    Whole,
    Stream,
}

impl Mode {
    pub fn name(self) -> &'static str {
        match self {
            Self::Whole => "whole",
            Self::Stream => "stream",
        }
    }
}

/// The request of every client.
pub const SYSTEM: &str = "You are a clerk. Answer in one paragraph, without lists, and only with what you were told.";
pub const QUESTION: &str =
    "Which of the three shops on the market square sells tea on Sundays, and what does a pound of it cost?";
pub const MODEL: &str = "scripted";
pub const MAX_TOKENS: u32 = 200;
/// The number of words in an answer; in a stream each is its own event.
pub const WORDS: usize = 60;

/// Rounds of each client. The first one warms up and does not count.
const ROUNDS: usize = 21;
const CALLS_PER_ROUND: usize = 20;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let result = match (arguments.next().as_deref(), arguments.next(), arguments.next()) {
        (Some("serve"), None, None) => server::serve(),
        (Some("measure"), Some(private), None) => measure(private.into()),
        (Some("real"), Some(url), Some(model)) => real_server::check(&url, &model),
        _ => Err("usage: models-bench measure DIRECTORY | real URL MODEL".into()),
    };
    match result {
        Ok(code) => code,
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::FAILURE
        }
    }
}

fn measure(private: PathBuf) -> Result<ExitCode> {
    let server = server::Server::start()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut litellm = litellm::Litellm::start(&private, server.url())?;
    let mut table = Table::new(litellm.version());
    for mode in [Mode::Whole, Mode::Stream] {
        let reknit = reknit_client::ReknitClient::new(server.url(), mode)?;
        let rig = rig::Rig::new(server.url());
        let mut bare = bare_exchange::BareExchange::connect(server.url(), mode)?;
        let mut samples = Samples::default();
        for round in 0..ROUNDS {
            // The clients alternate, so that other load on the machine affects all of them.
            let times = [
                bare.round(CALLS_PER_ROUND)?,
                runtime.block_on(reknit.round(CALLS_PER_ROUND))?,
                runtime.block_on(rig.round(mode, CALLS_PER_ROUND))?,
                litellm.round("bare", mode, CALLS_PER_ROUND)?,
                litellm.round("litellm", mode, CALLS_PER_ROUND)?,
            ];
            if round > 0 {
                samples.add(times);
            }
        }
        table.add(mode, &samples);
    }
    println!("{table}");
    Ok(if table.meets_target() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
