//! A real model, for a sample of the cases that code alone does not mend: it takes too long for all of them.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use reknit_models::{FormatSupport, Models, Target};

use crate::case_runner::{CaseRunner, End, Rungs};
use crate::cases::{self, Case};

/// The default number of cases.
const DEFAULT_COUNT: usize = 40;

/// Parses `real URL MODEL [COUNT]`: the model, and the number of cases.
pub fn connect(arguments: &[String]) -> (Arc<Models>, usize) {
    let [_, url, model, rest @ ..] = arguments else { panic!("usage: mend-bench real URL MODEL [COUNT]") };
    let count = rest.first().map_or(DEFAULT_COUNT, |count| count.parse().expect("a number of cases"));
    let mut target = Target::new("model", url, model);
    // With an enforced schema, a small model gives better and shorter answers.
    target.format = FormatSupport::Schema;
    // A small model on two cores may need minutes before its first token.
    let long = std::time::Duration::from_secs(300);
    (target.timeouts.first_byte, target.timeouts.first_token, target.timeouts.total) = (long, long, long);
    (Arc::new(Models::new(vec![target]).expect("the address is valid")), count)
}

/// Runs a sample over all kinds of cases, and prints the outcome of each.
pub async fn report(runners: &[CaseRunner], count: usize) -> ExitCode {
    let mut unmended: Vec<(&CaseRunner, Case)> = Vec::new();
    for runner in runners {
        for case in cases::cases() {
            if runner.outcome(&case, Rungs::Code).await.end == End::Failed {
                unmended.push((runner, case));
            }
        }
    }
    let step = unmended.len().div_ceil(count.max(1)).max(1);
    let sample: Vec<_> = unmended.iter().step_by(step).collect();
    println!("{} calls that code alone does not mend; {} of them are run", unmended.len(), sample.len());
    let (mut correct, mut wrong, mut model_calls) = (0, 0, 0);
    for (runner, case) in &sample {
        let start = Instant::now();
        let outcome = runner.outcome(case, Rungs::All).await;
        correct += usize::from(outcome.end == End::Correct);
        wrong += usize::from(outcome.end == End::Wrong);
        model_calls += outcome.model_calls;
        println!(
            "{:<7?} {} {}, {} model calls, {} s: {}",
            outcome.end,
            case.kind,
            case.call.capability,
            outcome.model_calls,
            start.elapsed().as_secs(),
            case.mistake
        );
        for mend in &outcome.mends {
            println!("        {mend}");
        }
    }
    println!(
        "{correct} of {} correct, {wrong} wrong, {model_calls} model calls, {:.2} each",
        sample.len(),
        f64::from(model_calls) / sample.len() as f64
    );
    ExitCode::SUCCESS
}
