//! Runs with many steps and large results.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use reknit_engine::{Answer, Outcome, Status};
use reknit_fakes::tool::CallMatcher;
use reknit_fakes::{Reply, ScriptedTool};
use reknit_journal::{Durability, Journal};
use reknit_protocol::{RunId, SideEffect};
use reknit_runtime::{DriveOutcome, EventOrigin, Watcher};

use crate::drive::fixture::{Fixture, plan, step};

const STEPS: usize = 45;

fn result_bytes(answer: &Answer) -> Vec<usize> {
    let bytes = |outcome: &Outcome| match outcome {
        Outcome::Done(result) => result.to_string().len(),
        other => panic!("{other:?}"),
    };
    answer.steps.iter().map(|step| bytes(&step.outcome)).collect()
}

#[tokio::test]
async fn large_results_leave_memory_after_their_commit_and_are_loaded_when_they_are_needed() {
    let tool = ScriptedTool::new("t")
        .capability("read", SideEffect::Read)
        .on("read", CallMatcher::any(), Reply::data(format!("start {}", "x".repeat(100_000))))
        .start()
        .await
        .expect("the tool starts");
    let directory = tempfile::tempdir().expect("a folder");
    let mut fixture = Fixture::new(&[("t".to_owned(), tool.base_url())], None).await;
    fixture.journal = Journal::open(&directory.path().join("j.db"), Durability::Off).expect("a new journal");
    let largest = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&largest);
    // The machine prints the results that are in memory.
    let watcher = Watcher::inline(move |committed| {
        if committed.origin == EventOrigin::New {
            seen.fetch_max(format!("{:?}", committed.machine).len(), Ordering::Relaxed);
        }
    });
    let mut steps: Vec<_> = (0..STEPS).map(|n| step(&format!("s{n}"), "t", "read", "{}")).collect();
    steps.push(step("last", "t", "read", r#"{"text": "{{s7.response}}"}"#));
    let started = fixture.started("r", "x", Some(plan(steps)));
    let driver = fixture.driver().with_watcher(watcher);
    let outcome = driver.start(started).await.expect("the run is driven");
    let DriveOutcome::Finished(answer) = outcome else { panic!("{outcome:?}") };
    assert_eq!(answer.status, Status::Complete, "{}", answer.text);
    assert!(result_bytes(&answer).iter().all(|bytes| *bytes > 100_000));
    let events = fixture.journal.events(&RunId::new("r"), 0).await.expect("the run exists");
    assert!(events.iter().map(|event| event.body.len()).sum::<usize>() > STEPS * 100_000);
    let in_memory = largest.load(Ordering::Relaxed);
    assert!(in_memory < STEPS * 100_000 / 2, "{in_memory} bytes");
}
