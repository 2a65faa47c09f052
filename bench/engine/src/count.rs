//! How many instructions a step costs: what callgrind counts in a process that does one run.

use std::env;
use std::process::Command;

use crate::Result;
use crate::graph::Graph;

/// The instructions of one step more. What a process and a run cost that has only two steps is not in it.
pub fn instructions_per_step(graph: Graph, steps: u32) -> Result<f64> {
    let least = 2;
    Ok((instructions(graph, steps)? - instructions(graph, least)?) / f64::from(steps - least))
}

fn instructions(graph: Graph, steps: u32) -> Result<f64> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(env::current_exe()?)
        .args(["once", graph.name(), &steps.to_string()])
        .output()?;
    let words = String::from_utf8_lossy(&output.stderr);
    let count = words.lines().find_map(|line| line.split_once("Collected : ")?.1.trim().parse().ok());
    match count.filter(|_| output.status.success()) {
        Some(count) => Ok(count),
        None => Err(format!("callgrind did not count: {words}").into()),
    }
}
