//! When steps begin and end, with tokio's paused clock.

use std::sync::Arc;
use std::time::Duration;

use reknit_engine::{AskModel, Earlier, MACHINE_VERSION, Metadata, Policy, Started, Status, Synthesis, Templates};
use reknit_journal::Journal;
use reknit_model_api::{ErrorClass, ModelAnswer, ModelFailure};
use reknit_plan::{Catalogue, CatalogueEntry, CatalogueTool, PlanAuthor};
use reknit_protocol::{CallTool, ReplyBody, ToolReply, TransportFailure};
use reknit_protocol::{Capability, Object, SideEffect};
use reknit_runtime::{BoxFuture, CallLimits, DriveOutcome, Driver, SystemClock, Transport};
use tokio::time::{Instant, sleep};

use crate::drive::fixture::{plan, step};

/// A tool whose calls take `ms` milliseconds.
#[derive(Debug)]
struct SlowTool;

impl Transport for SlowTool {
    fn ask<'a>(&'a self, _: &'a AskModel) -> BoxFuture<'a, Result<ModelAnswer, ModelFailure>> {
        Box::pin(async { Err(ModelFailure::new(ErrorClass::ModelError, "no model should be asked")) })
    }

    fn call<'a>(
        &'a self,
        call: &'a CallTool,
        _: Option<&'a str>,
    ) -> BoxFuture<'a, Result<ToolReply, TransportFailure>> {
        let ms = call.parameters.get("ms").and_then(|ms| ms.to_string().parse().ok()).expect("a number");
        Box::pin(async move {
            sleep(Duration::from_millis(ms)).await;
            Ok(ToolReply { status: 200, retry_after_ms: None, body: ReplyBody::Empty, job: None })
        })
    }
}

#[tokio::test(start_paused = true)]
async fn a_step_waits_only_for_the_steps_that_it_depends_on() {
    let mut wait = Capability::new("wait");
    wait.effect = SideEffect::Read;
    let capabilities = vec![CatalogueEntry::new(wait, None).expect("no schema")];
    let tools = vec![CatalogueTool { name: "t".into(), description: String::new(), capabilities }];
    let started = Started {
        run: "r".into(),
        request: "x".to_owned(),
        plan: Some(plan(vec![
            step("a", "t", "wait", r#"{"ms": 10}"#),
            step("b", "t", "wait", r#"{"ms": 200}"#),
            step("c", "t", "wait", r#"{"ms": 200}"#).after("a"),
            step("d", "t", "wait", r#"{"ms": 10}"#).after("b"),
        ])),
        plan_author: PlanAuthor::Person,
        inputs: Object::new(),
        attachments: Vec::new(),
        agents: Vec::new(),
        metadata: Metadata::default(),
        catalogue: Arc::new(Catalogue { tools }),
        targets: Vec::new(),
        policy: Arc::new(Policy { synthesis: Synthesis::Template, ..Policy::default() }),
        templates: Arc::new(Templates::default()),
        mappings: Vec::new(),
        seed: 7,
        trace_parent: None,
        fork: None,
        earlier: Earlier::default(),
        machine_version: MACHINE_VERSION,
    };
    let clock = Arc::new(SystemClock::new());
    let driver = Driver::new(Journal::in_memory(), Arc::new(SlowTool), clock, CallLimits::default());
    let started_at = Instant::now();
    let ended = driver.start(started).await.expect("the run is driven");
    let DriveOutcome::Finished(answer) = ended else { panic!("{ended:?}") };
    assert_eq!(answer.status, Status::Complete);
    assert_eq!(started_at.elapsed().as_millis(), 210, "the duration of the longer chain");
}
