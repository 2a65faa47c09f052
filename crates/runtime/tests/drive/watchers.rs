//! Watchers that do not keep up.

use std::sync::mpsc;

use reknit_engine::Status;
use reknit_fakes::tool::CallMatcher;
use reknit_fakes::{Reply, ScriptedTool};
use reknit_protocol::SideEffect;
use reknit_runtime::{DriveOutcome, Watcher};

use crate::drive::fixture::{Fixture, plan, step};

#[tokio::test]
async fn a_run_ends_although_its_queued_watcher_is_blocked_and_the_lost_events_are_counted() {
    let tool = ScriptedTool::new("t")
        .capability("read", SideEffect::Read)
        .on("read", CallMatcher::any(), Reply::data("done"))
        .start()
        .await
        .expect("the tool starts");
    let fixture = Fixture::new(&[("t".to_owned(), tool.base_url())], None).await;
    let (release, blocked) = mpsc::channel::<()>();
    let (report, reported) = mpsc::channel();
    let watcher = Watcher::queued(2, move |queued| {
        blocked.recv().ok();
        report.send(queued.dropped).ok();
    });
    let driver = fixture.driver().with_watcher(watcher);
    let drive = |run: &'static str| {
        let steps = (0..5).map(|n| step(&format!("s{n}"), "t", "read", "{}")).collect();
        driver.start(fixture.started(run, "x", Some(plan(steps))))
    };
    let outcome = drive("blocked").await.expect("the run is driven");
    let DriveOutcome::Finished(answer) = outcome else { panic!("{outcome:?}") };
    assert_eq!(answer.status, Status::Complete);
    // From now on the callback returns at once.
    drop(release);
    for _ in 0..2 {
        assert_eq!(reported.recv(), Ok(0), "these were in the queue");
    }
    drive("free").await.expect("the run is driven");
    drop(driver);
    let dropped: u64 = reported.iter().sum();
    let events = fixture.journal.events(&"blocked".into(), 0).await.expect("the run exists").len() as u64;
    assert!((events - 3..2 * events).contains(&dropped), "{dropped} of {events} events");
}
