//! Runs one seed: a time with faults, then a time without, in which everything must come to its end.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use reknit_engine::{Decision, Effect, Question};
use reknit_journal::test_support::disk_error;
use reknit_protocol::{EffectId, Value};
use reknit_runtime::signals;

use crate::counts::Counts;
use crate::node::Node;
use crate::plot::owner_of;
use crate::process::Status;
use crate::world::{Tracing, World};

/// How long after the last fault every run must have ended: longer than all clocks may differ.
const HEALING_MS: u64 = 5 * 60 * 60 * 1_000;

/// How long after the last fault a person settles the business keys of steps that ended without knowing what
/// became of their calls.
const SETTLING_MS: u64 = 30 * 60 * 1_000;

/// What a simulation gave.
#[derive(Debug)]
pub(crate) struct Simulated {
    pub(crate) counts: Counts,
    pub(crate) trace: Vec<String>,
    pub(crate) failure: Option<String>,
}

/// Something that happens to the world.
#[derive(Debug, Clone, Copy)]
enum Action {
    StartRun(usize),
    Crash,
    Pause,
    StepClock,
    Outage,
    FailInboxPoll,
    DropFuture,
    CancelRun,
    StopRun,
    CancelProcess,
}

/// Simulates the world of a seed.
pub(crate) fn simulate(seed: u64, tracing: Tracing) -> Simulated {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    let runtime = runtime.expect("a runtime");
    let world = runtime.block_on(async {
        let world = Arc::new(World::new(seed, tracing));
        play(&world).await;
        world.end();
        world
    });
    drop(runtime);
    let (counts, trace, failure) = world.finish();
    Simulated { counts, trace, failure }
}

async fn play(world: &Arc<World>) {
    let (mut clocks, end_ms, actions) = draw(world);
    for host in 0..clocks.len().max(2) {
        let host = host % clocks.len();
        Node::start(world, host, clocks[host]);
    }
    tokio::spawn(decide(Arc::clone(world)));
    for (at_ms, action) in actions {
        world.wait_until(at_ms).await;
        if world.is_failed() {
            return;
        }
        perform(world, action, &mut clocks);
    }
    world.wait_until(end_ms).await;
    heal(world, &clocks).await;
    if !world.is_failed() {
        world.check(|checker| checker.check_replays());
    }
}

/// The clocks of the hosts, when the faults end, and what happens when.
fn draw(world: &World) -> (Vec<i64>, u64, Vec<(u64, Action)>) {
    let mut random = world.random.lock().expect("no panic");
    let clocks = (0..=random.below(3)).map(|_| draw_clock(&mut random)).collect();
    let end_ms = random.between(20_000, 150_000);
    let mut actions: Vec<(u64, Action)> =
        (0..world.plot.runs.len()).map(|index| (random.below(8_000), Action::StartRun(index))).collect();
    let kinds = [
        Action::Crash,
        Action::Crash,
        Action::Pause,
        Action::StepClock,
        Action::Outage,
        Action::FailInboxPoll,
        Action::DropFuture,
        Action::CancelRun,
        Action::StopRun,
        Action::CancelProcess,
    ];
    for _ in 0..random.below(9) {
        let at_ms = random.below(end_ms);
        actions.push((at_ms, *random.pick(&kinds)));
    }
    actions.sort_by_key(|(at_ms, _)| *at_ms);
    (clocks, end_ms, actions)
}

fn draw_clock(random: &mut crate::random::Random) -> i64 {
    let most = *random.pick(&[0, 0, 100, 20_000, 3_600_000]);
    i64::try_from(random.below(2 * most + 1)).expect("small") - i64::try_from(most).expect("small")
}

fn perform(world: &Arc<World>, action: Action, clocks: &mut [i64]) {
    let running = world.running();
    let mut random = world.random.lock().expect("no panic");
    let node = (!running.is_empty()).then(|| Arc::clone(random.pick(&running)));
    let run = random.pick(&world.plot.runs).id.to_string();
    let ms = random.between(1_000, 60_000);
    let host = usize::try_from(random.below(clocks.len() as u64)).expect("few hosts");
    let new_clock = draw_clock(&mut random);
    drop(random);
    match (action, node) {
        (Action::StartRun(index), Some(node)) => {
            let run = &world.plot.runs[index];
            world.note(|| format!("p{} starts {}", node.process.pid, run.id));
            node.drive(world, run.id.as_str(), Some(run.start.clone()));
        }
        (Action::Crash, Some(node)) => crash(world, &node, clocks[node.process.host], ms / 3),
        (Action::Pause, Some(node)) => pause(world, node, ms),
        (Action::StepClock, _) => {
            world.count("clock step");
            clocks[host] = new_clock;
        }
        (Action::Outage, Some(node)) => {
            world.count("disk: outage");
            world.note(|| format!("the disk of p{} fails for {ms} ms", node.process.pid));
            *node.process.outage_until_ms.lock().expect("no panic") = world.now_ms() + ms / 2;
        }
        (Action::FailInboxPoll, Some(node)) => {
            world.count("inbox poll failed");
            world.note(|| format!("p{} cannot poll its inboxes", node.process.pid));
            node.poll.failed(&disk_error());
            tokio::spawn(async move {
                node.process.sleep(200).await;
                node.poll.reopened();
            });
        }
        (Action::DropFuture, Some(node)) if ms.is_multiple_of(2) => node.drop_drive(world),
        (Action::DropFuture, Some(node)) => {
            node.drive(world, &run, None);
            let world = Arc::clone(world);
            tokio::spawn(async move {
                node.process.sleep(1 + ms % 16).await;
                node.drop_drive(&world);
            });
        }
        (Action::CancelRun | Action::StopRun, _) => {
            let signal = if matches!(action, Action::CancelRun) { signals::cancel() } else { signals::stop() };
            let world = Arc::clone(world);
            tokio::spawn(async move { world.send_signal(&run, signal).await });
        }
        (Action::CancelProcess, Some(node)) if ms < 20_000 => {
            world.note(|| format!("p{} is told to cancel", node.process.pid));
            node.cancel.cancel();
        }
        _ => {}
    }
}

