//! A run uses the mappings that earlier runs have learned.

use crate::drive::segmented_driver::SegmentedDriver;
use reknit_engine::Status;
use reknit_expressions::{Provenance, ResolvedBy};
use reknit_fakes::model::{self, Script};
use reknit_fakes::tool::{CallMatcher, RunningTool};
use reknit_fakes::{Reply, ScriptedModel, ScriptedTool};
use reknit_journal::StoredMapping;
use reknit_protocol::{Plan, SideEffect, Value};
use reknit_runtime::DriveOutcome;

use crate::drive::fixture::{Fixture, plan, step};

fn json(text: &str) -> Value {
    Value::parse(text).expect("JSON")
}

async fn tools() -> RunningTool {
    let schema = r#"{"type": "object", "required": ["amount"], "properties": {"amount": {"type": "number"}}}"#;
    ScriptedTool::new("money")
        .capability("quote", SideEffect::Read)
        .capability("convert", SideEffect::Read)
        .schema(json(schema))
        .on("quote", CallMatcher::any(), Reply::data(json(r#"{"current_price": 468.285}"#)))
        .on("convert", CallMatcher::any(), Reply::data(json(r#"{"converted": 1}"#)))
        .start()
        .await
        .expect("the tool starts")
}

fn steps() -> Plan {
    plan(vec![step("quote", "money", "quote", "{}"), step("convert", "money", "convert", "{}").after("quote")])
}

#[tokio::test]
async fn the_second_run_uses_the_mapping_that_the_first_one_learned_from_a_model() {
    let tool = tools().await;
    let reply = Reply::text(r#"{"amount": "{{quote.data.current_price}}"}"#);
    let script = Script::new().once(model::RequestMatcher::any().purpose("micro_resolution"), reply);
    let model = ScriptedModel::start(script).await.expect("the model starts");
    let fixture = Fixture::new(&[("money".to_owned(), tool.base_url())], Some(&model.base_url())).await;

    for run in ["first", "second"] {
        let ended =
            fixture.driver().start(fixture.started(run, "convert", Some(steps()))).await.expect("the run is driven");
        let DriveOutcome::Finished(answer) = ended else { panic!("the run waits for a person") };
        assert_eq!((answer.status, model.requests().len()), (Status::Complete, 1), "{run}: {}", answer.text);
    }
    let mapping = StoredMapping {
        producer: "money/quote".to_owned(),
        consumer: "money/convert".to_owned(),
        parameter: "amount".to_owned(),
        expression: "it.data.current_price".to_owned(),
    };
    let learned = fixture.journal.learned_mappings(9).await.expect("the mappings can be read");
    assert_eq!(learned.iter().map(|learned| &learned.mapping).collect::<Vec<_>>(), [&mapping]);
    assert_eq!(learned[0].accepted_ms, None, "calls that succeed accept nothing");
    let (second, _) = fixture.restore("second").await;
    let origin = &second.steps()[1].provenance[0].1;
    assert!(matches!(origin, Provenance::Resolved { by: ResolvedBy::Learned, .. }), "{origin:?}");

    // A person accepts it: later runs say so.
    assert!(fixture.journal.accept_mapping(&mapping, 1).await.expect("the mapping can be accepted"));
    fixture.driver().start(fixture.started("accepted", "convert", Some(steps()))).await.expect("the run is driven");
    let (accepted, _) = fixture.restore("accepted").await;
    let origin = &accepted.steps()[1].provenance[0].1;
    assert!(matches!(origin, Provenance::Resolved { by: ResolvedBy::Accepted, .. }), "{origin:?}");

    // The segmented driver uses it too: the mapping is part of the first event.
    let third = SegmentedDriver::new(fixture.driver()).start(fixture.started("third", "convert", Some(steps()))).await;
    assert!(
        matches!(third.expect("the run is driven"), DriveOutcome::Finished(answer) if answer.status == Status::Complete)
    );
    assert_eq!(model.requests().len(), 1);
}
