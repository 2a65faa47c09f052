use std::io;
use std::sync::atomic::{AtomicU32, Ordering};

use reknit_protocol::ToolError;
use reknit_runtime::{BoxFuture, Runtime};

use super::*;
use crate::blobs::{BlobStore, MAX_INLINE_BYTES};
use crate::test_runs::{Order, begun};

/// A store that fails a few times.
#[derive(Debug)]
struct AwayFor(AtomicU32);

impl BlobStore for AwayFor {
    fn put<'a>(&'a self, _: &'a str, _: &'a str) -> BoxFuture<'a, io::Result<()>> {
        let is_away = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok();
        Box::pin(async move { if is_away { Err(io::Error::other("the disk is full")) } else { Ok(()) } })
    }

    fn get<'a>(&'a self, _: &'a str) -> BoxFuture<'a, io::Result<String>> {
        Box::pin(async { Err(io::Error::other("nothing is read in this test")) })
    }
}

#[tokio::test(start_paused = true)]
async fn the_outcome_of_a_call_is_not_lost_while_the_blobs_are_away() {
    static MADE: AtomicU32 = AtomicU32::new(0);
    let (machine, call) = begun(1).await;
    let place = async |_: Order| {
        MADE.fetch_add(1, Ordering::Relaxed);
        Ok::<String, ToolError>("x".repeat(MAX_INLINE_BYTES))
    };
    let reknit = Runtime::from_builder(Runtime::builder().tool_fn("shop", "place", place)).await.unwrap();
    let runner = reknit.effect_runner();
    let admitted = runner.admit(&call).await.unwrap();
    let blobs = Arc::new(AwayFor(AtomicU32::new(3)));
    let parts = WorkerParts::new(runner, blobs);
    let outcome = parts.make(machine.id(), &call, None, Some(admitted)).await;
    assert!(matches!(outcome, Ok(StoredJson::Blob { .. })));
    assert_eq!(MADE.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn an_attempt_that_did_not_claim_a_call_does_not_make_it() {
    let (machine, call) = begun(1).await;
    let place = async |_: Order| -> Result<u64, ToolError> { panic!("an earlier attempt may have made it") };
    let reknit = Runtime::from_builder(Runtime::builder().tool_fn("shop", "place", place)).await.unwrap();
    let blobs = Arc::new(AwayFor(AtomicU32::new(0)));
    let parts = WorkerParts::new(reknit.effect_runner(), blobs);
    let Ok(StoredJson::Inline(event)) = parts.make(machine.id(), &call, None, None).await else {
        panic!("it is small")
    };
    let event: Event = serde_json::from_str(event.get()).unwrap();
    assert_eq!(event.kind, EventKind::Interrupted { effect: call.id });
}
