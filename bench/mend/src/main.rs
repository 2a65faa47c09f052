//! Counts how many wrong calls to the demo tools are mended, by code alone and with a model.

mod case_runner;
mod cases;
mod learning;
mod real_model;
mod scripted_model;
mod seed_scenarios;

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

use case_runner::{CaseRunner, End, Outcome, Rungs};
use cases::Case;
use reknit_demo::{DemoTools, Faults};
use reknit_mend::Rung;
use reknit_plan::{Catalogue, CatalogueEntry};
use reknit_tools::{Address, Client};

/// Minimum share of the determined cases that code alone mends.
const MIN_BY_CODE: f64 = 0.80;
/// Minimum share of all cases that are mended with a model.
const MIN_WITH_MODEL: f64 = 0.99;
const MIN_CASES: usize = 500;

/// The outcomes of one case with one catalogue.
struct Row {
    kind: &'static str,
    is_determined: bool,
    code: Outcome,
    all: Outcome,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let tools = DemoTools::start(Faults::none()).await.expect("the demo tools start");
    let endpoints = tools.endpoints();
    let addresses: Vec<Address> =
        endpoints.iter().map(|(name, url)| Address::parse(name.as_str(), url).expect("an address")).collect();
    let found = Client::new().expect("a client").discover(&addresses).await;
    assert!(found.problems.is_empty(), "{:?}", found.problems);
    let bare = without_schemas(&found.catalogue);
    let runs = Arc::new(AtomicU32::new(0));
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let real = (arguments.first().map(String::as_str) == Some("real")).then(|| real_model::connect(&arguments));
    let runner = |catalogue| CaseRunner {
        catalogue,
        tools: found.tools.clone(),
        runs: Arc::clone(&runs),
        rules: Vec::new(),
        model: real.clone().map(|(model, _)| model),
    };
    let runners = [runner(found.catalogue.clone()), runner(bare)];
    if let Some((_, count)) = real {
        return real_model::report(&runners, count).await;
    }
    if arguments.first().map(String::as_str) == Some("seeds") {
        return if learning::report(runners, true).await { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    let mut rows = Vec::new();
    let mut rejected = 0;
    for runner in &runners {
        for case in cases::cases() {
            let row = row(runner, &case).await;
            if row.code.end == End::PlanRejected {
                rejected += 1;
            } else {
                rows.push(row);
            }
        }
    }
    println!("{} wrong calls; {rejected} more were rejected with their plans", rows.len());
    let holds = report(&rows);
    let learns = learning::report(runners, false).await;
    if holds && learns { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The same tools without schemas: only the errors of the tools say what is wrong.
fn without_schemas(catalogue: &Catalogue) -> Catalogue {
    let mut catalogue = catalogue.clone();
    for entry in catalogue.tools.iter_mut().flat_map(|tool| &mut tool.capabilities) {
        let mut capability = entry.capability.clone();
        capability.input_summary = None;
        *entry = CatalogueEntry::new(capability, None).expect("there is no schema");
    }
    catalogue
}

async fn row(runner: &CaseRunner, case: &Case) -> Row {
    let code = runner.outcome(case, Rungs::Code).await;
    let all = runner.outcome(case, Rungs::All).await;
    for (outcome, rungs) in [(&code, "code"), (&all, "all")] {
        let is_unexpected = outcome.end == End::Wrong
            || (rungs == "all" && outcome.end != End::Correct && outcome.end != End::PlanRejected);
        if is_unexpected
            || (std::env::args().nth(1).is_some_and(|argument| argument == "why")
                && case.is_determined
                && outcome.end != End::Correct)
        {
            let wrong = reknit_protocol::Value::Object(case.wrong.clone());
            println!("{:?} by {rungs}: {}, {} <- {wrong}", outcome.end, case.mistake, case.call.capability);
            for mend in &outcome.mends {
                println!("    {mend}");
            }
        }
    }
    Row { kind: case.kind, is_determined: case.is_determined, code, all }
}

fn report(rows: &[Row]) -> bool {
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
    let share = |rows: &[&Row], is_correct: fn(&Row) -> bool| {
        share(rows.iter().filter(|row| is_correct(row)).count(), rows.len())
    };
    let determined: Vec<&Row> = rows.iter().filter(|row| row.is_determined).collect();
    let all: Vec<&Row> = rows.iter().collect();
    let by_code = share(&determined, |row| row.code.end == End::Correct);
    let by_all = share(&all, |row| row.all.end == End::Correct);
    let wrong = rows.iter().filter(|row| row.code.end == End::Wrong || row.all.end == End::Wrong).count();
    println!("wrong values accepted: {wrong}");
    let holds = by_code >= MIN_BY_CODE && by_all >= MIN_WITH_MODEL && wrong == 0 && rows.len() >= MIN_CASES;
    println!(
        "limits: {:.0} % of the determined calls by code, {:.0} % with all rungs, no wrong value, {MIN_CASES} calls: {}",
        MIN_BY_CODE * 100.0,
        MIN_WITH_MODEL * 100.0,
        if holds { "all hold" } else { "not all hold" }
    );
    holds
}

fn print_kind(kind: &str, of: &[&Row]) {
    let determined: Vec<&&Row> = of.iter().filter(|row| row.is_determined).collect();
    let by_code = of.iter().filter(|row| row.code.end == End::Correct).count();
    let determined_by_code = determined.iter().filter(|row| row.code.end == End::Correct).count();
    let all = of.iter().filter(|row| row.all.end == End::Correct).count();
    let needed: Vec<&&Row> = of
        .iter()
        .filter(|row| row.all.rungs.iter().any(|rung| *rung != Rung::Schema) && row.all.end == End::Correct)
        .collect();
    let asked: u32 = needed.iter().map(|row| row.all.model_calls).sum();
    let calls = if needed.is_empty() { 0.0 } else { f64::from(asked) / needed.len() as f64 };
    println!(
        "{kind:<11}{:>7}{:>13}{:>11}{:>11.1} %{:>9.1} %{:>12.2} each",
        of.len(),
        determined.len(),
        by_code,
        share(determined_by_code, determined.len()) * 100.0,
        share(all, of.len()) * 100.0,
        calls
    );
}

fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 1.0 } else { part as f64 / whole as f64 }
}
