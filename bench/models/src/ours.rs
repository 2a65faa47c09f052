//! Our own client.

use std::time::{Duration, Instant};

use reknit_dialogue::{Message, Request};
use reknit_models::{Models, Streaming, Target};

use crate::{MAX_TOKENS, MODEL, Mode, QUESTION, Result, SYSTEM, WORDS};

pub struct Ours {
    models: Models,
    mode: Mode,
}

impl Ours {
    pub fn new(url: &str, mode: Mode) -> Result<Self> {
        let mut target = Target::new("scripted", url, MODEL);
        target.streaming = if mode == Mode::Stream { Streaming::On } else { Streaming::Off };
        Ok(Self { models: Models::new(vec![target])?, mode })
    }

    pub async fn turn(&self, calls: usize) -> Result<Vec<Duration>> {
        let mut times = Vec::with_capacity(calls);
        for _ in 0..calls {
            let began = Instant::now();
            // Made anew each time, as every program would.
            let request = Request::new(vec![Message::system(SYSTEM), Message::user(QUESTION)], MAX_TOKENS);
            let mut pieces = 0;
            let answer = self.models.ask(&"scripted".into(), &request, &mut |_| pieces += 1).await?;
            times.push(began.elapsed());
            let whole = answer.text.split(' ').count() == WORDS && answer.usage.output_tokens == WORDS as u64;
            let in_pieces = self.mode == Mode::Whole || pieces >= WORDS;
            if !whole || !in_pieces {
                return Err(format!("ours: {} pieces of {answer:?}", pieces).into());
            }
        }
        Ok(times)
    }
}
