//! Counts the instructions per step, with callgrind in a process that runs one plan.

use std::env;
use std::process::Command;

use crate::Result;
use crate::graph::Graph;

/// The instructions of one more step. The cost of the process and of a run with two steps is subtracted.
pub fn per_step(graph: Graph, steps: u32) -> Result<f64> {
    let base = 2;
    Ok((count(graph, steps)? - count(graph, base)?) / f64::from(steps - base))
}

fn count(graph: Graph, steps: u32) -> Result<f64> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(env::current_exe()?)
        .args(["once", graph.name(), &steps.to_string()])
        .output()?;
    let output_text = String::from_utf8_lossy(&output.stderr);
    let count = output_text.lines().find_map(|line| line.split_once("Collected : ")?.1.trim().parse().ok());
    match count.filter(|_| output.status.success()) {
        Some(count) => Ok(count),
        None => Err(format!("callgrind reported no count: {output_text}").into()),
    }
}
