//! The skewed graph: whoever runs it in waves waits for the slower half twice.

use std::time::Instant;

use reknit_journal::Durability;
use reknit_protocol::Plan;
use reknit_runtime::{CallLimits, Driver};

use crate::Result;
use crate::median::{ends, median};
use crate::peer::LangGraph;
use crate::table::{Amount, Row, Side, Table};
use crate::world::{LEVELS, Level, World, drive, step};

/// How often each has its turn, after a first one for warming up.
const TURNS: usize = 13;
/// The longer of the two ways through the graph.
const IDEAL: f64 = 0.210;
const BAR: Amount = Amount::Seconds(1.05 * IDEAL);

enum Who {
    Driver(Box<Driver>, Plan),
    Hand,
    /// One bare call of a tool that takes so many milliseconds.
    Call(u32),
    LangGraph(&'static str),
}

struct Contestant {
    name: String,
    who: Who,
    seconds: Vec<f64>,
}

impl Contestant {
    fn new(name: impl Into<String>, who: Who) -> Self {
        Self { name: name.into(), who, seconds: Vec::new() }
    }

    fn side(&self) -> Side {
        Side::new(&self.name, Amount::Seconds(median(&self.seconds)))
    }

    async fn turn(&self, world: &World, langgraph: &mut LangGraph) -> Result<f64> {
        let start = Instant::now();
        match &self.who {
            Who::Driver(driver, plan) => drive(driver, world.started(plan)).await?,
            Who::Hand => {
                tokio::try_join!(two(world, 10, 200), two(world, 200, 10))?;
            }
            Who::Call(ms) => wait(world, *ms).await?,
            Who::LangGraph(keep) => return langgraph.turn(&format!("skewed {keep}")),
        }
        Ok(start.elapsed().as_secs_f64())
    }
}

pub async fn measure(world: &World, langgraph: &mut LangGraph, table: &mut Table) -> Result<()> {
    let mut contestants = contestants(world)?;
    for turn in 0..=TURNS {
        for contestant in &mut contestants {
            let seconds = contestant.turn(world, langgraph).await?;
            if turn > 0 {
                contestant.seconds.push(seconds);
            }
        }
    }
    let is = |wanted: &str| contestants.iter().find(|one| one.name == wanted).ok_or("nobody of that name");
    let (hand, sync) = (is("by hand")?, is("LangGraph, SQLite, sync")?);
    for ours in contestants.iter().filter(|one| matches!(one.who, Who::Driver(..))) {
        let row = Row::new("skewed", ours.side()).beside(sync.side());
        table.add(if ours.name == "Driver, Full" { row.at_most(BAR) } else { row });
    }
    let full = is("Driver, Full")?;
    for other in contestants.iter().filter(|one| matches!(one.who, Who::LangGraph(_) | Who::Hand)) {
        if !std::ptr::eq(other, sync) {
            table.add(Row::new("skewed", full.side()).beside(other.side()));
        }
    }
    table.add(Row::new("skewed", hand.side()).beside(Side::new("nothing but the delays", Amount::Seconds(IDEAL))));
    for call in contestants.iter().filter(|one| matches!(one.who, Who::Call(_))) {
        let Who::Call(ms) = call.who else { continue };
        table.add(Row::new("tool", call.side()).beside(Side::new("its delay", Amount::Seconds(f64::from(ms) / 1e3))));
    }
    table.note("skewed, the quickest and the slowest turn:".to_owned());
    for one in &contestants {
        let (least, most) = ends(&one.seconds);
        table.note(format!("  {}: {} to {}", one.name, Amount::Seconds(least), Amount::Seconds(most)));
    }
    Ok(())
}

fn contestants(world: &World) -> Result<Vec<Contestant>> {
    let mut list = Vec::new();
    for level in LEVELS {
        let driver = Box::new(world.driver(level, "skewed", CallLimits::default())?);
        if level == Level::File(Durability::Full) {
            list.push(Contestant::new("Driver, Full", Who::Driver(driver.clone(), plan("wait")?)));
            list.push(Contestant::new("Driver, Full, keyed", Who::Driver(driver, plan("wait_keyed")?)));
        } else {
            list.push(Contestant::new(format!("Driver, {}", level.name()), Who::Driver(driver, plan("wait")?)));
        }
    }
    for (name, keep) in [
        ("LangGraph", "none"),
        ("LangGraph, SQLite, async", "async"),
        ("LangGraph, SQLite, sync", "sync"),
        ("LangGraph, tasks", "tasks"),
    ] {
        list.push(Contestant::new(name, Who::LangGraph(keep)));
    }
    list.push(Contestant::new("by hand", Who::Hand));
    list.push(Contestant::new("bare call of 10 ms", Who::Call(10)));
    list.push(Contestant::new("bare call of 200 ms", Who::Call(200)));
    Ok(list)
}

/// C and D take what A and B gave: that is all the plan says about their order.
fn plan(capability: &str) -> Result<Plan> {
    let steps = vec![
        step("a", capability, r#"{"ms": 10}"#)?,
        step("b", capability, r#"{"ms": 200}"#)?,
        step("c", capability, r#"{"ms": 200, "after": "{{a.token}}"}"#)?,
        step("d", capability, r#"{"ms": 10, "after": "{{b.token}}"}"#)?,
    ];
    Ok(Plan::new("skewed", "the skewed graph", steps))
}

async fn two(world: &World, first: u32, second: u32) -> Result<()> {
    wait(world, first).await?;
    wait(world, second).await
}

async fn wait(world: &World, ms: u32) -> Result<()> {
    world.call("wait", &format!(r#"{{"ms": {ms}}}"#)).await.map(drop)
}
