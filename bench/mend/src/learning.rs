//! Learns rules from the corrections of one half of the cases, and counts the model calls of the other half with them.

use reknit_mend::{AcceptedBy, LearnedRule, Lesson, RuleBook, RuleState, Rung, propose_rules};

use crate::case_runner::{CaseRunner, End, Outcome, Rungs};
use crate::cases::{self, Case};
use crate::seed_scenarios;

/// Maximum number of model calls for each failure that is mended, with the rules of the other half.
const MAX_MODEL_CALLS: f64 = 0.30;
/// After how many confirmations a rule for a read accepts itself.
const ACCEPT_READS_AFTER: u32 = 3;

/// A name, and its cases.
type CaseSet = (&'static str, Vec<Case>);

/// Learns from the calls that are damaged here together with the failures that GoMind describes, then from the latter alone: the two
/// need different corrections of the same error, so a rule for one would harm the other. Returns whether the limits hold.
pub async fn report(mut runners: [CaseRunner; 2], only_seeds: bool) -> bool {
    let seeds = || ("the seeds' scenarios", seed_scenarios::cases());
    let mut holds = true;
    if !only_seeds {
        holds &= report_sets(&mut runners, &[("damaged calls", cases::cases()), seeds()]).await;
    }
    holds & report_sets(&mut runners, &[seeds()]).await
}

/// Runs both halves and prints what was learned; returns whether the limits hold.
async fn report_sets(runners: &mut [CaseRunner; 2], pool: &[CaseSet]) -> bool {
    runners.iter_mut().for_each(|runner| runner.rules.clear());
    let mut lessons: Vec<Lesson> = Vec::new();
    let mut before: Vec<Tally> = pool.iter().map(|_| Tally::default()).collect();
    for runner in runners.iter() {
        for ((_, cases), tally) in pool.iter().zip(&mut before) {
            for (index, case) in cases.iter().enumerate() {
                let outcome = runner.outcome(case, Rungs::All).await;
                if is_learned_from(index) {
                    // What another result followed from is no success.
                    lessons.extend(outcome.lessons.into_iter().filter(|_| outcome.end == End::Correct));
                } else {
                    tally.add(&outcome);
                }
            }
        }
    }
    let proposals = propose_rules(&lessons);
    let mut book = RuleBook::default();
    lessons.iter().for_each(|lesson| _ = book.learn(lesson, ACCEPT_READS_AFTER));
    let by_itself = book.for_runs();
    println!(
        "\nlearned from {} corrections of one half: {} rules; {} rules of reads would accept themselves after {ACCEPT_READS_AFTER} runs",
        lessons.len(),
        proposals.len(),
        by_itself.len()
    );
    let shows_rules = std::env::args().nth(1).is_some_and(|argument| argument == "why");
    for rule in proposals.iter().filter(|_| shows_rules) {
        println!("  {} \"{}\": {}", rule.capability, rule.error.message, change(rule));
    }
    let accepted: Vec<LearnedRule> = proposals.iter().map(accepted).collect();
    println!("{:<52}{:>9}{:>9}{:>9}{:>14}", "other half", "mended", "failed", "wrong", "model calls");
    let mut holds = true;
    let all_before = Tally::sum(&before);
    print_tallies("without rules", pool, &before);
    for (rules, name) in [(by_itself, "rules that accept themselves"), (accepted, "all rules, by a person")] {
        let mut after: Vec<Tally> = pool.iter().map(|_| Tally::default()).collect();
        for runner in runners.iter_mut() {
            runner.rules.clone_from(&rules);
            for ((_, cases), tally) in pool.iter().zip(&mut after) {
                for (_, case) in cases.iter().enumerate().filter(|(index, _)| !is_learned_from(*index)) {
                    let outcome = runner.outcome(case, Rungs::All).await;
                    if shows_rules && outcome.model_calls > 0 {
                        println!("  {}, {}: {}", case.mistake, case.call.capability, outcome.mends.join("; "));
                    }
                    tally.add(&outcome);
                }
            }
        }
        print_tallies(name, pool, &after);
        let all = Tally::sum(&after);
        holds &= all.wrong == 0 && all.mended >= all_before.mended;
        if name.starts_with("all") {
            holds &= all.calls_each() <= MAX_MODEL_CALLS;
        }
    }
    println!(
        "limits: {MAX_MODEL_CALLS:.2} model calls for each mended failure with all rules, no wrong value, nothing less mended: {}",
        if holds { "all hold" } else { "not all hold" }
    );
    holds
}

fn print_tallies(name: &str, pool: &[CaseSet], tallies: &[Tally]) {
    for ((set, _), tally) in pool.iter().zip(tallies) {
        tally.print(&format!("{name}: {set}"));
    }
    if tallies.len() > 1 {
        Tally::sum(tallies).print(&format!("{name}: both"));
    }
}

/// Which half a case belongs to. Its neighbours differ in one value, so every second one would not be a fair half.
fn is_learned_from(index: usize) -> bool {
    (index as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 63 == 0
}

/// A rule that a person has accepted.
fn accepted(rule: &LearnedRule) -> LearnedRule {
    LearnedRule { state: RuleState::Accepted, accepted_by: Some(AcceptedBy::Person), ..rule.for_runs() }
}

fn change(rule: &LearnedRule) -> String {
    let changed = rule.change.iter().map(|(name, value)| format!("{name} = {value}"));
    let removed = rule.remove.iter().map(|name| format!("without {name}"));
    changed.chain(removed).collect::<Vec<_>>().join(", ")
}

/// What became of the failures of one half.
#[derive(Default)]
struct Tally {
    mended: u32,
    failed: u32,
    wrong: u32,
    model_calls: u32,
}

impl Tally {
    fn sum(tallies: &[Self]) -> Self {
        let sum = |of: fn(&Self) -> u32| tallies.iter().map(of).sum();
        Self {
            mended: sum(|tally| tally.mended),
            failed: sum(|tally| tally.failed),
            wrong: sum(|tally| tally.wrong),
            model_calls: sum(|tally| tally.model_calls),
        }
    }

    fn add(&mut self, outcome: &Outcome) {
        let was_needed = outcome.rungs.iter().any(|rung| *rung != Rung::Schema);
        match outcome.end {
            End::Correct if was_needed => {
                self.mended += 1;
                self.model_calls += outcome.model_calls;
            }
            End::Failed => self.failed += 1,
            End::Wrong => self.wrong += 1,
            End::Correct | End::PlanRejected => {}
        }
    }

    fn calls_each(&self) -> f64 {
        f64::from(self.model_calls) / f64::from(self.mended.max(1))
    }

    fn print(&self, name: &str) {
        println!("{name:<52}{:>9}{:>9}{:>9}{:>9.2} each", self.mended, self.failed, self.wrong, self.calls_each());
    }
}
