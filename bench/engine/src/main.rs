//! Measures the cost of a step in the state machine, compared with LangGraph and in plans of any length. `bench/README.md`
//! says how to run it.

// Shared by several benchmarks.
#[path = "../../salvage/src/contest.rs"]
mod contest;
mod graph;
mod instructions;
mod langgraph;
#[path = "../../expressions/src/report.rs"]
mod report;

use std::cell::RefCell;
use std::env;
use std::error::Error;
use std::process::ExitCode;

use contest::{contest, timed};
use graph::{Graph, PreparedRun};
use langgraph::LangGraph;
use report::{Row, print};

// The allocator of the `reknit` command.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The error is only printed.
type Result<T> = std::result::Result<T, Box<dyn Error>>;

const USAGE: &str = "usage: engine-bench measure PYTHON SCRIPT (internal: once GRAPH STEPS)";

/// The number of steps in plans that are compared with LangGraph and with long plans.
const STEPS: u32 = 100;
/// The number of steps in long plans.
const MANY: u32 = 10_000;

/// Maximum microseconds per step.
const STEP_LIMIT: f64 = 20.0;
/// Maximum ratio of the cost of a step in a long plan to that in a short one.
const GROWTH_LIMIT: f64 = 1.2;
/// Maximum ratio of the cost of an item of a loop to that of an independent step.
const ITEM_LIMIT: f64 = 1.2;

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["measure", python, script] => print(measure(python, script)),
        ["once", graph, steps] => print(once(graph, steps).map(|()| Vec::new())),
        _ => print(Err(USAGE.into())),
    }
}

/// Runs a plan once, for callgrind.
fn once(graph: &str, steps: &str) -> Result<()> {
    let graph = Graph::ALL.into_iter().find(|known| known.name() == graph).ok_or(USAGE)?;
    PreparedRun::new(graph, steps.parse()?)?.run()
}

fn measure(python: &str, script: &str) -> Result<Vec<Row>> {
    let mut rows = compare_with_langgraph(python, script)?;
    let (mut per_step, mut per_item) = (0.0, 0.0);
    for graph in Graph::ALL {
        let few = instructions::per_step(graph, STEPS)?;
        let many = instructions::per_step(graph, MANY)?;
        let name = |steps| format!("{}: instructions per step, {steps} steps", graph.name());
        rows.push(Row { name: name(STEPS), value: few, unit: "", bar: None });
        rows.push(Row { name: name(MANY), value: many, unit: "", bar: None });
        let name = format!("{}: a step among {MANY}, compared with one among {STEPS}", graph.name());
        rows.push(Row { name, value: many / few, unit: "x", bar: Some(GROWTH_LIMIT) });
        match graph {
            Graph::Fan => per_step = many,
            Graph::Loop => per_item = many,
            Graph::Chain | Graph::Diamond => {}
        }
    }
    let name = format!("loop: an item among {MANY}, compared with a step of a fan");
    rows.push(Row { name, value: per_item / per_step, unit: "x", bar: Some(ITEM_LIMIT) });
    Ok(rows)
}

fn compare_with_langgraph(python: &str, script: &str) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let mut langgraph = LangGraph::start(python, script)?;
    println!("{}", langgraph.version());
    println!(
        "a step of Run: the reply to its call is applied, and the due effects are queried; checking the plan and writing the\n  \
         answer are included. A step of LangGraph: a node of a compiled StateGraph, run by invoke(); compiling is not included.\n  \
         Both: in memory, without a journal, with a tool that returns a constant and five concurrent steps. Run uses one\n  \
         thread; LangGraph runs the nodes of a fan in a thread pool.\n"
    );
    for graph in [Graph::Chain, Graph::Fan] {
        let prepared = PreparedRun::new(graph, STEPS)?;
        prepared.run()?;
        let failed = RefCell::new(None);
        let mut ours = timed(|| *failed.borrow_mut() = prepared.run().err());
        let [ours, theirs] = contest([&mut ours, &mut langgraph.contestant(graph, STEPS)])?;
        if let Some(error) = failed.take() {
            return Err(error);
        }
        let microseconds = |seconds: f64| seconds * 1e6 / f64::from(STEPS);
        let name = |who: &str| format!("{} of {STEPS}: {who}, per step", graph.name());
        rows.push(Row { name: name("Run"), value: microseconds(ours), unit: "µs", bar: Some(STEP_LIMIT) });
        rows.push(Row { name: name("LangGraph"), value: microseconds(theirs), unit: "µs", bar: None });
        let name = format!("{} of {STEPS}: the time of LangGraph divided by that of Run", graph.name());
        rows.push(Row { name, value: theirs / ours, unit: "x", bar: None });
    }
    let memory = |name: &str, megabytes| Row { name: name.to_owned(), value: megabytes, unit: "MB", bar: None };
    rows.push(memory("peak memory of this process", langgraph::our_peak_megabytes()?));
    rows.push(memory("peak memory of LangGraph", langgraph.peak_megabytes()?));
    Ok(rows)
}
