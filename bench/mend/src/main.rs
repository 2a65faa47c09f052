//! Counts how many damaged calls of the demo tools end right: by code alone, and with a model.

mod cases;
mod drive;
mod real;
mod words;

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

use cases::Case;
use drive::{End, Outcome, Rungs, World};
use reknit_demo::{Faults, Tools};
use reknit_mend::Rung;
use reknit_plan::{Catalogue, Entry};
use reknit_tools::{Address, Client};

/// Of what is determined, by code alone.
const BAR_CODE: f64 = 0.80;
/// Of everything, with a model.
const BAR_ALL: f64 = 0.99;
const FEWEST_CASES: usize = 500;

/// What became of one case under one catalogue.
struct Row {
    kind: &'static str,
    determined: bool,
    code: Outcome,
    all: Outcome,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let tools = Tools::start(Faults::none()).await.expect("the demo tools start");
    let endpoints = tools.endpoints();
    let addresses: Vec<Address> =
        endpoints.iter().map(|(name, url)| Address::parse(name.as_str(), url).expect("it is an address")).collect();
    let found = Client::new().expect("there is a client").discover(&addresses).await;
    assert!(found.problems.is_empty(), "{:?}", found.problems);
    let bare = without_schemas(&found.catalogue);
    let runs = Arc::new(AtomicU32::new(0));
    let words: Vec<String> = std::env::args().skip(1).collect();
    let real = (words.first().map(String::as_str) == Some("real")).then(|| real::model(&words));
    let world = |catalogue| World {
        catalogue,
        tools: found.tools.clone(),
        runs: Arc::clone(&runs),
        model: real.clone().map(|(model, _)| model),
    };
    let worlds = [world(found.catalogue.clone()), world(bare)];
    if let Some((_, count)) = real {
        return real::report(&worlds, count).await;
    }
    let mut rows = Vec::new();
    let mut refused = 0;
    for world in &worlds {
        for case in cases::cases() {
            let row = row(world, &case).await;
            if row.code.end == End::Refused {
                refused += 1;
            } else {
                rows.push(row);
            }
        }
    }
    println!("{} damaged calls; {refused} more were refused with their plan", rows.len());
    report(&rows)
}

/// The same tools, of which only the names are known: what is wrong is then said by the tool alone.
fn without_schemas(catalogue: &Catalogue) -> Catalogue {
    let mut catalogue = catalogue.clone();
    for entry in catalogue.tools.iter_mut().flat_map(|tool| &mut tool.capabilities) {
        let mut capability = entry.capability.clone();
        capability.input_summary = None;
        *entry = Entry::new(capability, None).expect("there is no schema to be wrong");
    }
    catalogue
}

async fn row(world: &World, case: &Case) -> Row {
    let code = world.outcome(case, Rungs::Code).await;
    let all = world.outcome(case, Rungs::All).await;
    for (outcome, rungs) in [(&code, "code"), (&all, "all")] {
        let is_news =
            outcome.end == End::Wrong || (rungs == "all" && outcome.end != End::Right && outcome.end != End::Refused);
        if is_news
            || (std::env::args().nth(1).is_some_and(|word| word == "why")
                && case.determined
                && outcome.end != End::Right)
        {
            let wrong = reknit_protocol::Value::Object(case.wrong.clone());
            println!("{:?} by {rungs}: {}, {} <- {wrong}", outcome.end, case.what, case.call.capability);
            for words in &outcome.words {
                println!("    {words}");
            }
        }
    }
    Row { kind: case.kind, determined: case.determined, code, all }
}

fn report(rows: &[Row]) -> ExitCode {
    println!(
        "{:<11}{:>7}{:>13}{:>11}{:>13}{:>11}{:>16}",
        "kind", "calls", "determined", "by code", "of those", "all rungs", "model calls"
    );
    let mut kinds: Vec<&str> = rows.iter().map(|row| row.kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    for kind in kinds.into_iter().chain(["all"]) {
        let of: Vec<&Row> = rows.iter().filter(|row| kind == "all" || row.kind == kind).collect();
        print_kind(kind, &of);
    }
    let share =
        |rows: &[&Row], right: fn(&Row) -> bool| share(rows.iter().filter(|row| right(row)).count(), rows.len());
    let determined: Vec<&Row> = rows.iter().filter(|row| row.determined).collect();
    let everything: Vec<&Row> = rows.iter().collect();
    let by_code = share(&determined, |row| row.code.end == End::Right);
    let by_all = share(&everything, |row| row.all.end == End::Right);
    let wrong = rows.iter().filter(|row| row.code.end == End::Wrong || row.all.end == End::Wrong).count();
    println!("wrong values accepted: {wrong}");
    let holds = by_code >= BAR_CODE && by_all >= BAR_ALL && wrong == 0 && rows.len() >= FEWEST_CASES;
    println!(
        "bars: {:.0} % by code of what is determined, {:.0} % with all rungs, no wrong value, {FEWEST_CASES} calls: {}",
        BAR_CODE * 100.0,
        BAR_ALL * 100.0,
        if holds { "they hold" } else { "not all hold" }
    );
    if holds { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn print_kind(kind: &str, of: &[&Row]) {
    let determined: Vec<&&Row> = of.iter().filter(|row| row.determined).collect();
    let right = of.iter().filter(|row| row.code.end == End::Right).count();
    let right_determined = determined.iter().filter(|row| row.code.end == End::Right).count();
    let all = of.iter().filter(|row| row.all.end == End::Right).count();
    let needed: Vec<&&Row> = of
        .iter()
        .filter(|row| row.all.rungs.iter().any(|rung| *rung != Rung::Schema) && row.all.end == End::Right)
        .collect();
    let asked: u32 = needed.iter().map(|row| row.all.model_calls).sum();
    let calls = if needed.is_empty() { 0.0 } else { f64::from(asked) / needed.len() as f64 };
    println!(
        "{kind:<11}{:>7}{:>13}{:>11}{:>11.1} %{:>9.1} %{:>12.2} each",
        of.len(),
        determined.len(),
        right,
        share(right_determined, determined.len()) * 100.0,
        share(all, of.len()) * 100.0,
        calls
    );
}

fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 1.0 } else { part as f64 / whole as f64 }
}
