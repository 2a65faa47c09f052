//! The simulated network between the processes and the tool and models. A request that was sent goes its way, whatever
//! becomes of its process.

use std::sync::Arc;
use std::time::Duration;

use reknit_engine::{AskModel, Effect};
use reknit_model_api::{ErrorClass, ModelAnswer, ModelFailure};
use reknit_protocol::{CallTool, Delivery, Object, ToolJob, ToolReply, TransportFailure, TransportKind, Value};
use reknit_runtime::{BoxFuture, Clock, Transport, signals};
use tokio::sync::oneshot;

use crate::models;
use crate::process::{Process, ProcessHandle, Status};
use crate::tool::{Receipt, ToolAnswer, reply, run_of};
use crate::world::World;

/// How long a model is waited for.
const MODEL_TIMEOUT_MS: u64 = 60_000;

/// The network as one process sees it.
#[derive(Debug)]
pub(crate) struct SimulatedNetwork {
    pub(crate) process: Arc<Process>,
    pub(crate) world: Arc<World>,
}

impl Transport for SimulatedNetwork {
    fn ask<'a>(&'a self, ask: &'a AskModel) -> BoxFuture<'a, Result<ModelAnswer, ModelFailure>> {
        Box::pin(async move {
            let world = &self.world;
            world.check(|checker| checker.check_question(ask));
            let (delay_ms, result) = {
                let (faults, mut random) = (world.faults(), world.random.lock().expect("no panic"));
                let delay_ms = match random.below(1_000) {
                    0..10 if faults.slow_service > 0 => MODEL_TIMEOUT_MS,
                    rate if rate < faults.slow_service => random.between(500, 20_000),
                    _ => random.between(1, 400),
                };
                let result = if random.chance(faults.model_error) {
                    Err(models::failure(&mut random))
                } else {
                    Ok(models::answer(ask, &world.plot, &mut random))
                };
                (delay_ms, result)
            };
            self.process.sleep(delay_ms).await;
            if delay_ms == MODEL_TIMEOUT_MS {
                return Err(ModelFailure::new(ErrorClass::Timeout, "no answer"));
            }
            result
        })
    }

    fn call<'a>(
        &'a self,
        call: &'a CallTool,
        _: Option<&'a str>,
    ) -> BoxFuture<'a, Result<ToolReply, TransportFailure>> {
        Box::pin(async move {
            let (world, process) = (&self.world, &self.process);
            let run = run_of(call);
            world.count("tool called");
            if call.needs_claim() && call.id.ordinal() > 1 {
                world.count("call sent again");
            }
            world.note(|| format!("p{} calls {run} {} {}", process.pid, call.id, call.capability));
            world.check(|checker| checker.check_call(process, &run, call, world.now_ms()));
            let watch = CallWatch::new(world, process, &run, call);
            let result = self.send(call).await;
            watch.complete(&result);
            result
        })
    }
}

impl SimulatedNetwork {
    async fn send(&self, call: &CallTool) -> Result<ToolReply, TransportFailure> {
        let (world, process) = (&self.world, &self.process);
        let faults = world.faults();
        let (is_refused, is_lost, delay_ms) = {
            let mut random = world.random.lock().expect("no panic");
            let delay_ms = if random.chance(faults.slow_service) { random.below(8_000) } else { random.below(30) };
            (random.chance(faults.refused), random.chance(faults.lost_message), delay_ms)
        };
        if is_refused {
            world.count("call refused");
            process.sleep(delay_ms).await;
            return Err(failed(TransportKind::Refused, Delivery::NotSent));
        }
        let (answer, answered) = oneshot::channel();
        if is_lost {
            world.count("call lost");
            world.keep_silent(answer);
        } else {
            tokio::spawn(deliver(Arc::clone(world), Arc::clone(process), call.clone(), delay_ms, answer));
        }
        let clock = ProcessHandle(Arc::clone(process));
        let end_ms = clock.now_ms().saturating_add_unsigned(call.timeout_ms);
        let answered = tokio::select! {
            biased;
            answered = answered => answered.unwrap_or(ToolAnswer::Broken),
            () = clock.sleep_until(end_ms) => {
                world.count("call timed out");
                return Err(failed(TransportKind::TimedOut, Delivery::Possible));
            }
        };
        process.gate().await;
        match answered {
            ToolAnswer::Reply(reply) => Ok(reply),
            ToolAnswer::Broken | ToolAnswer::Silence => Err(failed(TransportKind::Reset, Delivery::Possible)),
        }
    }
}

