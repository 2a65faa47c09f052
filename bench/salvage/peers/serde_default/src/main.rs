//! The peer `serde_json` with its default features. `src/peer.rs` documents the protocol on the pipes.

use std::error::Error;
use std::hint::black_box;
use std::time::{Duration, Instant};
use std::{env, fs, io};

use serde_json::Value;

// The allocator of the benchmark, so that only the parsers differ.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> Result<(), Box<dyn Error>> {
    let input = env::args().nth(1).ok_or("usage: serde_default INPUT")?;
    let texts = fs::read_to_string(input)?.lines().map(text_of).collect::<Result<Vec<String>, _>>()?;
    println!("default features\t{}", texts.iter().filter(|text| parse(text).is_ok()).count());
    for line in io::stdin().lines() {
        let at_least = Duration::from_millis(line?.parse()?);
        let (start, mut best) = (Instant::now(), f64::INFINITY);
        while best == f64::INFINITY || start.elapsed() < at_least {
            let round = Instant::now();
            for text in &texts {
                let _ = black_box(parse(black_box(text)));
            }
            best = best.min(round.elapsed().as_secs_f64());
        }
        println!("{best}");
    }
    Ok(())
}

fn text_of(line: &str) -> Result<String, Box<dyn Error>> {
    let line: Value = serde_json::from_str(line)?;
    Ok(line["text"].as_str().ok_or("a line has no `text`")?.to_owned())
}

fn parse(text: &str) -> serde_json::Result<Value> {
    serde_json::from_str(text)
}
