//! Measures what a step costs in the machine: beside LangGraph, and in plans of any length. `bench/README.md` says how to
//! run it.

// Taking turns and showing rows is the same wherever something is measured.
#[path = "../../salvage/src/contest.rs"]
mod contest;
mod count;
mod graph;
mod peer;
#[path = "../../bind/src/rows.rs"]
mod rows;

use std::cell::RefCell;
use std::env;
use std::error::Error;
use std::process::ExitCode;

use contest::{contest, timed};
use graph::{Graph, Prepared};
use peer::LangGraph;
use rows::{Row, show};

// What the command ships with.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// What went wrong, in words: there is nobody who could do anything about it but a reader.
type Result<T> = std::result::Result<T, Box<dyn Error>>;

const USAGE: &str = "usage: engine-bench measure PYTHON SCRIPT (or, for its own children: once GRAPH STEPS)";

/// How long the plans are that are measured beside LangGraph, and the short ones that long ones are measured beside.
const STEPS: u32 = 100;
const MANY: u32 = 10_000;

/// The most microseconds that a step may take, and the most that it may cost more in a long plan.
const BAR_STEP: f64 = 20.0;
const BAR_GROWTH: f64 = 1.2;

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["measure", python, script] => show(measure(python, script)),
        ["once", graph, steps] => show(once(graph, steps).map(|()| Vec::new())),
        _ => show(Err(USAGE.into())),
    }
}

/// What is counted: one run from its first event to its answer.
fn once(graph: &str, steps: &str) -> Result<()> {
    let graph = Graph::ALL.into_iter().find(|known| known.name() == graph).ok_or(USAGE)?;
    Prepared::new(graph, steps.parse()?)?.run()
}

fn measure(python: &str, script: &str) -> Result<Vec<Row>> {
    let mut rows = beside_langgraph(python, script)?;
    for graph in Graph::ALL {
        let few = count::instructions_per_step(graph, STEPS)?;
        let many = count::instructions_per_step(graph, MANY)?;
        let name = |steps| format!("{}: instructions per step, {steps} steps", graph.name());
        rows.push(Row { name: name(STEPS), value: few, unit: "", bar: None });
        rows.push(Row { name: name(MANY), value: many, unit: "", bar: None });
        let name = format!("{}: a step among {MANY}, beside one among {STEPS}", graph.name());
        rows.push(Row { name, value: many / few, unit: "x", bar: Some(BAR_GROWTH) });
    }
    Ok(rows)
}

fn beside_langgraph(python: &str, script: &str) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let mut peer = LangGraph::start(python, script)?;
    println!("{}", peer.version());
    println!(
        "a step of ours: the event that answers its call is applied, and what is due is asked for; checking the plan,\n  \
         beginning and writing the answer are in it. A step of LangGraph: a node of a compiled StateGraph, run by invoke();\n  \
         compiling is not in it. Both: in memory, nothing kept, a tool that gives a constant, five steps at once. Ours is one\n  \
         thread; LangGraph runs the nodes of a fan in a pool of threads.\n"
    );
    for graph in [Graph::Chain, Graph::Fan] {
        let prepared = Prepared::new(graph, STEPS)?;
        prepared.run()?;
        let failed = RefCell::new(None);
        let mut ours = timed(|| *failed.borrow_mut() = prepared.run().err());
        let [ours, theirs] = contest([&mut ours, &mut peer.contestant(graph, STEPS)])?;
        if let Some(error) = failed.take() {
            return Err(error);
        }
        let microseconds = |seconds: f64| seconds * 1e6 / f64::from(STEPS);
        let name = |who: &str| format!("{} of {STEPS}: {who}, a step", graph.name());
        rows.push(Row { name: name("Run"), value: microseconds(ours), unit: "µs", bar: Some(BAR_STEP) });
        rows.push(Row { name: name("LangGraph"), value: microseconds(theirs), unit: "µs", bar: None });
        let name = format!("{} of {STEPS}: the time of LangGraph, divided by ours", graph.name());
        rows.push(Row { name, value: theirs / ours, unit: "x", bar: None });
    }
    let memory = |name: &str, megabytes| Row { name: name.to_owned(), value: megabytes, unit: "MB", bar: None };
    rows.push(memory("the peak of our process", peer::our_peak_megabytes()?));
    rows.push(memory("the peak of LangGraph's", peer.peak_megabytes()?));
    Ok(rows)
}
