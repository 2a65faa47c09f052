//! Ten thousand runs in one process, all in a call that does not end.
//!
//! Each measurement is a process of its own, so that its peak of memory is its own.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use reknit_engine::{Event, Machine, What};
use reknit_journal::Durability;
use reknit_protocol::ReplyBody;
use reknit_protocol::{Plan, Value};
use reknit_runtime::{CallLimits, Watcher};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};
use tokio::task::JoinSet;

use crate::Result;
use crate::child::Lines;
use crate::peer::LangGraph;
use crate::table::{Amount, Row, Side, Table};
use crate::world::{Level, World, drive, step};

const RUNS: usize = 10_000;
/// Enough to see what each adds, and few enough not to wait for it.
const RUNS_OF_PEER: usize = 1_000;
const BAR: Amount = Amount::Megabytes(500.0);

/// Longer than the driver lets pass before it renews a lease, so that every run has done it once.
const HOLD: Duration = Duration::from_secs(12);
/// How long beginning may take.
const LIMIT: Duration = Duration::from_secs(120);
/// Files that are no connections.
const OTHER_FILES: u64 = 200;

/// What came of it.
#[derive(Serialize, Deserialize)]
struct Report {
    in_flight: usize,
    /// Until event 0 of every run was committed.
    begun_seconds: f64,
    /// Until so many calls as may be were with the tool.
    held_seconds: f64,
    /// From the moment the tool answers until every run has ended.
    ended_seconds: f64,
    before_mb: f64,
    begun_mb: f64,
    held_mb: f64,
    peak_mb: f64,
    /// Of a processor, while all waited.
    busy: f64,
    journal_mb: f64,
}

pub fn measure(private: &Path, url: &str, folder: &Path, table: &mut Table) -> Result<()> {
    let all = apart(url, folder, RUNS)?;
    let few = apart(url, folder, CallLimits::default().per_tool)?;
    show("all in flight", &all, table);
    show("by default", &few, table);
    // Fresh as ours are: memory that was used before and is free again would not be counted.
    let theirs = LangGraph::start(private, url, folder)?.turn(&format!("waiting {RUNS_OF_PEER}"))?;
    table.add(
        Row::new("waiting, a run", Side::new("in flight", Amount::Kilobytes(all.each())))
            .beside(Side::new("LangGraph, in flight", Amount::Kilobytes(theirs))),
    );
    Ok(())
}

/// Has the runs wait in a process of their own.
fn apart(url: &str, folder: &Path, at_once: usize) -> Result<Report> {
    let own = folder.join(format!("waiting-{at_once}"));
    fs::create_dir(&own)?;
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["waiting", url]).arg(&own).args([RUNS.to_string(), at_once.to_string()]);
    let report = serde_json::from_str(&Lines::start("the waiting process", &mut command)?.hear()?)?;
    // Its journal is no longer needed, and the disk is not ours alone.
    fs::remove_dir_all(&own)?;
    Ok(report)
}

fn show(name: &str, report: &Report, table: &mut Table) {
    let what = format!("waiting, {name}");
    let peak = Side::new(format!("{RUNS} runs, {} in flight", report.in_flight), Amount::Megabytes(report.peak_mb));
    table.add(Row::new(&what, peak).at_most(BAR));
    let rate = |seconds: f64| Amount::PerSecond(RUNS as f64 / seconds);
    table.add(
        Row::new(&what, Side::new("runs begun, Full", rate(report.begun_seconds)))
            .beside(Side::new("runs ended, Full", rate(report.ended_seconds))),
    );
    table.note(format!(
        "{what}: {:.0} MB before, {:.0} MB when all had begun, {:.0} MB after {} s of waiting, which is {:.1} kB a run, \
         {:.0} MB at most; {:.1} % of a processor while all wait; {} in flight after {:.1} s; {:.0} MB of journal",
        report.before_mb,
        report.begun_mb,
        report.held_mb,
        HOLD.as_secs(),
        report.each(),
        report.peak_mb,
        report.busy * 100.0,
        report.in_flight,
        report.held_seconds,
        report.journal_mb,
    ));
}

impl Report {
    /// What a run adds while all wait, in kilobytes.
    fn each(&self) -> f64 {
        (self.held_mb - self.before_mb) * 1e3 / RUNS as f64
    }
}

