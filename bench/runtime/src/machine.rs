//! The machine alone: nothing is journalled and nobody is called.

use std::time::{Duration, Instant};

use reknit_engine::{Effect, Event, Run, Status, What};
use reknit_protocol::{Plan, Value};
use reknit_protocol::{ReplyBody, ToolReply};

use crate::Result;
use crate::median::median;
use crate::table::{Amount, Row, Side, Table};
use crate::world::{World, chain, object, step};

const TURNS: usize = 5;
const TURN: Duration = Duration::from_millis(200);

pub fn measure(world: &World, table: &mut Table) -> Result<()> {
    let plans = [("chain of 20", chain("echo", 20)?), ("fan of 20", fan(20)?), ("chain of 200", chain("echo", 200)?)];
    let mut rates = plans.each_ref().map(|_| Vec::new());
    for _ in 0..TURNS {
        for ((_, plan), rates) in plans.iter().zip(&mut rates) {
            rates.push(turn(world, plan)?);
        }
    }
    let [side, fan, long] = [0, 1, 2].map(|place| Side::new(plans[place].0, Amount::PerSecond(median(&rates[place]))));
    let first = || Side::new(plans[0].0, Amount::PerSecond(median(&rates[0])));
    table.add(Row::new("machine", side));
    table.add(Row::new("machine", fan).beside(first()));
    table.add(Row::new("machine", long).beside(first()));
    Ok(())
}

/// Events a second.
fn turn(world: &World, plan: &Plan) -> Result<f64> {
    let begin = Event { at_ms: 0, what: What::Started(Box::new(world.started(plan))) };
    let reply = Value::Object(object(r#"{"token": "0123456789abcdef"}"#)?);
    let reply = ToolReply { status: 200, retry_after_ms: None, body: ReplyBody::Json(reply) };
    let start = Instant::now();
    let mut events = 0;
    while start.elapsed() < TURN {
        let mut run = Run::begin(&begin)?;
        events += 1;
        while run.answer().is_none() {
            let due = run.pending().into_iter().find_map(|effect| match effect {
                Effect::CallTool(call) => Some(call.id),
                _ => None,
            });
            let effect = due.ok_or("nothing is due and nothing is over")?;
            run.apply(&Event { at_ms: events, what: What::ToolAnswered { effect, reply: reply.clone() } })?;
            events += 1;
        }
        if run.answer().map(|answer| answer.status) != Some(Status::Complete) {
            return Err("the run did not end well".into());
        }
    }
    Ok(events as f64 / start.elapsed().as_secs_f64())
}

/// Steps that need nothing from each other.
fn fan(steps: usize) -> Result<Plan> {
    let steps = (0..steps).map(|number| step(&format!("s{number}"), "echo", r#"{"after": ""}"#));
    Ok(Plan::new("fan", "a fan", steps.collect::<Result<_>>()?))
}
