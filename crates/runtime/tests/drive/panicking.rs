//! An edge that breaks down.

use std::sync::Arc;

use reknit_dialogue::{Answer, ErrorClass, Failure};
use reknit_engine::AskModel;
use reknit_protocol::Effect;
use reknit_protocol::{CallTool, ReplyBody, ToolReply, TransportFailure};
use reknit_runtime::{BoxFuture, CallLimits, DriveError, Driver, Edge};
use reknit_testing::ScriptedTool;

use crate::world::{Still, World, plan, step};

#[derive(Debug)]
struct Breaking;

impl Edge for Breaking {
    fn ask<'a>(&'a self, _: &'a AskModel) -> BoxFuture<'a, Result<Answer, Failure>> {
        Box::pin(async { Err(Failure::new(ErrorClass::ModelError, "nobody is to be asked")) })
    }

    fn call<'a>(
        &'a self,
        call: &'a CallTool,
        _: Option<&'a str>,
    ) -> BoxFuture<'a, Result<ToolReply, TransportFailure>> {
        Box::pin(async {
            assert_eq!(call.step.as_str(), "a", "the call breaks down");
            Ok(ToolReply { status: 200, retry_after_ms: None, body: ReplyBody::Empty })
        })
    }
}

#[tokio::test]
async fn a_task_that_breaks_down_beside_another_ends_the_drive_and_is_not_waited_for_forever() {
    let tool = ScriptedTool::new("t").capability("read", Effect::Read).start().await.expect("the tool starts");
    let world = World::new(&[("t".to_owned(), tool.base_url())], None).await;
    let clock = Arc::new(Still(world.clock.clone()));
    let hand = Driver::new(world.journal.clone(), Arc::new(Breaking), clock, CallLimits::default());
    let steps = vec![step("a", "t", "read", "{}"), step("b", "t", "read", "{}")];
    let drive = hand.start(world.started("r", "x", Some(plan(steps))));
    let outcome = tokio::time::timeout(std::time::Duration::from_secs(10), drive).await.expect("it ends");
    assert!(matches!(outcome, Err(DriveError::Task(_))), "{outcome:?}");
}
