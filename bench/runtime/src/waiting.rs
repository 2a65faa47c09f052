//! Ten thousand runs in one process, all waiting for a call.
//!
//! Each measurement has its own process, so that the peaks of memory do not mix.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use reknit_engine::EventKind;
use reknit_journal::Durability;
use reknit_protocol::ReplyBody;
use reknit_protocol::{Plan, Value};
use reknit_runtime::{CallLimits, Watcher};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};
use tokio::task::JoinSet;

use crate::Result;
use crate::fixture::{Fixture, Level, drive, step};
use crate::langgraph::LangGraph;
use crate::line_process::LineProcess;
use crate::table::{Amount, Row, Side, Table};

const RUNS: usize = 10_000;
/// Enough to measure the memory per run, and few enough to be fast.
const LANGGRAPH_RUNS: usize = 1_000;
const MEMORY_LIMIT: Amount = Amount::Megabytes(300.0);

/// Longer than the renewal interval of leases, so that every run renews its lease once.
const HOLD: Duration = Duration::from_secs(12);
/// How long starting all runs may take.
const START_LIMIT: Duration = Duration::from_secs(120);
/// Open files that are not connections.
const OTHER_FILES: u64 = 200;

/// The measurements of a process.
#[derive(Serialize, Deserialize)]
struct Report {
    in_flight: usize,
    /// Until the first event of every run was committed.
    started_seconds: f64,
    /// Until the tool held as many calls as the limit allows.
    held_seconds: f64,
    /// From the release of the calls until every run has ended.
    ended_seconds: f64,
    before_mb: f64,
    started_mb: f64,
    held_mb: f64,
    peak_mb: f64,
    /// The share of a processor that is used while all runs wait.
    cpu_share: f64,
    journal_mb: f64,
}

pub fn measure(private: &Path, url: &str, folder: &Path, table: &mut Table) -> Result<()> {
    let all = measure_in_process(url, folder, RUNS)?;
    let few = measure_in_process(url, folder, CallLimits::default().per_tool)?;
    show("all in flight", &all, table);
    show("by default", &few, table);
    // A new process, like ours: memory that is freed and used again would not be counted.
    let theirs = LangGraph::start(private, url, folder)?.run(&format!("waiting {LANGGRAPH_RUNS}"))?;
    table.add(
        Row::new("waiting, per run", Side::new("in flight", Amount::Kilobytes(all.kilobytes_per_run())))
            .compared_with(Side::new("LangGraph, in flight", Amount::Kilobytes(theirs))),
    );
    Ok(())
}

/// Measures waiting runs in a new process.
fn measure_in_process(url: &str, folder: &Path, at_once: usize) -> Result<Report> {
    let own = folder.join(format!("waiting-{at_once}"));
    fs::create_dir(&own)?;
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["waiting", url]).arg(&own).args([RUNS.to_string(), at_once.to_string()]);
    let report = serde_json::from_str(&LineProcess::start("the waiting process", &mut command)?.read_line()?)?;
    // Frees the space of the journal.
    fs::remove_dir_all(&own)?;
    Ok(report)
}

fn show(name: &str, report: &Report, table: &mut Table) {
    let what = format!("waiting, {name}");
    let peak = Side::new(format!("{RUNS} runs, {} in flight", report.in_flight), Amount::Megabytes(report.peak_mb));
    table.add(Row::new(&what, peak).with_limit(MEMORY_LIMIT));
    let rate = |seconds: f64| Amount::PerSecond(RUNS as f64 / seconds);
    table.add(
        Row::new(&what, Side::new("runs started, Full", rate(report.started_seconds)))
            .compared_with(Side::new("runs ended, Full", rate(report.ended_seconds))),
    );
    table.note(format!(
        "{what}: {:.0} MB before, {:.0} MB when all had started, {:.0} MB after {} s of waiting, which is {:.1} kB per run, \
         {:.0} MB at the peak; {:.1} % of a processor while all wait; {} in flight after {:.1} s; {:.0} MB of journal",
        report.before_mb,
        report.started_mb,
        report.held_mb,
        HOLD.as_secs(),
        report.kilobytes_per_run(),
        report.peak_mb,
        report.cpu_share * 100.0,
        report.in_flight,
        report.held_seconds,
        report.journal_mb,
    ));
}

impl Report {
    /// The memory of a run while all wait.
    fn kilobytes_per_run(&self) -> f64 {
        (self.held_mb - self.before_mb) * 1e3 / RUNS as f64
    }
}

