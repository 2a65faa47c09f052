//! Plays many random worlds on all cores, and counts what happened in them.

use std::panic::catch_unwind;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{available_parallelism, scope};

/// How many failed worlds are named.
const MAX_NAMED: usize = 20;

/// Plays so many worlds from a first one, each of them with its seed, and returns the sums of the counts. Panics with the seeds of those
/// that violate a property.
pub(crate) fn play_worlds<const N: usize>(
    first: u64,
    count: u64,
    play: impl Fn(u64) -> [usize; N] + Sync + std::panic::RefUnwindSafe,
) -> [usize; N] {
    let (next, sums, failed) = (AtomicU64::new(first), Mutex::new([0; N]), Mutex::new(Vec::new()));
    let work = || {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= first + count {
                return;
            }
            match catch_unwind(|| play(seed)) {
                Ok(counts) => {
                    let mut sums = sums.lock().expect("no thread panics with the lock");
                    sums.iter_mut().zip(counts).for_each(|(sum, counted)| *sum += counted);
                }
                Err(_) => failed.lock().expect("no thread panics with the lock").push(seed),
            }
        }
    };
    scope(|threads| {
        for _ in 0..available_parallelism().map_or(1, usize::from) {
            threads.spawn(work);
        }
    });
    let mut failed = failed.into_inner().expect("no thread panics with the lock");
    failed.sort_unstable();
    let (number, shown) = (failed.len(), failed.iter().take(MAX_NAMED).collect::<Vec<_>>());
    assert!(failed.is_empty(), "{number} of {count} worlds violate a property: {shown:?}");
    sums.into_inner().expect("no thread panics with the lock")
}

/// Plays as many worlds as `bench/worlds/run` asks for, and prints the sums.
#[expect(clippy::print_stdout, reason = "a bench prints its figures")]
pub(crate) fn play_asked_worlds<const N: usize>(
    what: &str,
    names: [&str; N],
    play: impl Fn(u64) -> [usize; N] + Sync + std::panic::RefUnwindSafe,
) {
    let number = |name: &str, default| std::env::var(name).map_or(default, |text| text.parse().expect("a number"));
    let (first, count) = (number("REKNIT_FIRST_WORLD", 0), number("REKNIT_WORLDS", 1_000_000));
    let sums = play_worlds(first, count, play);
    let counts: Vec<String> = names.iter().zip(sums).map(|(name, sum)| format!("{sum} {name}")).collect();
    println!("{what}: {count} worlds from {first}, 0 failed: {}", counts.join(", "));
}
