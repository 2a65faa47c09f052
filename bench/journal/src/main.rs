//! Measures a journal with many runs: how long a list takes, how long pruning takes and what it costs the runs that go on
//! meanwhile, and whether the file shrinks.

use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use reknit_journal::{
    Append, DueEffect, Durability, Holder, Journal, Lease, LeaseTerm, NewEvent, NewRun, Retention, RunFilter,
};
use tokio::task::JoinSet;

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// How many events a run has, besides the first one.
const EVENTS: u64 = 12;
/// How many runs are created at once.
const AT_ONCE: usize = 64;
/// How many runs go on while half of the others are pruned.
const DRIVEN: usize = 8;
/// One run of this many has a value that only it has.
const WITH_BLOB: usize = 50;

const MAX_LIST: Duration = Duration::from_millis(50);
const MAX_PRUNE: Duration = Duration::from_secs(30);

const TERM: LeaseTerm = LeaseTerm { now_ms: 0, ttl_ms: 3_600_000 };

#[tokio::main]
async fn main() -> ExitCode {
    let runs = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(100_000);
    match measure(runs).await {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn measure(runs: usize) -> Result<bool> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("journal.db");
    let began = Instant::now();
    fill(&path, runs).await?;
    println!(
        "{runs} runs with {} events each in {:.1} s, {} MB",
        EVENTS + 1,
        began.elapsed().as_secs_f64(),
        mb(&path)?
    );

    let list = list(&path).await?;
    println!("list of the newest 20, with opening the file: {:.1} ms", list.as_secs_f64() * 1_000.0);

    let journal = Journal::open(&path, Durability::Full)?;
    let idle = commit_times(&journal, "idle", |_| tokio::time::sleep(Duration::from_secs(3))).await?;
    println!("commits of {DRIVEN} runs alone: {idle}");
    let retention = Retention { max_runs: Some(runs as u64 / 2), ..Retention::default() };
    let mut took = Duration::ZERO;
    let pruning = commit_times(&journal, "pruning", |journal| {
        let took = &mut took;
        async move {
            let began = Instant::now();
            let pruned = journal.prune(&retention, i64::MAX / 2).await;
            *took = began.elapsed();
            println!("pruned: {pruned:?} in {:.1} s", took.as_secs_f64());
        }
    })
    .await?;
    println!("commits of {DRIVEN} runs meanwhile: {pruning}");
    let before = mb(&path)?;
    let began = Instant::now();
    let freed = journal.shrink(0).await?;
    let left = journal.run_count().await?;
    drop(journal);
    let after = mb(&path)?;
    println!(
        "shrunk by {} MB in {:.1} s: {before} MB, then {after} MB; {left} runs are left",
        freed / 1_000_000,
        began.elapsed().as_secs_f64()
    );

    let holds = [
        ("a list takes less than 50 ms", list < MAX_LIST),
        ("pruning half takes less than 30 s", took < MAX_PRUNE),
        ("the file shrinks by a third at least", after * 3 < before * 2),
    ];
    for (limit, is_met) in holds {
        println!("{}: {limit}", if is_met { "ok" } else { "MISSED" });
    }
    Ok(holds.iter().all(|(_, is_met)| *is_met))
}

/// Creates runs that have ended.
async fn fill(path: &Path, runs: usize) -> Result<()> {
    let journal = Journal::open(path, Durability::Off)?;
    let mut tasks: JoinSet<Result<()>> = JoinSet::new();
    for number in 0..runs {
        if tasks.len() >= AT_ONCE
            && let Some(done) = tasks.join_next().await
        {
            done??;
        }
        let journal = journal.clone();
        tasks.spawn(async move {
            let lease = create(&journal, &format!("{number:08x}-run"), number).await?;
            let mut append = Append::at(1);
            for seq in 0..EVENTS {
                append = append.event(event(number, seq));
            }
            let at_ms = i64::try_from(number)?;
            journal.append(&lease, append.ending("complete", at_ms)).await?;
            Ok(())
        });
    }
    while let Some(done) = tasks.join_next().await {
        done??;
    }
    Ok(())
}

async fn create(journal: &Journal, run: &str, number: usize) -> Result<Lease> {
    // The first event has the catalogue, which all runs share.
    let catalogue = "x".repeat(40_000);
    let body = format!(r#"{{"request":"order {number}","catalogue":"{catalogue}"}}"#);
    let first = NewEvent::new(i64::try_from(number)?, "started", body);
    let new = NewRun::new(run, format!("order {number}"), format!("{number:032x}"), first);
    Ok(journal.create(new, &Holder::this_process(), TERM).await?)
}

/// An event as tools and models cause them: some hundred bytes; rarely a long result.
fn event(number: usize, seq: u64) -> NewEvent {
    let length = if seq == 5 && number.is_multiple_of(WITH_BLOB) { 60_000 } else { 200 + (number * 31 + 7) % 400 };
    let body = format!(r#"{{"effect":"s{seq}/call/1","number":{number},"text":"{number}{}"}}"#, "y".repeat(length));
    let due = DueEffect::new(format!("s{}/call/1", seq + 1), format!("{:064x}", number + 1));
    NewEvent::new(i64::try_from(number).unwrap_or_default(), "tool_answered", body).with_due([due])
}

/// How long it takes to open the file and to read what `reknit runs list` prints: the best of five.
async fn list(path: &Path) -> Result<Duration> {
    let mut best = Duration::MAX;
    for _ in 0..5 {
        let began = Instant::now();
        let journal = Journal::open(path, Durability::Full)?;
        let (runs, count) = (journal.runs(&RunFilter::newest(20)).await?, journal.run_count().await?);
        assert!(runs.len() == 20 && count >= 20, "the journal has the runs");
        best = best.min(began.elapsed());
    }
    Ok(best)
}

/// Appends to some runs until `work` is done, and returns how long the commits took.
async fn commit_times<W: Future<Output = ()>>(
    journal: &Journal,
    name: &str,
    work: impl FnOnce(Journal) -> W,
) -> Result<String> {
    let is_over = Arc::new(AtomicBool::new(false));
    let mut tasks: JoinSet<Result<Vec<Duration>>> = JoinSet::new();
    for number in 0..DRIVEN {
        let (journal, is_over) = (journal.clone(), Arc::clone(&is_over));
        let lease = create(&journal, &format!("{name}-{number}"), number).await?;
        tasks.spawn(async move {
            let (mut times, mut len) = (Vec::new(), 1);
            while !is_over.load(Ordering::Relaxed) {
                let began = Instant::now();
                len = journal.append(&lease, Append::at(len).event(event(number, len))).await?;
                times.push(began.elapsed());
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            Ok(times)
        });
    }
    work(journal.clone()).await;
    is_over.store(true, Ordering::Relaxed);
    let mut times = Vec::new();
    while let Some(done) = tasks.join_next().await {
        times.extend(done??);
    }
    times.sort_unstable();
    let at = |percent: usize| {
        let index = (times.len() * percent / 100).min(times.len().saturating_sub(1));
        times.get(index).map_or(0.0, |time| time.as_secs_f64() * 1_000.0)
    };
    Ok(format!("{} commits, median {:.1} ms, 99 % {:.1} ms, longest {:.1} ms", times.len(), at(50), at(99), at(100)))
}

fn mb(path: &Path) -> Result<u64> {
    Ok(fs::metadata(path)?.len() / 1_000_000)
}
