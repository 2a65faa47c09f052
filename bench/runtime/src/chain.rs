//! The cost of a step besides its call: chains of calls that return at once.

use std::sync::Arc;
use std::time::Instant;

use reknit_engine::AskModel;
use reknit_journal::Durability;
use reknit_model_api::{ModelAnswer, ModelFailure};
use reknit_protocol::Value;
use reknit_protocol::{CallTool, ReplyBody, ToolReply, TransportFailure};
use reknit_runtime::{BoxFuture, CallLimits, Driver, Transport};

use crate::Result;
use crate::fixture::{Fixture, LEVELS, Level, chain, drive, object};
use crate::langgraph::LangGraph;
use crate::statistics::median;
use crate::table::{Amount, Row, Side, Table};

const ROUNDS: usize = 11;
/// The difference in length between the two chains that are compared, so that starting and ending a run cancel out.
const STEPS: u32 = 20;

enum Subject {
    /// The driver, with the capability that it calls.
    Driver(Level, Box<Driver>, &'static str),
    /// The driver without a network.
    DriverWithoutNetwork(Level, Box<Driver>),
    BareCall,
    LangGraph(&'static str),
}

struct Measurement {
    subject: Subject,
    /// The seconds of one step.
    steps: Vec<f64>,
    /// The seconds of a run with one step.
    runs: Vec<f64>,
}

impl Measurement {
    fn new(subject: Subject) -> Self {
        Self { subject, steps: Vec::new(), runs: Vec::new() }
    }

    fn step(&self) -> f64 {
        median(&self.steps)
    }

    /// Runs a chain of this many steps, and returns the seconds that it takes.
    async fn run_chain(&mut self, steps: u32, fixture: &Fixture, langgraph: &mut LangGraph) -> Result<f64> {
        let capability = if let Subject::Driver(_, _, capability) = &self.subject { capability } else { "echo" };
        let plan = chain(capability, steps as usize)?;
        let start = Instant::now();
        match &mut self.subject {
            Subject::Driver(_, driver, _) | Subject::DriverWithoutNetwork(_, driver) => {
                drive(driver, fixture.started(&plan)).await?
            }
            Subject::BareCall => {
                for _ in 0..steps {
                    fixture.call("echo", r#"{"after": "0123456789abcdef"}"#).await?;
                }
            }
            Subject::LangGraph(keep) => return langgraph.run(&format!("chain {keep} {steps}")),
        }
        Ok(start.elapsed().as_secs_f64())
    }
}

pub async fn measure(fixture: &Fixture, langgraph: &mut LangGraph, table: &mut Table) -> Result<()> {
    let mut measurements = measurements(fixture)?;
    for round in 0..=ROUNDS {
        for measurement in &mut measurements {
            let short = measurement.run_chain(1, fixture, langgraph).await?;
            let long = measurement.run_chain(1 + STEPS, fixture, langgraph).await?;
            if round > 0 {
                measurement.runs.push(short);
                measurement.steps.push((long - short) / f64::from(STEPS));
            }
        }
    }
    show(&measurements, table);
    Ok(())
}

fn measurements(fixture: &Fixture) -> Result<Vec<Measurement>> {
    let mut list = vec![Subject::BareCall];
    for level in LEVELS {
        let driver = Box::new(fixture.driver(level, "chain", CallLimits::default())?);
        list.push(Subject::Driver(level, driver.clone(), "echo"));
        if level == Level::File(Durability::Full) {
            list.push(Subject::Driver(level, driver, "echo_keyed"));
        }
        list.push(Subject::DriverWithoutNetwork(
            level,
            Box::new(fixture.driver_with_transport(immediate_reply()?, level, "at-once", CallLimits::default())?),
        ));
    }
    list.extend(["none", "async", "sync"].map(Subject::LangGraph));
    Ok(list.into_iter().map(Measurement::new).collect())
}

fn show(measurements: &[Measurement], table: &mut Table) {
    let seconds = |is: &dyn Fn(&Subject) -> bool, of: fn(&Measurement) -> f64| {
        measurements.iter().find(|measurement| is(&measurement.subject)).map_or(f64::NAN, of)
    };
    let call = seconds(&|subject| matches!(subject, Subject::BareCall), Measurement::step);
    for measurement in measurements {
        match &measurement.subject {
            Subject::Driver(level, _, capability) => {
                let keyed = if *capability == "echo" { "" } else { ", keyed" };
                let name = format!("Driver, {}{keyed}", level.name());
                let (peer, keep) = match level {
                    Level::Memory => ("LangGraph", "none"),
                    Level::File(_) => ("LangGraph, SQLite, sync", "sync"),
                };
                let theirs =
                    seconds(&|subject| matches!(subject, Subject::LangGraph(kept) if *kept == keep), Measurement::step);
                let theirs = Side::new(peer, Amount::Seconds(theirs));
                table
                    .add(Row::new("step", Side::new(&name, Amount::Seconds(measurement.step()))).compared_with(theirs));
                let cost = Side::new(&name, Amount::Seconds(measurement.step() - call));
                table.add(
                    Row::new("step without its call", cost)
                        .compared_with(Side::new("bare call", Amount::Seconds(call))),
                );
            }
            Subject::DriverWithoutNetwork(level, _) => {
                let cost = Side::new(format!("Driver, {}", level.name()), Amount::Seconds(measurement.step()));
                table.add(Row::new("step, no network", cost));
            }
            Subject::LangGraph(keep) => {
                table.note(format!(
                    "LangGraph, {keep}: {} per step, {} for a run of one step",
                    Amount::Seconds(measurement.step()),
                    Amount::Seconds(median(&measurement.runs))
                ));
            }
            Subject::BareCall => {}
        }
    }
    for measurement in measurements {
        if let Subject::Driver(level, _, "echo") = &measurement.subject {
            table.note(format!(
                "Driver, {}: {} for a run of one step",
                level.name(),
                Amount::Seconds(median(&measurement.runs))
            ));
        }
    }
}

/// A transport that answers every call at once.
pub fn immediate_reply() -> Result<Arc<dyn Transport>> {
    let body = ReplyBody::Json(Value::Object(object(r#"{"token": "0123456789abcdef"}"#)?));
    Ok(Arc::new(ImmediateReply(ToolReply { status: 200, retry_after_ms: None, body, job: None })))
}

#[derive(Debug)]
struct ImmediateReply(ToolReply);

impl Transport for ImmediateReply {
    /// These runs ask no model.
    fn ask<'a>(&'a self, _: &'a AskModel) -> BoxFuture<'a, std::result::Result<ModelAnswer, ModelFailure>> {
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
