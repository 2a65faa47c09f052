//! What a call of a model costs besides the exchange itself: ours, `litellm` and `rig-core`, in one run.
//!
//! `bench/README.md` says what is measured and how.

mod bare;
// How to speak with a process in lines is the same wherever a peer is asked.
#[path = "../../runtime/src/child.rs"]
mod lines;
mod litellm;
mod ours;
mod real;
mod rig;
mod server;
mod table;

use std::path::PathBuf;
use std::process::ExitCode;

use table::{Measured, Table};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

pub type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// How an answer is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    Whole,
    Stream,
}

impl Mode {
    pub fn word(self) -> &'static str {
        match self {
            Self::Whole => "whole",
            Self::Stream => "stream",
        }
    }
}

/// What everybody asks.
pub const SYSTEM: &str = "You are a clerk. Answer in one paragraph, without lists, and only with what you were told.";
pub const QUESTION: &str =
    "Which of the three shops on the market square sells tea on Sundays, and what does a pound of it cost?";
pub const MODEL: &str = "scripted";
pub const MAX_TOKENS: u32 = 200;
/// How many words an answer has; each is an event of its own in a stream.
pub const WORDS: usize = 60;

/// Turns of each, and calls in a turn. The first turn warms up and does not count.
const TURNS: usize = 21;
const CALLS: usize = 20;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let done = match (arguments.next().as_deref(), arguments.next(), arguments.next()) {
        (Some("serve"), None, None) => server::serve(),
        (Some("measure"), Some(private), None) => measure(private.into()),
        (Some("real"), Some(url), Some(model)) => real::real(&url, &model),
        _ => Err("usage: models-bench measure PRIVATE | real URL MODEL".into()),
    };
    match done {
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
        let ours = ours::Ours::new(server.url(), mode)?;
        let rig = rig::Rig::new(server.url());
        let mut bare = bare::Bare::connect(server.url(), mode)?;
        let mut measured = Measured::default();
        for turn in 0..TURNS {
            // All take turns, so that a busy moment meets all.
            let times = [
                bare.turn(CALLS)?,
                runtime.block_on(ours.turn(CALLS))?,
                runtime.block_on(rig.turn(mode, CALLS))?,
                litellm.turn("bare", mode, CALLS)?,
                litellm.turn("litellm", mode, CALLS)?,
            ];
            if turn > 0 {
                measured.add(times);
            }
        }
        table.add(mode, &measured);
    }
    println!("{table}");
    Ok(if table.holds() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
