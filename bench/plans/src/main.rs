//! Counts how many damaged plans make the right calls, are refused, or send a wrong value.

mod case_runner;
mod damage;
mod domains;

use std::collections::BTreeMap;
use std::process::ExitCode;

use case_runner::{Outcome, outcome};

const MIN_PLANS: usize = 200;

/// How many plans of one kind of damage ended how.
#[derive(Default)]
struct Counts {
    correct: usize,
    refused: usize,
    wrong: usize,
}

impl Counts {
    fn total(&self) -> usize {
        self.correct + self.refused + self.wrong
    }

    fn add(&mut self, outcome: &Outcome) {
        match outcome {
            Outcome::Correct => self.correct += 1,
            Outcome::Refused { .. } => self.refused += 1,
            Outcome::Wrong { .. } => self.wrong += 1,
        }
    }
}

fn main() -> ExitCode {
    let explains = std::env::args().nth(1).is_some_and(|argument| argument == "why");
    let (by_kind, all) = run(explains);
    println!("{:<16}{:>7}{:>9}{:>9}{:>7}", "damage", "plans", "correct", "refused", "wrong");
    for (kind, counts) in by_kind.iter().map(|(kind, counts)| (*kind, counts)).chain([("all", &all)]) {
        let Counts { correct, refused, wrong } = counts;
        println!("{kind:<16}{:>7}{correct:>9}{refused:>9}{wrong:>7}", counts.total());
    }
    let holds = all.wrong == 0 && all.total() >= MIN_PLANS;
    println!("limits: no wrong value, {MIN_PLANS} plans: {}", if holds { "all hold" } else { "not all hold" });
    if holds { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Runs every damage of every scenario. Prints each wrong call, and with `explains` each refusal.
fn run(explains: bool) -> (BTreeMap<&'static str, Counts>, Counts) {
    let mut by_kind: BTreeMap<&'static str, Counts> = BTreeMap::new();
    let mut all = Counts::default();
    for scenario in domains::scenarios() {
        for plan in damage::damaged_plans(&scenario) {
            let outcome = outcome(&scenario, &plan.text);
            match &outcome {
                Outcome::Wrong { call, expected } => {
                    println!(
                        "wrong: {} ({}), {}: sent {call}, not {expected}",
                        scenario.domain, scenario.name, plan.damage
                    );
                }
                Outcome::Refused { reason } if explains => {
                    println!("refused: {} ({}), {}: {reason}", scenario.domain, scenario.name, plan.damage);
                }
                Outcome::Refused { .. } | Outcome::Correct => {}
            }
            by_kind.entry(plan.kind).or_default().add(&outcome);
            all.add(&outcome);
        }
    }
    (by_kind, all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_damaged_plan_sends_a_wrong_value() {
        let (by_kind, all) = run(false);
        assert_eq!(all.wrong, 0, "see the lines above");
        assert!(all.total() >= MIN_PLANS, "{} plans", all.total());
        let braces = by_kind.get("braces").expect("plans in our own language");
        assert_eq!(braces.correct, braces.total(), "a plan without damage makes the right calls");
    }
}
