//! What a step costs over its call: chains of calls that are answered at once.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use reknit_dialogue::{Answer, Failure};
use reknit_engine::AskModel;
use reknit_journal::Durability;
use reknit_protocol::Value;
use reknit_protocol::{CallTool, ReplyBody, ToolReply, TransportFailure};
use reknit_runtime::{BoxFuture, CallLimits, Driver, Edge};

use crate::Result;
use crate::median::median;
use crate::peer::LangGraph;
use crate::table::{Amount, Row, Side, Table};
use crate::world::{LEVELS, Level, World, chain, drive, object};

const TURNS: usize = 11;
/// The difference between the two chains: what the beginning and the end of a run cost is not in it.
const STEPS: u32 = 20;

enum Who {
    Driver(Level, Box<Driver>, &'static str),
    /// The same without a network.
    Machine(Level, Box<Driver>),
    /// A bare call.
    Call,
    /// A page on the disk.
    Disk(File),
    LangGraph(&'static str),
}

struct Contestant {
    who: Who,
    /// Of one step, and of a run of one step.
    steps: Vec<f64>,
    runs: Vec<f64>,
}

impl Contestant {
    fn new(who: Who) -> Self {
        Self { who, steps: Vec::new(), runs: Vec::new() }
    }

    fn step(&self) -> f64 {
        median(&self.steps)
    }

    /// The seconds of a chain of so many steps.
    async fn turn(&mut self, steps: u32, world: &World, langgraph: &mut LangGraph) -> Result<f64> {
        let capability = if let Who::Driver(_, _, capability) = &self.who { capability } else { "echo" };
        let plan = chain(capability, steps as usize)?;
        let start = Instant::now();
        match &mut self.who {
            Who::Driver(_, driver, _) | Who::Machine(_, driver) => drive(driver, world.started(&plan)).await?,
            Who::Call => {
                for _ in 0..steps {
                    world.call("echo", r#"{"after": "0123456789abcdef"}"#).await?;
                }
            }
            Who::Disk(file) => {
                for _ in 0..steps {
                    file.write_all(&[7; 4096])?;
                    file.sync_data()?;
                }
            }
            Who::LangGraph(keep) => return langgraph.turn(&format!("chain {keep} {steps}")),
        }
        Ok(start.elapsed().as_secs_f64())
    }
}

pub async fn measure(world: &World, langgraph: &mut LangGraph, table: &mut Table, folder: &Path) -> Result<()> {
    let mut contestants = contestants(world, folder)?;
    for turn in 0..=TURNS {
        for one in &mut contestants {
            let short = one.turn(1, world, langgraph).await?;
            let long = one.turn(1 + STEPS, world, langgraph).await?;
            if turn > 0 {
                one.runs.push(short);
                one.steps.push((long - short) / f64::from(STEPS));
            }
        }
    }
    show(&contestants, table);
    Ok(())
}

fn contestants(world: &World, folder: &Path) -> Result<Vec<Contestant>> {
    let mut list = vec![Who::Call, Who::Disk(File::create(folder.join("disk"))?)];
    for level in LEVELS {
        let driver = Box::new(world.driver(level, "chain", CallLimits::default())?);
        list.push(Who::Driver(level, driver.clone(), "echo"));
        if level == Level::File(Durability::Full) {
            list.push(Who::Driver(level, driver, "echo_keyed"));
        }
        let reply = Value::Object(object(r#"{"token": "0123456789abcdef"}"#)?);
        let edge = Arc::new(AtOnce(ToolReply { status: 200, retry_after_ms: None, body: ReplyBody::Json(reply) }));
        list.push(Who::Machine(level, Box::new(world.driver_through(edge, level, "at-once", CallLimits::default())?)));
    }
    list.extend(["none", "async", "sync"].map(Who::LangGraph));
    Ok(list.into_iter().map(Contestant::new).collect())
}

fn show(contestants: &[Contestant], table: &mut Table) {
    let seconds = |is: &dyn Fn(&Who) -> bool, of: fn(&Contestant) -> f64| {
        contestants.iter().find(|one| is(&one.who)).map_or(f64::NAN, of)
    };
    let call = seconds(&|who| matches!(who, Who::Call), Contestant::step);
    let disk = seconds(&|who| matches!(who, Who::Disk(_)), Contestant::step);
    for one in contestants {
        match &one.who {
            Who::Driver(level, _, capability) => {
                let keyed = if *capability == "echo" { "" } else { ", keyed" };
                let name = format!("Driver, {}{keyed}", level.name());
                let (peer, keep) = match level {
                    Level::Memory => ("LangGraph", "none"),
                    Level::File(_) => ("LangGraph, SQLite, sync", "sync"),
                };
                let theirs = seconds(&|who| matches!(who, Who::LangGraph(kept) if *kept == keep), Contestant::step);
                let theirs = Side::new(peer, Amount::Seconds(theirs));
                table.add(Row::new("step", Side::new(&name, Amount::Seconds(one.step()))).beside(theirs));
                let cost = Side::new(&name, Amount::Seconds(one.step() - call));
                table.add(Row::new("step, less the call", cost).beside(Side::new("bare call", Amount::Seconds(call))));
            }
            Who::Machine(level, _) => {
                let cost = Side::new(format!("Driver, {}", level.name()), Amount::Seconds(one.step()));
                let row = Row::new("step, no network", cost);
                let disk = Side::new("4 KiB to the disk", Amount::Seconds(disk));
                table.add(if *level == Level::File(Durability::Full) { row.beside(disk) } else { row });
            }
            Who::LangGraph(keep) => {
                table.note(format!(
                    "LangGraph, {keep}: {} a step, {} a run of one step",
                    Amount::Seconds(one.step()),
                    Amount::Seconds(median(&one.runs))
                ));
            }
            Who::Call | Who::Disk(_) => {}
        }
    }
    for one in contestants {
        if let Who::Driver(level, _, "echo") = &one.who {
            table.note(format!("Driver, {}: {} a run of one step", level.name(), Amount::Seconds(median(&one.runs))));
        }
    }
}

/// Answers every call at once.
#[derive(Debug)]
struct AtOnce(ToolReply);

impl Edge for AtOnce {
    /// No run here has anything to ask a model.
    fn ask<'a>(&'a self, _: &'a AskModel) -> BoxFuture<'a, std::result::Result<Answer, Failure>> {
        Box::pin(std::future::pending())
    }

    fn call<'a>(
        &'a self,
        _: &'a CallTool,
        _: Option<&'a str>,
    ) -> BoxFuture<'a, std::result::Result<ToolReply, TransportFailure>> {
        Box::pin(async { Ok(self.0.clone()) })
    }
}