/// Brings a request to the tool, and its reply back.
async fn deliver(
    world: Arc<World>,
    process: Arc<Process>,
    call: CallTool,
    delay_ms: u64,
    answer: oneshot::Sender<ToolAnswer>,
) {
    tokio::time::sleep(Duration::from_millis(delay_ms)).await;
    let is_cancelled = answer.is_closed() || process.status() == Status::Dead;
    if is_cancelled && world.random.lock().expect("no panic").one_in(2) {
        return;
    }
    if process.status() == Status::Dead {
        world.count("call reached the tool after a crash");
    }
    let received = {
        let (faults, mut random) = (world.faults(), world.random.lock().expect("no panic"));
        world.tool.lock().expect("no panic").receive(&call, world.now_ms(), &faults, &mut random)
    };
    let (reply, receipt) = match received {
        Ok(received) => received,
        Err(problem) => return world.fail(problem),
    };
    world.note(|| format!("the tool gets {} {}: {receipt:?}", run_of(&call), call.id));
    match receipt {
        Receipt::Done => world.check_deeds(&call),
        Receipt::Recognised => world.count("deed recognised by its key"),
        Receipt::Nothing => {}
    }
    if let ToolAnswer::Reply(ToolReply { job: Some(job), .. }) = &reply
        && call.job.is_none()
    {
        world.count("job started");
        if *job == ToolJob::CallsBack {
            tokio::spawn(call_back(Arc::clone(&world), call.clone()));
        }
    }
    let delay_ms = {
        let (faults, mut random) = (world.faults(), world.random.lock().expect("no panic"));
        if random.chance(faults.slow_service) { random.below(12_000) } else { random.below(30) }
    };
    tokio::time::sleep(Duration::from_millis(delay_ms)).await;
    match reply {
        ToolAnswer::Silence => world.keep_silent(answer),
        // Nobody waits if the process is gone.
        reply => _ = answer.send(reply),
    }
}

/// The tool reports the end of a job, until it is accepted.
async fn call_back(world: Arc<World>, call: CallTool) {
    let run = run_of(&call);
    for _ in 0..100 {
        let delay_ms = world.random.lock().expect("no panic").between(100, 20_000);
        tokio::time::sleep(Duration::from_millis(delay_ms)).await;
        let result = reply(200, Object::from([("v", Value::from(7))]));
        if world.send_signal(&run, signals::job_end(call.id.clone(), result)).await {
            return world.count("job called back");
        }
    }
}

fn failed(kind: TransportKind, delivery: Delivery) -> TransportFailure {
    TransportFailure { kind, delivery, message: "the network failed".to_owned() }
}

/// Sees how a call ends for its process: with a result, or because its future is dropped.
struct CallWatch<'a> {
    world: &'a Arc<World>,
    process: &'a Arc<Process>,
    run: String,
    call: &'a CallTool,
    began_ms: u64,
    is_complete: bool,
}

impl<'a> CallWatch<'a> {
    fn new(world: &'a Arc<World>, process: &'a Arc<Process>, run: &str, call: &'a CallTool) -> Self {
        Self { world, process, run: run.to_owned(), call, began_ms: world.now_ms(), is_complete: false }
    }

    fn complete(mut self, _: &Result<ToolReply, TransportFailure>) {
        self.is_complete = true;
        self.world.check(|checker| {
            checker.add_result(self.process.pid, &self.run, &self.call.id, self.world.now_ms());
            Ok(())
        });
    }
}

impl Drop for CallWatch<'_> {
    fn drop(&mut self) {
        if self.is_complete || !self.call.needs_claim() || self.world.is_over() {
            return;
        }
        let (process, began_ms, now_ms) = (self.process, self.began_ms, self.world.now_ms());
        self.world.note(|| format!("p{} drops {} {}", process.pid, self.run, self.call.id));
        self.world.check(|checker| checker.check_dropped_call(process, &self.run, self.call, began_ms, now_ms));
    }
}

/// The digest with which the journal stores a call.
pub(crate) fn call_digest(call: &CallTool) -> String {
    Effect::CallTool(Arc::new(call.clone())).digest()
}
