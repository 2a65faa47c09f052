//! The journal alone: how many events a second are committed, one after the other and by many runs at once.

use std::path::Path;
use std::time::{Duration, Instant};

use reknit_journal::{Append, Due, Holder, Journal, Lease, NewEvent, NewRun, Term};
use tokio::task::JoinSet;

use crate::Result;
use crate::median::median;
use crate::table::{Amount, Row, Side, Table};
use crate::world::{LEVELS, Level};

const TURNS: usize = 5;
const TURN: Duration = Duration::from_millis(300);
/// How many runs append at once.
const MANY: usize = 64;

/// A run that is appended to.
struct Open {
    lease: Lease,
    len: u64,
}

struct Contestant {
    level: Level,
    journal: Journal,
    runs: Vec<Open>,
    alone: Vec<f64>,
    together: Vec<f64>,
}

pub async fn measure(folder: &Path, table: &mut Table) -> Result<()> {
    let mut contestants = Vec::new();
    for level in LEVELS {
        let journal = level.journal(folder, "append")?;
        let mut runs = Vec::new();
        for number in 0..MANY {
            let new = NewRun { run: format!("r{number}").as_str().into(), title: "a run".to_owned(), first: event() };
            let term = Term { now_ms: 0, ttl_ms: 30_000 };
            runs.push(Open { lease: journal.create(new, &Holder::this_process(), term).await?, len: 1 });
        }
        contestants.push(Contestant { level, journal, runs, alone: Vec::new(), together: Vec::new() });
    }
    for turn in 0..=TURNS {
        for one in &mut contestants {
            let alone = one.turn(1).await?;
            let together = one.turn(MANY).await?;
            if turn > 0 {
                one.alone.push(alone);
                one.together.push(together);
            }
        }
    }
    for Contestant { level, alone, together, .. } in &contestants {
        let name = level.name();
        table.add(
            Row::new("append", Side::new(format!("{name}, {MANY} runs at once"), Amount::PerSecond(median(together))))
                .beside(Side::new(format!("{name}, one run"), Amount::PerSecond(median(alone)))),
        );
    }
    Ok(())
}

impl Contestant {
    /// Events a second, over all runs that take part.
    async fn turn(&mut self, runs: usize) -> Result<f64> {
        let start = Instant::now();
        let mut tasks = JoinSet::new();
        for mut open in self.runs.drain(..runs) {
            let journal = self.journal.clone();
            tasks.spawn(async move {
                let from = open.len;
                while start.elapsed() < TURN {
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

/// As the driver writes them.
fn event() -> NewEvent {
    let body = concat!(
        r#"{"at_ms":1753000000000,"what":{"tool_answered":{"effect":"step-1/call/1","reply":{"status":200,"#,
        r#""retry_after_ms":null,"body":{"json":"{\"token\":\"0123456789abcdef\"}"}}}}}"#
    );
    let digest = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
    NewEvent::new(1_753_000_000_000, "tool_answered", body)
        .with_due([Due::new("step-2/call/1", digest), Due::new("step-3/call/1", digest)])
}
