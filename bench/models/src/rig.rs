//! `rig-core`, a client for many providers in Rust.

use std::time::{Duration, Instant};

use futures_util::StreamExt;
use rig_core::completion::CompletionRequest;
use rig_core::providers::openai::{OpenAI, OpenAIConfig};

use crate::{MAX_TOKENS, MODEL, Mode, QUESTION, Result, SYSTEM, WORDS};

pub struct Rig {
    client: OpenAI,
}

impl Rig {
    pub fn new(url: &str) -> Self {
        Self { client: OpenAIConfig::new("none").with_base_url(url).client() }
    }

    pub async fn round(&self, mode: Mode, calls: usize) -> Result<Vec<Duration>> {
        let model = self.client.chat(MODEL);
        let mut times = Vec::with_capacity(calls);
        for _ in 0..calls {
            let start = Instant::now();
            let request =
                CompletionRequest::new(QUESTION).preamble(SYSTEM).temperature(0.0).max_tokens(u64::from(MAX_TOKENS));
            let pieces = match mode {
                Mode::Whole => {
                    let _response = model.call(request).await?;
                    WORDS
                }
                Mode::Stream => {
                    let mut stream = model.stream(request)?;
                    let mut pieces = 0;
                    while let Some(piece) = stream.next().await {
                        piece?;
                        pieces += 1;
                    }
                    pieces
                }
            };
            times.push(start.elapsed());
            if pieces < WORDS {
                return Err(format!("rig: {pieces} pieces").into());
            }
        }
        Ok(times)
    }
}
