//! Runs with hostile tools, and models that follow them: what only a tool wrote decides about no payment, and no call differs from what
//! was written without a record. The plans are those of models, of people, and of MCP clients, whose calls are plans with one step.

use reknit_engine::StepState;

use crate::many_worlds::{play_asked_worlds, play_worlds};
use crate::random_worlds::{BANK, ChoiceTape, MARK, RandomRun, RestoreTwin, drive_client_call, drive_with_hostility};

const TAPE_LENGTH: usize = 600;

const COUNTED: [&str; 4] = [
    "calls",
    "of them changed and told",
    "payments",
    "of them with a value of a tool that the first plan or a person chose",
];

fn counts(driven: &RandomRun) -> [usize; 4] {
    let steps = driven.run.steps().into_iter();
    let paid = steps.filter(|step| step.tool.as_str() == BANK && step.state == StepState::Done);
    let hostile: Vec<bool> = paid.map(|step| step.parameters.to_string().contains(MARK)).collect();
    let [calls, changed] = driven.judged_calls();
    [calls, changed, hostile.len(), hostile.iter().filter(|is_hostile| **is_hostile).count()]
}

fn play_run(seed: u64) -> [usize; 4] {
    counts(&drive_with_hostility(&mut ChoiceTape::from_seed(seed, TAPE_LENGTH), RestoreTwin::Never))
}

/// The call of a client refers to no result, so only a person can choose a value that a tool wrote: in exactly the call that was made.
fn play_client(seed: u64) -> [usize; 4] {
    let driven = drive_client_call(&mut ChoiceTape::from_seed(seed, TAPE_LENGTH), RestoreTwin::Never);
    for step in driven.run.steps().iter().filter(|step| step.state == StepState::Done) {
        let is_hostile = step.parameters.to_string().contains(MARK);
        let is_approved = driven.is_approved(&step.id, &step.parameters);
        assert!(!is_hostile || is_approved, "no person approved the payment: {}", step.parameters);
    }
    counts(&driven)
}

#[test]
fn a_run_pays_no_account_that_only_a_tool_names_and_tells_each_change() {
    let [_, changed, paid, hostile] = play_worlds(0, 10_000, play_run);
    assert!(changed >= 400 && paid >= 400 && hostile >= 20, "hardly anything happens: {changed} {paid} {hostile}");
}

#[test]
fn a_call_of_a_client_pays_no_account_that_only_a_tool_names_and_each_change_is_told() {
    let [_, changed, paid, hostile] = play_worlds(0, 2_000, play_client);
    assert!(changed >= 100 && paid >= 100 && hostile >= 5, "hardly anything happens: {changed} {paid} {hostile}");
}

#[test]
#[ignore = "bench/worlds/run plays many worlds"]
fn many_worlds_of_runs() {
    play_asked_worlds("runs", COUNTED, play_run);
}

#[test]
#[ignore = "bench/worlds/run plays many worlds"]
fn many_worlds_of_client_calls() {
    play_asked_worlds("calls of MCP clients", COUNTED, play_client);
}
