//! When calls that do not only read are claimed.

use std::sync::{Arc, Mutex};

use reknit_engine::AskModel;
use reknit_fakes::ScriptedTool;
use reknit_journal::test_support::{DiskFuture, JournalAccess, SharedJournal, SimulatedProcess};
use reknit_journal::{Holder, Liveness};
use reknit_model_api::{ErrorClass, ModelAnswer, ModelFailure};
use reknit_protocol::{CallTool, ReplyBody, SideEffect, ToolReply, TransportFailure};
use reknit_runtime::{BoxFuture, CallLimits, DriveOutcome, Driver, Transport};

use crate::drive::fixture::{Fixture, ManualClock, plan, step};

/// What happened, in order: writes to the journal, and calls.
#[derive(Debug, Default, Clone)]
struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    fn add(&self, entry: &str) {
        self.0.lock().expect("the lock is not poisoned").push(entry.to_owned());
    }

    fn entries(&self) -> Vec<String> {
        self.0.lock().expect("the lock is not poisoned").clone()
    }
}

impl SimulatedProcess for Log {
    fn before(&self, _: JournalAccess) -> DiskFuture {
        Box::pin(async { Ok(()) })
    }

    fn committed(&self, access: JournalAccess) {
        if let JournalAccess::Write(name) = access {
            self.add(name);
        }
    }

    fn after(&self, _: JournalAccess) -> DiskFuture {
        Box::pin(async { Ok(()) })
    }

    fn liveness(&self, _: &Holder) -> Liveness {
        Liveness::Unknown
    }

    fn is_this(&self, _: &Holder) -> bool {
        true
    }
}

impl Transport for Log {
    fn ask<'a>(&'a self, _: &'a AskModel) -> BoxFuture<'a, Result<ModelAnswer, ModelFailure>> {
        Box::pin(async { Err(ModelFailure::new(ErrorClass::ModelError, "no model should be asked")) })
    }

    fn call<'a>(
        &'a self,
        call: &'a CallTool,
        _: Option<&'a str>,
    ) -> BoxFuture<'a, Result<ToolReply, TransportFailure>> {
        Box::pin(async {
            self.add(&format!("call {}", call.step));
            let body = ReplyBody::Text("paid".to_owned());
            Ok(ToolReply { status: 200, retry_after_ms: None, body, job: None })
        })
    }
}

/// Drives a run of `a`, then `b` and `c`, which all pay.
async fn pay_three_times(per_tool: usize) -> (Log, Vec<String>) {
    let tool = ScriptedTool::new("t").capability("pay", SideEffect::Unsafe).start().await.expect("the tool starts");
    let fixture = Fixture::new(&[("t".to_owned(), tool.base_url())], None).await;
    let log = Log::default();
    let (journal, _poll) = SharedJournal::default().open(Arc::new(log.clone()));
    let limits = CallLimits { per_tool, ..CallLimits::default() };
    let clock = Arc::new(ManualClock(fixture.clock.clone()));
    let driver = Driver::new(journal.clone(), Arc::new(log.clone()), clock, limits);
    let payments = plan(vec![
        step("a", "t", "pay", "{}"),
        step("b", "t", "pay", "{}").after("a"),
        step("c", "t", "pay", "{}").after("a"),
    ]);
    let outcome = driver.start(fixture.started("r", "Pay", Some(payments))).await.expect("the run is driven");
    assert!(matches!(outcome, DriveOutcome::Finished(_)), "{outcome:?}");
    (log, journal.claims(&"r".into()).await.expect("the run is there"))
}

#[tokio::test]
async fn a_call_that_can_be_made_at_once_is_claimed_with_the_event_that_makes_it_due() {
    let (log, claims) = pay_three_times(64).await;
    assert_eq!(log.entries()[..6], ["create", "claim", "call a", "append", "call b", "call c"]);
    assert!(!log.entries()[6..].contains(&"claim".to_owned()), "{:?}", log.entries());
    assert_eq!(claims, ["a/call/1", "b/call/1", "c/call/1"]);
}

#[tokio::test]
async fn a_call_that_waits_for_its_turn_is_claimed_when_it_can_be_made() {
    let (log, claims) = pay_three_times(1).await;
    let before_c: Vec<String> = log.entries().into_iter().take_while(|entry| entry != "call c").collect();
    assert_eq!(before_c[..5], ["create", "claim", "call a", "append", "call b"]);
    assert!(before_c[5..].contains(&"claim".to_owned()), "{before_c:?}");
    assert_eq!(claims, ["a/call/1", "b/call/1", "c/call/1"]);
}
