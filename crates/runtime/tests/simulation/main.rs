//! A deterministic simulation: several processes drive runs on one journal while disks, networks, clocks and processes fail. The
//! invariants of ARCHITECTURE.md are checked after every step.
//!
//! `REKNIT_SEED=7 cargo test -p reknit-runtime --test simulation one_seed -- --nocapture` replays a seed and prints its steps.
//! `bench/simulation/run` tries many.
#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a panic fails the test and shows where"
)]

mod checker;
mod counts;
mod faults;
mod models;
mod network;
mod node;
mod plot;
mod process;
mod random;
mod regressions;
mod simulation;
mod tool;
mod world;

use std::panic;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, Once};
use std::time::Instant;

use counts::Counts;
use simulation::{Simulated, simulate};
use world::Tracing;

/// After so many failures no further seed is tried.
const MAX_FAILURES: usize = 10;

/// Watchers panic on purpose, which is not worth a message.
fn silence_watchers() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if info.payload().downcast_ref::<&str>() != Some(&node::WATCHER_PANIC) {
                usual(info);
            }
        }));
    });
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{variable} is not a number")))
}

/// The seeds whose worlds break an invariant, and what happened in all others.
fn try_seeds(first: u64, count: u64, threads: u64) -> (Counts, Vec<(u64, String)>) {
    silence_watchers();
    let (next, counts, failures) = (AtomicU64::new(first), Mutex::new(Counts::default()), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let mut own = Counts::default();
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    let has_enough = failures.lock().expect("no panic").len() >= MAX_FAILURES;
                    if seed >= first + count || has_enough {
                        break;
                    }
                    let simulated = simulate(seed, Tracing::Off);
                    own.merge(&simulated.counts);
                    if let Some(problem) = simulated.failure {
                        failures.lock().expect("no panic").push((seed, problem));
                    }
                }
                counts.lock().expect("no panic").merge(&own);
            });
        }
    });
    let mut failures = failures.into_inner().expect("no panic");
    failures.sort();
    (counts.into_inner().expect("no panic"), failures)
}

/// Says how each failure can be replayed, and shows the steps of the first.
fn report(failures: &[(u64, String)]) -> String {
    let Some((first, _)) = failures.first() else { return String::new() };
    let trace = simulate(*first, Tracing::On).trace;
    let lines = failures.iter().take(20).map(|(seed, problem)| {
        let command = "cargo test -p reknit-runtime --test simulation one_seed -- --nocapture";
        format!("{problem}\n    REKNIT_SEED={seed} {command}\n")
    });
    let end = trace.len().saturating_sub(60);
    format!("{}\nthe end of seed {first}:\n{}", lines.collect::<String>(), trace[end..].join("\n"))
}

#[test]
fn two_hundred_seeds_keep_every_invariant_and_reach_every_state() {
    let count = 200;
    let (counts, failures) = try_seeds(0, count, 2);
    assert!(failures.is_empty(), "{} of {count} seeds failed\n{}", failures.len(), report(&failures));
    assert_eq!(counts.missing(count), [""; 0], "{counts}");
}

#[test]
fn a_seed_gives_the_same_steps_every_time() {
    silence_watchers();
    for seed in 0..20 {
        let [first, second] = [simulate(seed, Tracing::On), simulate(seed, Tracing::On)];
        let differs = first.trace.iter().zip(&second.trace).find(|(first, second)| first != second);
        assert_eq!(differs, None, "seed {seed}");
        assert_eq!((first.trace.len(), first.counts), (second.trace.len(), second.counts), "seed {seed}");
    }
}

/// Replays the seed in `REKNIT_SEED`.
#[test]
fn one_seed() {
    silence_watchers();
    let seed = number("REKNIT_SEED");
    let Simulated { trace, failure, counts } = simulate(seed.unwrap_or(0), Tracing::On);
    if seed.is_some() {
        println!("{}\n{counts}", trace.join("\n"));
    }
    assert_eq!(failure, None);
}

/// Tries `REKNIT_SEEDS` seeds from `REKNIT_FIRST_SEED` on.
#[test]
#[ignore = "takes minutes; bench/simulation/run runs it"]
fn many_seeds() {
    let (first, count) = (number("REKNIT_FIRST_SEED").unwrap_or(0), number("REKNIT_SEEDS").unwrap_or(100_000));
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let began = Instant::now();
    let (counts, failures) = try_seeds(first, count, threads as u64);
    let ms = u64::try_from(began.elapsed().as_millis()).expect("a short time").max(1);
    let (seconds, rate, failed) = (ms / 1_000, count * 1_000 / ms, failures.len());
    println!("{counts}\n{count} seeds in {seconds} s, {rate} seeds/s, {failed} failed");
    assert!(failures.is_empty(), "{}", report(&failures));
    assert_eq!(counts.missing(count), [""; 0]);
}
