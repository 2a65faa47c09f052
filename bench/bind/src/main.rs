//! Measures binding, and checks the bars. `bench/README.md` says how to run it.

// Taking turns is the same wherever something is measured.
#[path = "../../salvage/src/contest.rs"]
mod contest;
mod rows;
mod world;

use std::error::Error;
use std::hint::black_box;
use std::process::ExitCode;

use reknit_bind::{Binding, Ids, Parameters, bind, project_results};
use reknit_protocol::StepId;

use contest::{contest, timed};
use rows::{Row, show};
use world::{Chain, Shop};

// What the command ships with.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// What went wrong, in words: there is nobody who could do anything about it but a reader.
type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// How often the work is done in one round, which is far longer than reading the clock takes.
const TIMES: u32 = 100;

fn main() -> ExitCode {
    show(measure())
}

fn measure() -> Result<Vec<Row>> {
    let shop = Shop::new(100_000)?;
    let (few, many) = (Chain::new(10)?, Chain::new(1000)?);
    let (few_ids, many_ids) = (Ids::new(&few.ids), Ids::new(&many.ids));
    let [plain, fitted, listed, shown, among_few, among_many, parsed_few, parsed_many] = contest([
        &mut timed(|| repeat(|| bind(&shop.plain, &shop.results, &shop.ids, None))),
        &mut timed(|| repeat(|| bind(&shop.plain, &shop.results, &shop.ids, Some(&shop.schema)))),
        &mut timed(|| repeat(|| bind(&shop.lists, &shop.results, &shop.ids, None))),
        &mut timed(|| repeat(|| project_results(&shop.results, &shop.ids, 16_384, &["price"]))),
        &mut timed(|| repeat(|| bind(&few.parameters, &few.results, &[], None))),
        &mut timed(|| repeat(|| bind(&many.parameters, &many.results, &[], None))),
        &mut timed(|| repeat(|| Parameters::parse_among(&few.plan, &few_ids))),
        &mut timed(|| repeat(|| Parameters::parse_among(&many.plan, &many_ids))),
    ])?;
    let time = |name: &str, seconds: f64, bar| Row {
        name: name.to_owned(),
        value: seconds * 1e6 / f64::from(TIMES),
        unit: "µs",
        bar,
    };
    let growth =
        |name: &str, many: f64, few: f64| Row { name: name.to_owned(), value: many / few, unit: "x", bar: Some(1.3) };
    Ok(vec![
        time("bind: 10 references over a result of 100 kB", plain, Some(50.0)),
        time("bind: the same, wired and fitted to a schema of 12 parameters", fitted, Some(50.0)),
        time("bind: sums over a list of 500 items in it", listed, None),
        time("show: 16 KiB of it", shown, None),
        time("bind: 10 references to 10 steps, among 10", among_few, None),
        time("bind: 10 references to 10 steps, among 1000", among_many, None),
        growth("bind: cost per reference among 1000 steps, beside 10", among_many, among_few),
        time("parse: 10 references to 10 steps, among 10", parsed_few, None),
        time("parse: 10 references to 10 steps, among 1000", parsed_many, None),
        growth("parse: cost per reference among 1000 steps, beside 10", parsed_many, parsed_few),
    ])
}

fn repeat<T>(mut work: impl FnMut() -> T) {
    for _ in 0..TIMES {
        black_box(work());
    }
}

/// Nothing is measured that does not bind.
fn check(binding: Binding) -> Result<()> {
    match binding {
        Binding::Bound(_) => Ok(()),
        other => Err(format!("it should bind: {other:?}").into()),
    }
}

fn ids(names: &[String]) -> Vec<StepId> {
    names.iter().map(|name| StepId::from(name.as_str())).collect()
}
