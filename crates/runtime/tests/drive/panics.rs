//! A transport that panics.

use std::sync::Arc;

use reknit_engine::AskModel;
use reknit_fakes::ScriptedTool;
use reknit_model_api::{ErrorClass, ModelAnswer, ModelFailure};
use reknit_protocol::SideEffect;
use reknit_protocol::{CallTool, ReplyBody, ToolReply, TransportFailure};
use reknit_runtime::{BoxFuture, CallLimits, DriveError, Driver, Transport};

use crate::drive::fixture::{Fixture, ManualClock, plan, step};

#[derive(Debug)]
struct PanickingTransport;

impl Transport for PanickingTransport {
    fn ask<'a>(&'a self, _: &'a AskModel) -> BoxFuture<'a, Result<ModelAnswer, ModelFailure>> {
        Box::pin(async { Err(ModelFailure::new(ErrorClass::ModelError, "no model should be asked")) })
    }

    fn call<'a>(
        &'a self,
        call: &'a CallTool,
        _: Option<&'a str>,
    ) -> BoxFuture<'a, Result<ToolReply, TransportFailure>> {
        Box::pin(async {
            assert_eq!(call.step.as_str(), "a", "the call of the other step panics");
            Ok(ToolReply { status: 200, retry_after_ms: None, body: ReplyBody::Empty, job: None })
        })
    }
}

#[tokio::test]
async fn driving_fails_instead_of_hanging_if_the_task_of_an_effect_panics() {
    let tool = ScriptedTool::new("t").capability("read", SideEffect::Read).start().await.expect("the tool starts");
    let fixture = Fixture::new(&[("t".to_owned(), tool.base_url())], None).await;
    let clock = Arc::new(ManualClock(fixture.clock.clone()));
    let driver = Driver::new(fixture.journal.clone(), Arc::new(PanickingTransport), clock, CallLimits::default());
    let steps = vec![step("a", "t", "read", "{}"), step("b", "t", "read", "{}")];
    let drive = driver.start(fixture.started("r", "x", Some(plan(steps))));
    let outcome = tokio::time::timeout(std::time::Duration::from_mins(2), drive).await.expect("the run ends in time");
    assert!(matches!(outcome, Err(DriveError::Task(_))), "{outcome:?}");
}