/// A process dies, and after a while another one starts on its host.
fn crash(world: &Arc<World>, node: &Arc<Node>, clock: i64, restart_ms: u64) {
    world.count("crash");
    world.note(|| format!("p{} dies", node.process.pid));
    node.process.set_status(Status::Dead);
    let (world, host) = (Arc::clone(world), node.process.host);
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(restart_ms)).await;
        Node::start(&world, host, clock);
    });
}

fn pause(world: &World, node: Arc<Node>, ms: u64) {
    world.count("pause");
    world.note(|| format!("p{} pauses for {ms} ms", node.process.pid));
    node.process.set_status(Status::Paused);
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(ms)).await;
        go_on(&node);
    });
}

fn go_on(node: &Node) {
    if node.process.status() == Status::Paused {
        node.process.set_status(Status::Running);
    }
}

/// Ends all faults, and waits until everything has come to its end.
async fn heal(world: &Arc<World>, clocks: &[i64]) {
    world.note(|| "no more faults".to_owned());
    world.end_faults();
    let nodes = world.nodes.lock().expect("no panic").clone();
    for node in &nodes {
        *node.process.outage_until_ms.lock().expect("no panic") = 0;
        go_on(node);
    }
    if world.running().is_empty() {
        Node::start(world, 0, clocks[0]);
    }
    let (settle_ms, end_ms) = (world.now_ms() + SETTLING_MS, world.now_ms() + HEALING_MS);
    while !world.is_failed() {
        if world.now_ms() > settle_ms {
            settle_keys(world).await;
        }
        let open = world.look(|checker| {
            let open = checker.runs.iter().filter(|(_, run)| run.summary.status.is_none());
            open.map(|(id, run)| format!("{id} {:?}", run.pending)).collect::<Vec<String>>()
        });
        let driven = world.running().iter().any(|node| !node.is_idle());
        if open.is_empty() && !driven {
            return;
        }
        if world.now_ms() > end_ms {
            return world.fail(format!("not ended: {}", open.join(", ")));
        }
        world.wait_until(world.now_ms() + 5_000).await;
    }
}

/// A person settles the business keys that nobody else can: those of steps that are over.
async fn settle_keys(world: &Arc<World>) {
    let Some(node) = world.running().into_iter().next() else { return };
    for key in node.journal.business_keys().await.unwrap_or_default() {
        // The step that has the key is over, but the outcome of its call is unknown.
        let is_over = world.look(|checker| {
            let run = checker.runs.get(key.run.as_str());
            let is_of_step = |id: &EffectId| id.owner_text() == key.claim.step;
            run.is_none_or(|run| !run.pending.iter().filter_map(Effect::id).any(is_of_step))
        });
        if key.receipt.is_some() || !is_over {
            continue;
        }
        world.count("key settled by a person");
        let is_done = {
            let tool = world.tool.lock().expect("no panic");
            let values = Some((key.claim.capability.clone(), key.claim.values.clone()));
            let owner = owner_of(key.run.as_str());
            tool.deeds.iter().any(|deed| deed.key_values == values && owner_of(&deed.run) == owner)
        };
        world.note(|| format!("a person settles {}: {is_done}", key.claim.values));
        let settled = if is_done {
            node.journal.settle_key(&key, "1", key.since_ms).await
        } else {
            node.journal.forget_key(&key).await
        };
        if let Err(error) = settled {
            world.fail(format!("a key cannot be settled: {error}"));
        }
    }
}

/// People answer the questions of runs.
async fn decide(world: Arc<World>) {
    let mut decided = BTreeSet::new();
    loop {
        let pause_ms = world.random.lock().expect("no panic").between(1_000, 15_000);
        tokio::time::sleep(Duration::from_millis(pause_ms)).await;
        for (run, ask) in world.look(crate::checker::Checker::open_questions) {
            let key = (run.clone(), ask.id.to_string(), ask.hash.clone());
            let is_odd = world.random.lock().expect("no panic").chance(world.faults().odd_person);
            if decided.contains(&key) != is_odd {
                continue;
            }
            let decision = draw_decision(&world, &run, &ask);
            if world.send_signal(&run, signals::decide(ask.id, ask.hash, decision)).await {
                decided.insert(key);
            }
        }
    }
}

/// A person tells the truth about what happened.
fn draw_decision(world: &World, run: &str, ask: &reknit_engine::AskPerson) -> Decision {
    let step = ask.id.owner_text();
    let tool = world.tool.lock().expect("no panic");
    let has_happened = tool.deeds.iter().any(|deed| deed.run == run && deed.step == step);
    drop(tool);
    let is_open = matches!(ask.question, Question::SendAgain { .. });
    match world.random.lock().expect("no panic").below(8) {
        0 => Decision::Deny { reason: None },
        1..4 if is_open && has_happened => Decision::Happened { result: Value::from(1) },
        1..4 if is_open => Decision::DidNotHappen,
        _ => Decision::Approve,
    }
}
