//! The journal alone: events committed per second, by one run and by many runs at once.

use std::path::Path;
use std::time::{Duration, Instant};

use reknit_journal::{Append, DueEffect, Holder, Journal, Lease, LeaseTerm, NewEvent, NewRun};
use tokio::task::JoinSet;

use crate::Result;
use crate::fixture::{LEVELS, Level};
use crate::statistics::median;
use crate::table::{Amount, Row, Side, Table};

const ROUNDS: usize = 5;
const ROUND: Duration = Duration::from_millis(300);
/// How many runs append at once.
const MANY: usize = 64;

/// A run that events are appended to.
struct OpenRun {
    lease: Lease,
    len: u64,
}

/// A journal with its measured rates.
struct Measurement {
    level: Level,
    journal: Journal,
    runs: Vec<OpenRun>,
    alone: Vec<f64>,
    together: Vec<f64>,
}

pub async fn measure(folder: &Path, table: &mut Table) -> Result<()> {
    let mut measurements = Vec::new();
    for level in LEVELS {
        let journal = level.journal(folder, "append")?;
        let mut runs = Vec::new();
        for number in 0..MANY {
            let new = NewRun::new(format!("r{number}"), "a run", "q", event());
            let term = LeaseTerm { now_ms: 0, ttl_ms: 30_000 };
            runs.push(OpenRun { lease: journal.create(new, &Holder::this_process(), term).await?, len: 1 });
        }
        measurements.push(Measurement { level, journal, runs, alone: Vec::new(), together: Vec::new() });
    }
    for round in 0..=ROUNDS {
        for measurement in &mut measurements {
            let alone = measurement.round(1).await?;
            let together = measurement.round(MANY).await?;
            if round > 0 {
                measurement.alone.push(alone);
                measurement.together.push(together);
            }
        }
    }
    for Measurement { level, alone, together, .. } in &measurements {
        let name = level.name();
        table.add(
            Row::new("append", Side::new(format!("{name}, {MANY} runs at once"), Amount::PerSecond(median(together))))
                .compared_with(Side::new(format!("{name}, one run"), Amount::PerSecond(median(alone)))),
        );
    }
    Ok(())
}

impl Measurement {
    /// Appends with this many runs at once, and returns the events per second.
    async fn round(&mut self, runs: usize) -> Result<f64> {
        let start = Instant::now();
        let mut tasks = JoinSet::new();
        for mut open in self.runs.drain(..runs) {
            let journal = self.journal.clone();
            tasks.spawn(async move {
                let from = open.len;
                while start.elapsed() < ROUND {
                    open.len = journal.append(&open.lease, Append::at(open.len).event(event())).await?;
                }
                Ok::<_, reknit_journal::AppendError>((open.len - from, open))
            });
        }
        let mut events = 0;
        while let Some(joined) = tasks.join_next().await {
            let (count, open) = joined??;
            events += count;
            self.runs.push(open);
        }
        Ok(events as f64 / start.elapsed().as_secs_f64())
    }
}

/// An event as the driver writes it.
fn event() -> NewEvent {
    let body = concat!(
        r#"{"at_ms":1753000000000,"kind":{"tool_answered":{"effect":"step-1/call/1","reply":{"status":200,"#,
        r#""retry_after_ms":null,"body":{"json":"{\"token\":\"0123456789abcdef\"}"}}}}}"#
    );
    let digest = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
    NewEvent::new(1_753_000_000_000, "tool_answered", body)
        .with_due([DueEffect::new("step-2/call/1", digest), DueEffect::new("step-3/call/1", digest)])
}
