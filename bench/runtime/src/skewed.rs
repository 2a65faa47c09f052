//! The skewed graph: an engine that runs it in supersteps waits for the slower half twice.

use std::time::Instant;

use reknit_journal::Durability;
use reknit_protocol::Plan;
use reknit_runtime::{CallLimits, Driver};

use crate::Result;
use crate::fixture::{Fixture, LEVELS, Level, drive, step};
use crate::langgraph::LangGraph;
use crate::statistics::{median, min_max};
use crate::table::{Amount, Row, Side, Table};

/// The number of measured rounds, after one for warming up.
const ROUNDS: usize = 13;
/// The duration of the longer of the two chains.
const IDEAL: f64 = 0.210;
const LIMIT: Amount = Amount::Seconds(1.05 * IDEAL);

enum Subject {
    Driver(Box<Driver>, Plan),
    /// The same calls in plain code, without an engine.
    PlainCode,
    /// A bare call that takes this many milliseconds.
    BareCall(u32),
    LangGraph(&'static str),
}

struct Measurement {
    name: String,
    subject: Subject,
    seconds: Vec<f64>,
}

impl Measurement {
    fn new(name: impl Into<String>, subject: Subject) -> Self {
        Self { name: name.into(), subject, seconds: Vec::new() }
    }

    fn side(&self) -> Side {
        Side::new(&self.name, Amount::Seconds(median(&self.seconds)))
    }

    async fn run(&self, fixture: &Fixture, langgraph: &mut LangGraph) -> Result<f64> {
        let start = Instant::now();
        match &self.subject {
            Subject::Driver(driver, plan) => drive(driver, fixture.started(plan)).await?,
            Subject::PlainCode => {
                tokio::try_join!(call_twice(fixture, 10, 200), call_twice(fixture, 200, 10))?;
            }
            Subject::BareCall(ms) => wait(fixture, *ms).await?,
            Subject::LangGraph(keep) => return langgraph.run(&format!("skewed {keep}")),
        }
        Ok(start.elapsed().as_secs_f64())
    }
}

pub async fn measure(fixture: &Fixture, langgraph: &mut LangGraph, table: &mut Table) -> Result<()> {
    let mut measurements = measurements(fixture)?;
    for round in 0..=ROUNDS {
        for measurement in &mut measurements {
            let seconds = measurement.run(fixture, langgraph).await?;
            if round > 0 {
                measurement.seconds.push(seconds);
            }
        }
    }
    let find = |name: &str| measurements.iter().find(|one| one.name == name).ok_or("there is no such measurement");
    let (plain, sync) = (find("plain code")?, find("LangGraph, SQLite, sync")?);
    for ours in measurements.iter().filter(|one| matches!(one.subject, Subject::Driver(..))) {
        let row = Row::new("skewed", ours.side()).compared_with(sync.side());
        table.add(if ours.name == "Driver, Full" { row.with_limit(LIMIT) } else { row });
    }
    let full = find("Driver, Full")?;
    for other in measurements.iter().filter(|one| matches!(one.subject, Subject::LangGraph(_) | Subject::PlainCode)) {
        if !std::ptr::eq(other, sync) {
            table.add(Row::new("skewed", full.side()).compared_with(other.side()));
        }
    }
    table.add(Row::new("skewed", plain.side()).compared_with(Side::new("the delays alone", Amount::Seconds(IDEAL))));
    for call in measurements.iter().filter(|one| matches!(one.subject, Subject::BareCall(_))) {
        let Subject::BareCall(ms) = call.subject else { continue };
        table.add(
            Row::new("tool", call.side()).compared_with(Side::new("its delay", Amount::Seconds(f64::from(ms) / 1e3))),
        );
    }
    table.note("skewed, the fastest and the slowest round:".to_owned());
    for one in &measurements {
        let (min, max) = min_max(&one.seconds);
        table.note(format!("  {}: {} to {}", one.name, Amount::Seconds(min), Amount::Seconds(max)));
    }
    Ok(())
}

fn measurements(fixture: &Fixture) -> Result<Vec<Measurement>> {
    let mut list = Vec::new();
    for level in LEVELS {
        let driver = Box::new(fixture.driver(level, "skewed", CallLimits::default())?);
        if level == Level::File(Durability::Full) {
            list.push(Measurement::new("Driver, Full", Subject::Driver(driver.clone(), plan("wait")?)));
            list.push(Measurement::new("Driver, Full, keyed", Subject::Driver(driver, plan("wait_keyed")?)));
        } else {
            list.push(Measurement::new(format!("Driver, {}", level.name()), Subject::Driver(driver, plan("wait")?)));
        }
    }
    for (name, keep) in [
        ("LangGraph", "none"),
        ("LangGraph, SQLite, async", "async"),
        ("LangGraph, SQLite, sync", "sync"),
        ("LangGraph, tasks", "tasks"),
    ] {
        list.push(Measurement::new(name, Subject::LangGraph(keep)));
    }
    list.push(Measurement::new("plain code", Subject::PlainCode));
    list.push(Measurement::new("bare call of 10 ms", Subject::BareCall(10)));
    list.push(Measurement::new("bare call of 200 ms", Subject::BareCall(200)));
    Ok(list)
}

/// C uses the result of A, and D that of B. The plan states no other order.
fn plan(capability: &str) -> Result<Plan> {
    let steps = vec![
        step("a", capability, r#"{"ms": 10}"#)?,
        step("b", capability, r#"{"ms": 200}"#)?,
        step("c", capability, r#"{"ms": 200, "after": "{{a.token}}"}"#)?,
        step("d", capability, r#"{"ms": 10, "after": "{{b.token}}"}"#)?,
    ];
    Ok(Plan::new("skewed", "the skewed graph", steps))
}

async fn call_twice(fixture: &Fixture, first: u32, second: u32) -> Result<()> {
    wait(fixture, first).await?;
    wait(fixture, second).await
}

async fn wait(fixture: &Fixture, ms: u32) -> Result<()> {
    fixture.call("wait", &format!(r#"{{"ms": {ms}}}"#)).await.map(drop)
}
