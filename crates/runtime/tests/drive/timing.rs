//! When steps begin and end, on a clock that leaps from one wait to the next.

use std::sync::Arc;
use std::time::Duration;

use reknit_dialogue::{Answer, ErrorClass, Failure};
use reknit_engine::{AskModel, MACHINE_VERSION, Policy, Started, Status, Synthesis, Templates};
use reknit_journal::Journal;
use reknit_plan::{Catalogue, Entry, Tool};
use reknit_protocol::{CallTool, ReplyBody, ToolReply, TransportFailure};
use reknit_protocol::{Capability, Effect, Object};
use reknit_runtime::{BoxFuture, CallLimits, Driver, Edge, Ended, SystemClock};
use tokio::time::{Instant, sleep};

use crate::world::{plan, step};

/// A tool whose calls take as long as they are asked to.
#[derive(Debug)]
struct Slow;

impl Edge for Slow {
    fn ask<'a>(&'a self, _: &'a AskModel) -> BoxFuture<'a, Result<Answer, Failure>> {
        Box::pin(async { Err(Failure::new(ErrorClass::ModelError, "nobody is to be asked")) })
    }

    fn call<'a>(
        &'a self,
        call: &'a CallTool,
        _: Option<&'a str>,
    ) -> BoxFuture<'a, Result<ToolReply, TransportFailure>> {
        let ms = call.parameters.get("ms").and_then(|ms| ms.to_string().parse().ok()).expect("a number");
        Box::pin(async move {
            sleep(Duration::from_millis(ms)).await;
            Ok(ToolReply { status: 200, retry_after_ms: None, body: ReplyBody::Empty })
        })
    }
}

#[tokio::test(start_paused = true)]
async fn no_step_waits_for_one_that_it_does_not_need() {
    let mut wait = Capability::new("wait");
    wait.effect = Effect::Read;
    let capabilities = vec![Entry::new(wait, None).expect("no schema")];
    let tools = vec![Tool { name: "t".into(), description: String::new(), capabilities }];
    let started = Started {
        run: "r".into(),
        request: "x".to_owned(),
        plan: Some(plan(vec![
            step("a", "t", "wait", r#"{"ms": 10}"#),
            step("b", "t", "wait", r#"{"ms": 200}"#),
            step("c", "t", "wait", r#"{"ms": 200}"#).after("a"),
            step("d", "t", "wait", r#"{"ms": 10}"#).after("b"),
        ])),
        inputs: Object::new(),
        catalogue: Arc::new(Catalogue { tools }),
        targets: Vec::new(),
        policy: Arc::new(Policy { synthesis: Synthesis::Template, ..Policy::default() }),
        templates: Arc::new(Templates::default()),
        mappings: Vec::new(),
        seed: 7,
        trace_parent: None,
        machine_version: MACHINE_VERSION,
    };
    let clock = Arc::new(SystemClock::new());
    let driver = Driver::new(Journal::in_memory(), Arc::new(Slow), clock, CallLimits::default());
    let begun = Instant::now();
    let ended = driver.start(started).await.expect("it is driven");
    let Ended::Finished(answer) = ended else { panic!("{ended:?}") };
    assert_eq!(answer.status, Status::Complete);
    assert_eq!(begun.elapsed().as_millis(), 210, "the longer of two chains, and nothing else");
}
