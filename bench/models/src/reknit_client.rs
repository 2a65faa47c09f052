//! Our own client.

use std::time::{Duration, Instant};

use reknit_model_api::{Message, ModelRequest};
use reknit_models::{Models, Streaming, Target};

use crate::{MAX_TOKENS, MODEL, Mode, QUESTION, Result, SYSTEM, WORDS};

pub struct ReknitClient {
    models: Models,
    mode: Mode,
}

impl ReknitClient {
    pub fn new(url: &str, mode: Mode) -> Result<Self> {
        let mut target = Target::new("scripted", url, MODEL);
        target.streaming = if mode == Mode::Stream { Streaming::On } else { Streaming::Off };
        Ok(Self { models: Models::new(vec![target])?, mode })
    }

    pub async fn round(&self, calls: usize) -> Result<Vec<Duration>> {
        let mut times = Vec::with_capacity(calls);
        for _ in 0..calls {
            let start = Instant::now();
            // Built for each call, as a program would do.
            let request = ModelRequest::new(vec![Message::system(SYSTEM), Message::user(QUESTION)], MAX_TOKENS);
            let mut pieces = 0;
            let answer = self.models.ask(&"scripted".into(), &request, &mut |_| pieces += 1).await?;
            times.push(start.elapsed());
            let complete = answer.text.split(' ').count() == WORDS && answer.usage.output_tokens == WORDS as u64;
            let streamed = self.mode == Mode::Whole || pieces >= WORDS;
            if !complete || !streamed {
                return Err(format!("reknit: {pieces} pieces of {answer:?}").into());
            }
        }
        Ok(times)
    }
}
