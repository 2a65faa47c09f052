use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use reknit_engine::Event;
use reknit_protocol::ToolError;
use reknit_runtime::Runtime;

use super::*;
use crate::blobs::FileBlobs;
use crate::test_runs::{Order, begun};

/// A worker with the tool `shop/place`, and a call of it.
struct World {
    parts: WorkerParts,
    run: RunId,
    call: CallTool,
    made: Arc<AtomicU32>,
    _folder: tempfile::TempDir,
}

impl World {
    /// Each call of the tool takes so long.
    async fn new(side_effect: SideEffect, took: Duration) -> Self {
        let (machine, mut call) = begun(1).await;
        call.side_effect = side_effect;
        let made = Arc::new(AtomicU32::new(0));
        let counter = Arc::clone(&made);
        let place = move |_: Order| {
            counter.fetch_add(1, Ordering::Relaxed);
            async move {
                tokio::time::sleep(took).await;
                Ok::<u64, ToolError>(1)
            }
        };
        let reknit = Runtime::from_builder(Runtime::builder().tool_fn("shop", "place", place)).await.unwrap();
        let folder = tempfile::tempdir().unwrap();
        let blobs = Arc::new(FileBlobs::open(folder.path()).unwrap());
        let parts = WorkerParts::new(reknit.effect_runner(), blobs);
        Self { parts, run: machine.id().clone(), call, made, _folder: folder }
    }

    /// What becomes of the call if the run asked for it so long ago. `None` if the effect service has to make it.
    async fn make(&self, age_ms: i64) -> Option<EventKind> {
        let asked_ms = self.parts.runner.now_ms() - age_ms;
        let call = InlineCall { run: &self.run, call: &self.call, traceparent: None, asked_ms };
        let Ok(outcome) = call.make_if_fast(&self.parts).await else { panic!("a call does not fail like this") };
        let text = outcome?.load(&*self.parts.blobs).await.unwrap();
        Some(serde_json::from_str::<Event>(&text).unwrap().kind)
    }

    fn made(&self) -> u32 {
        self.made.load(Ordering::Relaxed)
    }
}

#[tokio::test(start_paused = true)]
async fn a_keyed_call_is_made_only_if_the_last_one_was_fast() {
    let world = World::new(SideEffect::Keyed, Duration::ZERO).await;
    assert_eq!(world.make(0).await, None, "nothing is known about the capability");
    assert_eq!(world.made(), 0);
    world.parts.speeds.note(&world.call, FAST);
    assert!(matches!(world.make(0).await, Some(EventKind::ToolAnswered { .. })));
    assert_eq!(world.made(), 1);
    world.parts.speeds.note(&world.call, FAST + Duration::from_millis(1));
    assert_eq!(world.make(0).await, None);
    assert_eq!(world.made(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_keyed_call_that_may_have_been_sent_long_ago_is_not_sent_again() {
    let world = World::new(SideEffect::Keyed, Duration::ZERO).await;
    world.parts.speeds.note(&world.call, FAST);
    let interrupted = EventKind::Interrupted { effect: world.call.id.clone() };
    assert_eq!(world.make(MAX_REPEAT_MS + 1_000).await, Some(interrupted));
    assert_eq!(world.made(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_read_is_tried_and_given_up_if_it_is_not_fast() {
    let fast = World::new(SideEffect::Read, FAST / 2).await;
    assert!(matches!(fast.make(0).await, Some(EventKind::ToolAnswered { .. })));
    let slow = World::new(SideEffect::Read, FAST * 2).await;
    assert_eq!(slow.make(0).await, None);
    assert_eq!(slow.parts.speeds.last_call_was_fast(&slow.call), Some(false));
    assert_eq!(slow.make(0).await, None);
    assert_eq!(slow.made(), 1, "it is not tried again");
}

#[tokio::test(start_paused = true)]
async fn only_a_call_that_cannot_be_repeated_is_claimed() {
    for (side_effect, is_claimed) in [
        (SideEffect::Read, false),
        (SideEffect::Idempotent, false),
        (SideEffect::Keyed, false),
        (SideEffect::Undeclared, true),
        (SideEffect::Unsafe, true),
    ] {
        let world = World::new(side_effect, Duration::ZERO).await;
        let call = InlineCall { run: &world.run, call: &world.call, traceparent: None, asked_ms: 0 };
        assert_eq!(call.needs_claim(), is_claimed, "{side_effect:?}");
    }
}
