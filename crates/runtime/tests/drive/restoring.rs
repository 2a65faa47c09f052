//! A run that is read back wants what it wanted, or is not driven on.

use reknit_engine::{Event, MACHINE_VERSION, Run, What};
use reknit_journal::{Due, Holder, NewEvent, NewRun, Snapshot, Term};
use reknit_protocol::{RunId, SideEffect};
use reknit_runtime::{DriveError, Segments};
use reknit_testing::tool::When;
use reknit_testing::{Reply, ScriptedTool};

use crate::world::{World, plan, step};

/// Which driver, and what the journal has besides events.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Steady,
    Segments,
    SegmentsWithSnapshot,
}

/// A run of one call, written down as if the call had been another one.
async fn tampered(world: &World, kind: Kind) {
    let started = world.started("r", "x", Some(plan(vec![step("a", "t", "read", "{}")])));
    let event = Event { at_ms: 1_000_000, what: What::Started(Box::new(started)) };
    let run = Run::begin(&event).expect("it begins");
    let due = run.pending().into_iter().filter_map(|effect| Some(effect.id()?.to_string()));
    let due = due.map(|effect| Due::new(effect, "the digest of another call"));
    let body = serde_json::to_string(&event).expect("it can be written");
    let first = NewEvent::new(event.at_ms, "started", body).with_due(due);
    let new = NewRun { run: RunId::new("r"), title: "x".to_owned(), first };
    let term = Term { now_ms: 1_000_000, ttl_ms: 30_000 };
    let lease = world.journal.create(new, &Holder::this_process(), term).await.expect("it is created");
    if kind == Kind::SegmentsWithSnapshot {
        let body = run.snapshot().expect("it can be written");
        let snapshot = Snapshot { len: 1, machine_version: MACHINE_VERSION, body };
        world.journal.save_snapshot(&lease, snapshot).await.expect("it is saved");
    }
    world.journal.release(&lease).await.expect("it is given back");
}

#[tokio::test]
async fn a_run_that_wants_another_call_than_it_wanted_is_ended_and_nothing_is_called() {
    let tool = ScriptedTool::new("t").capability("read", SideEffect::Read).on("read", When::any(), Reply::data("done"));
    let tool = tool.start().await.expect("the tool starts");
    for kind in [Kind::Steady, Kind::Segments, Kind::SegmentsWithSnapshot] {
        let world = World::new(&[("t".to_owned(), tool.base_url())], None).await;
        tampered(&world, kind).await;
        let run = RunId::new("r");
        let outcome = match kind {
            Kind::Steady => world.driver().resume(&run).await,
            Kind::Segments | Kind::SegmentsWithSnapshot => Segments::new(world.driver()).resume(&run).await,
        };
        let error = outcome.expect_err("it is another run");
        assert!(matches!(error, DriveError::Restore(_)), "{kind:?}: {error}");
        let summary = world.journal.summary(&run).await.expect("the run is there");
        assert_eq!(summary.status.as_deref(), Some("replay_mismatch"), "{kind:?}");
        assert_eq!(summary.len, 1, "{kind:?}: its events are kept");
    }
    assert_eq!(tool.count(), 0);
}
