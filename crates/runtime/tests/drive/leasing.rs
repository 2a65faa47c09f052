//! Who drives a run, and what waits for a person.

use reknit_engine::{Decision, Effect, Status};
use reknit_protocol::{RunId, SideEffect};
use reknit_runtime::{DriveError, Ended, signals};
use reknit_testing::tool::When;
use reknit_testing::{Gate, Reply, ScriptedTool};

use crate::world::{World, plan, step};

#[tokio::test]
async fn a_run_that_somebody_drives_is_left_alone() {
    let gate = Gate::new();
    let tool = ScriptedTool::new("t")
        .capability("read", SideEffect::Read)
        .on("read", When::any(), Reply::data("done").gate(&gate))
        .start()
        .await
        .expect("the tool starts");
    let world = World::new(&[("t".to_owned(), tool.base_url())], None).await;
    let driver = world.driver();
    let started = world.started("r", "x", Some(plan(vec![step("a", "t", "read", "{}")])));
    let run = tokio::spawn(async move { driver.start(started).await });
    gate.arrived(1).await;
    let error = world.driver().resume(&RunId::new("r")).await.expect_err("it is driven already");
    assert!(matches!(error, DriveError::Lease(_)), "{error}");
    gate.open();
    run.await.expect("no panic").expect("it is driven");
    assert_eq!(tool.count(), 1);
}

#[tokio::test]
async fn an_unsafe_call_in_doubt_waits_for_a_person_and_goes_on_when_allowed() {
    let tool = ScriptedTool::new("t")
        .capability("pay", SideEffect::Unsafe)
        .once("pay", When::any(), Reply::reset())
        .on("pay", When::any(), Reply::data("paid"))
        .start()
        .await
        .expect("the tool starts");
    let world = World::new(&[("t".to_owned(), tool.base_url())], None).await;
    let started = world.started("r", "x", Some(plan(vec![step("a", "t", "pay", "{}")])));
    assert_eq!(world.driver().start(started).await.expect("it is driven"), Ended::Waiting);
    assert_eq!(world.driver().resume(&RunId::new("r")).await.expect("it is driven"), Ended::Waiting);
    assert_eq!(tool.count(), 1, "it is not sent again on its own");

    let (run, _) = world.read_back("r").await;
    let ask = run.pending().into_iter().find_map(|effect| match effect {
        Effect::AskPerson(ask) => Some(ask),
        _ => None,
    });
    let ask = ask.expect("a person is asked");
    let decision = signals::decide(ask.id, ask.hash, Decision::Approve);
    world.journal.send(&RunId::new("r"), decision, 0).await.expect("the run is there");
    let ended = world.driver().resume(&RunId::new("r")).await.expect("it is driven");
    let Ended::Finished(answer) = ended else { panic!("it ends") };
    assert_eq!(answer.status, Status::Complete);
    let keys: Vec<_> = tool.calls().into_iter().map(|call| call.idempotency_key).collect();
    assert_eq!(keys.len(), 2);
    assert_eq!(keys[0], keys[1], "both went under one key");
}
