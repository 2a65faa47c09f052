//! Measures binding and compares the times with their upper limits. See `bench/README.md` for how to run it.

// The measurement loop is shared with the other benchmarks.
#[path = "../../salvage/src/contest.rs"]
mod contest;
mod fixtures;
mod report;

use std::error::Error;
use std::hint::black_box;
use std::process::ExitCode;

use reknit_expressions::{Binding, Parameters, StepIds, abridge_results, bind};
use reknit_protocol::StepId;

use contest::{contest, timed};
use fixtures::{ManySteps, Shop};
use report::{Row, print};

// The same allocator as the `reknit` command.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Every error ends the benchmark with a message.
type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Repetitions per round, so that reading the clock does not distort the result.
const REPETITIONS: u32 = 100;

fn main() -> ExitCode {
    print(measure())
}

fn measure() -> Result<Vec<Row>> {
    let shop = Shop::new(100_000)?;
    let (few, many) = (ManySteps::new(10)?, ManySteps::new(1000)?);
    let (few_ids, many_ids) = (StepIds::new(&few.ids), StepIds::new(&many.ids));
    let [plain, fitted, sums, abridged, among_few, among_many, parsed_few, parsed_many] = contest([
        &mut timed(|| repeat(|| bind(&shop.references, &shop.results, &shop.ids, None))),
        &mut timed(|| repeat(|| bind(&shop.references, &shop.results, &shop.ids, Some(&shop.schema)))),
        &mut timed(|| repeat(|| bind(&shop.sums, &shop.results, &shop.ids, None))),
        &mut timed(|| repeat(|| abridge_results(&shop.results, &shop.ids, 16_384, &["price"]))),
        &mut timed(|| repeat(|| bind(&few.parameters, &few.results, &[], None))),
        &mut timed(|| repeat(|| bind(&many.parameters, &many.results, &[], None))),
        &mut timed(|| repeat(|| Parameters::parse_with_ids(&few.plan, &few_ids))),
        &mut timed(|| repeat(|| Parameters::parse_with_ids(&many.plan, &many_ids))),
    ])?;
    let time = |name: &str, seconds: f64, bar| Row {
        name: name.to_owned(),
        value: seconds * 1e6 / f64::from(REPETITIONS),
        unit: "µs",
        bar,
    };
    let growth =
        |name: &str, many: f64, few: f64| Row { name: name.to_owned(), value: many / few, unit: "x", bar: Some(1.3) };
    Ok(vec![
        time("bind: 10 references over a result of 100 kB", plain, Some(50.0)),
        time("bind: the same, wired and fitted to a schema of 12 parameters", fitted, Some(50.0)),
        time("bind: sums over an array of 500 items in it", sums, None),
        time("abridge: the same result to 16 KiB", abridged, None),
        time("bind: 10 references to 10 steps, among 10", among_few, None),
        time("bind: 10 references to 10 steps, among 1000", among_many, None),
        growth("bind: cost per reference among 1000 steps, relative to 10", among_many, among_few),
        time("parse: 10 references to 10 steps, among 10", parsed_few, None),
        time("parse: 10 references to 10 steps, among 1000", parsed_many, None),
        growth("parse: cost per reference among 1000 steps, relative to 10", parsed_many, parsed_few),
    ])
}

fn repeat<T>(mut work: impl FnMut() -> T) {
    for _ in 0..REPETITIONS {
        black_box(work());
    }
}

/// Fails if a binding that is to be measured does not succeed.
fn check(binding: Binding) -> Result<()> {
    match binding {
        Binding::Bound(_) => Ok(()),
        other => Err(format!("expected bound parameters, found {other:?}").into()),
    }
}

fn ids(names: &[String]) -> Vec<StepId> {
    names.iter().map(|name| StepId::from(name.as_str())).collect()
}
