//! Compares a run with assertions, or with another run: the first one says what is expected, the second one what happened.

use reknit_engine::{Overview, StepView};
use reknit_journal::Journal;
use reknit_plan::{FileProblem, yaml_line};
use reknit_protocol::{RunId, Value};
use reknit_runtime::{DriveError, recorded_calls, run_overview};

use crate::expectations::{Expectations, ExpectedAnswer, ExpectedLimits, Mismatch};
use crate::facts::ObservedRun;
use crate::player::made_call;

/// Where a run differs from another one: status, steps, parameters, repairs, results, outputs, the answer, calls, questions and cost.
/// Answers are compared if both have the same status: otherwise they differ because of it.
pub fn compare_runs(one: &Overview, other: &Overview) -> Vec<Mismatch> {
    let (before, now) = (ObservedRun::of(one), ObservedRun::of(other));
    let mut found = Vec::new();
    if before.status != now.status {
        found.push(Mismatch::new("status", &before.status, &now.status));
    }
    let expect = Expectations {
        status: None,
        outputs: Some(before.outputs.clone()),
        calls: None,
        values: Vec::new(),
        limits: ExpectedLimits::default(),
        answer: ExpectedAnswer::default(),
        ..Expectations::proposed(&before)
    };
    found.extend(expect.compare(&now));
    for (step, word) in now.steps.iter().filter(|(step, _)| !before.steps.iter().any(|(other, _)| other == step)) {
        found.push(Mismatch::new(format!("steps.{step}"), "there is no such step", word));
    }
    found.extend(other_parameters(one, other));
    found.extend(other_results(&before, &now));
    if before.status == now.status && before.answer.trim() != now.answer.trim() {
        found.push(Mismatch::new("answer", &before.answer, &now.answer));
    }
    let counts = [
        ("tool calls", before.tool_calls.to_string(), now.tool_calls.to_string()),
        ("model calls", before.model_calls.to_string(), now.model_calls.to_string()),
        ("cost", before.cost.to_string(), now.cost.to_string()),
    ];
    let differ = counts.into_iter().filter(|(_, one, other)| one != other);
    found.extend(differ.map(|(what, one, other)| Mismatch::new(what, one, other)));
    found
}

/// The parameters of steps that both runs have, as they were last sent, where they differ.
fn other_parameters(one: &Overview, other: &Overview) -> Vec<Mismatch> {
    let steps = |overview: &Overview| -> Vec<StepView> {
        match overview {
            Overview::Run(run) => run.steps.clone(),
            Overview::Session(_) | Overview::Bare(_) => Vec::new(),
        }
    };
    let text = |value: Option<&Value>| value.map_or_else(|| "it is missing".to_owned(), yaml_line);
    let (before, now) = (steps(one), steps(other));
    let mut found = Vec::new();
    for step in &before {
        let Some(other) = now.iter().find(|other| other.id == step.id) else { continue };
        let new = other.parameters.keys().filter(|name| !step.parameters.contains_key(name));
        for name in step.parameters.keys().chain(new) {
            let (value, changed) = (step.parameters.get(name), other.parameters.get(name));
            if value != changed {
                found.push(Mismatch::new(format!("values.{}.{name}", step.id), text(value), text(changed)));
            }
        }
    }
    found
}

/// The results of steps that both runs have done, where they differ.
fn other_results(before: &ObservedRun, now: &ObservedRun) -> Vec<Mismatch> {
    let both = before.results.iter().filter_map(|(step, result)| {
        let (_, other) = now.results.iter().find(|(id, _)| id == step)?;
        (other != result).then(|| Mismatch::new(format!("results.{step}"), yaml_line(result), yaml_line(other)))
    });
    both.collect()
}

/// Why a run is not as expected.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ExpectError {
    #[error("what is expected cannot be read:\n{}", lines(.0))]
    Unreadable(Vec<FileProblem>),
    #[error("the run is not as expected:\n{}", lines(.0))]
    Differs(Vec<Mismatch>),
}

fn lines(items: &[impl ToString]) -> String {
    items.iter().map(|item| format!("  {}", item.to_string())).collect::<Vec<_>>().join("\n")
}

/// What a run did, for assertions about it.
pub async fn observe_run(journal: &Journal, run: &RunId) -> Result<ObservedRun, DriveError> {
    let mut observed = ObservedRun::of(&run_overview(journal, run).await?);
    let calls = recorded_calls(journal, run).await?;
    observed.calls = calls.iter().map(|recorded| made_call(&recorded.call)).collect();
    let summary = journal.summary(run).await?;
    observed.time_ms = u64::try_from(summary.updated_ms.saturating_sub(summary.created_ms)).unwrap_or_default();
    Ok(observed)
}

impl ObservedRun {
    /// Fails unless the run is as expected. `expectations` are what a test file has under `expect`, as YAML or JSON: `status`, `steps`,
    /// `calls`, `values`, `mended`, `outputs`, `limits` and `answer`. What is not mentioned is not compared.
    pub fn check(&self, expectations: &str) -> Result<(), ExpectError> {
        let expectations = Expectations::read(expectations).map_err(ExpectError::Unreadable)?;
        let differences = expectations.compare(self);
        if differences.is_empty() { Ok(()) } else { Err(ExpectError::Differs(differences)) }
    }
}
