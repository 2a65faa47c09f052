//! The state machine alone, without a journal and without calls.

use std::time::{Duration, Instant};

use reknit_engine::{Effect, Event, EventKind, Run, Status};
use reknit_protocol::{Plan, Value};
use reknit_protocol::{ReplyBody, ToolReply};

use crate::Result;
use crate::fixture::{Fixture, chain, object, step};
use crate::statistics::median;
use crate::table::{Amount, Row, Side, Table};

const ROUNDS: usize = 5;
const ROUND: Duration = Duration::from_millis(200);

pub fn measure(fixture: &Fixture, table: &mut Table) -> Result<()> {
    let plans = [("chain of 20", chain("echo", 20)?), ("fan of 20", fan(20)?), ("chain of 200", chain("echo", 200)?)];
    let mut rates = plans.each_ref().map(|_| Vec::new());
    for _ in 0..ROUNDS {
        for ((_, plan), rates) in plans.iter().zip(&mut rates) {
            rates.push(round(fixture, plan)?);
        }
    }
    let [side, fan, long] = [0, 1, 2].map(|index| Side::new(plans[index].0, Amount::PerSecond(median(&rates[index]))));
    let first = || Side::new(plans[0].0, Amount::PerSecond(median(&rates[0])));
    table.add(Row::new("machine", side));
    table.add(Row::new("machine", fan).compared_with(first()));
    table.add(Row::new("machine", long).compared_with(first()));
    Ok(())
}

/// Runs a plan again and again, and returns the events per second.
fn round(fixture: &Fixture, plan: &Plan) -> Result<f64> {
    let begin = Event { at_ms: 0, kind: EventKind::Started(Box::new(fixture.started(plan))) };
    let reply = Value::Object(object(r#"{"token": "0123456789abcdef"}"#)?);
    let reply = ToolReply { status: 200, retry_after_ms: None, body: ReplyBody::Json(reply), job: None };
    let start = Instant::now();
    let mut events = 0;
    while start.elapsed() < ROUND {
        let (mut run, _) = Run::begin(&begin)?;
        events += 1;
        while run.answer().is_none() {
            let due = run.pending().into_iter().find_map(|effect| match effect {
                Effect::CallTool(call) => Some(call.id.clone()),
                _ => None,
            });
            let effect = due.ok_or("no call is due, and the run has not ended")?;
            run.apply(&Event { at_ms: events, kind: EventKind::ToolAnswered { effect, reply: reply.clone() } })?;
            events += 1;
        }
        if run.answer().map(|answer| answer.status) != Some(Status::Complete) {
            return Err("the run did not complete".into());
        }
    }
    Ok(events as f64 / start.elapsed().as_secs_f64())
}

/// Independent steps.
fn fan(steps: usize) -> Result<Plan> {
    let steps = (0..steps).map(|number| step(&format!("s{number}"), "echo", r#"{"after": ""}"#));
    Ok(Plan::new("fan", "a fan", steps.collect::<Result<_>>()?))
}
