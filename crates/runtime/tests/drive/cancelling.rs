//! Runs that are to end early.

use std::time::Duration;

use reknit_engine::{Outcome, Status};
use reknit_mend::Fate;
use reknit_protocol::{Effect, RunId};
use reknit_runtime::{Ended, Segments, signals};
use reknit_testing::tool::When;
use reknit_testing::{Gate, Reply, ScriptedTool};
use tokio_util::sync::CancellationToken;

use crate::world::{World, plan, step};

#[tokio::test]
async fn a_call_under_way_may_still_answer_when_the_run_is_cancelled() {
    let gate = Gate::new();
    let tool = ScriptedTool::new("t")
        .capability("order", Effect::Keyed)
        .on("order", When::any(), Reply::data("done").gate(&gate))
        .start()
        .await
        .expect("the tool starts");
    let world = World::new(&[("t".to_owned(), tool.base_url())], None).await;
    let cancel = CancellationToken::new();
    let driver = world.driver().cancelled_by(cancel.clone());
    let started = world.started(
        "r",
        "x",
        Some(plan(vec![step("a", "t", "order", "{}"), step("b", "t", "order", r#"{"x": "{{a}}"}"#)])),
    );
    let run = tokio::spawn(async move { driver.start(started).await });
    gate.arrived(1).await;
    cancel.cancel();
    // The order is journalled before the abort is due; only then may the answer come.
    loop {
        let (_, events) = world.read_back("r").await;
        if events.last().is_some_and(|event| event.what.name() == "cancelled") {
            break;
        }
        tokio::task::yield_now().await;
    }
    gate.open();
    let Ended::Finished(answer) = run.await.expect("no panic").expect("it is driven") else { panic!("it ends") };
    assert_eq!(answer.status, Status::Cancelled);
    assert!(matches!(answer.steps[0].outcome, Outcome::Done(_)), "{answer:?}");
    assert!(matches!(answer.steps[1].outcome, Outcome::Skipped { .. }), "{answer:?}");
    assert_eq!(tool.count(), 1);
}

#[tokio::test]
async fn a_call_that_does_not_answer_in_time_is_left_in_doubt() {
    for segmented in [false, true] {
        let tool = ScriptedTool::new("t")
            .capability("order", Effect::Keyed)
            .on("order", When::any(), Reply::silence())
            .start()
            .await
            .expect("the tool starts");
        let world = World::new(&[("t".to_owned(), tool.base_url())], None).await;
        let driver = world.driver();
        let started = world.started("r", "x", Some(plan(vec![step("a", "t", "order", "{}")])));
        let run = tokio::spawn(async move {
            if segmented { Segments::new(driver).start(started).await } else { driver.start(started).await }
        });
        tool.called(1).await;
        world.journal.send(&RunId::new("r"), signals::cancel(), 0).await.expect("the run is there");
        let answer = tokio::time::timeout(Duration::from_secs(20), async {
            // The deadline, the renewal and the grace are waited for; the last comes first.
            while !run.is_finished() {
                world.clock.advance(1_000);
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            run.await
        });
        let ended = answer.await.expect("it ends").expect("no panic").expect("it is driven");
        let Ended::Finished(answer) = ended else { panic!("it ends") };
        assert_eq!(answer.status, Status::Cancelled);
        assert!(matches!(answer.steps[0].outcome, Outcome::Failed { fate: Fate::Unknown, .. }), "{answer:?}");
    }
}