/// The process that has the runs: begins them, lets them wait, lets them end, and prints its report.
pub async fn hold(url: &str, folder: &Path, runs: &str, at_once: &str) -> Result<()> {
    let (runs, at_once): (usize, usize) = (runs.parse()?, at_once.parse()?);
    let files = allow_many_files()?.saturating_sub(OTHER_FILES);
    let at_once = at_once.min(usize::try_from(files)?);
    let usual = CallLimits::default();
    let limits = CallLimits { in_all: at_once.max(usual.in_all), per_tool: at_once, ..usual };
    let world = World::new(url, folder).await?;
    world.call("close", "{}").await?;
    let begun = Arc::new(AtomicUsize::new(0));
    let driver = world.driver(Level::File(Durability::Full), "waiting", limits)?.watched_by(counting(&begun));
    let plan = Plan::new("slow", "a slow tool", vec![step("s", "hold", "{}")?]);
    let before_mb = memory("VmRSS")?;

    let start = Instant::now();
    let mut tasks = JoinSet::new();
    for _ in 0..runs {
        let (driver, started) = (driver.clone(), world.started(&plan));
        tasks.spawn(async move { drive(&driver, started).await.map_err(|error| error.to_string()) });
    }
    while begun.load(Ordering::Relaxed) < runs {
        pause(start).await?;
    }
    let (begun_seconds, begun_mb) = (start.elapsed().as_secs_f64(), memory("VmRSS")?);
    while held(&world).await? < runs.min(at_once) {
        pause(start).await?;
    }
    let held_seconds = start.elapsed().as_secs_f64();
    let processor = processor_seconds();
    tokio::time::sleep(HOLD).await;
    let busy = (processor_seconds() - processor) / HOLD.as_secs_f64();
    let (in_flight, held_mb) = (held(&world).await?, memory("VmRSS")?);

    let start = Instant::now();
    world.call("open", "{}").await?;
    while let Some(ended) = tasks.join_next().await {
        ended??;
    }
    let ended_seconds = start.elapsed().as_secs_f64();
    let (peak_mb, journal_mb) = (memory("VmHWM")?, size_mb(folder)?);
    #[rustfmt::skip]
    let report = Report {
        in_flight, begun_seconds, held_seconds, ended_seconds, before_mb, begun_mb, held_mb, peak_mb, busy, journal_mb,
    };
    println!("{}", serde_json::to_string(&report)?);
    Ok(())
}

/// Counts the runs whose event 0 is committed.
fn counting(begun: &Arc<AtomicUsize>) -> Watcher {
    let begun = Arc::clone(begun);
    Arc::new(move |_: &Machine, event: &Event| {
        if matches!(event.what, What::Started(_)) {
            begun.fetch_add(1, Ordering::Relaxed);
        }
    })
}

/// A moment, unless there were too many of them.
async fn pause(start: Instant) -> Result<()> {
    if start.elapsed() > LIMIT {
        return Err(format!("not all runs have begun within {LIMIT:?}").into());
    }
    tokio::time::sleep(Duration::from_millis(5)).await;
    Ok(())
}

async fn held(world: &World) -> Result<usize> {
    let ReplyBody::Json(body) = world.call("held", "{}").await?.body else {
        return Err("the tool does not count".into());
    };
    Ok(body.get("held").map(Value::to_string).ok_or("the tool does not count")?.parse()?)
}

/// As many files as the system lets us have; how many that is.
pub fn allow_many_files() -> Result<u64> {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum })?;
    Ok(maximum.unwrap_or(u64::MAX))
}

/// A line of the kernel's account of this process, in 10^6 bytes.
fn memory(name: &str) -> Result<f64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    let kibibytes: f64 = line.and_then(|line| line.split_whitespace().next()).ok_or("no such line")?.parse()?;
    Ok(kibibytes * 1024.0 / 1e6)
}

fn processor_seconds() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

fn size_mb(folder: &Path) -> Result<f64> {
    let sizes = fs::read_dir(folder)?.map(|entry| Ok(entry?.metadata()?.len()));
    Ok(sizes.sum::<Result<u64>>()? as f64 / 1e6)
}
