//! Whether a run with a fault did what the run without it did, said that it did not, or was wrong without a word.

use reknit_model_api::Money;
use reknit_protocol::word_enum;

use super::ChaosCase;
use super::case_run::CaseRun;
use super::double::Deed;
use super::fault::ChaosFault;

word_enum! {
    /// What became of a run with a fault.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum ChaosVerdict {
        /// Same status, same results, same effects.
        Mended = "mended",
        /// It says what is missing or uncertain.
        Reported = "reported",
        /// The recorded model would have had to react to something that was never recorded, so nobody knows what it would do.
        Open = "open",
        /// It claims what is not true, or does something twice.
        Silent = "wrong and silent",
        /// It was not driven to its end (no process can restore it, or go on with it), or the fault did not happen.
        Stuck = "cannot go on",
    }
}

/// What became of a case.
#[derive(Debug, Clone, PartialEq)]
pub struct ChaosOutcome {
    pub case: ChaosCase,
    pub verdict: ChaosVerdict,
    /// Why; empty for a run that was mended.
    pub reason: String,
    pub status: String,
    /// The effects that took place more often than without the fault, one line for each.
    pub duplicates: Vec<String>,
    /// How many calls were made beyond those without the fault.
    pub extra_calls: i64,
    /// How many questions were asked beyond those without the fault.
    pub extra_questions: i64,
    /// How much longer the run took, in virtual milliseconds.
    pub extra_ms: i64,
    /// What models cost beyond what they cost without the fault.
    pub extra_cost: Money,
}

pub(super) fn judge(case: &ChaosCase, baseline: &CaseRun, run: &CaseRun) -> ChaosOutcome {
    let duplicates = surplus(&run.done.deeds, &baseline.done.deeds);
    let (verdict, reason) = verdict(case, baseline, run, &duplicates);
    let signed = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    let effects = |run: &CaseRun, is_call: bool| {
        signed(run.done.effects.iter().filter(|effect| effect.kind.is_call() == is_call).count() as u64)
    };
    ChaosOutcome {
        case: case.clone(),
        verdict,
        reason,
        status: run.facts.status.clone(),
        duplicates,
        extra_calls: effects(run, true) - effects(baseline, true),
        extra_questions: effects(run, false) - effects(baseline, false),
        extra_ms: signed(run.facts.time_ms) - signed(baseline.facts.time_ms),
        extra_cost: run.facts.cost.minus(baseline.facts.cost),
    }
}

fn verdict(case: &ChaosCase, baseline: &CaseRun, run: &CaseRun, duplicates: &[String]) -> (ChaosVerdict, String) {
    if let Some(duplicate) = duplicates.first() {
        return (ChaosVerdict::Silent, format!("took effect more often than without the fault: {duplicate}"));
    }
    if let Some(failure) = &run.failure {
        return (ChaosVerdict::Stuck, failure.clone());
    }
    if !run.done.has_faulted {
        let reason = format!("the fault did not happen, because `{}` was not sent", case.effect);
        return (ChaosVerdict::Stuck, reason);
    }
    if let Some(claim) = untrue_failure(baseline, run) {
        return (ChaosVerdict::Silent, claim);
    }
    if let Some(report) = report(baseline, run) {
        return (ChaosVerdict::Reported, report);
    }
    let missing = surplus(&baseline.done.deeds, &run.done.deeds);
    let missing = missing.first().map(|deed| format!("did not take effect: {deed}"));
    let difference = missing.or_else(|| difference(case, baseline, run));
    match difference {
        None => (ChaosVerdict::Mended, String::new()),
        Some(difference) if run.done.asked_unrecorded => (ChaosVerdict::Open, difference),
        Some(difference) => (ChaosVerdict::Silent, difference),
    }
}

/// The deeds of the first list that the second one does not have, or has less often, a line for each.
fn surplus(deeds: &[Deed], others: &[Deed]) -> Vec<String> {
    let mut left: Vec<&Deed> = others.iter().collect();
    let mut surplus = Vec::new();
    for deed in deeds {
        match left.iter().position(|other| deed.call == other.call && deed.parameters == other.parameters) {
            Some(index) => _ = left.swap_remove(index),
            None => surplus.push(line(deed)),
        }
    }
    surplus
}

fn line(deed: &Deed) -> String {
    format!("{} {}", deed.call, deed.parameters)
}

/// A step that says that it failed without an effect, although its call took effect.
fn untrue_failure(baseline: &CaseRun, run: &CaseRun) -> Option<String> {
    let state =
        |run: &CaseRun, step: &str| run.facts.steps.iter().find(|(id, _)| id == step).map(|(_, word)| word.clone());
    let untrue = run.done.deeds.iter().find(|deed| {
        state(run, &deed.step).as_deref() == Some("failed")
            && state(baseline, &deed.step).as_deref() != Some("failed")
            && !run.facts.uncertain_steps.contains(&deed.step)
    });
    untrue.map(|deed| format!("`{}` says that it failed without an effect, but {} took effect", deed.step, line(deed)))
}

/// What the run says about itself that the run without a fault does not say.
fn report(baseline: &CaseRun, run: &CaseRun) -> Option<String> {
    let remark = run.facts.remarks.iter().find(|remark| !baseline.facts.remarks.contains(remark));
    if run.facts.status != baseline.facts.status {
        let remark = remark.map(|remark| format!(": {remark}")).unwrap_or_default();
        return Some(format!("{}{remark}", run.facts.status));
    }
    let worse = run.facts.steps.iter().find(|(step, word)| {
        word != "done" && baseline.facts.steps.iter().any(|(other, before)| other == step && before != word)
    });
    worse.map(|(step, word)| format!("{step} {word}")).or_else(|| remark.cloned())
}

/// What the run claims otherwise than the run without a fault.
fn difference(case: &ChaosCase, baseline: &CaseRun, run: &CaseRun) -> Option<String> {
    if run.facts.outputs != baseline.facts.outputs {
        let (now, before) = (&run.facts.outputs, &baseline.facts.outputs);
        return Some(format!("other outputs: {now} instead of {before}"));
    }
    // A damaged value is passed on in results. What counts is what follows from it.
    if matches!(case.fault, ChaosFault::WrongType(_)) {
        return other_call(baseline, run);
    }
    for (step, before) in &baseline.facts.results {
        match run.facts.results.iter().find(|(id, _)| id == step) {
            Some((_, now)) if now == before => {}
            Some((_, now)) => return Some(format!("another result of `{step}`: {now} instead of {before}")),
            None => return Some(format!("no result of `{step}`")),
        }
    }
    None
}

/// A call that the run without a fault does not make.
fn other_call(baseline: &CaseRun, run: &CaseRun) -> Option<String> {
    let is_known = |line: &String| baseline.done.sent_calls.contains(line);
    run.done.sent_calls.iter().find(|line| !is_known(line)).map(|line| format!("another call: {line}"))
}