/// Starts the runs, lets them wait, releases them, and prints a report. This is the main function of the measured process.
pub async fn hold(url: &str, folder: &Path, runs: &str, at_once: &str) -> Result<()> {
    let (runs, at_once): (usize, usize) = (runs.parse()?, at_once.parse()?);
    let files = raise_file_limit()?.saturating_sub(OTHER_FILES);
    let at_once = at_once.min(usize::try_from(files)?);
    let defaults = CallLimits::default();
    let limits = CallLimits { in_all: at_once.max(defaults.in_all), per_tool: at_once, ..defaults };
    let fixture = Fixture::new(url, folder).await?;
    fixture.call("close", "{}").await?;
    let started_runs = Arc::new(AtomicUsize::new(0));
    let driver =
        fixture.driver(Level::File(Durability::Full), "waiting", limits)?.with_watcher(count_starts(&started_runs));
    let plan = Plan::new("slow", "a slow tool", vec![step("s", "hold", "{}")?]);
    let before_mb = memory("VmRSS")?;

    let start = Instant::now();
    let mut tasks = JoinSet::new();
    for _ in 0..runs {
        let (driver, started) = (driver.clone(), fixture.started(&plan));
        tasks.spawn(async move { drive(&driver, started).await.map_err(|error| error.to_string()) });
    }
    while started_runs.load(Ordering::Relaxed) < runs {
        pause(start).await?;
    }
    let (started_seconds, started_mb) = (start.elapsed().as_secs_f64(), memory("VmRSS")?);
    while held(&fixture).await? < runs.min(at_once) {
        pause(start).await?;
    }
    let held_seconds = start.elapsed().as_secs_f64();
    let cpu_before = cpu_seconds();
    tokio::time::sleep(HOLD).await;
    let cpu_share = (cpu_seconds() - cpu_before) / HOLD.as_secs_f64();
    let (in_flight, held_mb) = (held(&fixture).await?, memory("VmRSS")?);

    let start = Instant::now();
    fixture.call("open", "{}").await?;
    while let Some(ended) = tasks.join_next().await {
        ended??;
    }
    let ended_seconds = start.elapsed().as_secs_f64();
    let (peak_mb, journal_mb) = (memory("VmHWM")?, size_mb(folder)?);
    #[rustfmt::skip]
    let report = Report {
        in_flight, started_seconds, held_seconds, ended_seconds, before_mb, started_mb, held_mb, peak_mb, cpu_share, journal_mb,
    };
    println!("{}", serde_json::to_string(&report)?);
    Ok(())
}

/// Counts the runs whose first event is committed.
fn count_starts(started_runs: &Arc<AtomicUsize>) -> Watcher {
    let started_runs = Arc::clone(started_runs);
    Watcher::inline(move |committed| {
        if matches!(committed.event.kind, EventKind::Started(_)) {
            started_runs.fetch_add(1, Ordering::Relaxed);
        }
    })
}

/// Sleeps for a moment. Fails if the runs take too long to start.
async fn pause(start: Instant) -> Result<()> {
    if start.elapsed() > START_LIMIT {
        return Err(format!("not all runs have started within {START_LIMIT:?}").into());
    }
    tokio::time::sleep(Duration::from_millis(5)).await;
    Ok(())
}

async fn held(fixture: &Fixture) -> Result<usize> {
    let ReplyBody::Json(body) = fixture.call("held", "{}").await?.body else {
        return Err("the tool does not return a count".into());
    };
    Ok(body.get("held").map(Value::to_string).ok_or("the tool does not return a count")?.parse()?)
}

/// Raises the limit of open files to its maximum, and returns it.
pub fn raise_file_limit() -> Result<u64> {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum })?;
    Ok(maximum.unwrap_or(u64::MAX))
}

/// A value of `/proc/self/status`, in megabytes.
fn memory(name: &str) -> Result<f64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    let kibibytes: f64 =
        line.and_then(|line| line.split_whitespace().next()).ok_or("`/proc/self/status` has no such value")?.parse()?;
    Ok(kibibytes * 1024.0 / 1e6)
}

fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

fn size_mb(folder: &Path) -> Result<f64> {
    let sizes = fs::read_dir(folder)?.map(|entry| Ok(entry?.metadata()?.len()));
    Ok(sizes.sum::<Result<u64>>()? as f64 / 1e6)
}
