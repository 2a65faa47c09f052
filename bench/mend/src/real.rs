//! The same with a real model: for what code alone does not mend, a sample, since such a model takes its time.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use reknit_models::{FormatSupport, Models, Target};

use crate::cases::{self, Case};
use crate::drive::{End, Rungs, World};

/// Cases that are tried if nobody says how many.
const SAMPLE: usize = 40;

/// `real URL MODEL [COUNT]`: who is asked, and how many cases are tried.
pub fn model(words: &[String]) -> (Arc<Models>, usize) {
    let [_, url, model, rest @ ..] = words else { panic!("type: mend-bench real URL MODEL [COUNT]") };
    let count = rest.first().map_or(SAMPLE, |count| count.parse().expect("a number of cases"));
    let mut target = Target::new("model", url, model);
    // Held to the shape, a small model answers better and shorter.
    target.format = FormatSupport::Schema;
    // A small model on two cores thinks for minutes before its first word.
    let long = std::time::Duration::from_secs(300);
    (target.limits.first_byte, target.limits.first_token, target.limits.total) = (long, long, long);
    (Arc::new(Models::new(vec![target]).expect("the address is one")), count)
}

/// Tries a sample, spread over all kinds, and prints what became of each.
pub async fn report(worlds: &[World], count: usize) -> ExitCode {
    let mut open: Vec<(&World, Case)> = Vec::new();
    for world in worlds {
        for case in cases::cases() {
            if world.outcome(&case, Rungs::Code).await.end == End::Failed {
                open.push((world, case));
            }
        }
    }
    let step = open.len().div_ceil(count.max(1)).max(1);
    let sample: Vec<_> = open.iter().step_by(step).collect();
    println!("{} calls that code alone does not mend; {} of them are tried", open.len(), sample.len());
    let (mut right, mut wrong, mut asked) = (0, 0, 0);
    for (world, case) in &sample {
        let start = Instant::now();
        let outcome = world.outcome(case, Rungs::All).await;
        right += usize::from(outcome.end == End::Right);
        wrong += usize::from(outcome.end == End::Wrong);
        asked += outcome.model_calls;
        println!(
            "{:<7?} {} {}, {} questions, {} s: {}",
            outcome.end,
            case.kind,
            case.call.capability,
            outcome.model_calls,
            start.elapsed().as_secs(),
            case.what
        );
        for words in &outcome.words {
            println!("        {words}");
        }
    }
    println!(
        "{right} of {} right, {wrong} wrong, {asked} questions, {:.2} each",
        sample.len(),
        f64::from(asked) / sample.len() as f64
    );
    ExitCode::SUCCESS
}
